//! Settings that several rtraces have changed, and are to be put back when the last of them ends.
//!
//! The notes of one setting, in the order of time and regardless of whose they are, are a stack: the lowest says how the setting
//! was before all. A process that ends performs those of its notes that lie on top. One that lies below another process's
//! is handed to that one, by a line at the end of its journal: the value is in use, and goes when its user does. So, in
//! whichever order processes end or are killed, the last finds the first value.
//!
//! A lock on the journals' directory keeps the stack as it is while it is read, noted in, or taken apart.

use super::disk::{self, Content, PrivateDir};
use super::undo::{Note, Undo, UndoError, undo_all};
use super::writer::JournalWriter;
use crate::control::tracefs::{Error, Instance, Tracefs};
use nix::fcntl::{Flock, FlockArg};
use std::fs::{DirBuilder, File};
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::Path;
use std::time::Duration;

/// Longest wait for a process that puts its settings back; one that is stopped meanwhile does not stop the others.
const PATIENCE: Duration = Duration::from_secs(10);

/// The lock on the directory of the journals.
pub(super) struct SettingsLock {
    _lock: Flock<OwnedFd>,
}

impl SettingsLock {
    /// Waits for it; `None` if there is no such directory, or if somebody holds it too long.
    pub(super) fn wait(dir: &Path) -> Option<Self> {
        // Without a directory there would be nothing to lock, and another process might make it meanwhile. A failure is
        // told by who wants to write there.
        let _ = DirBuilder::new().recursive(true).mode(0o700).create(dir);
        PrivateDir::lock(dir, PATIENCE).map(|lock| SettingsLock { _lock: lock })
    }
}

/// Another process's journal.
#[derive(Debug)]
struct OtherJournal {
    name: String,
    file: File,
    content: Content,
}

/// The journals of other processes in one tracing directory.
#[derive(Debug, Default)]
pub(super) struct Others(Vec<OtherJournal>);

impl Others {
    /// All in `dir`.
    pub(super) fn in_dir(dir: &Path, root: &Path) -> Self {
        PrivateDir::open(dir).map_or_else(|_| Others::default(), |dir| Others::beside((&dir, ""), root))
    }

    /// All in the directory of a journal, but for that one.
    pub(super) fn beside((dir, own): (&PrivateDir, &str), root: &Path) -> Self {
        let mut names = disk::all(dir).unwrap_or_default();
        names.retain(|name| name != own);
        // One that cannot be used is named by who looks for orphans.
        let read = |name: String| {
            let file = dir.open_file(&name).ok()?;
            let content = Content::read(&file, &dir.path_of(&name)).ok()?;
            let is_here = content.header.tracefs == root && !content.is_outlived();
            is_here.then_some(OtherJournal { name, file, content })
        };
        Others(names.into_iter().filter_map(read).collect())
    }

    /// True if another process has set `file` of `instance`, or made the instance.
    pub(super) fn hold(&self, instance: &Instance, file: &str) -> bool {
        self.notes().any(|(_, note)| match &note.undo {
            Undo::Restore { file: theirs, .. } => covers(theirs, file) || covers(file, theirs),
            Undo::Instance { name } => instance.name() == Some(name),
            _ => false,
        })
    }

    /// Processes that run and record from `instance`, or have made it.
    pub(super) fn users_of(self, instance: &Instance) -> Vec<(u32, String)> {
        let switch = instance.relative("tracing_on");
        let uses = |note: &Note| match &note.undo {
            Undo::Restore { file, .. } => *file == switch,
            Undo::Instance { name } => instance.name() == Some(name),
            _ => false,
        };
        let using = self.0.into_iter().filter(|other| other.content.entries.iter().any(uses));
        // Whoever writes a journal has it locked.
        let running = using.filter_map(|OtherJournal { file, content, .. }| {
            let is_free = Flock::lock(file, FlockArg::LockSharedNonblock).is_ok();
            (!is_free).then_some((content.header.pid, content.header.command))
        });
        running.collect()
    }

    fn notes(&self) -> impl Iterator<Item = (&str, &Note)> {
        self.0.iter().flat_map(|other| other.content.entries.iter().map(|note| (other.name.as_str(), note)))
    }

    /// The journal whose process has a use for what `entry` puts back: that of the note next above.
    fn heir(&self, entry: &Note) -> Option<&str> {
        let above = |note: &Note| match (&entry.undo, &note.undo) {
            (Undo::Restore { file, .. }, Undo::Restore { file: theirs, .. }) => {
                note.at > entry.at && covers(theirs, file)
            }
            (Undo::Instance { name }, Undo::Restore { file, .. } | Undo::Remove { file, .. }) => is_in(file, name),
            _ => false,
        };
        self.notes().filter(|(_, note)| above(note)).min_by_key(|(_, note)| note.at).map(|(name, _)| name)
    }

    /// The parts of a switch of many events, if others have noted one of them later.
    fn parts(&self, entry: &Note, tracefs: &Tracefs) -> Option<Vec<Note>> {
        let Undo::Restore { file, said, write } = &entry.undo else { return None };
        let is_inside = |note: &Note| match &note.undo {
            Undo::Restore { file: theirs, .. } => note.at > entry.at && theirs != file && covers(file, theirs),
            _ => false,
        };
        if !self.notes().any(|(_, note)| is_inside(note)) {
            return None;
        }
        let instance = match of_instance(file).0 {
            "" => tracefs.top(),
            name => tracefs.instance(name).ok()?,
        };
        let files = instance.events().ok()?.into_iter().map(|event| instance.relative(&event.file("enable")));
        let part = |file| Note { at: entry.at, undo: Undo::Restore { file, said: said.clone(), write: write.clone() } };
        Some(files.filter(|part| covers(file, part)).map(part).collect())
    }
}

/// Puts back what the journal `own` holds, as far as no other process uses it, and removes the journal if all of that worked.
/// `entries` reads it.
pub(super) fn undo_shared(
    writer: &mut JournalWriter,
    own: (&PrivateDir, &str),
    entries: impl FnOnce() -> Vec<Note>,
) -> Result<(), UndoError> {
    let one = |error| UndoError { failures: vec![error] };
    let lock = SettingsLock::wait(&own.0.path_of(""));
    let others = Others::beside(own, writer.tracefs.root());
    let (mut mine, mut handed) = (Vec::new(), Vec::new());
    for entry in entries() {
        for part in others.parts(&entry, &writer.tracefs).unwrap_or_else(|| vec![entry]) {
            match others.heir(&part) {
                Some(heir) => handed.push((heir, part)),
                None => mine.push(part),
            }
        }
    }
    // Nobody hands to one who has made an instance and no more, and removing that takes the kernel a while.
    let _lock = lock.filter(|_| mine.iter().any(|note| !matches!(note.undo, Undo::Instance { .. })));
    // Handed over first: who is killed now leaves it in both journals, where it may be done twice.
    for heir in others.0.iter().map(|other| other.name.as_str()) {
        let theirs: Vec<&Note> = handed.iter().filter(|(name, _)| *name == heir).map(|(_, note)| note).collect();
        hand_over(own.0, heir, &theirs).map_err(one)?;
    }
    undo_all(writer, &mine)?;
    disk::remove(own.0, own.1).map_err(one)
}

/// Appends `notes` to the journal `heir`.
fn hand_over(dir: &PrivateDir, heir: &str, notes: &[&Note]) -> Result<(), Error> {
    if notes.is_empty() {
        return Ok(());
    }
    let failed = |cause| Error::Journal { action: "write", path: dir.path_of(heir), cause };
    let mut lines = Vec::new();
    for note in notes {
        serde_json::to_writer(&mut lines, note).map_err(|e| failed(e.into()))?;
        lines.push(b'\n');
    }
    let mut file = dir.open_to_append(heir).map_err(failed)?;
    cut_torn_line(&file).map_err(failed)?;
    file.write_all(&lines).map_err(failed)
}

/// Removes a line that its process was writing when it died: it would swallow the next one.
fn cut_torn_line(file: &File) -> std::io::Result<()> {
    let mut len = file.metadata()?.len();
    let before = len;
    let mut byte = [0];
    while let Some(last) = len.checked_sub(1) {
        file.read_exact_at(&mut byte, last)?;
        if byte == *b"\n" {
            break;
        }
        len = last;
    }
    if len < before { file.set_len(len) } else { Ok(()) }
}

/// The instance of a file, empty for the top level, and the file in it.
fn of_instance(file: &str) -> (&str, &str) {
    file.strip_prefix("instances/").and_then(|rest| rest.split_once('/')).unwrap_or(("", file))
}

fn is_in(file: &str, instance: &str) -> bool {
    of_instance(file).0 == instance
}

/// True if writing `file` sets what `part` shows: the same file, or a switch of many events.
fn covers(file: &str, part: &str) -> bool {
    if file == part {
        return true;
    }
    let ((instance, file), (other, part)) = (of_instance(file), of_instance(part));
    let many = file.strip_suffix("enable").filter(|dir| dir.starts_with("events/"));
    instance == other && part.ends_with("/enable") && many.is_some_and(|dir| part.starts_with(dir))
}

#[cfg(test)]
mod tests {
    use super::covers;

    #[test]
    fn switches_of_many_events_have_parts() {
        for (file, part) in [
            ("trace_clock", "trace_clock"),
            ("events/enable", "events/sched/sched_switch/enable"),
            ("events/enable", "events/sched/enable"),
            ("events/sched/enable", "events/sched/sched_switch/enable"),
            ("instances/a/events/sched/enable", "instances/a/events/sched/sched_switch/enable"),
        ] {
            assert!(covers(file, part), "{file} {part}");
            assert!(file == part || !covers(part, file), "{part} {file}");
        }
        for (file, part) in [
            ("events/sched/enable", "events/sched_ext/sched_ext_dump/enable"),
            ("events/sched/enable", "events/sched/sched_switch/filter"),
            ("events/enable", "instances/a/events/sched/enable"),
            ("instances/a/events/enable", "instances/b/events/sched/enable"),
            ("trace_clock", "instances/a/trace_clock"),
        ] {
            assert!(!covers(file, part), "{file} {part}");
        }
    }
}
