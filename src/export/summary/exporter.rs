//! Number of events of each type, by CPU and by task.

use super::counts::BufferCounts;
use super::text::{SummaryBuffer, SummaryCounts, no_counts};
use super::{json, text};
use crate::export::Exporter;
use crate::file::trace_dat::LatencyResult;
use crate::kernel::event::{Consumed, Record};
use crate::read::merge::ahead::Commit;
use serde_json::Value;

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
            true => json::write(&numbers, self.top_tasks, (&self.latencies, &self.coverages), out),
            false => {
                text::write(&numbers, self.top_tasks, self.width, out);
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
