//! The one recording at a time of an agent.

use std::sync::atomic::{AtomicBool, Ordering};

/// A session's right to record; dropped it is free for the next one.
pub(super) struct Turn<'a>(&'a AtomicBool);

impl<'a> Turn<'a> {
    /// Takes it; `None` if a session has it.
    pub(super) fn take(busy: &'a AtomicBool) -> Option<Self> {
        (!busy.swap(true, Ordering::AcqRel)).then_some(Turn(busy))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}
