//! Density and losses of each CPU from the file's index, without unpacking any event.

use crate::cli::query::QueryInput;
use rtrace::analysis::{StripCell, StripScale};
use rtrace::internal::trace_dat::{ChunkFacts, Codec, KeptChunks};
use rtrace::recording::{Query, QueryError};
use rtrace::units::{CpuId, Timestamp};
use std::sync::Arc;

/// The index of all CPUs. Without an index, or of one that lacks numbers, the stored bytes stand for events.
pub(super) struct Overview {
    cpus: Vec<CpuIndex>,
    /// True if each CPU with data has an index with all numbers.
    is_complete: bool,
    begin: u64,
    end: u64,
}

/// The chunks of one CPU.
struct CpuIndex {
    source: usize,
    cpu: CpuId,
    /// First moment, events and losses of each, in the order of time; empty without an index.
    chunks: Vec<IndexedChunk>,
    /// Events and losses before each.
    before: Vec<(u64, u64)>,
    /// Number of events by the size of the stored data, about.
    by_size: u64,
}

#[derive(Clone, Copy, Debug)]
struct IndexedChunk {
    first: u64,
    events: u64,
    lost: u64,
}

/// Stored bytes of an event, about: of scheduler events, compressed and as they are in the ring.
const BYTES_OF_EVENT: (u64, u64) = (6, 40);

impl Overview {
    /// Of the recording's part that `query` reads; `None` if it has no event.
    pub(super) fn of(
        query: &Query<'_>,
        input: &QueryInput,
        kept: &Arc<KeptChunks>,
    ) -> Result<Option<Self>, QueryError> {
        let trace = &input.trace;
        let (packed, plain) = BYTES_OF_EVENT;
        let size = if trace.prefix.codec == Codec::None { plain } else { packed };
        let mut overview = Overview { cpus: Vec::new(), is_complete: true, begin: 0, end: 0 };
        for (number, source) in query.sources().iter().enumerate() {
            let buffer = &trace.buffers[source.buffer];
            for place in &source.cpus {
                let data = buffer.cpus[*place];
                let correction = trace.correction(data.cpu, &source.time);
                let index = trace.index(buffer, *place);
                let entries = index.as_ref().map_or(&[][..], |index| index.entries());
                let chunk = |chunk: &ChunkFacts| {
                    let first = correction.apply(chunk.first);
                    Some(IndexedChunk { first, events: chunk.events?, lost: chunk.lost })
                };
                let chunks: Option<Vec<IndexedChunk>> = entries.iter().map(chunk).collect();
                let chunks = chunks.filter(|chunks| chunks.is_sorted_by_key(|chunk| chunk.first)).unwrap_or_default();
                let mut sums = (0u64, 0u64);
                let before = chunks.iter().map(|chunk| {
                    let next = (sums.0.saturating_add(chunk.events), sums.1.saturating_add(chunk.lost));
                    std::mem::replace(&mut sums, next)
                });
                let before = before.collect();
                overview.is_complete &= !chunks.is_empty() || data.size <= 4;
                overview.cpus.push(CpuIndex {
                    source: number,
                    cpu: data.cpu,
                    chunks,
                    before,
                    by_size: data.size / size,
                });
            }
        }
        let span = overview.find_span(query, kept)?;
        Ok(span.map(|(begin, end)| Overview { begin, end, ..overview }))
    }

    /// Number of events and losses of the whole file; `None` if the index does not say. Where the kernel did not count them, a
    /// place of losses counts as one.
    pub(super) fn totals(&self) -> Option<(u64, u64)> {
        let chunks = || self.cpus.iter().flat_map(|cpu| &cpu.chunks);
        let sums = || (chunks().map(|chunk| chunk.events).sum(), chunks().map(|chunk| chunk.lost).sum());
        self.is_complete.then(sums)
    }

    /// True if the index says that no event of the CPU was lost.
    pub(super) fn is_lossless(&self, source: usize, cpu: CpuId) -> bool {
        let found = self.cpus.iter().find(|one| one.source == source && one.cpu == cpu);
        let last = found.and_then(|one| one.before.last().zip(one.chunks.last()));
        last.is_some_and(|((_, before), chunk)| before.saturating_add(chunk.lost) == 0)
    }

    /// The first and the last moment within the query's window: of the whole of a file with an index the first and the last
    /// chunk of each CPU is read.
    fn find_span(&self, query: &Query<'_>, kept: &Arc<KeptChunks>) -> Result<Option<(u64, u64)>, QueryError> {
        let by_index = self.is_complete && query.chosen_window().is_whole();
        let mut span: Option<(Timestamp, Timestamp)> = None;
        for source in query.sources().iter().filter(|_| by_index) {
            let trace = &query.recordings()[source.recording].trace;
            let buffer = &trace.buffers[source.buffer];
            for place in source.cpus.iter().filter(|place| buffer.cpus[**place].size > 4) {
                let Some((first, last)) = trace.indexed_span(buffer, *place, &source.time, kept)? else {
                    return Self::searched_span(query);
                };
                let (begin, end) = span.unwrap_or((first, last));
                span = Some((begin.min(first), end.max(last)));
            }
        }
        let span = span.map(|(begin, end)| (begin.0, end.0));
        if by_index { Ok(span) } else { Self::searched_span(query) }
    }

    fn searched_span(query: &Query<'_>) -> Result<Option<(u64, u64)>, QueryError> {
        Ok(query.span_in_window()?.map(|(begin, end)| (begin.0, end.0)))
    }

    /// The first and the last moment.
    pub(super) fn span(&self) -> (u64, u64) {
        (self.begin, self.end)
    }

    /// Number of events from `from` to `to`, about.
    pub(super) fn estimate(&self, from: u64, to: u64) -> u64 {
        let all = StripScale::new(from, to, 1);
        self.cpus.iter().fold(0u64, |sum, cpu| sum.saturating_add(self.cells(cpu, &all)[0].events))
    }

    /// The time before `before` in which about `events` happened.
    pub(super) fn time_of_events(&self, before: u64, events: u64) -> u64 {
        let mut time = self.end.saturating_sub(self.begin).max(1);
        while time > 1 && self.estimate(before.saturating_sub(time), before) > events.saturating_mul(4) {
            time /= 4;
        }
        time
    }

    /// The columns of a CPU: its chunks' events spread evenly over their time.
    pub(super) fn strip(&self, source: usize, cpu: CpuId, scale: &StripScale) -> Vec<StripCell> {
        let found = self.cpus.iter().find(|one| one.source == source && one.cpu == cpu);
        found.map_or_else(|| vec![StripCell::default(); scale.columns()], |found| self.cells(found, scale))
    }

    fn cells(&self, cpu: &CpuIndex, scale: &StripScale) -> Vec<StripCell> {
        // Moments rise: each search goes on from the one before.
        let mut begun = count_before(&cpu.chunks, 0, scale.from());
        let mut before = self.sums(cpu, begun, scale.from());
        // Losses of a chunk that begins before the columns may lie in them.
        let begins_before = begun.checked_sub(1).and_then(|number| cpu.chunks.get(number));
        before.1 = before.1.saturating_sub(begins_before.map_or(0, |chunk| chunk.lost));
        let cell = |column| {
            let edge = scale.edge(column + 1);
            begun = count_before(&cpu.chunks, begun, edge);
            let next = self.sums(cpu, begun, edge);
            let (events, lost) = std::mem::replace(&mut before, next);
            StripCell { events: next.0 - events, lost: next.1 - lost, ..StripCell::default() }
        };
        (0..scale.columns()).map(cell).collect()
    }

    /// Events and losses of a CPU before a moment, before which so many chunks begin: the events of a chunk are spread evenly
    /// over its time, its losses lie at its begin.
    fn sums(&self, cpu: &CpuIndex, begun: usize, at: u64) -> (u64, u64) {
        let spread = |events: u64, begin: u64, end: u64| {
            let into = at.clamp(begin, end.saturating_add(1)) - begin;
            match (events.checked_mul(into), (end - begin).checked_add(1)) {
                (Some(product), Some(time)) => product / time,
                _ => (u128::from(events) * u128::from(into) / (u128::from(end - begin) + 1)) as u64,
            }
        };
        if cpu.chunks.is_empty() {
            return (spread(cpu.by_size, self.begin, self.end), 0);
        }
        let Some((number, chunk)) = begun.checked_sub(1).map(|number| (number, cpu.chunks[number])) else {
            return (0, 0);
        };
        let end = cpu.chunks.get(number + 1).map_or(self.end, |next| next.first).max(chunk.first);
        let (events, lost) = cpu.before[number];
        (events.saturating_add(spread(chunk.events, chunk.first, end)), lost.saturating_add(chunk.lost))
    }
}

/// The number of chunks that begin before a moment, `known` of which are known to.
fn count_before(chunks: &[IndexedChunk], known: usize, at: u64) -> usize {
    let (mut low, mut step) = (known, 1);
    while chunks.get(low + step - 1).is_some_and(|chunk| chunk.first < at) {
        low += step;
        step *= 2;
    }
    let high = chunks.len().min(low + step - 1);
    low + chunks[low..high].partition_point(|chunk| chunk.first < at)
}

/// The events of one CPU of a query.
pub(super) fn of_cpu<'q>(query: &Query<'q>, source: usize, cpu: CpuId) -> Query<'q> {
    let mut sources = query.sources().to_vec();
    for (number, of) in sources.iter_mut().enumerate() {
        let data = &query.recordings()[of.recording].trace.buffers[of.buffer].cpus;
        of.cpus.retain(|place| number == source && data[*place].cpu == cpu);
    }
    query.clone().of_sources(sources)
}
