//! Data on its way to a listener of ours: kept until the listener has written it, at most so much of it.

use crate::control::network::wire::RingSizes;
use crate::control::record::Dropped;
use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// The most that waits, in bytes. Beyond it recording threads wait, and then the kernel counts what it loses.
const MOST: usize = 64 << 20;

/// The shared state of a recording's threads and of the one that sends.
#[derive(Debug, Default)]
pub(super) struct SendQueue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

/// All that the listener has not confirmed yet.
#[derive(Debug, Default)]
pub(super) struct QueueState {
    /// The trace file as it is by now.
    pub(super) file: Arc<Vec<u8>>,
    /// Counts the states of the file.
    pub(super) version: u64,
    pub(super) rings: Vec<QueuedRing>,
    queued: usize,
    /// Somebody waits for acknowledgements.
    pub(super) urgent: bool,
    /// The recording is over.
    pub(super) ended: bool,
    /// The listener was told so.
    pub(super) end_sent: bool,
    /// The connection has ended.
    pub(super) broken: Option<String>,
    /// Size of the complete file at the listener.
    pub(super) done: Option<u64>,
    /// It came to nothing, and why.
    pub(super) failed: Option<String>,
}

/// A ring's chunks.
#[derive(Debug, Default)]
pub(super) struct QueuedRing {
    /// Position of the next chunk in the spool.
    pub(super) end: u64,
    waiting: VecDeque<WaitingData>,
    /// Number of them sent over this connection.
    sent: usize,
}

#[derive(Debug)]
struct WaitingData {
    at: u64,
    data: Arc<[u8]>,
    /// Bytes of sub-buffers in it.
    raw: u64,
    events: u64,
}

impl SendQueue {
    pub(super) fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a change, `most` at most.
    pub(super) fn wait<'a>(&self, state: MutexGuard<'a, QueueState>, most: Duration) -> MutexGuard<'a, QueueState> {
        self.changed.wait_timeout(state, most).unwrap_or_else(PoisonError::into_inner).0
    }

    fn wait_for_ever<'a>(&self, state: MutexGuard<'a, QueueState>) -> MutexGuard<'a, QueueState> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state and wakes all who wait for that.
    pub(super) fn change<T>(&self, change: impl FnOnce(&mut QueueState) -> T) -> T {
        let changed = change(&mut self.lock());
        self.changed.notify_all();
        changed
    }

    /// Adds a chunk, as soon as there is room.
    pub(super) fn push(&self, ring: usize, data: &[u8], raw: u64) -> io::Result<()> {
        let mut state = self.lock();
        while state.failed.is_none() && state.queued > 0 && state.queued + data.len() > MOST {
            state = self.wait_for_ever(state);
        }
        if let Some(why) = &state.failed {
            return Err(io::Error::other(why.clone()));
        }
        state.queued += data.len();
        if let Some(ring) = state.rings.get_mut(ring) {
            ring.waiting.push_back(WaitingData { at: ring.end, data: data.into(), raw, events: 0 });
            ring.end += data.len() as u64;
        }
        drop(state);
        self.changed.notify_all();
        Ok(())
    }

    /// Notes the events of the chunk that was added last.
    pub(super) fn note(&self, ring: usize, events: u64) {
        if let Some(last) = self.lock().rings.get_mut(ring).and_then(|ring| ring.waiting.back_mut()) {
            last.events = events;
        }
    }

    /// Waits until the ring's chunks are written or cannot be any more. Gives those that are not.
    pub(super) fn settle(&self, ring: usize) -> Dropped {
        let mut state = self.lock();
        loop {
            let Some(of_ring) = state.rings.get(ring) else { return Dropped::default() };
            if of_ring.waiting.is_empty() || state.failed.is_some() {
                let sum = |of: fn(&WaitingData) -> u64| of_ring.waiting.iter().map(of).sum();
                return Dropped { bytes: sum(|chunk| chunk.raw), events: sum(|chunk| chunk.events) };
            }
            state.urgent = true;
            self.changed.notify_all();
            state = self.wait_for_ever(state);
        }
    }

    /// Waits for the end of a recording that has ended: the size of the file.
    pub(super) fn result(&self) -> Result<u64, String> {
        let mut state = self.lock();
        loop {
            match (&state.failed, state.done) {
                (Some(why), _) => return Err(why.clone()),
                (None, Some(size)) => return Ok(size),
                (None, None) => state = self.wait_for_ever(state),
            }
        }
    }
}

impl QueueState {
    /// Adds a ring whose spool has `end` bytes before its first chunk; gives its number.
    pub(super) fn add_ring(&mut self, end: u64) -> usize {
        self.rings.push(QueuedRing { end, ..QueuedRing::default() });
        self.rings.len() - 1
    }

    /// Takes note of what the listener has written.
    ///
    /// # Errors
    /// It was not sent so much.
    pub(super) fn written(&mut self, sizes: &RingSizes) -> Result<(), String> {
        for (ring, size) in self.rings.iter_mut().zip(&sizes.rings) {
            let unsent = ring.waiting.get(ring.sent).map_or(ring.end, |next| next.at);
            if *size > unsent {
                return Err(format!(
                    "the listener says that it has {size} bytes of a ring, of which {unsent} were sent"
                ));
            }
            while let Some(first) = ring.waiting.front().filter(|first| first.at + first.data.len() as u64 <= *size) {
                self.queued -= first.data.len();
                ring.waiting.pop_front();
                ring.sent = ring.sent.saturating_sub(1);
            }
        }
        Ok(())
    }

    /// Takes note that the listener has completed the file, which then has `size` bytes.
    ///
    /// # Errors
    /// It cannot have: it was not told the end.
    pub(super) fn completed(&mut self, size: u64) -> Result<(), String> {
        if !self.end_sent {
            return Err("the listener says that the recording is complete, which has not ended".to_owned());
        }
        self.done = Some(size);
        Ok(())
    }

    /// Goes on over a new connection to a listener that has `sizes`.
    ///
    /// # Errors
    /// The listener lacks what was confirmed already.
    pub(super) fn resume(&mut self, sizes: &RingSizes) -> Result<(), String> {
        self.written(sizes)?;
        if sizes.rings.len() != self.rings.len() {
            return Err("the listener speaks of other rings".to_owned());
        }
        for (ring, size) in self.rings.iter_mut().zip(&sizes.rings) {
            ring.sent = 0;
            if ring.waiting.front().map_or(ring.end, |first| first.at) != *size {
                return Err("the listener no longer has all that it had written".to_owned());
            }
        }
        Ok(())
    }

    /// The next chunk to be sent, with its ring and position.
    pub(super) fn next(&mut self) -> Option<(u32, u64, Arc<[u8]>)> {
        for (nth, ring) in self.rings.iter_mut().enumerate() {
            if let Some(chunk) = ring.waiting.get(ring.sent) {
                ring.sent += 1;
                return Some((nth as u32, chunk.at, Arc::clone(&chunk.data)));
            }
        }
        None
    }

    /// The sizes of a complete recording.
    pub(super) fn sizes(&self) -> RingSizes {
        RingSizes { file: self.file.len() as u64, rings: self.rings.iter().map(|ring| ring.end).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_cannot_have_more_than_it_was_sent() {
        let queue = SendQueue::default();
        let ring = queue.change(|state| state.add_ring(4));
        (0..2).for_each(|_| queue.push(ring, &[0; 10], 4096).unwrap());
        let sizes = |size| RingSizes { file: 0, rings: vec![size] };
        queue.change(|state| {
            assert!(state.written(&sizes(5)).is_err() && state.completed(7).is_err());
            assert!(state.next().is_some());
            assert_eq!(state.written(&sizes(14)), Ok(()));
            assert!(state.written(&sizes(24)).unwrap_err().contains("24 bytes of a ring, of which 14 were sent"));
            assert!(state.next().is_some());
            assert_eq!(state.written(&sizes(24)), Ok(()));
            assert!(state.written(&sizes(25)).is_err());
            state.end_sent = true;
            assert_eq!((state.completed(7), state.done), (Ok(()), Some(7)));
        });
    }

    #[test]
    fn what_is_not_confirmed_is_sent_again_and_counted_if_it_is_lost() {
        let queue = SendQueue::default();
        let ring = queue.change(|state| state.add_ring(4));
        for n in 0..3u64 {
            queue.push(ring, &[n as u8; 10], 4096).unwrap();
            queue.note(ring, n + 1);
        }
        let sizes = |size| RingSizes { file: 0, rings: vec![size] };
        let positions = |state: &mut QueueState| std::iter::from_fn(|| state.next().map(|c| c.1)).collect::<Vec<_>>();
        assert_eq!(queue.change(positions), [4, 14, 24]);
        assert_eq!(queue.change(|state| state.written(&sizes(14))), Ok(()));
        assert_eq!(queue.change(positions), Vec::<u64>::new());
        assert_eq!(queue.change(|state| state.resume(&sizes(14))), Ok(()));
        assert_eq!(queue.change(positions), [14, 24]);
        assert!(queue.change(|state| state.resume(&sizes(4))).is_err(), "it had 14 bytes before");
        assert!(queue.change(|state| state.resume(&sizes(20))).is_err(), "no chunk ends there");
        queue.change(|state| state.failed = Some("gone".to_owned()));
        assert_eq!(queue.settle(ring), Dropped { bytes: 8192, events: 5 });
        assert!(queue.push(ring, b"more", 4096).is_err());
        assert_eq!(queue.result(), Err("gone".to_owned()));
    }
}
