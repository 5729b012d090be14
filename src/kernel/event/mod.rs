//! Event types: id to format, program and handler; typed fields; the record every stage passes on.
//!
//! [`EventTypes`] is built once from a file's formats and does not change afterwards. State that changes while events are
//! printed in order lies in [`PrintState`]. [`TypedEvent`] is for readers that want values instead of texts.

#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

mod arguments;
mod common;
mod consumed;
mod event_type;
mod handlers;
mod options;
mod prefix_cache;
mod raw;
mod record;
mod slots;
mod state;
mod text_cache;
mod typed;
mod types;
mod value;

pub use crate::base::units::Lost;
pub(crate) use arguments::{Registers, Wording};
pub use common::{Common, RecordHead};
pub use consumed::Consumed;
pub use event_type::EventType;
pub(crate) use handlers::{BlkEvent, BlkStyle, NumberField, UserStack};
pub use options::{DecodeOptions, FunctionOptions, GraphOptions};
pub(crate) use prefix_cache::{FrontKey, PrefixCache};
pub use record::Record;
pub use state::{NameFix, PrintState};
pub(crate) use text_cache::{CachedText, TextLookup};
pub use typed::{FieldKind, FieldPlace, TypedEvent, TypedField};
pub use types::EventTypes;
pub use value::{Number, Numbers, Value};
