//! Event types: id to format, program and handler; typed fields; the record every stage passes on.
//!
//! [`EventTypes`] is built once from a file's formats and does not change afterwards. What does change while events are
//! printed in order lies in [`State`]. [`TypedEvent`] is for readers that want values instead of texts.

mod arguments;
mod blk;
mod common;
mod event_type;
mod handlers;
mod options;
mod raw;
mod recent;
mod record;
mod repeats;
mod state;
mod typed;
mod types;
mod value;

pub use crate::ring_buffer::Lost;
pub(crate) use arguments::{Registers, Wording};
pub use common::{Common, RecordHead};
pub use event_type::EventType;
pub(crate) use handlers::{Next, Num, UserStack};
pub use options::{DecodeOptions, FunctionOptions, GraphOptions};
pub(crate) use recent::{FrontKey, Recent};
pub use record::Record;
pub(crate) use repeats::Found;
pub use state::{NameFix, State};
pub use typed::{Kind, Place, TypedEvent, TypedField, until_nul};
pub use types::EventTypes;
pub use value::{Number, Numbers, Value};
