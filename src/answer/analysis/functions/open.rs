//! Calls that go on, each within the one before.

use crate::answer::analysis::stacks::{Node, StackFrame};

/// The context of a call, from the flags of its entry (include/linux/trace_events.h, `enum trace_flag_type`). A call in
/// a higher one than its caller interrupted it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CallContext {
    Task,
    SoftIrq,
    HardIrq,
    Nmi,
}

impl CallContext {
    pub(super) fn of(flags: u8) -> Self {
        const HARD_IRQ: u8 = 0x08;
        const SOFT_IRQ: u8 = 0x10;
        const NMI: u8 = 0x40;
        match flags {
            _ if flags & NMI != 0 => CallContext::Nmi,
            _ if flags & HARD_IRQ != 0 => CallContext::HardIrq,
            _ if flags & SOFT_IRQ != 0 => CallContext::SoftIrq,
            _ => CallContext::Task,
        }
    }
}

/// A call that goes on, or time off the CPU.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenFrame {
    pub(super) frame: StackFrame,
    pub(super) context: CallContext,
    /// True if it interrupted what is below it.
    pub(super) interrupts: bool,
    pub(super) at: u64,
    pub(super) spent: Spent,
    /// Net time of the functions that it called.
    pub(super) callees: u64,
    /// Node of its call stack.
    pub(super) node: Node,
}

/// Time within a call that is not its function's.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
    pub(super) asleep: u64,
    pub(super) preempted: u64,
    pub(super) interrupted: u64,
}

/// A call that has ended, up to `end`.
#[derive(Clone, Copy, Debug)]
pub(super) struct EndedCall {
    pub(super) whole: u64,
    pub(super) net: u64,
    pub(super) own: u64,
}

impl Spent {
    fn add(&mut self, other: Spent) {
        self.asleep = self.asleep.saturating_add(other.asleep);
        self.preempted = self.preempted.saturating_add(other.preempted);
        self.interrupted = self.interrupted.saturating_add(other.interrupted);
    }

    fn sum(self) -> u64 {
        self.asleep.saturating_add(self.preempted).saturating_add(self.interrupted)
    }
}

impl OpenFrame {
    /// Duration of the call up to `end`.
    pub(super) fn ended(&self, end: u64) -> EndedCall {
        let whole = end.saturating_sub(self.at);
        let net = whole.saturating_sub(self.spent.sum());
        EndedCall { whole, net, own: net.saturating_sub(self.callees) }
    }

    /// Takes what ended within it.
    pub(super) fn take(&mut self, inner: &OpenFrame, ended: EndedCall) {
        match inner.frame {
            StackFrame::OffCpu => self.spent.asleep = self.spent.asleep.saturating_add(ended.whole),
            StackFrame::Preempted => self.spent.preempted = self.spent.preempted.saturating_add(ended.whole),
            StackFrame::Function(_) | StackFrame::Unknown => {
                self.spent.add(inner.spent);
                let net = if inner.interrupts { &mut self.spent.interrupted } else { &mut self.callees };
                *net = net.saturating_add(ended.net);
            }
        }
    }
}
