//! Event types: id to format, program and handler; the record every stage passes on.
//!
//! [`EventTypes`] is built once from a file's formats and does not change afterwards. What does change while events are
//! printed in order lies in [`State`].

mod common;
mod event_type;
mod handlers;
mod options;
mod raw;
mod record;
mod state;
mod types;

pub use common::Common;
pub use event_type::EventType;
pub(crate) use handlers::Next;
pub use options::{DecodeOptions, FunctionOptions, GraphOptions};
pub use record::{Lost, Record};
pub use state::State;
pub use types::EventTypes;
