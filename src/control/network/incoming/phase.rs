//! Progress of a session, for the threads that take its data.

use crate::control::network::wire::RingCount;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

/// Progress of a session, as its data connections see it.
#[derive(Debug, Default)]
pub(in crate::control::network) struct Phase {
    state: AtomicU8,
    sent: OnceLock<Vec<RingCount>>,
}

impl Phase {
    /// The sender has said that it has sent everything, or is gone.
    pub(in crate::control::network) fn end(&self) {
        self.state.fetch_max(1, Ordering::Relaxed);
    }

    /// Nothing more is to be taken.
    pub(in crate::control::network) fn abort(&self) {
        self.state.fetch_max(2, Ordering::Relaxed);
    }

    /// The sender has said how much it has sent of each ring. Called before the end.
    pub(in crate::control::network) fn count(&self, sent: Vec<RingCount>) {
        let _ = self.sent.set(sent);
    }

    /// Sub-buffers of `cpu` that were sent, if the sender has said so.
    pub(super) fn sent(&self, cpu: u32) -> Option<u64> {
        let sent = self.sent.get()?.iter().find(|count| count.cpu == cpu);
        Some(sent.map_or(0, |count| count.sub_buffers))
    }

    pub(super) fn is_over(&self) -> bool {
        self.state.load(Ordering::Relaxed) >= 1
    }

    /// True if nothing more is to be taken.
    pub(in crate::control::network) fn is_aborted(&self) -> bool {
        self.state.load(Ordering::Relaxed) >= 2
    }
}
