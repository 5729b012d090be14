//! `--split SIZE`: the events as several files, none larger than SIZE, each with a part of the time.

use super::progress::{ConvertOutcome, Course, ProgressOutput};
use super::target::ConvertTarget;
use crate::cli::exit::Failure;
use crate::cli::query::QueryEvents;
use crate::cli::trace_file::{OutputFile, Overwrite};
use rtrace::units::{ByteSize, Timestamp};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// The files to make.
pub(super) struct ConvertParts<'p> {
    pub(super) output: &'p Path,
    pub(super) target: ConvertTarget,
    pub(super) limit: ByteSize,
    pub(super) mode: u32,
    pub(super) overwrite: Overwrite,
    /// The bytes of the inputs that were read, and are to be.
    pub(super) read: &'p Arc<AtomicU64>,
    pub(super) total: u64,
}

/// Events in the order of time: how many, from when to when.
#[derive(Clone, Copy, Debug)]
struct PartSpan {
    count: u64,
    first: Timestamp,
    last: Timestamp,
}

impl ConvertParts<'_> {
    /// Writes the parts, `OUT.1.ENDING` and so on; all of them appear when the last is complete. There are as many as samples
    /// say that it takes; a part that grows beyond the limit all the same is begun anew with half of its events. `export`
    /// writes events to a file.
    pub(super) fn write<'e>(
        &self,
        events: &QueryEvents<'e>,
        export: impl Fn(&QueryEvents<'e>, &mut (dyn Write + Send)) -> Result<ConvertOutcome, Failure>,
    ) -> Result<Vec<String>, Failure> {
        let mut done: Vec<(OutputFile, String)> = Vec::new();
        let mut left = self.first_parts(events, &export)?;
        while let Some(part) = left.pop() {
            let path = numbered(self.output, self.target, done.len() + 1);
            let (made, file) = OutputFile::new(&path, self.mode, self.overwrite)?;
            let name = path.display().to_string();
            let mut out = Limited {
                out: ProgressOutput::new(file, Some(name.clone()), self.read, self.total),
                left: part.and_then(halves).map(|_| self.limit.0),
                over: false,
            };
            let chosen = part.map_or_else(|| events.clone(), |part| within(events, part));
            let written = export(&chosen, &mut out).and_then(|written| Ok(out.flush().map(|()| written)?));
            match (written, part.and_then(halves)) {
                (Err(_), Some(halves)) if out.over => left.extend(self.cut(events, halves)?),
                (written, _) => {
                    let line = written?.summary(&name, self.target, out.out.written());
                    done.push((made, line));
                }
            }
        }
        done.into_iter().map(|(made, line)| made.keep().map(|()| line)).collect()
    }

    /// The parts to begin with, the last one first.
    fn first_parts<'e>(
        &self,
        events: &QueryEvents<'e>,
        export: impl Fn(&QueryEvents<'e>, &mut (dyn Write + Send)) -> Result<ConvertOutcome, Failure>,
    ) -> Result<Vec<Option<PartSpan>>, Failure> {
        let Some(course) = Course::of(events)? else { return Ok(vec![None]) };
        let size = course.size(events, |events, out| export(events, out).map(|written| written.events))?;
        // Samples are a little off, and the parts of unlike sizes.
        let parts = (size + size / 8).div_ceil(self.limit.0.max(1)).clamp(1, course.count);
        let mut begins: Vec<(u64, Timestamp)> = (0..parts)
            .map(|part| course.place((u128::from(course.count) * u128::from(part) / u128::from(parts)) as u64))
            .collect();
        begins.dedup();
        let ends = begins.iter().skip(1).map(|(number, time)| (*number, Timestamp(time.0.saturating_sub(1))));
        let ends = ends.chain([(course.count, course.last)]);
        let span = |(begin, end): (&(u64, Timestamp), (u64, Timestamp))| PartSpan {
            count: end.0 - begin.0,
            first: begin.1,
            last: end.1,
        };
        let mut spans: Vec<Option<PartSpan>> = begins.iter().zip(ends).map(span).map(Some).collect();
        spans.reverse();
        Ok(spans)
    }

    /// The two parts of a span, the later one first.
    fn cut(&self, events: &QueryEvents<'_>, (span, count): (PartSpan, u64)) -> Result<[Option<PartSpan>; 2], Failure> {
        // The time of the event at which the later half begins. QueryEvents of one time stay together.
        let (mut seen, mut before, mut at) = (0, span.first, span.first);
        within(events, span).query.resolve()?.walk(|current| {
            let time = current.record().timestamp;
            if time > at {
                (before, at) = (at, time);
                if seen >= count {
                    return Ok::<_, Failure>(ControlFlow::Break(()));
                }
            }
            seen += 1;
            Ok(ControlFlow::Continue(()))
        })?;
        let earlier = PartSpan { count: seen, first: span.first, last: before };
        let later = PartSpan { count: span.count.saturating_sub(seen), first: at, last: span.last };
        Ok([Some(later), Some(earlier)])
    }
}

/// A span that can be cut, and half of its events.
fn halves(span: PartSpan) -> Option<(PartSpan, u64)> {
    (span.first < span.last && span.count > 1).then_some((span, span.count / 2))
}

fn within<'e>(events: &QueryEvents<'e>, span: PartSpan) -> QueryEvents<'e> {
    QueryEvents { query: events.query.clone().since(span.first).until(span.last), ..events.clone() }
}

/// `run.2.firefox.json` of `run.firefox.json`.
fn numbered(output: &Path, target: ConvertTarget, number: usize) -> PathBuf {
    let name = output.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let ending = target.ending_of(&name).or_else(|| name.rfind('.').map(|at| &name[at..])).unwrap_or_default();
    output.with_file_name(format!("{}.{number}{ending}", name.strip_suffix(ending).unwrap_or(&name)))
}

/// An output with a limit of bytes, beyond which it fails.
struct Limited<W> {
    out: W,
    /// `None`: there is no limit.
    left: Option<u64>,
    over: bool,
}

impl<W: Write> Write for Limited<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(left) = &mut self.left {
            let Some(rest) = left.checked_sub(bytes.len() as u64) else {
                self.over = true;
                return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the part is full"));
            };
            // Bytes that are not taken now are given again.
            let count = self.out.write(bytes)?;
            *left = rest + (bytes.len() - count) as u64;
            return Ok(count);
        }
        self.out.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_before_the_ending() {
        let of = |name: &str, target| numbered(Path::new(name), target, 2).display().to_string();
        assert_eq!(of("a/run.firefox.json", ConvertTarget::Firefox), "a/run.2.firefox.json");
        assert_eq!(of("run.csv", ConvertTarget::Csv), "run.2.csv");
        assert_eq!([of("run", ConvertTarget::Csv), of("x.txt", ConvertTarget::Json)], ["run.2", "x.2.txt"]);
    }
}
