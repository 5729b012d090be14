//! The cause of most of an interval: its leading part in words, or why it is not known.

use super::found::LateInterval;
use crate::cli::analyze::words::{many, percent};
use crate::cli::query::ClockUnit;
use rtrace::analysis::{IntervalPart, LeadingPart, Leaves, PartKind, WakeContext};
use std::cmp::Ordering;

/// The longest time that a CPU may take to leave idle, in nanoseconds: deep idle states take a tenth of that.
const LEAVES_IDLE: u64 = 1_000_000;

/// The cause of most of an interval.
pub(super) struct Cause {
    pub(super) leading: LeadingPart,
    /// False if the leading part is no cause: too little of the time, or something else kept the task.
    pub(super) is_known: bool,
    /// The leading part in words, and the one that it lies in.
    pub(super) words: String,
}

impl LateInterval<'_> {
    /// The cause; `None` of an interval without time.
    pub(super) fn cause(&self) -> Option<Cause> {
        let held = |part: &IntervalPart| self.held_time(part);
        let mut leaves = Leaves::new(&held);
        self.for_each_part(None, &mut |part| leaves.add(&self.history, part));
        let leading = leaves.leading()?;
        // Of two that take nearly the same, which one came first is chance.
        let leads = leading.time.saturating_mul(2) >= self.time()
            && leading.time.saturating_mul(2) >= leading.next.saturating_mul(3);
        let is_known = leads && self.explains(&leading);
        Some(Cause { words: self.words(&leading), is_known, leading })
    }

    /// False if the events do not tell why the part came about.
    fn explains(&self, leading: &LeadingPart) -> bool {
        let outer = leading.outer.as_ref();
        match (&leading.part.kind, outer) {
            (PartKind::Unknown | PartKind::Wait { .. } | PartKind::Preempted { .. }, _) => false,
            (PartKind::Idle { .. }, Some(outer)) => {
                let is_short = self.unit == ClockUnit::Ticks || leading.part.time() < LEAVES_IDLE;
                let may_leave_idle = matches!(outer.kind, PartKind::Wait { .. }) && is_short;
                self.throttle(outer).is_some() || may_leave_idle
            }
            (PartKind::Run { task, .. }, Some(outer)) => {
                let waiter = match outer.kind {
                    PartKind::Wait { task, .. } | PartKind::Preempted { task, .. } => task,
                    _ => return true,
                };
                let at = leading.part.begin;
                let ranks = self.history.priority(*task, at).zip(self.history.priority(waiter, at));
                // One that comes later may have run as the other was throttled.
                let comes_later = ranks.and_then(|(ours, waiting)| ours.before(waiting)) == Some(Ordering::Greater);
                !comes_later && self.quota(outer).is_none()
            }
            (PartKind::Sleep { wake, handler, .. }, _) => match wake {
                None => false,
                Some(wake) => handler.is_some() || wake.context == WakeContext::Task && wake.by.pid.0 != 0,
            },
            _ => true,
        }
    }

    fn words(&self, leading: &LeadingPart) -> String {
        let LeadingPart { part, outer, count, .. } = leading;
        let held = |outer: &IntervalPart| matches!(part.kind, PartKind::Idle { .. }) && self.throttle(outer).is_some();
        let mut words = match (&part.kind, outer) {
            // The sentence says that the CPU was idle, and why.
            (_, Some(outer)) if held(outer) => return self.sentence(outer, None),
            (PartKind::Interrupt { cpu, .. }, _) => self.interruption(cpu.0),
            _ => self.sentence(part, outer.as_ref()),
        };
        if *count > 1 {
            words.push_str(&format!(", in {}", many(*count, "part")));
        }
        if let Some(outer) = outer {
            words.push_str(&format!(", while {}", self.sentence(outer, None)));
        }
        words
    }

    /// `interrupts on CPU 0, mostly vector local_timer (36)`.
    fn interruption(&self, cpu: u32) -> String {
        match self.interrupts().first() {
            Some(most) => format!("interrupts on CPU {cpu}, mostly {}", self.interrupt(&most.handler)),
            None => format!("interrupts on CPU {cpu}"),
        }
    }

    /// `Cause of 98.2 %: rtspin [33] ran on CPU 0, ...`; `Cause: not known; 40.1 %: ...`.
    pub(super) fn cause_line(&self) -> Option<String> {
        let cause = self.cause()?;
        let share = percent(cause.leading.time, self.time());
        Some(match cause.is_known {
            true => format!("Cause of {share} %: {}", cause.words),
            false => format!("Cause: not known; {share} %: {}", cause.words),
        })
    }
}
