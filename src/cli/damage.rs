//! Damage of recordings, reported on standard error.

use super::exit::{Exit, Failure};
use crate::cli::terminal::note;
use rtrace::internal::trace_dat::{FileError, FileLock, Trace};
use rtrace::recording::{Notice, Recording, UnknownEvents};
use rtrace::units::{counted, grouped};
use std::collections::BTreeSet;
use std::error::Error;
use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Damage of recordings: each place is a line on standard error, up to 100; the exit code says that there was some.
#[derive(Default)]
pub(crate) struct DamageReport {
    count: AtomicU64,
    /// Messages that were reported: damage may be met more than once.
    reported: Mutex<BTreeSet<String>>,
}

const MOST_LINES: u64 = 100;

/// True of an unfinished recording that nobody writes any more.
pub(crate) fn was_killed(path: &Path, trace: &Trace) -> bool {
    trace.spools.is_some() && !File::open(path).is_ok_and(|file| FileLock::is_held(&file))
}

impl DamageReport {
    /// With what was found when the file at `path` was opened.
    pub(crate) fn of(path: &Path, trace: &Trace) -> Self {
        let damage = DamageReport::default();
        damage.opened(path, trace);
        damage
    }

    /// Reports what was found when the file at `path` was opened. A file that was cut off has lost its index, and with it the
    /// way to every section: that is one line.
    pub(crate) fn opened(&self, path: &Path, trace: &Trace) {
        // A pipe has no size.
        let file = std::fs::metadata(path).ok().filter(|file| file.is_file());
        let size = file.map_or(u64::MAX, |file| file.len());
        let index = trace.prefix.options.map(|(_, offset)| offset).filter(|offset| *offset >= size);
        if let Some(index) = index {
            self.tell(format!(
                "rtrace: {}: cut off after {} bytes: the index at {index:#x} and the events beyond are gone",
                path.display(),
                grouped(size)
            ));
        }
        let is_of_cut = |found: &&FileError| match found {
            FileError::LostSection { .. } => true,
            FileError::Short { offset, .. } => Some(*offset) == index,
            _ => false,
        };
        let found = trace.damage.iter().filter(|found| index.is_none() || !is_of_cut(found));
        found.for_each(|found| self.note(path, found));
        if was_killed(path, trace) {
            self.tell(format!(
                "rtrace: {0}: unfinished, and its recorder is gone: what that had not written is missing here; `rtrace recover {0}` \
                 adds what the ring buffers still hold",
                path.display()
            ));
        }
    }

    /// Reports a damaged place of the file at `path`.
    pub(crate) fn note(&self, path: &Path, found: &(dyn Error + 'static)) {
        let chain: Vec<String> = anyhow::Chain::new(found).map(ToString::to_string).collect();
        self.tell(format!("rtrace: {}: {}", path.display(), chain.join(": ")));
    }

    /// Reports that the file at `path` is still being recorded, if it is.
    pub(crate) fn unfinished(&self, path: &Path, trace: &Trace) {
        if trace.spools.is_some() && !was_killed(path, trace) {
            self.tell(format!("rtrace: {}: the recording is unfinished: it lacks the latest events", path.display()));
        }
    }

    /// Reports what a query noticed; `path` gives the path of a recording by its number.
    pub(crate) fn notice<'p>(&self, path: impl FnOnce(usize) -> &'p Path, notice: &Notice<'_>) {
        match notice {
            Notice::Damage { recording, error } => self.note(path(*recording), *error),
            Notice::Unknown(UnknownEvents { recording, id, count, first, cpu }) => {
                let events = counted(*count, "event");
                let path = path(*recording).display();
                let place = format!("the first at {} on cpu {cpu}", first.0);
                self.tell(format!("rtrace: {path}: {events} with the id {id}, which no format describes: {place}"));
            }
            Notice::Backwards { recording, cpu, before, now } => {
                let path = path(*recording).display();
                self.tell(format!("rtrace: {path}: time goes backwards on cpu {cpu}: {} after {}", now.0, before.0));
            }
        }
    }

    /// Reports what went wrong when symbols and types were loaded, which is when they were first needed.
    pub(crate) fn late(&self, path: &Path, recording: &Recording) {
        for lazy in [&recording.trace.kallsyms, &recording.trace.btf] {
            lazy.error().into_iter().for_each(|error| self.note(path, error));
        }
        if let Some(error) = recording.symbols.functions.error() {
            self.note(path, &error);
        }
    }

    /// Number of places so far.
    pub(crate) fn places(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// Counts one more that was not reported before, and prints its line if there were not too many.
    fn tell(&self, line: String) {
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        if reported.contains(&line) {
            return;
        }
        if self.count.fetch_add(1, Ordering::Relaxed) < MOST_LINES {
            note!("{line}");
            reported.insert(line);
        }
    }

    /// The outcome of a command that came to `done`: [`Exit::Incomplete`] if there was damage, also where nothing was
    /// found of what was asked for.
    pub(crate) fn outcome(&self, done: Result<(), Failure>) -> Result<Exit, Failure> {
        match (self.exit(), done) {
            (exit, Ok(())) => Ok(exit),
            (Exit::Success, Err(failure)) => Err(failure),
            (_, Err(failure)) => Err(failure.of_damaged()),
        }
    }

    fn exit(&self) -> Exit {
        let count = self.count.load(Ordering::Relaxed);
        if count > MOST_LINES {
            note!("rtrace: damage in {} in all", counted(count, "place"));
        }
        if count == 0 { Exit::Success } else { Exit::Incomplete }
    }
}
