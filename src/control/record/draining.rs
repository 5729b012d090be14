//! The draining threads: one per ring, each hands over its result when it ends.

use super::worker::{Drained, Worker};
use crossbeam_channel::{Receiver, RecvTimeoutError, unbounded};
use nix::sys::eventfd::EventFd;
use std::io;
use std::os::fd::AsFd;
use std::panic::resume_unwind;
use std::thread::{Builder, Scope, ScopedJoinHandle};
use std::time::Duration;

/// Running threads.
pub(super) struct Draining<'scope> {
    threads: Vec<ScopedJoinHandle<'scope, ()>>,
    /// Results, with the number of the ring.
    results: Receiver<(usize, Drained)>,
}

impl<'scope> Draining<'scope> {
    /// Starts a thread for each of `workers`. They end when `stop` is readable and their rings are empty; one that fails
    /// ends at once and makes `failed` readable.
    ///
    /// # Errors
    /// [`io::Error`] if a thread cannot be started; those already running go on until `stop` is readable.
    pub(super) fn start<'env>(
        scope: &'scope Scope<'scope, 'env>,
        workers: Vec<Worker<'scope>>,
        stop: &'scope EventFd,
        failed: Option<&'scope EventFd>,
    ) -> io::Result<Self> {
        let (sender, results) = unbounded();
        let mut threads = Vec::new();
        for (ring, worker) in workers.into_iter().enumerate() {
            let sender = sender.clone();
            let thread = Builder::new().name(format!("rtrace/{}", worker.cpu()));
            threads.push(thread.spawn_scoped(scope, move || {
                let drained = worker.run(stop.as_fd());
                if let (Some(_), Some(failed)) = (&drained.error, failed) {
                    let _ = failed.write(1);
                }
                let _ = sender.send((ring, drained));
            })?);
        }
        Ok(Draining { threads, results })
    }

    /// Waits for all of them; gives their results in the order of their rings. Calls `live` every `every` meanwhile. A
    /// thread's panic is passed on.
    pub(super) fn finish(self, every: Option<Duration>, mut live: impl FnMut()) -> Vec<Drained> {
        let mut results = Vec::new();
        loop {
            let result = match every {
                Some(every) => self.results.recv_timeout(every),
                None => self.results.recv().map_err(RecvTimeoutError::from),
            };
            match result {
                Ok(result) => results.push(result),
                Err(RecvTimeoutError::Timeout) => live(),
                // The last thread is gone.
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        for thread in self.threads {
            thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
        results.sort_unstable_by_key(|(ring, _)| *ring);
        results.into_iter().map(|(_, drained)| drained).collect()
    }
}
