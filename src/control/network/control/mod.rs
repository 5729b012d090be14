//! The controller: asks agents on other machines to record along, and writes a file for each.
//!
//! An agent is asked and answers before recording starts here ([`Guest::connect`]); its data is taken while it does
//! ([`record_along`]).

mod along;
mod guest;
mod summary;
mod target;

pub use along::record_along;
pub use guest::{AgentConnection, Guest, HostFacts};
pub use summary::{GuestError, GuestSummary};
pub use target::GuestTarget;
