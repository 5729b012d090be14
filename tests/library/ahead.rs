//! Merging on several threads gives what merging on one gives, also around damage and for any sharing-out.

use crate::common::synthetic::fork_storm;
use crate::common::trace_files::trace_files;
use proptest::prelude::*;
use rtrace::event::{Consumed, DecodeOptions, EventTypes, NameFix, PrintState, Record};
use rtrace::export::{Text, TextOptions};
use rtrace::internal::merge::ahead::{Commit, Work, WorkDivision, run};
use rtrace::internal::merge::{Merge, MergeError};
use rtrace::internal::trace_dat::write::Version;
use rtrace::internal::trace_dat::{Codec, CpuStream, ReadAt, TimeOptions, Trace};
use rtrace::symbols::{Comms, Symbols};
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// Writes a line per record; what it says of the number of records before it makes segments depend on each other.
struct Lines {
    /// The state's every how many-th change is not to be foreseen; 0: none.
    surprise: u64,
    /// True if some records tell of the one after them, which does not come then.
    tells: bool,
}

#[derive(Clone, Default)]
struct Seen {
    base: u64,
    records: u64,
}

impl Work for Lines {
    type State = Seen;

    fn fork(&self, known: &Seen, _: Option<Seen>) -> Seen {
        Seen { base: known.base + known.records, records: 0 }
    }

    fn record<'n>(
        &self,
        r: &Record<'_>,
        next: impl FnOnce() -> Option<Record<'n>>,
        state: &mut Seen,
        out: &mut Vec<u8>,
    ) -> Consumed {
        state.records += 1;
        let number = (state.base + state.records).checked_div(self.surprise).unwrap_or(0);
        let sum = r.data.iter().fold(0u32, |sum, b| sum.wrapping_mul(31).wrapping_add(u32::from(*b)));
        let (time, cpu, lost) = (r.timestamp.0, r.cpu.0, r.lost);
        out.extend_from_slice(format!("{number} {time} {cpu} {} {lost:?} {sum:x}", r.buffer).as_bytes());
        let printed = if self.tells && sum.is_multiple_of(5) { next() } else { None };
        if let Some(printed) = &printed {
            out.extend_from_slice(format!(" and {} {}", printed.timestamp.0, printed.data.len()).as_bytes());
        }
        out.push(b'\n');
        if printed.is_some() { Consumed::Two } else { Consumed::One }
    }

    fn commit(&self, known: &mut Seen, done: &mut Seen, out: &mut Vec<u8>) -> Commit {
        let base = known.base + known.records;
        match (self.surprise, base - done.base) {
            (0, _) | (_, 0) => {}
            // Its numbers are all too small by as much.
            (1, missing) => {
                let text = std::mem::take(out);
                for line in String::from_utf8(text).unwrap().lines() {
                    let (number, rest) = line.split_once(' ').unwrap();
                    out.extend_from_slice(format!("{} {rest}\n", number.parse::<u64>().unwrap() + missing).as_bytes());
                }
            }
            _ => return Commit::Serialize,
        }
        known.records += done.records;
        Commit::Accept
    }
}

/// All streams of all buffers.
fn streams(trace: &Trace) -> Vec<(CpuStream, usize)> {
    let mut streams = Vec::new();
    for (number, buffer) in trace.buffers.iter().enumerate() {
        for cpu in 0..buffer.cpus.len() {
            streams.push((trace.stream(buffer, cpu, &TimeOptions::default()).unwrap(), number));
        }
    }
    streams
}

/// The output: the lines, and the damage.
fn lines(bytes: &[u8], effort: WorkDivision, surprise: u64) -> (String, Vec<String>) {
    let trace = match Trace::open(bytes.to_vec()) {
        Ok(trace) => trace,
        Err(error) => return (String::new(), vec![error.to_string()]),
    };
    let streams = streams(&trace);
    let (mut out, mut damage) = (Vec::new(), Vec::new());
    let mut sink = |text: &[u8]| {
        out.extend_from_slice(text);
        Ok(())
    };
    run(&Lines { surprise, tells: false }, streams, effort, &mut Seen::default(), &mut sink, &mut |e| {
        damage.push(e.to_string())
    })
    .unwrap();
    (String::from_utf8(out).unwrap(), damage)
}

fn small(threads: usize) -> WorkDivision {
    WorkDivision { threads, segment: 20_000, ahead: 60_000 }
}

#[test]
fn any_number_of_threads_gives_the_same() {
    let mut most = 0;
    for path in trace_files() {
        let bytes = std::fs::read(&path).unwrap();
        let expected = lines(&bytes, WorkDivision::new(1), 0);
        most = most.max(expected.0.len());
        for threads in [2, 3, 8] {
            for effort in
                [WorkDivision { segment: 2_000, ..small(threads) }, small(threads), WorkDivision::new(threads)]
            {
                assert!(lines(&bytes, effort, 0) == expected, "{}: {effort:?}", path.display());
            }
        }
    }
    assert!(most > 20_000, "no file has many records");
}

#[test]
fn segments_that_were_wrong_are_corrected_or_done_in_order() {
    for path in trace_files() {
        let bytes = std::fs::read(&path).unwrap();
        for surprise in [1, 50, 700] {
            let expected = lines(&bytes, WorkDivision::new(1), surprise);
            assert!(lines(&bytes, small(2), surprise) == expected, "{}: {surprise}", path.display());
        }
    }
}

/// Records that follow each other on a CPU are worked on without asking the merge for each: that must not show.
#[test]
fn series_give_what_single_steps_give() {
    let (mut printed, work) = (0, Lines { surprise: 0, tells: true });
    for path in trace_files() {
        let Ok(trace) = Trace::open(std::fs::read(&path).unwrap()) else { continue };
        let mut merge = Merge::default();
        streams(&trace).into_iter().for_each(|(stream, buffer)| merge.add(stream, buffer));
        let (mut seen, mut expected, mut expected_damage) = (Seen::default(), Vec::new(), Vec::new());
        loop {
            match merge.advance() {
                Ok(true)
                    if work.record(&merge.record(), || merge.peek(), &mut seen, &mut expected) == Consumed::Two =>
                {
                    merge.skip_peeked();
                    printed += 1;
                }
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => expected_damage.push(error.to_string()),
            }
        }
        let (mut out, mut damage) = (Vec::new(), Vec::new());
        let mut sink = |text: &[u8]| {
            out.extend_from_slice(text);
            Ok(())
        };
        let note = &mut |e: MergeError| damage.push(e.to_string());
        run(&work, streams(&trace), WorkDivision::new(1), &mut Seen::default(), &mut sink, note).unwrap();
        assert!(out == expected && damage == expected_damage, "{}", path.display());
    }
    assert!(printed > 100, "no file has many records");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn damage_is_the_same(file in any::<prop::sample::Index>(), flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4), cut in any::<prop::sample::Index>(), is_cut: bool) {
        let files = trace_files();
        let mut bytes = std::fs::read(&files[file.index(files.len())]).unwrap();
        // The events' data is most of the end.
        let data = bytes.len() / 2;
        for (at, mask) in flips {
            let at = data + at.index(bytes.len() - data);
            bytes[at] ^= mask;
        }
        if is_cut {
            bytes.truncate(data + cut.index(bytes.len() - data));
        }
        prop_assert!(lines(&bytes, small(3), 0) == lines(&bytes, WorkDivision::new(1), 0));
    }
}

/// Panics once this many records were worked on, by whichever thread.
struct Panics(AtomicUsize);

impl Work for Panics {
    type State = ();

    fn fork(&self, _: &(), _: Option<()>) {}

    fn record<'n>(
        &self,
        record: &Record<'_>,
        _: impl FnOnce() -> Option<Record<'n>>,
        _: &mut (),
        _: &mut Vec<u8>,
    ) -> Consumed {
        let left = self.0.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
        assert!(left.is_ok(), "on purpose, at {}", record.timestamp.0);
        Consumed::One
    }

    fn commit(&self, _: &mut (), _: &mut (), _: &mut Vec<u8>) -> Commit {
        Commit::Accept
    }
}

#[test]
fn a_thread_that_panics_is_an_error() {
    for records in [0, 100, 2_000] {
        let trace = Trace::open(std::fs::read("tests/data/traces/i386/events-v6.dat").unwrap()).unwrap();
        let streams = (0..trace.buffers[0].cpus.len())
            .map(|cpu| (trace.stream(&trace.buffers[0], cpu, &TimeOptions::default()).unwrap(), 0))
            .collect();
        let (done, waited) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let sink = &mut |_: &[u8]| Ok(());
            done.send(run(&Panics(AtomicUsize::new(records)), streams, small(3), &mut (), sink, &mut |_| {})).unwrap();
        });
        let result = waited.recv_timeout(std::time::Duration::from_secs(60)).expect("it waits for ever");
        assert!(result.unwrap_err().to_string().contains("panicked"));
    }
}

/// Counts the records that were worked on in order, after all segments.
struct InOrder(AtomicUsize);

impl Work for InOrder {
    /// True of segments.
    type State = bool;

    fn fork(&self, _: &bool, _: Option<bool>) -> bool {
        true
    }

    fn record<'n>(
        &self,
        _: &Record<'_>,
        _: impl FnOnce() -> Option<Record<'n>>,
        is_segment: &mut bool,
        out: &mut Vec<u8>,
    ) -> Consumed {
        self.0.fetch_add(usize::from(!*is_segment), Relaxed);
        out.push(b'.');
        Consumed::One
    }

    fn commit(&self, _: &mut bool, _: &mut bool, _: &mut Vec<u8>) -> Commit {
        Commit::Accept
    }
}

/// Segments wait while as many as may be are to be written; the threads must not take that for the end.
#[test]
fn slow_output_does_not_end_the_segments() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("storm.dat");
    fork_storm(4, 30_000, 400, 1).write(&path, Version::V7(Codec::Zstd));
    let trace = Trace::open(std::fs::read(&path).unwrap()).unwrap();
    let (work, mut written) = (InOrder(AtomicUsize::new(0)), 0);
    let sink = &mut |out: &[u8]| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        written += out.len();
        Ok(())
    };
    run(&work, streams(&trace), small(2), &mut false, sink, &mut |e| panic!("{e}")).unwrap();
    assert!(written > 20_000);
    assert_eq!(work.0.into_inner(), 0);
}

/// Lines of text, with task names that are learnt on the way.
struct Texts<'a>(Text<'a>);

impl Work for Texts<'_> {
    type State = PrintState;

    fn fork(&self, known: &PrintState, used: Option<PrintState>) -> PrintState {
        known.fork(used)
    }

    fn record<'n>(
        &self,
        record: &Record<'_>,
        next: impl FnOnce() -> Option<Record<'n>>,
        state: &mut PrintState,
        out: &mut Vec<u8>,
    ) -> Consumed {
        self.0.event(record, next, state, out)
    }

    fn commit(&self, known: &mut PrintState, done: &mut PrintState, out: &mut Vec<u8>) -> Commit {
        if done.needs_order() {
            return Commit::Serialize;
        }
        let fixes: Vec<NameFix> = known.join(done);
        self.0.amend(out, &fixes);
        Commit::Accept
    }
}

/// Task names do not depend on which segments were finished when another one was begun.
#[test]
fn task_names_are_the_same_on_any_number_of_threads() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("storm.dat");
    let zstd = Version::V7(Codec::Zstd);
    for (seed, (cpus, version, latency)) in [(4, zstd, false), (40, Version::V6, true)].into_iter().enumerate() {
        fork_storm(cpus, 30_000, 400, seed as u64).write(&path, version);
        let trace = Trace::open(std::fs::read(&path).unwrap()).unwrap();
        let symbols = Symbols { comms: Comms::parse(&trace.saved_cmdlines), ..Symbols::default() };
        let formats = trace.ftrace_formats.iter().chain(&trace.event_formats);
        let types = EventTypes::new(formats, trace.abi, &symbols, &DecodeOptions::default());
        let work = Texts(Text::new(&types, &symbols, TextOptions { latency, ..TextOptions::default() }));
        let text = |effort: WorkDivision| {
            let (mut out, mut state) = (Vec::new(), PrintState::new(symbols.comms.clone()));
            let sink = &mut |text: &[u8]| {
                out.extend_from_slice(text);
                Ok(())
            };
            run(&work, streams(&trace), effort, &mut state, sink, &mut |e| panic!("{e}")).unwrap();
            String::from_utf8(out).unwrap()
        };
        let expected = text(WorkDivision::new(1));
        assert!(expected.contains("<...>") && expected.lines().count() > 20_000);
        for round in 0..18 {
            let threads = [2, 3, 8][round % 3];
            let found = text(WorkDivision { threads, segment: [5_000, 30_000, 90_000][round / 3 % 3], ahead: 400_000 });
            let differ = expected.lines().zip(found.lines()).find(|(a, b)| a != b);
            assert!(found == expected, "{threads} threads, round {round}: {differ:#?}");
        }
    }
}

/// A file that is overwritten with zeros while it is read.
struct Overwritten {
    bytes: Vec<u8>,
    zeros: std::ops::Range<u64>,
    /// Reads that still find the bytes that were there.
    left: AtomicUsize,
}

impl ReadAt for Overwritten {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> io::Result<usize> {
        let read = self.bytes.read_at(buf, offset)?;
        if self.left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_err() {
            let zeros = self.zeros.start.max(offset)..self.zeros.end.min(offset + read as u64);
            if zeros.start < zeros.end {
                buf[(zeros.start - offset) as usize..(zeros.end - offset) as usize].fill(0);
            }
        }
        Ok(read)
    }

    fn size(&self) -> io::Result<u64> {
        self.bytes.size()
    }
}

/// Chunks are read again where a segment is redone or a thread takes over: then, too, damage is reported.
#[test]
fn chunks_that_are_overwritten_meanwhile_are_damage() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("storm.dat");
    fork_storm(3, 120_000, 400, 5).write(&path, Version::V7(Codec::Zstd));
    let bytes = std::fs::read(&path).unwrap();
    let frames: Vec<usize> = (0..bytes.len() - 4).filter(|at| bytes[*at..].starts_with(b"\x28\xb5\x2f\xfd")).collect();
    let text = |zeros: std::ops::Range<u64>, left: usize, threads: usize| {
        let io = Arc::new(Overwritten { bytes: bytes.clone(), zeros, left: AtomicUsize::new(left) });
        let reads = || left - io.left.load(Relaxed);
        let trace = Trace::open(io.clone()).unwrap();
        let opening = reads();
        let (mut out, mut damage) = (Vec::new(), 0);
        let sink = &mut |text: &[u8]| {
            out.extend_from_slice(text);
            Ok(())
        };
        let effort = WorkDivision { segment: 3_000, ..small(threads) };
        let work = Lines { surprise: 50, tells: false };
        run(&work, streams(&trace), effort, &mut Seen::default(), sink, &mut |_| damage += 1).unwrap();
        (out, damage, opening..reads())
    };
    let (whole, none, _) = text(0..0, usize::MAX, 1);
    let (_, _, reads) = text(0..0, usize::MAX, 3);
    assert!(
        none == 0 && whole.len() > 1_000_000 && frames.len() > 12 && reads.len() > 20,
        "{reads:?}, {} chunks",
        frames.len()
    );
    let mut damaged = 0;
    for number in [5, frames.len() / 2] {
        let zeros = frames[number] as u64 - 8..frames[number + 1] as u64 + 40;
        for left in reads.clone().step_by(3) {
            let (found, damage, _) = text(zeros.clone(), left, 3);
            assert!(found == whole || damage > 0, "chunk {number}, overwritten after {left} reads");
            damaged += u32::from(damage > 0);
        }
    }
    assert!(damaged > 1, "{damaged}");
}
