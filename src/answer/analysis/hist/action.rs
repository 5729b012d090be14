//! Handlers and their actions.

use super::key::TriggerEvent;
use super::plan::{CompiledTrigger, TriggerEffect, TriggerPlan, When};
use super::state::{HistState, Scratch};
use super::table::{Taken, VariableValue};
use crate::base::units::Timestamp;
use crate::file::ring_buffer::Lost;
use crate::kernel::event::Record;

impl HistState {
    /// Runs the action `at` of a trigger whose variables all have values, if its handler wants it.
    pub(super) fn act(
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
