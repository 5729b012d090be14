//! Event types: id to format, program and handler; typed fields; the record every stage passes on.
//!
//! [`EventTypes`] is built once from a file's formats and does not change afterwards. State that changes while events are
//! printed in order lies in [`PrintState`]. [`TypedEvent`] is for readers that want values instead of texts.

#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

mod common;
mod event_type;
mod handlers;
mod prefix_cache;
mod raw;
mod state;
mod text_cache;
mod typed;
mod value;

pub use crate::base::units::Lost;
pub use common::{Common, RecordHead};
pub use event_type::{EventType, EventTypes};
pub(crate) use handlers::{BlkEvent, BlkStyle, NumberField, UserStack};
pub(crate) use prefix_cache::{FrontKey, PrefixCache};
pub use raw::{Consumed, Record};
pub use state::{DecodeOptions, FunctionOptions, GraphOptions, NameFix, PrintState};
pub(crate) use text_cache::{TextCache, TextLookup};
pub use typed::{FieldKind, FieldPlace, TypedEvent, TypedField};
pub use value::{Number, Numbers, Value};
pub(crate) use value::{Registers, Wording};
