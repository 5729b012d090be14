//! The controller: asks agents on other machines to record along, and writes a file for each.
//!
//! An agent is asked and answers before recording starts here ([`Guest::connect`]); its data is taken while it does
//! ([`record_along`]).

mod along;
mod guest;
mod target;

pub use along::{GuestSummary, record_along};
pub use guest::{Guest, GuestError};
pub use target::GuestTarget;
