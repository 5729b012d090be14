//! The work that an agent gives to its caller.

use crate::control::record::Remote;
use crate::file::trace_dat::GuestFacts;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

/// A recording that a controller asks for.
pub struct AgentJob<'a> {
    /// Options of `record`.
    pub args: &'a [String],
    /// The machine that asks, if it is a guest whose file is not to name this one as its own guest.
    pub guest: Option<GuestFacts>,
    /// Takes the recording.
    pub remote: Arc<dyn Remote>,
    /// Readable when it is to end.
    pub stop: BorrowedFd<'a>,
}

/// Records what a controller asks for: gives a line about it, or why it came to nothing.
pub type AgentRecorder<'a> = dyn Fn(AgentJob<'_>) -> Result<String, String> + Sync + 'a;
