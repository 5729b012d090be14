//! Number of events of each type, by CPU and by task.
//! Number of events of each type.

use super::counts::BufferCounts;
use super::shown;
use super::shown::{SummaryBuffer, SummaryCounts, no_counts};
use crate::export::Exporter;
use crate::file::ring_buffer::RecordPlace;
use crate::file::trace_dat::LatencyResult;
use crate::kernel::event::{Consumed, Record};
use crate::read::merge::ahead::{self, Commit};
use serde_json::{Value, json};

/// Counts events by type, CPU and task, and writes the numbers at the end.
#[derive(Clone, Debug)]
pub struct EventSummary<'a> {
    buffers: Vec<SummaryBuffer<'a>>,
    top_tasks: usize,
    json: bool,
    width: Option<usize>,
    latencies: Vec<LatencyResult>,
    coverages: Vec<Value>,
}

impl<'a> EventSummary<'a> {
    /// For records whose [`Record::buffer`] is an index into `buffers`. The numbers are tables of text, or one JSON
    /// object; of the tasks, the `top_tasks` busiest are written.
    pub fn new(buffers: Vec<SummaryBuffer<'a>>, top_tasks: usize, json: bool) -> Self {
        EventSummary { buffers, top_tasks, json, width: None, latencies: Vec::new(), coverages: Vec::new() }
    }

    /// In lines of at most `width` characters, as far as tables can do without a column.
    pub fn with_width(self, width: Option<usize>) -> Self {
        EventSummary { width, ..self }
    }

    /// With results of latency tracers, which are no events.
    pub fn with_latencies(self, latencies: Vec<LatencyResult>) -> Self {
        EventSummary { latencies, ..self }
    }

    /// With what each recording holds of what happened, for the member `coverage` of JSON.
    pub fn with_coverages(self, coverages: Vec<Value>) -> Self {
        EventSummary { coverages, ..self }
    }
}

impl Exporter for EventSummary<'_> {
    type State = Vec<BufferCounts>;

    fn state(&self) -> Vec<BufferCounts> {
        no_counts(&self.buffers)
    }

    #[inline]
    fn event<'n>(
        &self,
        record: &Record<'_>,
        _: impl FnOnce() -> Option<Record<'n>>,
        counts: &mut Vec<BufferCounts>,
        _: &mut Vec<u8>,
    ) -> Consumed {
        counts[record.buffer].add(record);
        Consumed::One
    }

    fn end(&self, counts: &mut Vec<BufferCounts>, out: &mut Vec<u8>) {
        let numbers = SummaryCounts { buffers: &self.buffers, counts };
        match self.json {
            true => shown::write_json(&numbers, self.top_tasks, (&self.latencies, &self.coverages), out),
            false => {
                shown::write_text(&numbers, self.top_tasks, self.width, out);
                self.latencies.iter().for_each(|latency| out.extend_from_slice(format!("\n{latency}\n").as_bytes()));
            }
        }
    }

    fn fork(&self, _: &Vec<BufferCounts>, _: Option<Vec<BufferCounts>>) -> Vec<BufferCounts> {
        self.state()
    }

    fn commit(&self, known: &mut Vec<BufferCounts>, done: &mut Vec<BufferCounts>, _: &mut Vec<u8>) -> Commit {
        known.iter_mut().zip(&*done).for_each(|(known, done)| known.add_later(done));
        Commit::Accept
    }
}

/// Counts events by type, and writes the numbers at the end.
#[derive(Clone, Debug)]
pub struct Count<'a> {
    buffers: Vec<SummaryBuffer<'a>>,
    json: bool,
}

impl<'a> Count<'a> {
    /// For records whose [`Record::buffer`] is an index into `buffers`. The numbers are lines of text, or one JSON object.
    pub fn new(buffers: Vec<SummaryBuffer<'a>>, json: bool) -> Self {
        Count { buffers, json }
    }
}

impl Exporter for Count<'_> {
    type State = Vec<BufferCounts>;

    fn state(&self) -> Vec<BufferCounts> {
        no_counts(&self.buffers)
    }

    #[inline]
    fn event<'n>(
        &self,
        record: &Record<'_>,
        _: impl FnOnce() -> Option<Record<'n>>,
        counts: &mut Vec<BufferCounts>,
        _: &mut Vec<u8>,
    ) -> Consumed {
        counts[record.buffer].count(record.data);
        Consumed::One
    }

    fn end(&self, counts: &mut Vec<BufferCounts>, out: &mut Vec<u8>) {
        let numbers = SummaryCounts { buffers: &self.buffers, counts };
        let (events, total) = (numbers.events(), numbers.total().count);
        if self.json {
            let events: serde_json::Map<String, Value> =
                events.into_iter().map(|(name, tally)| (name, tally.count.into())).collect();
            let count = json!({
                "schema": "rtrace.count", "version": 1, "total": total, "events": events,
            });
            out.extend_from_slice(format!("{count}\n").as_bytes());
            return;
        }
        for (name, tally) in events {
            out.extend_from_slice(format!("{:>12} {name}\n", tally.count).as_bytes());
        }
        out.extend_from_slice(format!("{total:>12} in all\n").as_bytes());
    }

    fn fork(&self, _: &Vec<BufferCounts>, _: Option<Vec<BufferCounts>>) -> Vec<BufferCounts> {
        self.state()
    }

    fn commit(&self, known: &mut Vec<BufferCounts>, done: &mut Vec<BufferCounts>, _: &mut Vec<u8>) -> Commit {
        known.iter_mut().zip(&*done).for_each(|(known, done)| known.add_later(done));
        Commit::Accept
    }

    fn unordered(&self) -> Option<&dyn ahead::UnorderedWork<State = Vec<BufferCounts>>> {
        Some(self)
    }
}

impl ahead::UnorderedWork for Count<'_> {
    type State = Vec<BufferCounts>;

    fn nothing(&self) -> Vec<BufferCounts> {
        self.state()
    }

    fn records(&self, counts: &mut Vec<BufferCounts>, buffer: usize, items: &[RecordPlace], data: &[u8]) {
        let counts = &mut counts[buffer];
        for item in items {
            counts.count(item.bytes(data).unwrap_or_default());
        }
    }

    fn add(&self, known: &mut Vec<BufferCounts>, more: Vec<BufferCounts>) {
        known.iter_mut().zip(&more).for_each(|(known, more)| known.add_later(more));
    }

    fn any(&self, counts: &Vec<BufferCounts>, wanted: &dyn Fn(usize, u16) -> bool) -> bool {
        counts.iter().enumerate().any(|(buffer, counts)| counts.ids().any(|id| wanted(buffer, id)))
    }
}
