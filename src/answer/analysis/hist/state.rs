//! State of hist triggers between events (variables, stages that wait, tables), and its update by the next event.
//! Handlers and their actions.

use super::gates::{GateState, OnEvent};
use super::key::{Held, TriggerEvent};
use super::plan::{CompiledTrigger, TriggerEffect, TriggerPlan, When};
use super::table::{HistCounts, Taken, TriggerTable, VariableValue, Widths};
use crate::answer::analysis::interface::Log;
use crate::base::units::Timestamp;
use crate::file::ring_buffer::Lost;
use crate::kernel::event::Record;

/// Synthetic events that fire each other: deeper than this none does. The kernel has no such limit, and no sensible setup
/// comes near it.
const DEPTH: usize = 8;

/// The tables, and counts of what did not become an entry.
#[derive(Clone, Debug)]
pub(super) struct HistState {
    pub(super) tables: Vec<TriggerTable>,
    /// By trigger.
    pub(super) counts: Vec<HistCounts>,
    /// By table: the last snapshot that an action took.
    pub(super) taken: Vec<Option<Taken>>,
    /// Records of synthetic events, if they are kept.
    pub(super) fired: Log,
    pub(super) gates: Box<GateState>,
    pub(super) held: Box<Held>,
    /// Buffers that are used again, one set per depth.
    scratch: Vec<Scratch>,
}

#[derive(Clone, Debug, Default)]
struct Scratch {
    key: Vec<u8>,
    values: Vec<VariableValue>,
    passed: Vec<VariableValue>,
    record: Vec<u8>,
}

impl HistState {
    /// Before the first event. Without `limits` tables have room for all keys.
    pub(super) fn new(plan: &TriggerPlan, limits: bool) -> Self {
        let table =
            |widths: &Widths| TriggerTable::new(if limits { *widths } else { Widths { room: usize::MAX, ..*widths } });
        HistState {
            tables: plan.tables.iter().map(table).collect(),
            counts: vec![HistCounts::default(); plan.triggers.len()],
            taken: vec![None; plan.tables.len()],
            fired: Log::default(),
            gates: Box::new(GateState::new(&plan.gates)),
            held: Box::default(),
            scratch: Vec::new(),
        }
    }

    /// Adds what later events left, where nothing depends on the order.
    pub(super) fn merge(&mut self, later: &mut HistState) {
        self.tables.iter_mut().zip(&mut later.tables).for_each(|(known, later)| known.merge(later));
        for (known, later) in self.counts.iter_mut().zip(&mut later.counts) {
            known.add(std::mem::take(later));
        }
    }

    /// The kernel dropped events: variables that wait for a later event are forgotten, as it may be among them.
    pub(super) fn lose(&mut self, plan: &TriggerPlan) {
        for (trigger, counts) in plan.triggers.iter().zip(&mut self.counts).filter(|(trigger, _)| trigger.is_read) {
            let Some(table) = self.tables.get_mut(trigger.table) else { continue };
            counts.censored = counts
                .censored
                .saturating_add(table.forget(trigger.variables.iter().map(|(slot, _)| *slot), &trigger.waits));
        }
    }

    /// Takes an event through the triggers set on it, in their order. True if the ring buffer would hold it.
    #[inline]
    pub(super) fn event(&mut self, plan: &TriggerPlan, on: &OnEvent, moment: &TriggerEvent<'_>, depth: usize) -> bool {
        let is_held = plan.gates.is_empty() && !plan.note_held || self.gates.event(&plan.gates, on, moment);
        if plan.only_held && !is_held {
            return false;
        }
        let paused = if plan.gates.is_empty() { None } else { self.gates.paused(on) };
        for number in &on.hists {
            let Some(trigger) = plan.triggers.get(*number) else { continue };
            if paused.unwrap_or(trigger.is_paused()) || !trigger.passes(moment) {
                continue;
            }
            let mut scratch = self.scratch.pop().unwrap_or_default();
            self.count(plan, (*number, trigger), moment, &mut scratch, depth);
            self.scratch.push(scratch);
        }
        is_held
    }

    /// One trigger's part of an event that passed its filter.
    #[inline]
    fn count(
        &mut self,
        plan: &TriggerPlan,
        (number, trigger): (usize, &CompiledTrigger),
        moment: &TriggerEvent<'_>,
        scratch: &mut Scratch,
        depth: usize,
    ) {
        scratch.key.clear();
        trigger.keys.iter().for_each(|column| column.put(moment, &mut scratch.key));
        let Some(counts) = self.counts.get_mut(number) else { return };
        counts.seen = counts.seen.wrapping_add(1);
        if !trigger.references.is_empty() && !resolve(&mut self.tables, trigger, false, scratch) {
            counts.unmatched = counts.unmatched.wrapping_add(1);
            return;
        }
        let Some(row) = self.tables.get_mut(trigger.table).and_then(|table| table.hit_at(&scratch.key, moment.time))
        else {
            return;
        };
        for (sum, operand) in row.sums.iter_mut().zip(&trigger.sums) {
            *sum = sum.wrapping_add(operand.value(moment, &scratch.values));
        }
        let mut again = false;
        for (slot, assigned) in &trigger.variables {
            let held = assigned.held(moment, &scratch.values);
            if let Some(place) = row.variables.get_mut(*slot) {
                again |= place.replace(held).is_some() && trigger.waits.contains(slot);
            }
        }
        if let Some(measured) = trigger.measured()
            && let Some(table) = self.tables.get_mut(trigger.table)
        {
            table.measure(&scratch.key, measured.value(moment, &scratch.values));
        }
        if again && trigger.is_read {
            counts.begun_again = counts.begun_again.wrapping_add(1);
        }
        if trigger.actions.is_empty() || !resolve(&mut self.tables, trigger, true, scratch) {
            return;
        }
        for at in 0..trigger.actions.len() {
            self.act(plan, (number, trigger), at, moment, scratch, depth);
        }
    }

    /// True if synthetic events may still fire.
    fn may_fire(depth: usize) -> bool {
        depth < DEPTH
    }
}

/// Reads the variables of other triggers' tables, or (`own`) of the trigger's own; false if one has no value
/// (`resolve_var_refs()`).
fn resolve(tables: &mut [TriggerTable], trigger: &CompiledTrigger, own: bool, scratch: &mut Scratch) -> bool {
    if !own {
        scratch.values.clear();
        scratch.values.resize(trigger.references.len(), VariableValue::Number(0));
    }
    for (reference, value) in trigger.references.iter().zip(&mut scratch.values) {
        if (reference.table == trigger.table) != own {
            continue;
        }
        let row = tables.get_mut(reference.table).and_then(|table| table.find(&scratch.key));
        let Some(place) = row.and_then(|row| row.variables.get_mut(reference.slot)) else { return false };
        let held = if reference.once && !own { place.take() } else { place.clone() };
        match held {
            Some(held) => *value = held,
            None => return false,
        }
    }
    true
}

impl HistState {
    /// Runs the action `at` of a trigger whose variables all have values, if its handler wants it.
    fn act(
        &mut self,
        plan: &TriggerPlan,
        (number, trigger): (usize, &CompiledTrigger),
        at: usize,
        moment: &TriggerEvent<'_>,
        scratch: &mut Scratch,
        depth: usize,
    ) {
        let Some(deed) = trigger.actions.get(at) else { return };
        let (reference, track) = match deed.when {
            When::Match => (None, None),
            When::Max { reference, track } | When::Change { reference, track } => (Some(reference), Some(track)),
        };
        let value = reference.and_then(|at| scratch.values.get(at)).map_or(0, VariableValue::number);
        let table = self.tables.get_mut(trigger.table);
        let row = table.and_then(|table| table.find(&scratch.key));
        if let (Some(track), Some(row)) = (track, row) {
            let Some(tracked) = row.tracked.get_mut(track) else { return };
            let is_max = matches!(deed.when, When::Max { .. });
            if (is_max && value <= tracked.value) || (!is_max && value == tracked.value) {
                return;
            }
            tracked.value = value;
            match &deed.what {
                TriggerEffect::Save(values) => {
                    tracked.saved = values.iter().map(|value| value.held(moment, &scratch.values)).collect();
                }
                TriggerEffect::Snapshot => {
                    let (key, time, cpu, task) = (row.key.clone(), moment.time, moment.cpu, moment.task);
                    if let Some(taken) = self.taken.get_mut(trigger.table) {
                        *taken = Some(Taken { trigger: number, action: at, key, value, time, cpu, task });
                    }
                }
                TriggerEffect::Fire { .. } => {}
            }
        }
        if let TriggerEffect::Fire { synthetic, values } = &deed.what {
            scratch.passed.clear();
            scratch.passed.extend(values.iter().map(|value| value.held(moment, &scratch.values)));
            self.fire(plan, *synthetic, moment, scratch, depth);
        }
    }

    /// Fires a synthetic event and runs its triggers.
    fn fire(
        &mut self,
        plan: &TriggerPlan,
        synthetic: usize,
        moment: &TriggerEvent<'_>,
        scratch: &mut Scratch,
        depth: usize,
    ) {
        let (Some(event), Some(on)) = (plan.synthetic.get(synthetic), plan.on_synthetic.get(synthetic)) else {
            return;
        };
        event.encode(moment, &scratch.passed, &mut scratch.record);
        if plan.keep_fired {
            let (timestamp, cpu) = (Timestamp(moment.time), moment.cpu);
            self.fired.push(&Record { timestamp, cpu, buffer: 0, lost: Lost::None, data: &scratch.record });
        }
        if HistState::may_fire(depth) {
            self.event(plan, on, &TriggerEvent { data: &scratch.record, ..*moment }, depth.saturating_add(1));
        }
    }
}
