//! What the triggers counted.

use super::plan::Plan;
use super::shown;
use super::state::State;
use super::synthetic::SyntheticEvent;
use crate::abi::Abi;
use crate::event::Record;
use crate::format::EventFormat;
use crate::hist::spec::HistSpec;
use crate::hist::table::HistTable;
use crate::units::{CpuId, Pid, Timestamp};
use std::sync::Arc;

/// Names for what keys hold.
pub trait HistNames {
    /// A function as `%ps` prints it (`schedule`, `nf_hook [nf_tables]`), or with `offset` as `%pS` does
    /// (`schedule+0x27/0xc0`); the number in hexadecimal where there is none.
    fn symbol(&self, address: u64, offset: bool) -> String;

    /// A system call by its number: `sys_read`.
    fn syscall(&self, number: u64) -> Option<String>;

    /// The name of a task.
    fn comm(&self, pid: Pid) -> String;
}

/// What became of the events of a trigger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistCounts {
    /// Events that passed its filter.
    pub seen: u64,
    /// Of them, those for which a variable of another trigger had no value: they make no entry.
    pub unmatched: u64,
    /// Times that a variable that another trigger reads was set again before it was read.
    pub begun_again: u64,
    /// Entries whose variable waited for another event at the end.
    pub waiting: u64,
    /// Entries whose variable was forgotten, as the kernel dropped events while it waited.
    pub censored: u64,
}

impl HistCounts {
    pub(super) fn add(&mut self, more: HistCounts) {
        self.seen = self.seen.wrapping_add(more.seen);
        self.unmatched = self.unmatched.wrapping_add(more.unmatched);
        self.begun_again = self.begun_again.wrapping_add(more.begun_again);
        self.waiting = self.waiting.wrapping_add(more.waiting);
        self.censored = self.censored.wrapping_add(more.censored);
    }
}

/// The moment at which an action took a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SnapshotMoment {
    /// In the clock's unit.
    pub time: Timestamp,
    /// The CPU.
    pub cpu: CpuId,
    /// The running task.
    pub task: Pid,
}

/// The tables of all triggers.
pub struct HistFindings {
    plan: Arc<Plan>,
    state: State,
}

impl HistFindings {
    pub(super) fn new(plan: Arc<Plan>, mut state: State) -> Self {
        for (trigger, counts) in plan.triggers.iter().zip(&mut state.counts).filter(|(trigger, _)| trigger.is_read) {
            if let Some(table) = state.tables.get(trigger.table) {
                counts.waiting = table.waiting(trigger.variables.iter().map(|(slot, _)| *slot));
            }
        }
        HistFindings { plan, state }
    }

    /// The table of a trigger of the setup, in its order; as the kernel would show it. `None` beyond the last one.
    pub fn table(&self, trigger: usize, names: &dyn HistNames) -> Option<HistTable> {
        let trigger = self.plan.triggers.iter().filter(|trigger| !trigger.is_hidden).nth(trigger)?;
        let table = self.state.tables.get(trigger.table)?;
        let taken = self.state.taken.get(trigger.table).and_then(Option::as_ref);
        Some(shown::table(trigger, table, taken, &self.plan, names))
    }

    /// The counts of a trigger of the setup, in its order.
    pub fn counts(&self, trigger: usize) -> Option<HistCounts> {
        let all = self.plan.triggers.iter().zip(&self.state.counts);
        all.filter(|(trigger, _)| !trigger.is_hidden).nth(trigger).map(|(_, counts)| *counts)
    }

    /// The trigger as the kernel would show it, and the format of its event.
    pub fn trigger(&self, trigger: usize) -> Option<(HistSpec, &EventFormat)> {
        let trigger = self.plan.triggers.iter().filter(|trigger| !trigger.is_hidden).nth(trigger)?;
        Some((trigger.source.spec.shown_on(&trigger.format), &trigger.format))
    }

    /// When the last snapshot of a trigger of the setup was taken.
    pub fn snapshot(&self, trigger: usize) -> Option<SnapshotMoment> {
        let trigger = self.plan.triggers.iter().filter(|trigger| !trigger.is_hidden).nth(trigger)?;
        let taken = self.state.taken.get(trigger.table)?.as_ref()?;
        Some(SnapshotMoment { time: Timestamp(taken.time), cpu: taken.cpu, task: taken.task })
    }

    /// The synthetic events that the triggers fire.
    pub fn synthetic(&self) -> &[SyntheticEvent] {
        &self.plan.synthetic
    }

    /// Byte order and word size of their records.
    pub fn abi(&self) -> Abi {
        self.plan.abi
    }

    /// The task in which one fired.
    pub fn task(&self, record: &Record<'_>) -> Pid {
        self.plan.common.pid(self.plan.abi, record.data)
    }

    /// The synthetic events that fired, in the order of time, if [`HistSetup::keep_fired`](super::HistSetup) asked for them:
    /// records of the formats of [`HistFindings::synthetic`].
    pub fn fired(&self) -> impl Iterator<Item = Record<'_>> {
        self.state.fired.records()
    }
}
