//! The front door: a [`Recording`] is opened once, the same way for everybody; a [`Query`] says which of its events are
//! wanted and lends them in the order of time; an [`Outcome`] says what was lost or damaged on the way.

mod event;
mod open;
mod outcome;
mod query;

pub use event::Event;
pub use open::Recording;
pub use outcome::{Damage, Outcome, QueryError};
pub use query::Query;
