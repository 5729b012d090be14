//! Slices of time out of the segments of a recording: each depends on all events before it, so that one thread at a time goes on
//! with them, in the order of time, while others decode and encode.

use super::derived::DerivedRows;
use crate::answer::analysis::{Analysis, Ordered, Slices};
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

/// Maximum of queued segments before a thread waits for the current writer.
const MOST: usize = 16;

/// Slices of all buffers.
pub(super) struct Slicing {
    waiting: Mutex<VecDeque<Vec<Ordered<Slices>>>>,
    known: Mutex<Sliced>,
    /// Segments that are done, for their memory.
    spare: Mutex<Vec<Vec<Ordered<Slices>>>>,
}

/// The slices so far, by buffer, and rows of them that were not given to be encoded yet, by recording.
pub(super) struct Sliced {
    pub(super) slices: Vec<Ordered<Slices>>,
    pub(super) rows: Vec<DerivedRows>,
}

impl Slicing {
    /// Before the first event.
    pub(super) fn new(slices: Vec<Ordered<Slices>>, rows: Vec<DerivedRows>) -> Self {
        Slicing { waiting: Mutex::default(), known: Mutex::new(Sliced { slices, rows }), spare: Mutex::default() }
    }

    /// Takes the events of a segment, by buffer.
    pub(super) fn add(&self, segment: Vec<Ordered<Slices>>) {
        locked(&self.waiting).push_back(segment);
    }

    /// Goes on with the segments that wait, unless another thread does. `done` gets the slices after each.
    pub(super) fn work(&self, of: &[&Slices], done: impl Fn(&mut Sliced)) {
        let is_after = locked(&self.waiting).len() > MOST;
        let mut known = match self.known.try_lock() {
            Ok(known) => known,
            Err(TryLockError::WouldBlock) if !is_after => return,
            Err(_) => locked(&self.known),
        };
        while let Some(mut segment) = { locked(&self.waiting).pop_front() } {
            for ((of, known), later) in of.iter().zip(&mut known.slices).zip(&mut segment) {
                Analysis::merge(*of, known, later);
            }
            locked(&self.spare).push(segment);
            done(&mut known);
        }
    }

    /// The memory of a segment that is done.
    pub(super) fn spare(&self) -> Option<Vec<Ordered<Slices>>> {
        locked(&self.spare).pop()
    }

    /// The slices, after all segments.
    pub(super) fn known(&self) -> MutexGuard<'_, Sliced> {
        locked(&self.known)
    }
}

/// A panic of another thread ends the export, so that it does not matter what it left.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
