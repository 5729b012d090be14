//! Tracefs put back as it was, in a thread of its own beside other work.

use super::worker::thread_time;
use crate::control::tracefs::{Journal, UndoError};
use std::panic::resume_unwind;
use std::sync::Mutex;
use std::thread::{Builder, scope};
use std::time::Duration;

/// Undoes what `journal` holds, or leaves it with `keep`, while `work` is done. Gives what failed, and the user and system
/// time of that thread.
pub(super) fn restore_beside(journal: Journal, keep: bool, work: impl FnOnce()) -> (Result<(), UndoError>, Duration) {
    let journal = Mutex::new(Some(journal));
    let restore = || match journal.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take() {
        Some(journal) if keep => journal.keep().map_err(|error| UndoError { failures: vec![error] }),
        Some(journal) => journal.undo(),
        None => Ok(()),
    };
    scope(|scope| {
        let thread = Builder::new().name("rtrace/restore".to_owned());
        let thread = thread.spawn_scoped(scope, || (restore(), thread_time()));
        work();
        match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            // Without a thread it is done afterwards.
            Err(_) => (restore(), Duration::ZERO),
        }
    })
}
