//! Events and the stacks that follow them, where the recording was cut between the two.
//!
//! A stack is the next record of its event's CPU. On several threads that record may lie in the next segment: such an event
//! waits, and all events after it wait with it, until a record of its CPU comes.

use crate::answer::analysis::interface::Log;
use crate::base::units::{CpuId, Timestamp};
use crate::file::ring_buffer::Lost;
use crate::kernel::event::Record;
use std::collections::{HashSet, VecDeque};

/// The record after an event on its CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// Its stack, which is the next record of the log.
    Stack,
    /// Something else.
    Other,
    /// The segment ended before it.
    NotKnown,
}

/// Copies of a segment's events, with their stacks, and of the first record of each CPU.
#[derive(Clone, Debug, Default)]
pub struct StackedLog {
    log: Log,
    nexts: Vec<Next>,
    cpus: HashSet<CpuId>,
}

impl StackedLog {
    pub(super) fn clear(&mut self) {
        self.log.clear();
        self.nexts.clear();
        self.cpus.clear();
    }

    /// True if no record of this CPU was seen: the first one may be a stack that the segment before waits for.
    pub(super) fn is_first(&mut self, record: &Record<'_>) -> bool {
        self.cpus.insert(record.cpu)
    }

    /// Adds an event. `next`: the record that follows, and whether it is its stack.
    pub(super) fn push(&mut self, record: &Record<'_>, next: Option<(&Record<'_>, bool)>) {
        self.log.push(record);
        match next {
            Some((stack, true)) => {
                self.nexts.push(Next::Stack);
                self.log.push(stack);
            }
            Some(_) => self.nexts.push(Next::Other),
            None => self.nexts.push(Next::NotKnown),
        }
    }

    /// Adds a record that matters only to those before it.
    pub(super) fn push_first(&mut self, record: &Record<'_>) {
        self.log.push(record);
        self.nexts.push(Next::Other);
    }

    /// The events, each with its stack's record or what is known of it.
    fn events(&self) -> impl Iterator<Item = (Record<'_>, Option<Record<'_>>, Next)> {
        let mut records = self.log.records();
        self.nexts.iter().filter_map(move |next| {
            let record = records.next()?;
            let stack = if *next == Next::Stack { records.next() } else { None };
            Some((record, stack, *next))
        })
    }
}

/// Events that wait for what follows the first of them.
#[derive(Clone, Debug, Default)]
pub(super) struct WaitingEvent {
    events: VecDeque<StackedEvent>,
    /// Events of which none is of the first one's CPU.
    searched: usize,
}

#[derive(Clone, Debug)]
struct StackedEvent {
    timestamp: Timestamp,
    cpu: CpuId,
    buffer: usize,
    lost: Lost,
    data: Box<[u8]>,
    stack: Option<Box<StackedEvent>>,
    next: Next,
}

impl StackedEvent {
    fn new((record, stack, next): (Record<'_>, Option<Record<'_>>, Next)) -> Self {
        let Record { timestamp, cpu, buffer, lost, data } = record;
        let stack = stack.map(|stack| Box::new(StackedEvent::new((stack, None, Next::Other))));
        StackedEvent { timestamp, cpu, buffer, lost, data: data.into(), stack, next }
    }

    fn record(&self) -> Record<'_> {
        let StackedEvent { timestamp, cpu, buffer, lost, data, .. } = self;
        Record { timestamp: *timestamp, cpu: *cpu, buffer: *buffer, lost: *lost, data }
    }
}

impl WaitingEvent {
    /// Hands `see` the events that wait no more, and those of `log`, in their order, each with the record that may be its
    /// stack.
    pub(super) fn replay(&mut self, log: &StackedLog, mut see: impl FnMut(&Record<'_>, Option<&Record<'_>>)) {
        for event in log.events() {
            if self.events.is_empty() && event.2 != Next::NotKnown {
                see(&event.0, event.1.as_ref());
            } else {
                self.events.push_back(StackedEvent::new(event));
            }
        }
        while let Some(first) = self.events.front() {
            let follower = match first.next {
                Next::NotKnown => {
                    let from = self.searched.max(1);
                    let cpu = first.cpu;
                    let found = self.events.iter().skip(from).find(|later| later.cpu == cpu);
                    if found.is_none() {
                        self.searched = self.events.len();
                        return;
                    }
                    found
                }
                _ => first.stack.as_deref(),
            };
            see(&first.record(), follower.map(StackedEvent::record).as_ref());
            self.events.pop_front();
            self.searched = 0;
        }
    }

    /// Hands `see` what still waits: nothing follows it.
    pub(super) fn finish(&mut self, mut see: impl FnMut(&Record<'_>, Option<&Record<'_>>)) {
        while !self.events.is_empty() {
            if let Some(first) = self.events.front_mut() {
                first.next = match first.next {
                    Next::NotKnown if self.searched > 0 => Next::Other,
                    next => next,
                };
            }
            self.replay(&StackedLog::default(), &mut see);
        }
    }
}
