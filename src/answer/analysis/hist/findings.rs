//! The triggers' tables and counts.

use super::gates::Firings;
use super::key::Held;
use super::plan::TriggerPlan;
use super::setup::HistNames;
use super::shown;
use super::state::HistState;
use super::synthetic::SyntheticEvent;
use super::table::HistCounts;
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Pid, Timestamp};
use crate::kernel::event::Record;
use crate::kernel::format::EventFormat;
use crate::language::hist::spec::HistSpec;
use crate::language::hist::table::HistTable;
use std::sync::Arc;

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
    plan: Arc<TriggerPlan>,
    state: HistState,
}

impl HistFindings {
    pub(super) fn new(plan: Arc<TriggerPlan>, mut state: HistState) -> Self {
        for (trigger, counts) in plan.triggers.iter().zip(&mut state.counts).filter(|(trigger, _)| trigger.is_read) {
            if let Some(table) = state.tables.get(trigger.table) {
                counts.waiting = table.waiting(&trigger.waits);
            }
        }
        HistFindings { plan, state }
    }

    /// The table of a trigger of the setup, in its order; as the kernel would show it. `None` beyond the last one.
    pub fn table(&self, trigger: usize, names: &dyn HistNames) -> Option<HistTable> {
        let trigger = self.plan.triggers.iter().filter(|trigger| !trigger.is_hidden).nth(trigger)?;
        let on = self.plan.gates.on(&trigger.source.system, &trigger.source.event, Vec::new());
        let is_paused = self.state.gates.paused(&on).unwrap_or(trigger.is_paused());
        let table = self.state.tables.get(trigger.table)?;
        let taken = self.state.taken.get(trigger.table).and_then(Option::as_ref);
        Some(shown::table((trigger, is_paused), table, taken, &self.plan, names))
    }

    /// The counts of a trigger of the setup, in its order.
    pub fn counts(&self, trigger: usize) -> Option<HistCounts> {
        let all = self.plan.triggers.iter().zip(&self.state.counts);
        all.filter(|(trigger, _)| !trigger.is_hidden).nth(trigger).map(|(_, counts)| *counts)
    }

    /// Events of a trigger of the setup that found no room in its table.
    pub fn dropped(&self, trigger: usize) -> Option<u64> {
        let trigger = self.plan.triggers.iter().filter(|trigger| !trigger.is_hidden).nth(trigger)?;
        self.state.tables.get(trigger.table).map(|table| table.dropped)
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

    /// By entry of [`HistFindings::table`], in its order: hits in intervals of [`HistSetup::every`](super::HistSetup::every), by
    /// the number of the interval since the clock's 0.
    pub fn over_time(&self, trigger: usize) -> Option<Vec<Vec<(u64, u64)>>> {
        let trigger = self.plan.triggers.iter().filter(|trigger| !trigger.is_hidden).nth(trigger)?;
        Some(shown::cells(trigger, self.state.tables.get(trigger.table)?))
    }

    /// By how much counts of a trigger's table may be too low, if only the heaviest entries were kept.
    pub fn heaviest(&self, trigger: usize) -> Option<u64> {
        let trigger = self.plan.triggers.iter().filter(|trigger| !trigger.is_hidden).nth(trigger)?;
        let table = self.state.tables.get(trigger.table)?;
        self.plan.tables.get(trigger.table)?.heaviest.map(|_| table.low)
    }

    /// The times that a trigger of [`HistSetup::gates`](super::HistSetup::gates) acted.
    pub fn firings(&self, gate: usize) -> Option<&Firings> {
        self.state.gates.firings.get(gate)
    }

    /// The events that the ring buffer would hold, if [`HistSetup::note_held`](super::HistSetup::note_held) asked for them.
    pub fn held(&self) -> &Held {
        &self.state.held
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
