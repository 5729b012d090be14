//! One step back.
//! The recording that a journal belongs to, so that `recover` finds the rings of a killed recorder.

use super::writer::{JournalWriter, says_the_same, was_refused};
use crate::base::units::CpuId;
use crate::control::tracefs::{Error, EventName, Instance, WriteMode};
use crate::language::hist::spec::Echo;
use nix::errno::Errno;
use nix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path};
use std::thread::sleep;
use std::time::Duration;

/// A line of a journal: one undo, and when it was noted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Note {
    /// Time since boot, in nanoseconds: the order in which processes changed one setting.
    #[serde(default)]
    pub(super) at: u64,
    #[serde(flatten)]
    pub(super) undo: Undo,
}

impl Note {
    /// `undo`, noted now.
    pub(super) fn now(undo: Undo) -> Self {
        let now = clock_gettime(ClockId::CLOCK_BOOTTIME).map_or(Duration::ZERO, Duration::from);
        Note { at: u64::try_from(now.as_nanos()).unwrap_or(u64::MAX), undo }
    }
}

/// The undo of one write. Each may be done twice, and done although the write never happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Undo {
    /// Write `write` over what `file` says, unless it says `said` again.
    Restore { file: String, said: String, write: String },
    /// Append `text` to `file` unless it says `said` again: takes back one of several lines.
    Remove { file: String, said: String, text: String },
    /// Remove an instance, its triggers first.
    Instance { name: String },
    /// Takes back the note that instance `name` is made: the kernel refused it, or somebody else had made it in the meantime.
    NotMade { name: String },
    /// Nothing to undo: the recording whose events are in the rings.
    Recording(JournalledRecording),
}

impl Undo {
    fn perform(&self, to: &mut JournalWriter) -> Result<(), Error> {
        match self {
            Undo::Restore { file, said, write } => {
                let tolerate = |error: &Error| {
                    error.errno() == Some(Errno::ENOENT)
                        || (was_refused(file, said) && error.errno() == Some(Errno::EINVAL))
                };
                match to.tracefs.read_bytes(file) {
                    Ok(says) if says_the_same(file, said, &String::from_utf8_lossy(&says)) => Ok(()),
                    Err(e) if is_gone(&e) => Ok(()),
                    // Unreadable knobs are simply written.
                    Ok(_) | Err(_) => match to.write(file, write, WriteMode::Truncate) {
                        Err(e) if tolerate(&e) => Ok(()),
                        outcome => outcome,
                    },
                }
            }
            Undo::Remove { file, said, text } => match to.tracefs.read_bytes(file) {
                Ok(says) if said.as_bytes() == says => Ok(()),
                Err(e) if is_gone(&e) => Ok(()),
                Ok(_) | Err(_) => match to.write(file, text, WriteMode::Append) {
                    Err(e) if is_gone(&e) => Ok(()),
                    outcome => outcome,
                },
            },
            Undo::Instance { name } => remove_instance(to, name),
            Undo::NotMade { .. } | Undo::Recording(_) => Ok(()),
        }
    }

    /// True if it is about files below the tracing directory.
    pub(super) fn stays_inside(&self) -> bool {
        let is_below = |file: &str| {
            let path = Path::new(file);
            !file.is_empty() && path.components().all(|part| matches!(part, Component::Normal(_)))
        };
        match self {
            Undo::Restore { file, .. } | Undo::Remove { file, .. } => is_below(file),
            Undo::Instance { name } | Undo::NotMade { name } => Instance::is_name(name),
            Undo::Recording(recording) => recording.stays_inside(),
        }
    }
}

fn is_gone(error: &Error) -> bool {
    matches!(error, Error::Unsupported { .. }) || error.errno() == Some(Errno::ENOENT)
}

/// Removes an instance. It is busy while a reader has one of its pipes open, which may take a moment to end, and
/// while a trigger in it refers to another.
pub(super) fn remove_instance(to: &mut JournalWriter, name: &str) -> Result<(), Error> {
    const TRIES: u32 = 100;
    const PAUSE: Duration = Duration::from_millis(10);
    let mut last = Ok(());
    for attempt in 0..TRIES {
        last = to.rmdir(&format!("instances/{name}"));
        match &last {
            Err(e) if is_gone(e) => return Ok(()),
            Err(e) if e.errno() == Some(Errno::EBUSY) => {
                if attempt == 0 {
                    remove_triggers(to, &Instance::named(&to.tracefs, name)?);
                }
                sleep(PAUSE);
            }
            _ => return last,
        }
    }
    last
}

/// Removes every trigger of an instance, in rounds, since one that is referred to goes only after those that refer.
pub(super) fn remove_triggers(to: &mut JournalWriter, instance: &Instance) {
    let set = instance.event_triggers(None).unwrap_or_default();
    let removals = |(event, line): &(EventName, String)| {
        settable(line).into_iter().map(|text| (event.clone(), format!("!{text}"))).collect::<Vec<_>>()
    };
    let mut left: Vec<(EventName, String)> = set.iter().flat_map(removals).collect();
    loop {
        let before = left.len();
        left.retain(|(event, text)| {
            to.write(&instance.relative(&event.file("trigger")), text, WriteMode::Append).is_err()
        });
        if left.is_empty() || left.len() == before {
            return;
        }
    }
}

/// A trigger as it is set, from how the kernel shows it: `traceoff:unlimited` is set as `traceoff`,
/// `stacktrace:count=3` as `stacktrace`, `hist:...:size=2048 [active]` without the brackets. Several texts where it may
/// have been any of them; the kernel says yes to the removal of what is not there.
fn settable(line: &str) -> Vec<String> {
    let written = Echo::written(line);
    if !written.is_empty() {
        return written;
    }
    let line = ["[active]", "[paused]"].iter().fold(line, |l, state| l.trim_end().trim_end_matches(state)).trim_end();
    let (trigger, filter) = match line.split_once(" if ") {
        Some((trigger, filter)) => (trigger, Some(filter)),
        None => (line, None),
    };
    let trigger = match trigger.rsplit_once(':') {
        Some((rest, last)) if !trigger.starts_with("hist:") && (last == "unlimited" || last.starts_with("count=")) => {
            rest
        }
        _ => trigger,
    };
    vec![match filter {
        Some(filter) => format!("{trigger} if {filter}"),
        None => trigger.to_owned(),
    }]
}

/// Writes that could not be undone. The rest was.
#[derive(Debug)]
pub struct UndoError {
    /// Each failed step.
    pub failures: Vec<Error>,
}

impl fmt::Display for UndoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("failed to put everything back")?;
        self.failures.iter().try_for_each(|failure| write!(f, "\n  {failure}"))
    }
}

impl std::error::Error for UndoError {}

/// Takes back `entries`, the last first. Entries of an instance that goes as a whole are left alone.
pub(super) fn undo_all(writer: &mut JournalWriter, entries: &[Note]) -> Result<(), UndoError> {
    if !entries.is_empty() {
        // In a tracefs that was unmounted every file is missing, which says nothing of what is to be put back.
        writer.tracefs.check().map_err(|error| UndoError { failures: vec![error] })?;
    }
    // An instance's events are switched off when it is removed.
    let _awake = (!entries.is_empty()).then(|| writer.tracefs.files().keep_cpus_awake());
    let failures: Vec<Error> = entries.iter().rev().filter_map(|entry| entry.undo.perform(writer).err()).collect();
    if failures.is_empty() { Ok(()) } else { Err(UndoError { failures }) }
}

/// A file that is recorded to, and the instances whose rings are drained into it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalledRecording {
    /// Path of the file when it was created, for messages; lossy if it is not UTF-8.
    pub path: String,
    /// Device of the file (`st_dev`).
    pub device: u64,
    /// Inode of the file (`st_ino`).
    pub inode: u64,
    /// The buffers in the file.
    pub buffers: Vec<RecordedBuffer>,
}

/// One buffer of a recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedBuffer {
    /// Its name in the file; empty for the top one.
    pub name: String,
    /// The instance it is recorded from; `None` for the top level.
    pub instance: Option<String>,
    /// By CPU, how many events had been read out of its ring before the recording (`read events` of its `stats`). CPUs that
    /// are not named had none.
    #[serde(default)]
    pub read_before: Vec<(u32, u64)>,
}

impl RecordedBuffer {
    /// Number of events of `cpu` that had been read before the recording.
    pub fn read_before(&self, cpu: CpuId) -> u64 {
        self.read_before.iter().find(|(number, _)| *number == cpu.0).map_or(0, |(_, read)| *read)
    }
}

impl JournalledRecording {
    /// True if `file` is the file that was recorded to.
    pub fn is_of(&self, file: &Metadata) -> bool {
        (self.device, self.inode) == (file.dev(), file.ino())
    }

    /// True if the file still has its path.
    pub fn is_in_place(&self) -> bool {
        Path::new(&self.path).symlink_metadata().is_ok_and(|file| self.is_of(&file))
    }

    pub(super) fn stays_inside(&self) -> bool {
        self.buffers.iter().all(|buffer| buffer.instance.as_deref().is_none_or(Instance::is_name))
    }
}

#[cfg(test)]
mod tests {
    use super::settable;

    #[test]
    fn triggers_as_they_are_set() {
        for (shown, set) in [
            ("traceoff:unlimited", "traceoff"),
            ("stacktrace:count=3 if prev_pid > 1", "stacktrace if prev_pid > 1"),
            ("enable_event:irq:irq_handler_entry:unlimited", "enable_event:irq:irq_handler_entry"),
            (
                "hist:keys=next_pid:vals=hitcount:sort=hitcount:size=2048 if next_pid > 1 [active]",
                "hist:keys=next_pid:vals=hitcount:sort=hitcount:size=2048 if next_pid > 1",
            ),
            (
                "hist:keys=a.log2:vals=hitcount:sort=a.log2.descending:size=2048 [paused]",
                "hist:keys=a.log2:vals=hitcount:sort=a.descending:size=2048",
            ),
        ] {
            assert_eq!(settable(shown), [set]);
        }
        assert_eq!(
            settable(
                "hist:keys=common_cpu,common_cpus:vals=hitcount:sort=common_cpu:size=2048 if common_cpu == 1 [active]"
            ),
            [
                "hist:keys=common_cpu,common_cpus:vals=hitcount:sort=common_cpu:size=2048 if common_cpu == 1",
                "hist:keys=cpu,common_cpus:vals=hitcount:sort=cpu:size=2048 if common_cpu == 1",
                "hist:keys=CPU,common_cpus:vals=hitcount:sort=CPU:size=2048 if common_cpu == 1",
            ]
        );
    }
}
