//! The front door: a [`Recording`] is opened once, the same way for everybody; a [`Query`] says which of its events are
//! wanted and lends them in the order of time, to a closure, to an [`Exporter`] or to an
//! [`Analysis`](crate::answer::analysis::Analysis); an [`Outcome`] says what was lost or damaged on the way.
//!
//! [`LiveMerge`] orders the records of rings that are still being filled: `examples/live.rs`.

mod analyse;
mod carried;
mod covered;
mod event;
mod export;
mod exporter;
mod narrowed;
mod open;
mod outcome;
mod outflow;
mod query;
mod resolved;
mod rules;
mod run;
mod selection;
mod selector;
mod source;
mod streams;
mod unknown;
mod window;

pub use crate::file::ring_buffer::PageLayout;
pub use crate::read::merge::live::LiveMerge;
pub use covered::PartialCpu;
pub use event::{Decoder, Event};
pub use export::ExportError;
pub use exporter::Exporter;
pub use open::Recording;
pub use outcome::{Damage, Notice, Outcome, QueryError};
pub use outflow::Outflow;
pub use query::Query;
pub use resolved::{Current, Resolved};
pub use selection::{OutputDependence, Selection};
pub use source::BufferSource;
pub use unknown::UnknownEvents;
pub use window::Window;
