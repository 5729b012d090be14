//! The loop over all streams: on several threads as far as they are sound, then on one.

use super::shared::MergeState;
use super::steps::{SegmentWork, States, some};
use super::work::{OrderedOutput, Work, WorkDivision};
use crate::file::trace_dat::CpuStream;
use crate::read::merge::{Merge, MergeError};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{io, thread};

/// Size of the output gathered before it is passed on, in bytes: it stays in the core's cache beside all else.
const GATHER: usize = 64 << 10;

/// Merges `streams` (each with the number of its buffer) and has `work` done on every record.
/// `sink` gets the output, in order, from whichever thread has it.
///
/// # Errors
/// The error of `sink`. Damage goes to `damage`, and work goes on after it.
pub fn run<W: Work>(
    work: &W,
    mut streams: Vec<(CpuStream, usize)>,
    effort: WorkDivision,
    state: &mut W::State,
    sink: OrderedOutput<'_>,
    damage: &mut dyn FnMut(MergeError),
) -> io::Result<()> {
    let among = streams.len();
    streams.iter_mut().for_each(|(stream, _)| stream.merge_among(among));
    let streams = match effort.threads {
        0 | 1 => streams,
        threads => several(&States::new(work, state, threads), streams, effort, &mut *sink)?,
    };
    let mut merge = Merge::default();
    for (stream, buffer) in streams {
        merge.add(stream, buffer);
    }
    let mut out = Vec::with_capacity(GATHER + (64 << 10));
    loop {
        match merge.advance() {
            Ok(true) => some(work, &mut merge, state, &mut out),
            Ok(false) => break,
            Err(error) => damage(error),
        }
        if out.len() >= GATHER {
            sink(&out)?;
            out.clear();
        }
    }
    sink(&out)
}

/// Works on as much as can be done on several threads, and gives the streams, positioned after that.
fn several(
    work: &dyn SegmentWork,
    streams: Vec<(CpuStream, usize)>,
    effort: WorkDivision,
    sink: OrderedOutput<'_>,
) -> io::Result<Vec<(CpuStream, usize)>> {
    let shared = MergeState::new(work, streams, effort, sink);
    thread::scope(|scope| {
        for number in 1..effort.threads {
            let shared = &shared;
            scope.spawn(move || caught(|| shared.worker_loop(number)));
        }
        caught(|| shared.worker_loop(0));
    });
    shared.into_rest()
}

/// A panic ends the thread, and no other: it has been reported, and `shared` knows.
fn caught(part: impl FnOnce()) {
    drop(catch_unwind(AssertUnwindSafe(part)));
}
