//! Internal, but for what [`recording`](crate::read::recording) names. Records of running rings in the order of time.

use crate::base::units::{CpuId, Timestamp};
use crate::file::ring_buffer::{PageError, PageLayout, Walker};
use crate::kernel::event::{Consumed, Lost, Record};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// Merges the records of rings that are still being filled: a record is given out as soon as none before it can come.
///
/// The rings are read in rounds, each until it is empty. All records up to the latest one of a round existed before the
/// next round began, so after that one they are complete, of all CPUs.
pub struct LiveMerge {
    queues: Vec<CpuQueue>,
    /// Number of queues before those of each buffer.
    before: Vec<usize>,
    /// Records up to this time are complete after the next round.
    latest: u64,
    /// Records up to this time are complete.
    until: u64,
    last: bool,
    /// The queue of the current record.
    current: usize,
}

impl LiveMerge {
    /// For these buffers: the layout of their sub-buffers, and their CPUs. [`Record::buffer`] counts them.
    pub fn new(buffers: impl IntoIterator<Item = (PageLayout, Vec<CpuId>)>) -> Self {
        let (mut queues, mut before) = (Vec::new(), Vec::new());
        for (number, (layout, cpus)) in buffers.into_iter().enumerate() {
            before.push(queues.len());
            queues.extend(cpus.into_iter().map(|cpu| CpuQueue::new(number, cpu, layout)));
        }
        LiveMerge { queues, before, latest: 0, until: 0, last: false, current: 0 }
    }

    fn queue(&mut self, buffer: usize, cpu: usize) -> Option<&mut CpuQueue> {
        let before = *self.before.get(buffer)?;
        self.queues.get_mut(before + cpu)
    }

    /// Takes in a sub-buffer of a buffer's CPU (both are numbers in the list given to [`LiveMerge::new`]).
    ///
    /// # Errors
    /// [`PageError`] if it is damaged: the records before the damage are taken in.
    pub fn page(&mut self, buffer: usize, cpu: usize, page: &[u8]) -> Result<(), PageError> {
        self.queue(buffer, cpu).map_or(Ok(()), |queue| queue.page(page))
    }

    /// Notes that the ring holds more than was taken in this round: its records after the latest are still to come.
    pub fn unfinished(&mut self, buffer: usize, cpu: usize) {
        if let Some(queue) = self.queue(buffer, cpu) {
            queue.unfinished = true;
        }
    }

    /// Ends a round; `last`: no more will come.
    pub fn end_round(&mut self, last: bool) {
        let bound = self.queues.iter().filter(|queue| queue.unfinished).map(|queue| queue.latest).min();
        self.until = if last { u64::MAX } else { bound.map_or(self.latest, |bound| bound.min(self.latest)) };
        self.last = last;
        self.latest = self.queues.iter().map(|queue| queue.latest).max().unwrap_or(0);
        self.queues.iter_mut().for_each(|queue| queue.unfinished = false);
    }

    /// Goes to the next record; `false` if it is not complete yet, or there is none.
    pub fn advance(&mut self) -> bool {
        let first = |(number, queue): (usize, &CpuQueue)| queue.first_time().map(|time| (time, number));
        match self.queues.iter().enumerate().filter_map(first).min() {
            Some((time, number)) if time <= self.until => {
                self.current = number;
                true
            }
            _ => false,
        }
    }

    /// The current record, after [`LiveMerge::advance`] gave `true`.
    pub fn record(&self) -> Option<Record<'_>> {
        self.queues.get(self.current)?.get(0)
    }

    /// The record that follows the current one in its buffer, if it is here; a later round may bring an earlier one unless
    /// this is the last ([`LiveMerge::is_last`]).
    pub fn following(&self) -> Option<Record<'_>> {
        let (queue, at) = self.place_of_following()?;
        self.queues.get(queue)?.get(at)
    }

    /// The record that follows the current one on its CPU, if it is here.
    pub fn following_on_cpu(&self) -> Option<Record<'_>> {
        self.queues.get(self.current)?.get(1)
    }

    /// True if the last round has ended.
    pub fn is_last(&self) -> bool {
        self.last
    }

    /// Takes out the current record, and the following one if that was consumed too.
    pub fn take(&mut self, consumed: Consumed) {
        if consumed == Consumed::Two
            && let Some((queue, at)) = self.place_of_following()
            && let Some(queue) = self.queues.get_mut(queue)
        {
            queue.remove(at);
        }
        if let Some(queue) = self.queues.get_mut(self.current) {
            queue.remove(0);
        }
    }

    /// Calls `see` with all complete records.
    pub fn each(&mut self, mut see: impl FnMut(&Record<'_>)) {
        while self.advance() {
            self.record().iter().for_each(&mut see);
            self.take(Consumed::One);
        }
    }

    /// The queue and place of the record after the current one in the same buffer.
    fn place_of_following(&self) -> Option<(usize, usize)> {
        let buffer = self.queues.get(self.current)?.buffer;
        let of_buffer = self.queues.iter().enumerate().filter(|(_, queue)| queue.buffer == buffer);
        let next = |(number, queue): (usize, &CpuQueue)| {
            let at = usize::from(number == self.current);
            queue.get(at).map(|record| (record.timestamp.0, number, at))
        };
        of_buffer.filter_map(next).min().map(|(_, number, at)| (number, at))
    }
}

/// One CPU's events, in their order.
struct CpuQueue {
    buffer: usize,
    cpu: CpuId,
    layout: PageLayout,
    events: VecDeque<WaitingPage>,
    /// Losses that are reported with the next event.
    lost: Lost,
    /// The latest event taken in.
    latest: u64,
    /// More is known to come, from after the latest.
    unfinished: bool,
}

struct WaitingPage {
    time: u64,
    lost: Lost,
    page: Arc<[u8]>,
    place: Range<usize>,
}

impl CpuQueue {
    fn new(buffer: usize, cpu: CpuId, layout: PageLayout) -> Self {
        let events = VecDeque::new();
        CpuQueue { buffer, cpu, layout, events, lost: Lost::None, latest: 0, unfinished: false }
    }

    /// Takes in a sub-buffer; gives what is wrong with it, if anything is.
    fn page(&mut self, page: &[u8]) -> Result<(), PageError> {
        // The kernel fills up what it gives to a whole sub-buffer, or hands out less.
        let mut whole = page.to_vec();
        whole.resize(self.layout.size, 0);
        let page: Arc<[u8]> = whole.into();
        let header = self.layout.page(&page)?;
        if header.lost != Lost::None {
            self.lost = header.lost;
        }
        let mut walker = Walker::new(self.layout.abi, 0, &header);
        while let Some(item) = walker.step(&page)? {
            self.latest = self.latest.max(item.timestamp);
            self.events.push_back(WaitingPage {
                time: item.timestamp,
                lost: std::mem::take(&mut self.lost),
                page: Arc::clone(&page),
                place: item.range(),
            });
        }
        Ok(())
    }

    fn first_time(&self) -> Option<u64> {
        self.events.front().map(|event| event.time)
    }

    /// The event that waits at place `at`.
    fn get(&self, at: usize) -> Option<Record<'_>> {
        let event = self.events.get(at)?;
        Some(Record {
            timestamp: Timestamp(event.time),
            cpu: self.cpu,
            buffer: self.buffer,
            lost: event.lost,
            data: event.page.get(event.place.clone()).unwrap_or_default(),
        })
    }

    /// Takes the event at place `at` out.
    fn remove(&mut self, at: usize) {
        self.events.remove(at);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::abi::Abi;
    use crate::kernel::format::HeaderPage;

    /// A sub-buffer of this machine's kernel with records of 4 bytes at these times.
    fn page(times: &[u64]) -> Vec<u8> {
        let mut page = times[0].to_ne_bytes().to_vec();
        page.extend_from_slice(&(8 * times.len() as u64).to_ne_bytes());
        let mut before = times[0];
        for time in times {
            page.extend_from_slice(&(1 | ((time - before) as u32) << 5).to_ne_bytes());
            page.extend_from_slice(&(*time as u32).to_ne_bytes());
            before = *time;
        }
        page
    }

    fn complete(merge: &mut LiveMerge) -> Vec<(u64, u32)> {
        let mut found = Vec::new();
        merge.each(|record| found.push((record.timestamp.0, record.cpu.0)));
        found
    }

    #[test]
    fn records_wait_until_none_before_them_can_come() {
        let header = HeaderPage { long_size: Abi::HOST.long_size, data_offset: 16, sub_buffer_size: 4096 };
        let layout = PageLayout::new(&header, Abi::HOST, 4096);
        let mut merge = LiveMerge::new([(layout, vec![CpuId(0), CpuId(1)])]);
        merge.page(0, 0, &page(&[100, 300])).unwrap();
        merge.end_round(false);
        assert_eq!(complete(&mut merge), []); // CPU 1 may have an earlier one
        merge.page(0, 1, &page(&[200, 400])).unwrap();
        merge.end_round(false);
        assert_eq!(complete(&mut merge), [(100, 0), (200, 1), (300, 0)]);
        merge.page(0, 0, &page(&[350, 390])).unwrap();
        merge.unfinished(0, 0);
        merge.end_round(false);
        assert_eq!(complete(&mut merge), [(350, 0), (390, 0)]);
        merge.end_round(true);
        assert!(merge.advance() && merge.is_last() && merge.following().is_none());
        assert_eq!(complete(&mut merge), [(400, 1)]);
    }

    #[test]
    fn two_records_are_taken_at_once() {
        let header = HeaderPage { long_size: Abi::HOST.long_size, data_offset: 16, sub_buffer_size: 4096 };
        let layout = PageLayout::new(&header, Abi::HOST, 4096);
        let mut merge = LiveMerge::new([(layout, vec![CpuId(0), CpuId(1)])]);
        merge.page(0, 0, &page(&[100, 300])).unwrap();
        merge.page(0, 1, &page(&[200])).unwrap();
        merge.end_round(true);
        assert!(merge.advance());
        assert_eq!(merge.following().map(|record| record.timestamp.0), Some(200));
        merge.take(Consumed::Two);
        assert_eq!(complete(&mut merge), [(300, 0)]);
    }
}
