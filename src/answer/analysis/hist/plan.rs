//! Triggers, compiled for one recording.

use super::gates::{Gates, OnEvent};
use super::key::{KeyColumn, TriggerEvent, TriggerOperand};
use super::setup::HistTrigger;
use super::synthetic::SyntheticEvent;
use super::table::{VariableValue, Widths};
use crate::base::abi::Abi;
use crate::base::text::plain::until_nul;
use crate::kernel::event::{Common, FieldPlace};
use crate::kernel::format::EventFormat;
use crate::language::filter::{FilterProgram, Subject};
use crate::language::hist::spec::Control;
use std::sync::Arc;

/// All triggers of a setup.
#[derive(Debug)]
pub(super) struct TriggerPlan {
    pub(super) abi: Abi,
    pub(super) common: Common,
    /// The setup's triggers, and hidden ones that keep fields of matched events.
    pub(super) triggers: Vec<CompiledTrigger>,
    /// The tables' widths.
    pub(super) tables: Vec<Widths>,
    pub(super) synthetic: Vec<SyntheticEvent>,
    /// By synthetic event: the triggers set on it.
    pub(super) on_synthetic: Vec<OnEvent>,
    /// The triggers other than hist.
    pub(super) gates: Gates,
    pub(super) only_held: bool,
    pub(super) note_held: bool,
    /// True if stacks are keys or values.
    pub(super) needs_stacks: bool,
    /// True if an event's effect depends on those before it.
    pub(super) is_ordered: bool,
    pub(super) keep_fired: bool,
}

impl TriggerPlan {
    /// The hist triggers set on an event, in their order.
    pub(super) fn hists_on(&self, system: &str, event: &str) -> Vec<usize> {
        let on = |trigger: &CompiledTrigger| trigger.source.system == system && trigger.source.event == event;
        self.triggers.iter().enumerate().filter(|(_, trigger)| on(trigger)).map(|(number, _)| number).collect()
    }
}

/// A trigger.
#[derive(Debug)]
pub(super) struct CompiledTrigger {
    pub(super) source: HistTrigger,
    pub(super) format: EventFormat,
    pub(super) filter: Option<Arc<FilterProgram>>,
    pub(super) keys: Vec<KeyColumn>,
    /// The values that are summed up, in the order of [`HistSpec::vals`](crate::language::hist::spec::HistSpec) without hitcount.
    pub(super) sums: Vec<TriggerOperand>,
    /// The variables that are set, with their places in the rows.
    pub(super) variables: Vec<(usize, Assigned)>,
    pub(super) references: Vec<Reference>,
    pub(super) actions: Vec<TriggerHandler>,
    pub(super) table: usize,
    /// True if other triggers read its variables.
    pub(super) is_read: bool,
    /// Of its variables, those whose value a partner takes away: places in the rows. All, if no partner takes any away.
    pub(super) waits: Vec<usize>,
    /// True if no file of the kernel would show it under the user's name: it keeps a field for another trigger.
    pub(super) is_hidden: bool,
}

impl CompiledTrigger {
    /// True if it is set with `pause`: it counts nothing until a trigger lets it go on.
    pub(super) fn is_paused(&self) -> bool {
        self.source.spec.control == Some(Control::Pause)
    }

    /// The number that the last key has the class of.
    #[inline]
    pub(super) fn measured(&self) -> Option<&TriggerOperand> {
        match self.keys.last()? {
            KeyColumn::Log2(of) | KeyColumn::Bucket(of, _) => Some(of),
            _ => None,
        }
    }

    /// True if it reads the name of the event's task.
    pub(super) fn needs_comms(&self) -> bool {
        let takes = |assigned: &Assigned| *assigned == Assigned::Comm;
        let acts = |action: &TriggerHandler| match &action.what {
            TriggerEffect::Fire { values, .. } | TriggerEffect::Save(values) => values.iter().any(takes),
            TriggerEffect::Snapshot => false,
        };
        self.filter.as_ref().is_some_and(|program| program.needs_comm())
            || self.keys.contains(&KeyColumn::Comm)
            || self.variables.iter().any(|(_, assigned)| takes(assigned))
            || self.actions.iter().any(acts)
    }

    #[inline]
    pub(super) fn passes(&self, moment: &TriggerEvent<'_>) -> bool {
        self.filter.as_ref().is_none_or(|program| {
            let comm = if program.needs_comm() { moment.comms.get(moment.task).unwrap_or_default() } else { b"" };
            program.matches(&Subject { data: moment.data, cpu: moment.cpu, comm, names: &() })
        })
    }
}

/// A variable that a trigger reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reference {
    /// The trigger that sets it.
    pub(super) trigger: usize,
    pub(super) table: usize,
    pub(super) slot: usize,
    /// Reading it unsets it, as in all calculations.
    pub(super) once: bool,
}

/// The value that a variable is set to, or that an action takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Assigned {
    Number(TriggerOperand),
    Text(FieldPlace),
    Comm,
    Stack,
    StackField(FieldPlace),
    /// The value of the reference with this index, whatever it is.
    Copy(usize),
}

impl Assigned {
    pub(super) fn held(&self, moment: &TriggerEvent<'_>, values: &[VariableValue]) -> VariableValue {
        let stack = |put: &dyn Fn(&mut Vec<u8>)| {
            let mut words = Vec::new();
            put(&mut words);
            VariableValue::Bytes(words.into())
        };
        match self {
            Assigned::Number(operand) => VariableValue::Number(operand.value(moment, values)),
            Assigned::Text(place) => {
                VariableValue::Bytes(until_nul(place.bytes(moment.abi, moment.data).unwrap_or_default()).into())
            }
            Assigned::Comm => VariableValue::Bytes(moment.comm().into()),
            Assigned::Stack => stack(&|out| moment.put_stack(out)),
            Assigned::StackField(place) => {
                let words = place.bytes(moment.abi, moment.data).unwrap_or_default();
                let words = super::key::without_count(moment, words);
                stack(&|out| moment.put_words(words, out))
            }
            Assigned::Copy(at) => values.get(*at).cloned().unwrap_or(VariableValue::Number(0)),
        }
    }
}

/// A handler and its action.
#[derive(Clone, Debug)]
pub(super) struct TriggerHandler {
    pub(super) when: When,
    pub(super) what: TriggerEffect,
}

/// The condition of an action, beyond that all variables have values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    Match,
    /// The reference's value exceeds what the row's track holds.
    Max {
        reference: usize,
        track: usize,
    },
    /// It differs.
    Change {
        reference: usize,
        track: usize,
    },
}

/// An action.
#[derive(Clone, Debug)]
pub(super) enum TriggerEffect {
    /// Fires the synthetic event with this index.
    Fire {
        synthetic: usize,
        values: Vec<Assigned>,
    },
    /// Keeps values in the row's track.
    Save(Vec<Assigned>),
    Snapshot,
}
