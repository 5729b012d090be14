//! A query's events for a closure.
//! A query's events through an analysis, on any number of threads.
//! The streams of a query's sources, and their times.

use super::resolved::Resolved;
use super::{BufferSource, Decoder, Event, ExportError, Exporter, Notice, Outcome, Query, QueryError, Window};
use crate::answer::analysis::Analysis;
use crate::base::units::{CpuId, Timestamp};
use crate::file::trace_dat::{CpuStream, FileError};
use crate::kernel::event::{Consumed, DecodeOptions, Record};
use crate::read::merge::Merge;
use crate::read::merge::ahead::{Commit, Following};
use std::cell::RefCell;
use std::io;
use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::Arc;

impl Query<'_> {
    /// Calls `see` for each event.
    ///
    /// # Errors
    /// As [`Query::run`].
    pub fn for_each(self, mut see: impl FnMut(&Event<'_>)) -> Result<Outcome, QueryError> {
        self.run(|event| {
            see(event);
            ControlFlow::Continue(())
        })
    }

    /// Calls `see` for each event until it fails, with the first error.
    ///
    /// # Errors
    /// As [`Query::run`], and what `see` returns.
    pub fn try_for_each<E: From<QueryError>>(
        self,
        mut see: impl FnMut(&Event<'_>) -> Result<(), E>,
    ) -> Result<Outcome, E> {
        let mut failed = None;
        let outcome = self.run(|event| match see(event) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        })?;
        failed.map_or(Ok(outcome), Err)
    }

    /// Calls `see` for each event until it breaks. Damage costs the damaged page only and is counted in the outcome.
    ///
    /// # Errors
    /// [`QueryError`] before the first event: as [`Query::resolve`], and a file that cannot be read.
    pub fn run(self, mut see: impl FnMut(&Event<'_>) -> ControlFlow<()>) -> Result<Outcome, QueryError> {
        let options = DecodeOptions::default();
        let decoders: Vec<Decoder<'_>> = self.recordings.iter().map(|of| Decoder::new(of, &options)).collect();
        let states: Vec<_> = self.recordings.iter().map(|of| RefCell::new(of.state())).collect();
        let mut resolved = self.resolve()?;
        let mut outcome = resolved.walk(|current| {
            let record = current.record();
            let source = &self.sources[record.buffer];
            let record = Record { buffer: source.buffer, ..record };
            let flow = see(&decoders[source.recording].event(record, &states[source.recording]));
            Ok::<_, QueryError>(flow)
        })?;
        outcome.undecoded =
            states.iter().flat_map(|s| s.borrow().undecoded().map(|(_, n)| n).collect::<Vec<_>>()).sum();
        Ok(outcome)
    }
}

impl Query<'_> {
    /// Feeds the events to `analysis`, on as many threads as [`Query::threads`] says. Gives what it found.
    ///
    /// # Errors
    /// [`QueryError`], as [`Query::resolve`], and a file that cannot be read.
    pub fn analyse<A: Analysis>(&self, analysis: A) -> Result<(A::Finding, Outcome), QueryError> {
        let (part, outcome) = self.analyse_on(&analysis, analysis.begin())?;
        Ok((analysis.finish(part), outcome))
    }

    /// One query of several whose events are analysed one after the other: goes on with `part`.
    ///
    /// # Errors
    /// As [`Query::analyse`].
    pub fn analyse_on<A: Analysis>(&self, analysis: &A, part: A::Part) -> Result<(A::Part, Outcome), QueryError> {
        let mut resolved = self.resolve()?;
        resolved.narrow(|source, id| analysis.reads(source, id));
        resolved.analyse(analysis, part)
    }

    /// Feeds the events of one CPU after the other to `analysis`, each CPU's as if there were no others: one of their chunks is
    /// unpacked at a time, and no event waits for its turn among all. Gives what was found of each, in the order of sources and CPUs.
    ///
    /// # Errors
    /// As [`Query::analyse`].
    pub fn analyse_by_cpu<A: Analysis + Clone>(&self, analysis: &A) -> Result<Vec<A::Finding>, QueryError> {
        let mut resolved = self.resolve()?;
        resolved.narrow(|source, id| analysis.reads(source, id));
        let sources = self.sources.iter().enumerate();
        let streams = sources.flat_map(|(number, source)| source.cpus.iter().map(move |cpu| (number, *cpu)));
        let found = streams.map(|stream| {
            (resolved.only, resolved.seen) = (Some(stream), resolved.selector.nothing_seen());
            Ok(analysis.clone().finish(resolved.analyse(analysis, analysis.begin())?.0))
        });
        found.collect()
    }
}

impl Resolved<'_> {
    fn analyse<A: Analysis>(&mut self, analysis: &A, mut part: A::Part) -> Result<(A::Part, Outcome), QueryError> {
        let exporter = Analysed(analysis);
        if self.is_unlimited() {
            return match self.on_threads(&exporter, part, &mut io::sink()) {
                Err(ExportError::Query(error)) => Err(error),
                Err(ExportError::Write(error)) => panic!("a thread panicked: {error}"),
                Ok(done) => Ok(done),
            };
        }
        let outcome = self.walk(|current| {
            current.export(&exporter, &mut part, &mut Vec::new());
            Ok::<_, QueryError>(ControlFlow::Continue(()))
        })?;
        Ok((part, outcome))
    }
}

/// An analysis as an exporter that writes nothing.
struct Analysed<'a, A>(&'a A);

impl<A: Analysis> Exporter for Analysed<'_, A> {
    type State = A::Part;

    const FOLLOWING: Following = Following::OnCpu;

    fn state(&self) -> A::Part {
        self.0.begin()
    }

    #[inline]
    fn event<'n>(
        &self,
        record: &Record<'_>,
        next: impl FnOnce() -> Option<Record<'n>>,
        part: &mut A::Part,
        _: &mut Vec<u8>,
    ) -> Consumed {
        self.0.record(record, next, part);
        Consumed::One
    }

    fn fork(&self, _: &A::Part, used: Option<A::Part>) -> A::Part {
        self.0.fork(used)
    }

    fn commit(&self, known: &mut A::Part, done: &mut A::Part, _: &mut Vec<u8>) -> Commit {
        self.0.merge(known, done);
        Commit::Accept
    }
}

/// Unpacks the first chunk of each stream, on as many threads as the machine has CPUs: somebody waits for the merge of all. Not
/// more than `room`, in bytes: the first would be gone again.
fn unpack_ahead(streams: &mut [(CpuStream, usize)], room: usize) {
    const MANY: usize = 4;
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(streams.len() / MANY);
    if threads < 2 {
        return;
    }
    let room = room / threads;
    std::thread::scope(|scope| {
        for part in streams.chunks_mut(streams.len().div_ceil(threads)) {
            scope.spawn(move || {
                let (mut used, mut largest) = (0usize, 0);
                for (stream, _) in part {
                    if used.saturating_add(largest) > room {
                        return;
                    }
                    let bytes = stream.unpack_ahead();
                    (used, largest) = (used.saturating_add(bytes), bytes.max(largest));
                }
            });
        }
    });
}

impl Resolved<'_> {
    /// The streams to merge, each with the number of its source: of the chunks only that `window` needs.
    ///
    /// # Errors
    /// [`FileError`] if a stream's start cannot be read.
    pub(super) fn streams(&self, window: &Window) -> Result<Vec<(CpuStream, usize)>, FileError> {
        let (query, selector) = (self.query, &self.selector);
        let mut streams = Vec::new();
        for (number, source) in query.sources.iter().enumerate() {
            let trace = &query.recordings[source.recording].trace;
            let buffer = &trace.buffers[source.buffer];
            let is_read = |cpu: &&usize| self.only.is_none_or(|only| only == (number, **cpu));
            for &cpu in source.cpus.iter().filter(is_read) {
                let mut stream = if window.is_whole() {
                    trace.stream(buffer, cpu, &source.time)?
                } else {
                    let range = trace.seek(buffer, cpu, &source.time)?.range(window.since, window.until);
                    let mut stream = trace.stream_of_chunks(buffer, cpu, &source.time, range)?;
                    stream.narrow(window.since.map_or(0, |at| at.0), window.until.map_or(u64::MAX, |at| at.0));
                    stream
                };
                if let Some(tasks) = selector.tasks(source.recording) {
                    stream.skip_over(trace.without_tasks(buffer, cpu, &tasks));
                }
                stream.sift(selector.sieve(source.recording));
                if let Some(kept) = &query.kept {
                    stream.keep_chunks(Arc::clone(kept));
                }
                streams.push((stream, number));
            }
        }
        if let Some(kept) = &query.kept {
            unpack_ahead(&mut streams, kept.most());
        }
        Ok(streams)
    }

    /// The records of all sources; those that the selector drops by their type alone may be missing.
    pub(super) fn merge(&self, window: &Window) -> Result<Merge, FileError> {
        let mut merge = Merge::default();
        for (stream, source) in self.streams(window)? {
            merge.add(stream, source);
        }
        Ok(merge)
    }
}

impl Query<'_> {
    /// Each source with its CPUs' numbers.
    fn cpus_of_sources(&self) -> impl Iterator<Item = (&BufferSource, usize)> {
        self.sources.iter().flat_map(|source| source.cpus.iter().map(move |cpu| (source, *cpu)))
    }

    /// The times of the first and the last event of all sources, selected or not; `None` if there are none.
    ///
    /// # Errors
    /// [`FileError`] if they cannot be read.
    pub fn span(&self) -> Result<Option<(Timestamp, Timestamp)>, FileError> {
        let mut whole: Option<(Timestamp, Timestamp)> = None;
        for (source, cpu) in self.cpus_of_sources() {
            let trace = &self.recordings[source.recording].trace;
            let mut damaged = |error: FileError| {
                if let Some(notice) = self.notice {
                    notice(Notice::Damage { recording: source.recording, error: &error });
                }
            };
            if let Some((first, last)) = trace.span(&trace.buffers[source.buffer], cpu, &source.time, &mut damaged)? {
                let (start, end) = whole.unwrap_or((first, last));
                whole = Some((start.min(first), end.max(last)));
            }
        }
        Ok(whole)
    }

    /// The part of [`Query::span`] that lies in the query's window.
    ///
    /// # Errors
    /// As [`Query::span`].
    pub fn span_in_window(&self) -> Result<Option<(Timestamp, Timestamp)>, FileError> {
        let Window { since, until } = self.window;
        let within = |(first, last): (Timestamp, Timestamp)| {
            let begin = since.map_or(first, |since| since.max(first));
            (begin, until.map_or(last, |until| until.min(last)))
        };
        Ok(self.span()?.map(within).filter(|(begin, end)| begin <= end))
    }

    /// The CPUs whose oldest events a flight recorder gave up ([`Coverage::shortened`](crate::file::trace_dat::Coverage)) and that
    /// begin after the query's window does, each with the time in between, in clock units.
    ///
    /// # Errors
    /// As [`Query::span`].
    pub fn late_begins(&self) -> Result<Vec<(CpuId, u64)>, FileError> {
        let mut late = Vec::new();
        for (source, cpu) in self.cpus_of_sources() {
            let trace = &self.recordings[source.recording].trace;
            let buffer = &trace.buffers[source.buffer];
            let number = buffer.cpus[cpu].cpu;
            if !trace.coverage(buffer).shortened.contains(&number) {
                continue;
            }
            let Some((begin, end)) = self.span_in_window()? else { return Ok(late) };
            let first = trace.span(buffer, cpu, &source.time, &mut |_| {})?.map_or(end, |(first, _)| first.min(end));
            late.extend(Some((number, first.0.saturating_sub(begin.0))).filter(|(_, time)| *time > 0));
        }
        // One that nothing is left of is not in the file.
        for source in &self.sources {
            let trace = &self.recordings[source.recording].trace;
            let buffer = &trace.buffers[source.buffer];
            let is_there = |cpu: &CpuId| buffer.cpus.iter().any(|data| data.cpu == *cpu);
            let gone: Vec<CpuId> = trace.coverage(buffer).shortened.into_iter().filter(|cpu| !is_there(cpu)).collect();
            if let (false, Some((begin, end))) = (gone.is_empty(), self.span_in_window()?) {
                late.extend(gone.into_iter().map(|cpu| (cpu, end.0.saturating_sub(begin.0))));
            }
        }
        Ok(late)
    }

    /// A time from which on no CPU has more than about `bytes` of stored data; `None` if that is all there is.
    pub(super) fn time_near_end(&self, bytes: u64) -> Result<Option<Timestamp>, FileError> {
        let mut latest = None;
        for (source, cpu) in self.cpus_of_sources() {
            let trace = &self.recordings[source.recording].trace;
            let seek = trace.seek(&trace.buffers[source.buffer], cpu, &source.time)?;
            latest = latest.max(seek.time_near_end(bytes));
        }
        Ok(latest)
    }
}
