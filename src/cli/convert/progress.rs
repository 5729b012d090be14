//! Progress of a conversion: one line on a terminal, nothing elsewhere.
//! The size of a file before it is written: some of its events, spread over the time, are written to nowhere.
//! The line about what was written.

use super::target::ConvertTarget;
use crate::cli::exit::Failure;
use crate::cli::piped::{named, say_of};
use crate::cli::query::QueryEvents;
use crate::cli::terminal::TerminalLine;
use rtrace::internal::trace_dat::ReadAt;
use rtrace::units::{ByteSize, Timestamp, counted};
use serde_json::json;
use std::fs::File;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const EVERY: Duration = Duration::from_millis(250);

/// A file whose reads are counted.
pub(super) struct CountedFile {
    file: File,
    read: Arc<AtomicU64>,
}

impl CountedFile {
    /// `file`, whose bytes that were read are added to `read`.
    pub(super) fn new(file: File, read: &Arc<AtomicU64>) -> Self {
        CountedFile { file, read: Arc::clone(read) }
    }
}

impl ReadAt for CountedFile {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let count = ReadAt::read_at(&self.file, buf, offset)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }

    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }
}

/// An output that counts its bytes, names itself in errors and shows progress on standard error.
pub(super) struct ProgressOutput<W> {
    out: W,
    /// The output's name in errors; `None` if the output's own errors say that.
    name: Option<String>,
    written: u64,
    read: Arc<AtomicU64>,
    /// Bytes that had been read before.
    before: u64,
    /// Bytes to be read from then on.
    total: u64,
    line: Option<TerminalLine>,
    last: Instant,
}

impl<W: Write> ProgressOutput<W> {
    /// `total` bytes are to be read yet, which `read` counts.
    pub(super) fn new(out: W, name: Option<String>, read: &Arc<AtomicU64>, total: u64) -> Self {
        let before = read.load(Ordering::Relaxed);
        ProgressOutput {
            out,
            name,
            written: 0,
            read: Arc::clone(read),
            before,
            total,
            line: TerminalLine::new(),
            last: Instant::now(),
        }
    }

    /// Number of bytes written.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    fn show(&mut self) {
        let Some(line) = &mut self.line else { return };
        if self.last.elapsed() < EVERY {
            return;
        }
        self.last = Instant::now();
        // Some bytes are read twice.
        let read = self.read.load(Ordering::Relaxed).saturating_sub(self.before);
        let share = read.saturating_mul(100).checked_div(self.total).unwrap_or(0).min(99);
        line.set(&format!("{share} % read, {} written", ByteSize(self.written)));
    }

    fn named(&self, error: io::Error) -> io::Error {
        match &self.name {
            Some(name) if error.kind() != io::ErrorKind::Interrupted => {
                io::Error::new(error.kind(), format!("failed to write {name}: {error}"))
            }
            _ => error,
        }
    }
}

impl<W: Write> Write for ProgressOutput<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes).map_err(|error| self.named(error))?;
        self.written += count as u64;
        self.show();
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush().map_err(|error| self.named(error))
    }
}

impl<W> Drop for ProgressOutput<W> {
    fn drop(&mut self) {
        if let Some(line) = &mut self.line {
            line.clear();
        }
    }
}

/// Events in the order of time: how many, from when to when, and places among them.
#[derive(Clone, Debug)]
pub(super) struct Course {
    pub(super) count: u64,
    pub(super) first: Timestamp,
    pub(super) last: Timestamp,
    /// Numbers of events, ascending, with their times; each is the first event of its time.
    places: Vec<(u64, Timestamp)>,
}

/// Number of places at which every other one is dropped.
const MOST_PLACES: usize = 4096;
/// Samples, and the events in each.
const SAMPLES: u64 = 8;
const EVENTS: u64 = 4000;

impl Course {
    /// That of all events; `None` if there are none.
    pub(super) fn of(events: &QueryEvents<'_>) -> Result<Option<Self>, Failure> {
        let mut course: Option<Course> = None;
        let (mut next, mut every) = (0, 1);
        events.query.resolve()?.walk(|current| {
            let time = current.record().timestamp;
            let fresh = || Course { count: 0, first: time, last: time, places: vec![(0, time)] };
            let course = course.get_or_insert_with(fresh);
            if course.count >= next && time > course.last {
                course.places.push((course.count, time));
                next = course.count + every;
                if course.places.len() == MOST_PLACES {
                    let mut number = 0;
                    course.places.retain(|_| {
                        number += 1;
                        number % 2 == 1
                    });
                    every *= 2;
                }
            }
            (course.count, course.last) = (course.count + 1, time);
            Ok::<_, Failure>(ControlFlow::Continue(()))
        })?;
        Ok(course)
    }

    /// The place at or before an event's number.
    pub(super) fn place(&self, event: u64) -> (u64, Timestamp) {
        let after = self.places.partition_point(|(number, _)| *number <= event);
        after.checked_sub(1).and_then(|at| self.places.get(at)).copied().unwrap_or((0, self.first))
    }

    /// The number of bytes that `export` makes of all of them, from samples.
    pub(super) fn size<'e>(
        &self,
        events: &QueryEvents<'e>,
        export: impl Fn(&QueryEvents<'e>, &mut (dyn Write + Send)) -> Result<u64, Failure>,
    ) -> Result<u64, Failure> {
        let (mut bytes, mut written) = (EstimateOutput(0), 0);
        for sample in 0..SAMPLES {
            let (_, begin) = self.place(self.count / SAMPLES * sample);
            let query = events.query.clone().since(begin).until(self.last).first(EVENTS);
            written += export(&QueryEvents { query, ..events.clone() }, &mut bytes)?;
        }
        let share = self.count as f64 / written.max(1) as f64;
        Ok((bytes.0 as f64 * share) as u64)
    }
}

/// An output that counts its bytes.
struct EstimateOutput(u64);

impl Write for EstimateOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The outcome: the number of events, and what could not be, each with its reason.
pub(super) struct ConvertOutcome {
    pub(super) events: u64,
    pub(super) left_out: Vec<String>,
}

impl ConvertOutcome {
    /// The line about a file of `size` bytes.
    pub(super) fn summary(&self, name: &str, target: ConvertTarget, size: u64) -> String {
        line(name, target, (Some(self.events), &self.left_out, size))
    }

    /// Prints it, of a file of `size` bytes.
    pub(super) fn tell(&self, output: &Path, target: ConvertTarget, size: u64, json: bool) -> Result<(), Failure> {
        tell(output, target, (Some(self.events), &self.left_out, size), json)
    }
}

/// `run.csv: 12 events as csv, 1.2 KiB; left out: nothing`.
fn line(name: &str, target: ConvertTarget, (events, left_out, size): (Option<u64>, &[String], u64)) -> String {
    let what = events.map_or("a copy".to_owned(), |events| counted(events, "event"));
    let left_out = if left_out.is_empty() { "nothing".to_owned() } else { left_out.join(", ") };
    format!("{name}: {what} as {}, {}; left out: {left_out}", target.name(), ByteSize(size))
}

/// Prints `run.csv: 12 events as csv, 1.2 KiB; left out: nothing`, or as JSON: schema `rtrace.convert`, version 1. The
/// number of events is not known of a recording whose chunks were copied.
pub(super) fn tell(
    output: &Path,
    target: ConvertTarget,
    (events, left_out, size): (Option<u64>, &[String], u64),
    json: bool,
) -> Result<(), Failure> {
    if json {
        let document = json!({
            "schema": "rtrace.convert", "version": 1, "file": output.to_string_lossy(), "format": target.name(),
            "events": events, "size": size, "left_out": left_out,
        });
        return Ok(say_of(output, &format!("{document:#}\n"))?);
    }
    let of_ours = if output == Path::new("-") { "rtrace: " } else { "" };
    let line = line(&named(output), target, (events, left_out, size));
    Ok(say_of(output, &format!("{of_ours}{line}\n"))?)
}
