//! The front door: a [`Recording`] is opened once, the same way for everybody; a [`Query`] says which of its events are
//! wanted and lends them in the order of time, to a closure, to an [`Exporter`] or to an
//! [`Analysis`](crate::answer::analysis::Analysis); an [`Outcome`] says what was lost or damaged on the way.
//!
//! [`LiveMerge`] orders the records of rings that are still being filled: `examples/live.rs`.

mod covered;
mod event;
mod export;
mod exporter;
mod open;
mod outcome;
mod query;
mod resolved;
mod run;
mod selection;
mod selector;

pub use crate::file::ring_buffer::PageLayout;
pub use crate::file::trace_dat::{OpenError, OpenErrorCause};
pub use crate::read::merge::live::LiveMerge;
pub use covered::PartialCpu;
pub use event::{Decoder, Event, EventField};
pub use export::ExportError;
pub use exporter::Exporter;
pub use open::{BufferSource, Recording};
pub use outcome::{Damage, Notice, Outcome, Outflow, QueryError, UnknownEvents};
pub use query::Query;
pub use resolved::{Current, Resolved};
pub use selection::{OutputDependence, Selection};
pub use selector::Window;
