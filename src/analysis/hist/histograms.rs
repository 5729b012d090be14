//! The analysis.

use super::super::by_event::ByEvent;
use super::super::log::Log;
use super::compile::Around;
use super::findings::HistFindings;
use super::moment::Moment;
use super::plan::Plan;
use super::setup::{HistSetup, SetupError};
use super::state::State;
use super::synthetic::SyntheticEvent;
use crate::abi::Abi;
use crate::analysis::Analysis;
use crate::event::Record;
use crate::filter::Functions;
use crate::format::EventFormat;
use crate::ring_buffer::Lost;
use crate::symbols::Comms;
use crate::units::EventId;
use std::sync::Arc;

/// Hist triggers, of a buffer of a recording; an [`Analysis`].
pub struct Histograms<'a> {
    plan: Arc<Plan>,
    /// The triggers set on an event.
    events: ByEvent<Arc<[usize]>>,
    abi: Abi,
    comms: &'a Comms,
    stacks: Option<StackEvent>,
    limits: bool,
}

/// The events that hold stacks, `ftrace:kernel_stack`.
#[derive(Clone, Copy, Debug)]
struct StackEvent {
    id: EventId,
    /// Offset of the return addresses, in bytes.
    caller: usize,
}

/// The tables after all events so far, or copies of later events.
#[expect(clippy::large_enum_variant, reason = "there is one per segment that is worked on")]
pub enum HistPart {
    /// What the events counted.
    #[doc(hidden)]
    Counted(Counted),
    /// Events whose turn has not come, each followed by its stack.
    #[doc(hidden)]
    Later(Log),
}

/// The tables of some events.
pub struct Counted(pub(super) State);

impl<'a> Histograms<'a> {
    /// The triggers of `setup` on the events of a recording. `functions` are those that filters name.
    ///
    /// # Errors
    /// [`SetupError`]: a trigger that the kernel would refuse, or that a recording cannot answer.
    pub fn new(
        setup: &HistSetup,
        formats: &[&EventFormat],
        abi: Abi,
        comms: &'a Comms,
        functions: &dyn Functions,
    ) -> Result<Self, SetupError> {
        let is_stack = |format: &&&EventFormat| format.system == "ftrace" && format.name == "kernel_stack";
        let stacks = formats
            .iter()
            .find(is_stack)
            .and_then(|format| Some(StackEvent { id: format.id, caller: format.field("caller")?.offset }));
        let around = Around { formats, abi, functions, has_stacks: stacks.is_some() };
        let plan = Plan::compile(setup, &around)?;
        let triggers_of = |format: &EventFormat| {
            let on = |trigger: &super::plan::Trigger| {
                (&trigger.source.system, &trigger.source.event) == (&format.system, &format.name)
            };
            let all = plan.triggers.iter().enumerate().filter(|(_, trigger)| on(trigger));
            let all: Arc<[usize]> = all.map(|(number, _)| number).collect();
            (!all.is_empty()).then_some(all)
        };
        let events = ByEvent::new(formats.iter().copied(), abi, triggers_of);
        Ok(Histograms { events, abi, comms, stacks, limits: setup.kernel_limits, plan: Arc::new(plan) })
    }

    /// True if stacks are keys or values: the events that follow those with triggers must be handed out, too.
    pub fn needs_stacks(&self) -> bool {
        self.plan.needs_stacks
    }

    /// The synthetic events that the triggers fire.
    pub fn synthetic(&self) -> &[SyntheticEvent] {
        &self.plan.synthetic
    }

    /// The system and name of each recorded event that triggers are set on.
    pub fn events(&self) -> Vec<(&str, &str)> {
        let recorded = self.plan.triggers.iter().filter(|trigger| trigger.source.system != "synthetic");
        let mut events: Vec<_> =
            recorded.map(|trigger| (trigger.source.system.as_str(), trigger.source.event.as_str())).collect();
        events.sort_unstable();
        events.dedup();
        events
    }

    #[inline]
    fn count(&self, state: &mut State, record: &Record<'_>, stack: &[u8]) {
        if self.plan.is_ordered && record.lost != Lost::None {
            state.lose(&self.plan);
        }
        let Some(triggers) = self.events.of(record) else { return };
        let moment = Moment {
            abi: self.abi,
            data: record.data,
            time: record.timestamp.0,
            cpu: record.cpu,
            task: self.events.task(record),
            stack,
            comms: self.comms,
        };
        state.event(&self.plan, triggers, &moment, 0);
    }

    /// The return addresses of `next`, if it is the stack of `record`.
    fn stack_of<'n>(&self, record: &Record<'_>, next: &Record<'n>) -> Option<&'n [u8]> {
        let stacks = self.stacks?;
        let is_its = next.cpu == record.cpu
            && self.events.id(next) == stacks.id.0
            && self.events.task(next) == self.events.task(record);
        is_its.then(|| next.data.get(stacks.caller..).unwrap_or_default())
    }

    fn replay(&self, state: &mut State, log: &Log) {
        let mut records = log.records().peekable();
        while let Some(record) = records.next() {
            let stack = records.peek().and_then(|next| self.stack_of(&record, next)).unwrap_or_default();
            self.count(state, &record, stack);
        }
    }
}

impl Analysis for Histograms<'_> {
    type Part = HistPart;
    type Finding = HistFindings;

    fn begin(&self) -> HistPart {
        HistPart::Counted(Counted(State::new(&self.plan, self.limits)))
    }

    fn fork(&self, used: Option<HistPart>) -> HistPart {
        match used {
            Some(HistPart::Later(mut log)) => {
                log.clear();
                HistPart::Later(log)
            }
            Some(HistPart::Counted(used)) if !self.plan.is_ordered => HistPart::Counted(used),
            _ if self.plan.is_ordered => HistPart::Later(Log::default()),
            // What comes later may find no room: that is decided when it is merged.
            _ => HistPart::Counted(Counted(State::new(&self.plan, false))),
        }
    }

    #[inline]
    fn record(&self, record: &Record<'_>, part: &mut HistPart) {
        self.record_followed(record, || None, part);
    }

    #[inline]
    fn record_followed<'n>(&self, record: &Record<'_>, next: impl FnOnce() -> Option<Record<'n>>, part: &mut HistPart) {
        let is_lost = self.plan.is_ordered && record.lost != Lost::None;
        let is_wanted = self.events.of(record).is_some();
        if !is_wanted && !is_lost {
            return;
        }
        let next = if self.plan.needs_stacks && is_wanted { next() } else { None };
        match part {
            HistPart::Counted(Counted(state)) => {
                let stack = next.as_ref().and_then(|next| self.stack_of(record, next)).unwrap_or_default();
                self.count(state, record, stack);
            }
            HistPart::Later(log) => {
                log.push(record);
                if let Some(next) = next.filter(|next| self.stack_of(record, next).is_some()) {
                    log.push(&next);
                }
            }
        }
    }

    fn merge(&self, known: &mut HistPart, later: &mut HistPart) {
        match (known, later) {
            (HistPart::Counted(Counted(known)), HistPart::Counted(Counted(later))) => known.merge(later),
            (HistPart::Counted(Counted(known)), HistPart::Later(log)) => self.replay(known, log),
            // The state that `begin` made is counted.
            (HistPart::Later(_), _) => {}
        }
    }

    fn finish(self, known: HistPart) -> HistFindings {
        let state = match known {
            HistPart::Counted(Counted(state)) => state,
            HistPart::Later(log) => {
                let mut state = State::new(&self.plan, self.limits);
                self.replay(&mut state, &log);
                state
            }
        };
        HistFindings::new(self.plan, state)
    }
}
