//! The events of all CPUs in the order of time, while they come.

use super::queue::Queue;
use crate::cli::terminal::note;
use rtrace::event::Record;
use rtrace::record::LiveFacts;
use rtrace::ring_buffer::PageLayout;

/// Takes sub-buffers in, and gives events out as soon as none before them can come.
pub(crate) struct Ordered {
    pub(super) queues: Vec<Queue>,
    /// How many queues come before those of each buffer.
    before: Vec<usize>,
    /// Everything up to here is there, of all CPUs.
    complete: u64,
    quiet: bool,
}

impl Ordered {
    /// For these buffers; damage is told on stderr unless it is to be `quiet`.
    pub(crate) fn new(facts: &LiveFacts, quiet: bool) -> Self {
        let (mut queues, mut before) = (Vec::new(), Vec::new());
        for (number, buffer) in facts.buffers.iter().enumerate() {
            before.push(queues.len());
            let layout = PageLayout::new(&facts.header_page, facts.abi, buffer.sub_buffer);
            queues.extend(buffer.cpus.iter().map(|cpu| Queue::new(number, *cpu, layout)));
        }
        Ordered { queues, before, complete: 0, quiet }
    }

    fn queue(&mut self, buffer: usize, cpu: usize) -> Option<&mut Queue> {
        let before = *self.before.get(buffer)?;
        self.queues.get_mut(before + cpu)
    }

    /// As [`Audience::page`](rtrace::record::Audience::page).
    pub(crate) fn page(&mut self, buffer: usize, cpu: usize, page: &[u8]) {
        if let Some(Err(error)) = self.queue(buffer, cpu).map(|queue| queue.page(page))
            && !self.quiet
        {
            note!("rtrace: warning: a sub-buffer of the kernel is damaged: {error}");
        }
    }

    /// As [`Audience::unfinished`](rtrace::record::Audience::unfinished).
    pub(crate) fn unfinished(&mut self, buffer: usize, cpu: usize) {
        if let Some(queue) = self.queue(buffer, cpu) {
            queue.unfinished = true;
        }
    }

    /// A round is over: up to which time events are all there.
    pub(crate) fn round(&mut self, last: bool) -> u64 {
        let bound = self.queues.iter().filter(|queue| queue.unfinished).map(|queue| queue.latest).min();
        let until = if last { u64::MAX } else { bound.map_or(self.complete, |bound| bound.min(self.complete)) };
        self.complete = self.queues.iter().map(|queue| queue.latest).max().unwrap_or(0);
        self.queues.iter_mut().for_each(|queue| queue.unfinished = false);
        until
    }

    /// The queue whose first event is the next one, if it is there for certain.
    pub(super) fn next(&self, until: u64) -> Option<usize> {
        let first = |(number, queue): (usize, &Queue)| queue.first_time().map(|time| (time, number));
        let (time, number) = self.queues.iter().enumerate().filter_map(first).min()?;
        (time <= until).then_some(number)
    }

    /// Hands out all events that are there for certain.
    pub(crate) fn each(&mut self, until: u64, mut see: impl FnMut(&Record<'_>)) {
        while let Some(current) = self.next(until) {
            if let Some(record) = self.queues[current].first() {
                see(&record);
            }
            self.queues[current].remove(0);
        }
    }
}
