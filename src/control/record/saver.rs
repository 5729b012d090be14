//! The thread that writes a part of the recording to a file of its own while recording goes on.
//!
//! It asks the draining threads for all that they have, whose spools are complete up to that moment then, and copies from
//! them. What it writes ends a moment before it asked: an event with an earlier time stamp is in a ring buffer by then, also
//! if the CPU that wrote it stood still in between.

use super::asked::Asking;
use super::comms::with_saved;
use super::error::in_full;
use super::save_place::{SavePlace, UnnamedFile};
use super::tasks::Comm;
use super::wall_clock;
use super::watch::Interference;
use super::worker::{HandedOver, thread_time};
use crate::base::abi::Abi;
use crate::base::sys;
use crate::base::units::{ByteSize, CpuId, Pid, counted};
use crate::control::tracefs::Tracefs;
use crate::file::ring_buffer::PageLayout;
use crate::file::trace_dat::write::{RecordingHead, SavedBuffer, SavedPart, SavedSpool, save_part};
use crate::file::trace_dat::{Codec, Coverage, LossCause, OptionId, UnsavedEvents};
use nix::sys::statvfs::fstatvfs;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

/// Time between the end of what is saved and the question to the draining threads.
const SETTLE: Duration = Duration::from_millis(25);
/// Nice value of the thread: nobody waits for it.
const MODEST: i32 = 10;

/// A save to be made.
pub(super) struct SaveJob {
    pub(super) to: SaveTo,
    pub(super) by: SavedFor,
    pub(super) from: SaveFrom,
    /// What it is for, in words.
    pub(super) cause: String,
    /// Causes that were added to this one.
    pub(super) more: u64,
    /// Options of the file about the recording so far.
    pub(super) options: Vec<(OptionId, Vec<u8>)>,
    /// Each buffer as it is now.
    pub(super) buffers: Vec<BufferNow>,
}

/// A buffer when a save was asked for.
pub(super) struct BufferNow {
    /// Coverage of it so far.
    pub(super) coverage: Coverage,
    /// Time of its trace clock, in nanoseconds; `None` of a clock that counts no time.
    pub(super) time: Option<u64>,
}

/// Begin of a save.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SaveFrom {
    /// With all that is kept.
    All,
    /// So long before its end.
    Last(Duration),
    /// At these times of the buffers' clocks, in nanoseconds; with all of a buffer that has none.
    Times(Vec<u64>),
}

/// Who asks for a save.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SavedFor {
    /// A program that waits for the answer.
    Asker,
    /// SIGUSR2, whose sender learns nothing.
    Signal,
    /// A find of a sentry.
    Find,
    /// `--rotate`.
    Rotation,
}

/// The place of a save.
pub(super) enum SaveTo {
    /// Beside the recording.
    Beside,
    /// A file that another process has open, which waits for an answer.
    Open(File, UnixStream),
}

/// The saves of a recording.
#[derive(Clone, Debug, Default)]
pub struct SavesMade {
    /// The latest thousand saves.
    pub latest: Vec<Save>,
    /// Number of all.
    pub all: u64,
    /// Number of those that failed.
    pub failed: u64,
    /// Of them, those of which nobody else was told: asked for by a signal or a find, and a rotation's last.
    pub untold: u64,
}

/// A save that was made or that failed.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Save {
    /// The file; `None` if another process named it, or if there is none.
    pub file: Option<PathBuf>,
    /// What it was made for.
    pub cause: String,
    /// Number of further causes, which came too soon after that one for a save of their own.
    pub more_causes: u64,
    /// The wall clock when it was made, in nanoseconds since 1970.
    pub at_ns: i64,
    /// The first time that it covers, by the trace clock in nanoseconds; `None` if that is all that was kept.
    pub from_ns: Option<u64>,
    /// The time before which it ends.
    pub until_ns: Option<u64>,
    /// Size of the file in bytes.
    pub size: u64,
    /// Number of events; `None` if one of its sub-buffers is damaged.
    pub events: Option<u64>,
    /// Time that it took, in seconds.
    pub seconds: f64,
    /// Why there is none.
    pub error: Option<String>,
}

/// The ring of a CPU, in the order of the draining threads.
#[derive(Clone, Debug)]
pub(super) struct SavedRing {
    pub(super) buffer: String,
    pub(super) cpu: CpuId,
    pub(super) layout: PageLayout,
}

/// Makes saves, one after the other.
pub(super) struct Saver {
    pub(super) place: SavePlace,
    /// The most saves beside the recording.
    pub(super) keep: Option<usize>,
    /// The unfinished recording.
    pub(super) head: RecordingHead,
    pub(super) codec: Codec,
    pub(super) buffers: Vec<SavedBuffer>,
    pub(super) rings: Vec<SavedRing>,
    pub(super) draining: Asking<HandedOver>,
    pub(super) names: Option<Asking<Vec<(Pid, Comm)>>>,
    pub(super) tracefs: Tracefs,
    /// Bytes that the file system is to have left.
    pub(super) min_free: u64,
}

impl Saver {
    /// Makes the saves of `jobs` until there can be no more; hands each to `done`. Gives the CPU time it took.
    pub(super) fn run(
        mut self,
        jobs: impl IntoIterator<Item = SaveJob>,
        mut done: impl FnMut(SavedFor, Save),
    ) -> Duration {
        let _ = sys::nice_thread(MODEST);
        for job in jobs {
            done(job.by, self.make(job));
        }
        thread_time()
    }

    fn make(&mut self, mut job: SaveJob) -> Save {
        let began = std::time::Instant::now();
        let (cause, more_causes) = (std::mem::take(&mut job.cause), job.more);
        let at_ns = wall_clock::now().unwrap_or_default();
        let mut save = Save { cause, more_causes, at_ns, ..Save::default() };
        if !job.buffers.is_empty() {
            let window = job.window(0);
            (save.from_ns, save.until_ns) =
                (Some(window.start).filter(|n| *n > 0), Some(window.end).filter(|n| *n < u64::MAX));
        }
        let no_time = job.from != SaveFrom::All && job.buffers.iter().any(|buffer| buffer.time.is_none());
        let made = match &job.to {
            _ if no_time => Err("its clock counts no time: there is no last while, but all can be saved".to_owned()),
            SaveTo::Beside => self.beside(&job, at_ns, &mut save),
            SaveTo::Open(file, _) => file.try_clone().map_err(|e| e.to_string()).and_then(|to| self.write(to, &job)),
        };
        match made {
            Ok(part) => (save.size, save.events) = (part.file_size, part.events),
            Err(error) => save.error = Some(error),
        }
        save.seconds = began.elapsed().as_secs_f64();
        if let SaveTo::Open(_, mut answer) = job.to {
            // One that does not wait any longer has no use for it.
            let _ = serde_json::to_vec(&save).map(|text| answer.write_all(&text));
        }
        save
    }

    fn beside(&mut self, job: &SaveJob, wall: i64, save: &mut Save) -> Result<SavedPart, String> {
        let said = |error: io::Error| error.to_string();
        let file: UnnamedFile = self.place.file().map_err(said)?;
        let part = self.write(file.file().try_clone().map_err(said)?, job)?;
        save.file = Some(self.place.keep(file, wall).map_err(said)?);
        if let Some(most) = self.keep {
            self.place.remove_all_but(most).map_err(said)?;
        }
        Ok(part)
    }

    fn write(&mut self, to: File, job: &SaveJob) -> Result<SavedPart, String> {
        sleep(SETTLE);
        let answers = self.draining.ask().map_err(|error| error.to_string())?;
        let mut options = job.options.clone();
        let (mut spools, mut shortened) = (Vec::new(), Vec::new());
        for (ring, answer) in self.rings.iter().zip(answers) {
            let SavedRing { buffer, cpu, layout } = ring.clone();
            let pieces = answer.pieces.map_err(|error| format!("a spool of cpu {cpu} cannot be read: {error}"))?;
            let number = self.buffers.iter().position(|known| known.name == buffer);
            let window = number.map_or(0..u64::MAX, |number| job.window(number));
            let spool = SavedSpool { buffer, cpu, layout, pieces, window };
            let begins_later = || spool.first_time(self.codec).is_none_or(|first| first > spool.window.start);
            if answer.dropped.bytes > 0 && begins_later() {
                shortened.push((spool.buffer.clone(), cpu));
            }
            let unsaved = marks(&spool.buffer, cpu, &answer.interference);
            options.extend(unsaved.map(|mark| (OptionId::RTRACE_UNSAVED, mark.write(Abi::HOST))));
            spools.push(spool);
        }
        self.check_room(&to, &spools)?;
        for (buffer, now) in self.buffers.iter().zip(&job.buffers) {
            let of_buffer = shortened.iter().filter(|(name, _)| *name == buffer.name).map(|(_, cpu)| *cpu);
            let coverage = Coverage { shortened: of_buffer.collect(), ..now.coverage.clone() };
            let text = [coverage.to_text(&buffer.name).as_bytes(), b"\0"].concat();
            options.push((OptionId::RTRACE_COVERAGE, text));
        }
        let names = self.names.as_ref().and_then(|names| names.ask().ok()?.pop()).unwrap_or_default();
        let mut lines = Vec::new();
        for (pid, comm) in with_saved(names, &self.tracefs.saved_cmdlines().unwrap_or_default()) {
            comm.write_line(pid, &mut lines);
        }
        let mut buffers = self.buffers.clone();
        if let Some(main) = buffers.first().filter(|main| !main.name.is_empty()).cloned() {
            buffers.insert(0, SavedBuffer { name: String::new(), ..main }); // an unused top buffer
        }
        save_part(to, &mut self.head, (options, &lines), &buffers, &spools).map_err(|error| in_full(&error))
    }

    /// Refuses a save that would take the space that the recording needs meanwhile: as much again, as what it drops is kept
    /// until it is copied.
    fn check_room(&self, to: &File, spools: &[SavedSpool]) -> Result<(), String> {
        let data: u64 = spools.iter().map(|spool| spool.size(self.codec)).sum();
        let needed = 2 * (data + self.head.size()) + self.min_free;
        match fstatvfs(to) {
            // One that does not say how large it is does not say what is free either.
            Ok(disk) if disk.blocks() > 0 && sys::free_bytes(&disk) < needed => Err(format!(
                "the file system has less than {} left, which recording may need meanwhile",
                ByteSize(needed)
            )),
            _ => Ok(()),
        }
    }
}

impl SaveJob {
    /// The times of a buffer that belong to it.
    fn window(&self, buffer: usize) -> Range<u64> {
        let time = self.buffers.get(buffer).and_then(|buffer| buffer.time);
        let from = match &self.from {
            SaveFrom::All => 0,
            SaveFrom::Last(last) => time.map_or(0, |until| until.saturating_sub(last.as_nanos() as u64)),
            SaveFrom::Times(times) => times.get(buffer).copied().unwrap_or(0),
        };
        from..time.unwrap_or(u64::MAX)
    }
}

/// Marks of events that others took out of the ring; they may have been older than what is saved.
fn marks(buffer: &str, cpu: CpuId, others: &Interference) -> impl Iterator<Item = UnsavedEvents> + use<> {
    let known = |events: u64| Some(events).filter(|events| *events > 0);
    let marks = [
        (others.read > 0, LossCause::READ_BY_OTHERS, known(others.read)),
        (others.cleared, LossCause::CLEARED, known(others.cleared_events)),
    ];
    let buffer = buffer.to_owned();
    let mark = move |(_, cause, events)| UnsavedEvents { buffer: buffer.clone(), cpu, events, cause };
    marks.into_iter().filter(|mark| mark.0).map(mark)
}

impl Save {
    /// A line for people.
    pub fn text(&self) -> String {
        let more = if self.more_causes == 0 { String::new() } else { format!(", and {} more", self.more_causes) };
        match (&self.error, &self.file) {
            (Some(error), _) => format!("failed to save ({}{more}): {error}; recording goes on", self.cause),
            (None, file) => {
                let file = file.as_ref().map_or("a file of another process".into(), |file| file.to_string_lossy());
                let events = self.events.map_or("events".to_owned(), |events| counted(events, "event"));
                format!("saved {events} to {file} ({}{more})", self.cause)
            }
        }
    }
}
