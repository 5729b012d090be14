//! Positions of the cuts.

use rtrace::internal::trace_dat::write::{CopiedPart, StreamIndex};
use rtrace::internal::trace_dat::{FileError, Head, TimeOptions, Trace};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// The length of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SplitStep {
    /// Everything.
    All,
    /// A duration, in nanoseconds.
    Time(u64),
    /// A number of events, of all CPUs together or of each.
    Events { count: u64, per_cpu: bool },
    /// A number of sub-buffers of each CPU.
    Pages(u64),
}

/// The slices of `window` that are `step` long each. Times without any event in them make no part.
pub(super) fn plan(
    trace: &Trace,
    streams: &[StreamIndex],
    step: &SplitStep,
    window: Range<u64>,
    damaged: &mut dyn FnMut(FileError),
) -> Result<Vec<CopiedPart>, FileError> {
    match step {
        SplitStep::All => Ok(vec![CopiedPart::Time(window)]),
        SplitStep::Pages(count) => {
            let mut most = 0;
            for &(buffer, cpu) in streams {
                let buffer = &trace.buffers[buffer];
                // damage is reported when the chunks are cut
                let size: u64 = trace.chunks(buffer, cpu, &mut |_| {}).iter().map(|chunk| u64::from(chunk.size)).sum();
                most = most.max(size / buffer.page_size as u64);
            }
            Ok((0..most.div_ceil(*count)).map(|part| CopiedPart::Pages(part * count..(part + 1) * count)).collect())
        }
        SplitStep::Time(length) => times(trace, streams, *length, window, damaged),
        SplitStep::Events { count, per_cpu } => events(trace, streams, *count, *per_cpu, &window, damaged),
    }
}

fn times(
    trace: &Trace,
    streams: &[StreamIndex],
    length: u64,
    window: Range<u64>,
    damaged: &mut dyn FnMut(FileError),
) -> Result<Vec<CopiedPart>, FileError> {
    // A first look at all events: some parts may be empty, and are left out.
    let mut parts: std::collections::BTreeSet<u64> = std::collections::BTreeSet::new();
    let mut first = u64::MAX;
    let mut all = Vec::new();
    for &stream in streams {
        let mut records = SplitRecords::open(trace, stream)?;
        let mut times: Vec<u64> = Vec::new();
        while let Some(time) = records.next(damaged) {
            if window.contains(&time) {
                first = first.min(time);
                // Neighbours mostly fall into the same part; a tenth of one is fine enough to tell.
                if times.last().is_none_or(|last| time.abs_diff(*last) >= (length / 10).max(1)) {
                    times.push(time);
                }
            }
        }
        all.push(times);
    }
    if first == u64::MAX {
        return Ok(vec![CopiedPart::Time(window)]);
    }
    let start = if window.start == 0 { first } else { window.start };
    for time in all.into_iter().flatten() {
        parts.insert(time.saturating_sub(start) / length);
        // The events not kept above lie less than a tenth of a part after this one.
        parts.insert(time.saturating_add(length / 10).saturating_sub(start) / length);
    }
    let end = |part: u64| start.saturating_add(length.saturating_mul(part + 1)).min(window.end);
    Ok(parts.into_iter().map(|part| CopiedPart::Time(start + length * part..end(part))).collect())
}

fn events(
    trace: &Trace,
    streams: &[StreamIndex],
    count: u64,
    per_cpu: bool,
    window: &Range<u64>,
    damaged: &mut dyn FnMut(FileError),
) -> Result<Vec<CopiedPart>, FileError> {
    let mut open = streams.iter().map(|&stream| SplitRecords::open(trace, stream)).collect::<Result<Vec<_>, _>>()?;
    // Number of each stream's records before the window, and before each cut.
    let mut heads = BinaryHeap::new();
    let mut seen = vec![0u64; streams.len()];
    let mut skipped = vec![None; streams.len()];
    for (index, records) in open.iter_mut().enumerate() {
        if let Some(time) = records.next(damaged) {
            heads.push(Reverse((time, index)));
        }
    }
    let mut cuts: Vec<Vec<u64>> = Vec::new();
    let (mut in_part, mut total) = (0, 0);
    while let Some(Reverse((time, index))) = heads.pop() {
        if time >= window.end {
            break;
        }
        if time >= window.start {
            skipped[index].get_or_insert(seen[index]);
            if !per_cpu && in_part == count {
                cuts.push(seen.clone());
                in_part = 0;
            }
            in_part += 1;
            total += 1;
        }
        seen[index] += 1;
        if let Some(next) = open[index].next(damaged) {
            heads.push(Reverse((next, index)));
        }
    }
    let start: Vec<u64> = skipped.iter().zip(&seen).map(|(skipped, seen)| skipped.unwrap_or(*seen)).collect();
    if per_cpu {
        let most = start.iter().zip(&seen).map(|(start, end)| end - start).max().unwrap_or(0);
        let part = |part: u64| {
            let of_stream = |(start, end): (&u64, &u64)| {
                let from = (start + part * count).min(*end);
                from..(from + count).min(*end)
            };
            CopiedPart::Records(start.iter().zip(&seen).map(of_stream).collect())
        };
        return Ok((0..most.div_ceil(count)).map(part).collect());
    }
    if total > 0 {
        cuts.push(seen);
    }
    let mut from = start;
    let mut slices = Vec::new();
    for cut in cuts {
        let cut: Vec<u64> = cut.iter().zip(&from).map(|(cut, from)| *cut.max(from)).collect();
        slices.push(CopiedPart::Records(from.iter().zip(&cut).map(|(from, to)| *from..*to).collect()));
        from = cut;
    }
    Ok(slices)
}

/// The times of a stream's records.
struct SplitRecords {
    stream: rtrace::internal::trace_dat::CpuStream,
    spare: Vec<u8>,
}

impl SplitRecords {
    fn open(trace: &Trace, (buffer, cpu): StreamIndex) -> Result<Self, FileError> {
        let stream = trace.stream(&trace.buffers[buffer], cpu, &TimeOptions::default())?;
        Ok(SplitRecords { stream, spare: Vec::new() })
    }

    fn next(&mut self, damaged: &mut dyn FnMut(FileError)) -> Option<u64> {
        loop {
            match self.stream.next(&mut self.spare) {
                Ok(head) => return head.map(|Head { item, .. }| item.timestamp),
                Err(error) => damaged(error),
            }
        }
    }
}
