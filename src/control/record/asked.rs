//! Questions to threads that go on recording: each answers when it next wakes up, at once if it sleeps.

use crossbeam_channel::{Receiver, Sender, unbounded};
use nix::sys::eventfd::{EfdFlags, EventFd};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

/// Time that a thread has to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The side of a thread. Dropped unanswered, it makes [`Asking::ask`] fail.
#[derive(Debug)]
pub(super) struct Asked<T> {
    wake: Arc<EventFd>,
    answers: Sender<(usize, T)>,
    number: usize,
}

/// The side of who asks.
#[derive(Debug)]
pub(super) struct Asking<T> {
    wakes: Vec<Arc<EventFd>>,
    answers: Receiver<(usize, T)>,
}

impl<T> AsFd for Asked<T> {
    /// Readable when something was asked.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }
}

impl<T> Asked<T> {
    /// Takes the question; true if there is one.
    pub(super) fn take(&self) -> bool {
        self.wake.read().is_ok()
    }

    /// Answers it.
    pub(super) fn answer(&self, answer: T) {
        // Nobody waits any more.
        let _ = self.answers.send((self.number, answer));
    }
}

/// Makes both sides for so many `threads`.
///
/// # Errors
/// If the kernel has no descriptor left.
pub(super) fn asking<T>(threads: usize) -> io::Result<(Asking<T>, Vec<Asked<T>>)> {
    let (sender, answers) = unbounded();
    let flags = EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC;
    let wake = || EventFd::from_flags(flags).map(Arc::new).map_err(io::Error::from);
    let wakes = (0..threads).map(|_| wake()).collect::<io::Result<Vec<_>>>()?;
    let asked = wakes.iter().enumerate();
    let asked = asked.map(|(number, wake)| Asked { wake: wake.clone(), answers: sender.clone(), number }).collect();
    Ok((Asking { wakes, answers }, asked))
}

impl<T> Asking<T> {
    /// Asks all threads; gives their answers in the order of their numbers.
    ///
    /// # Errors
    /// [`io::ErrorKind::TimedOut`] if one does not answer, or is gone.
    pub(super) fn ask(&self) -> io::Result<Vec<T>> {
        while self.answers.try_recv().is_ok() {} // late ones
        for wake in &self.wakes {
            wake.write(1)?;
        }
        let mut answers: Vec<(usize, T)> = Vec::with_capacity(self.wakes.len());
        while answers.len() < self.wakes.len() {
            let answer = self.answers.recv_timeout(PATIENCE);
            answers.push(
                answer.map_err(|_| io::Error::new(io::ErrorKind::TimedOut, "a recording thread does not answer"))?,
            );
        }
        answers.sort_unstable_by_key(|(number, _)| *number);
        Ok(answers.into_iter().map(|(_, answer)| answer).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_answer_when_they_are_asked() {
        let (asking, asked) = asking(3).unwrap();
        assert!(asked.iter().all(|asked| !asked.take()));
        std::thread::scope(|scope| {
            for asked in asked {
                scope.spawn(move || {
                    while !asked.take() {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                    asked.answer(asked.number * 10);
                });
            }
            assert_eq!(asking.ask().unwrap(), [0, 10, 20]);
        });
        let gone = asking.ask().unwrap_err();
        assert_eq!(gone.kind(), io::ErrorKind::TimedOut);
    }
}
