//! The controller: asks agents on other machines to record along, and writes a file for each.
//!
//! An agent is asked and answers before recording starts here ([`Guest::connect`]); its data is taken while it does
//! ([`record_along`]).

mod along;
mod clocks;
mod error;
mod fifos;
mod guest;
mod summary;
mod target;

pub use along::record_along;
pub use error::GuestError;
pub use guest::{AgentConnection, Guest, HostFacts};
pub use summary::GuestSummary;
pub use target::GuestTarget;
