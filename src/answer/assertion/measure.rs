//! The measurements that assertions need, made in one pass.

use crate::answer::analysis::{
    EntryReport, EventCount, EventCounts, EventEntries, FaultReport, Faults, FunctionReport, FunctionTimes, InOrder,
    Io, IoReport, IrqReport, Irqs, LockReport, Locks, Memory, MemoryReport, PairReport, Pairs, Sched, SchedReport,
    SyscallReport, Syscalls,
};
use crate::file::trace_dat::Coverage;
use crate::kernel::event::Record;

/// An analysis that one or several assertions need.
#[derive(Clone, Debug)]
pub enum Measure<'a> {
    /// Of a `count` or `rate`.
    Count(Box<EventCount<'a>>),
    /// Of a `latency`.
    Pairs(Box<Pairs<'a>>),
    /// Of all about tasks and CPUs.
    Sched(Box<Sched>),
    /// Of all about system calls.
    Syscalls(Box<Syscalls>),
    /// Of all about interrupts.
    Irqs(Box<Irqs>),
    /// Of all about requests to block devices.
    Io(Box<Io>),
    /// Of all about functions.
    Functions(Box<FunctionTimes>),
    /// Of all about contended locks.
    Locks(Box<Locks>),
    /// Of all about allocated memory.
    Memory(Box<Memory>),
    /// Of all about page faults.
    Faults(Box<Faults>),
    /// Of a `hist`.
    Hist(Box<EventEntries<'a>>),
}

/// The answer of a [`Measure`].
#[derive(Clone, Debug)]
pub enum Finding {
    /// Of a `count` or `rate`.
    Count(EventCounts),
    /// Of a `latency`.
    Pairs(Box<PairReport>),
    /// Of all about tasks and CPUs.
    Sched(Box<SchedReport>),
    /// Of all about system calls.
    Syscalls(Box<SyscallReport>),
    /// Of all about interrupts.
    Irqs(Box<IrqReport>),
    /// Of all about requests to block devices.
    Io(Box<IoReport>),
    /// Of all about functions.
    Functions(Box<FunctionReport>),
    /// Of all about contended locks.
    Locks(Box<LockReport>),
    /// Of all about allocated memory.
    Memory(Box<MemoryReport>),
    /// Of all about page faults.
    Faults(Box<FaultReport>),
    /// Of a `hist`.
    Hist(EntryReport),
}

macro_rules! each {
    ($of:expr, $one:ident => $do:expr) => {
        match $of {
            Measure::Count($one) => $do,
            Measure::Pairs($one) => $do,
            Measure::Sched($one) => $do,
            Measure::Syscalls($one) => $do,
            Measure::Irqs($one) => $do,
            Measure::Io($one) => $do,
            Measure::Functions($one) => $do,
            Measure::Locks($one) => $do,
            Measure::Memory($one) => $do,
            Measure::Faults($one) => $do,
            Measure::Hist($one) => $do,
        }
    };
}

impl Measure<'_> {
    /// The same of the tasks and CPUs that were recorded: what others do is in no value.
    pub(super) fn covering(self, coverage: &Coverage) -> Self {
        match self {
            Measure::Sched(sched) => Measure::Sched(Box::new(sched.covering(coverage))),
            measure => measure,
        }
    }

    /// The same where the recorder left out events of its own threads: what these do is unknown, and no duration.
    pub(super) fn without_own(self, coverage: &Coverage) -> Self {
        match coverage.left_out.is_empty() {
            true => self,
            false => self.covering(&Coverage { left_out: coverage.left_out.clone(), ..Coverage::default() }),
        }
    }
}

impl InOrder for Measure<'_> {
    type Finding = Finding;

    fn reads(&self, id: u16) -> bool {
        each!(self, one => InOrder::reads(&**one, id))
    }

    #[inline]
    fn wants(&self, record: &Record<'_>) -> bool {
        each!(self, one => one.wants(record))
    }

    fn record(&mut self, record: &Record<'_>) {
        each!(self, one => InOrder::record(&mut **one, record));
    }

    fn finish(self) -> Finding {
        match self {
            Measure::Count(one) => Finding::Count(InOrder::finish(*one)),
            Measure::Pairs(one) => Finding::Pairs(Box::new(InOrder::finish(*one))),
            Measure::Sched(one) => Finding::Sched(Box::new(InOrder::finish(*one))),
            Measure::Syscalls(one) => Finding::Syscalls(Box::new(InOrder::finish(*one))),
            Measure::Irqs(one) => Finding::Irqs(Box::new(InOrder::finish(*one))),
            Measure::Io(one) => Finding::Io(Box::new(InOrder::finish(*one))),
            Measure::Functions(one) => Finding::Functions(Box::new(InOrder::finish(*one))),
            Measure::Locks(one) => Finding::Locks(Box::new(InOrder::finish(*one))),
            Measure::Memory(one) => Finding::Memory(Box::new(InOrder::finish(*one))),
            Measure::Faults(one) => Finding::Faults(Box::new(InOrder::finish(*one))),
            Measure::Hist(one) => Finding::Hist(InOrder::finish(*one)),
        }
    }
}
