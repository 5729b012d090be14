//! Triggers other than hist: they let events into the ring buffer or keep them out, and pause histograms.
//!
//! As `event_triggers_call()` and `__event_trigger_test_discard()` have it (kernel/trace/trace_events_trigger.c, trace.c, Linux
//! 6.12): they run before the hist triggers of their event, the newest first. Where a trigger needs the record (a filter, a hist
//! or stacktrace trigger) or acts after it (traceoff), it is reserved before the triggers run, so that an event that stops the
//! trace is the last one in it; else they run before anything is reserved, and an event that starts it is the first one.
//! Histograms count on while tracing is off.

use super::key::TriggerEvent;
use super::setup::{EventTrigger, HistSetup, Problem};
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Pid, Timestamp};
use crate::kernel::format::EventFormat;
use crate::language::filter::{FilterProgram, FunctionAddresses, Subject};
use crate::language::trigger::TriggerAction;
use std::sync::Arc;

/// Moments of a trigger that are kept.
const MOMENTS: usize = 10_000;

/// The triggers of a setup, compiled.
#[derive(Debug, Default)]
pub(super) struct Gates {
    all: Vec<Gate>,
    /// Events that triggers turn on and off, or whose histograms they pause.
    targets: Vec<GateTarget>,
    tracing_off: bool,
}

#[derive(Debug)]
struct GateTarget {
    system: String,
    event: String,
    /// True if its events are kept out at first.
    is_off: bool,
}

#[derive(Debug)]
struct Gate {
    source: EventTrigger,
    filter: Option<Arc<FilterProgram>>,
    act: GateAction,
}

/// The action of a trigger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GateAction {
    Tracing(bool),
    /// A snapshot or a stack.
    Note,
    Event {
        target: usize,
        on: bool,
    },
    Hists {
        target: usize,
        on: bool,
    },
}

/// The triggers of an event.
#[derive(Clone, Debug, Default)]
pub(super) struct OnEvent {
    /// Hist triggers, in their order.
    pub(super) hists: Vec<usize>,
    /// The others, in the order in which they run.
    gates: Vec<usize>,
    /// True if a trigger needs the record.
    needs_record: bool,
    /// Its place among the targets, if triggers are about it.
    target: Option<usize>,
    /// True of a stack, which is recorded with the event before it.
    is_stack: bool,
}

impl Gates {
    pub(super) fn compile(
        setup: &HistSetup,
        find: &dyn Fn(&str, &str) -> Option<EventFormat>,
        abi: Abi,
        functions: &dyn FunctionAddresses,
    ) -> Result<Gates, (usize, Problem)> {
        let mut gates = Gates { tracing_off: setup.tracing_off, ..Gates::default() };
        for (number, source) in setup.gates.iter().enumerate() {
            let gate = gates.gate(source, find, abi, functions);
            let gate = gate.map_err(|problem| (setup.triggers.len().saturating_add(number), problem))?;
            gates.all.push(gate);
        }
        Ok(gates)
    }

    fn gate(
        &mut self,
        source: &EventTrigger,
        find: &dyn Fn(&str, &str) -> Option<EventFormat>,
        abi: Abi,
        functions: &dyn FunctionAddresses,
    ) -> Result<Gate, Problem> {
        let format = |system: &str, event: &str| {
            find(system, event).ok_or_else(|| Problem::NoEvent(format!("{system}:{event}")))
        };
        let own = format(&source.system, &source.event)?;
        let filter = source.trigger.filter.as_ref().map(|filter| filter.compile(&own, abi, functions)).transpose();
        let filter = filter.map_err(|error| Problem::Filter(Box::new(error)))?.map(Arc::new);
        let act = match &source.trigger.action {
            TriggerAction::TraceOn => GateAction::Tracing(true),
            TriggerAction::TraceOff => GateAction::Tracing(false),
            TriggerAction::Snapshot | TriggerAction::StackTrace => GateAction::Note,
            TriggerAction::EnableEvent(of)
            | TriggerAction::DisableEvent(of)
            | TriggerAction::EnableHist(of)
            | TriggerAction::DisableHist(of) => {
                format(&of.system, &of.event)?;
                let target = self.target(&of.system, &of.event);
                match &source.trigger.action {
                    TriggerAction::EnableEvent(_) => {
                        // An event that is to be turned on was not enabled before.
                        if let Some(target) = self.targets.get_mut(target) {
                            target.is_off = true;
                        }
                        GateAction::Event { target, on: true }
                    }
                    TriggerAction::DisableEvent(_) => GateAction::Event { target, on: false },
                    TriggerAction::EnableHist(_) => GateAction::Hists { target, on: true },
                    _ => GateAction::Hists { target, on: false },
                }
            }
            TriggerAction::Hist(_) => return Err(Problem::HistGate),
        };
        Ok(Gate { source: source.clone(), filter, act })
    }

    fn target(&mut self, system: &str, event: &str) -> usize {
        let is = |target: &GateTarget| target.system == system && target.event == event;
        self.targets.iter().position(is).unwrap_or_else(|| {
            self.targets.push(GateTarget { system: system.to_owned(), event: event.to_owned(), is_off: false });
            self.targets.len().saturating_sub(1)
        })
    }

    /// True if there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// True if a filter asks for the name of the event's task.
    pub(super) fn need_comms(&self) -> bool {
        self.all.iter().any(|gate| gate.filter.as_ref().is_some_and(|program| program.needs_comm()))
    }

    /// The events that have one, by system and name.
    pub(super) fn events(&self) -> impl Iterator<Item = (&str, &str)> {
        self.all.iter().map(|gate| (gate.source.system.as_str(), gate.source.event.as_str()))
    }

    /// The triggers of an event whose hist triggers are `hists`.
    pub(super) fn on(&self, system: &str, event: &str, hists: Vec<usize>) -> OnEvent {
        let is = |gate: &Gate| gate.source.system == system && gate.source.event == event;
        let own = self.all.iter().enumerate().filter(|(_, gate)| is(gate));
        let gates: Vec<usize> = own.map(|(number, _)| number).rev().collect(); // a new one is put before the others
        let is_post =
            |gate: &Gate| matches!(gate.source.trigger.action, TriggerAction::StackTrace | TriggerAction::TraceOff);
        let needs_record = gates.iter().filter_map(|number| self.all.get(*number));
        let needs_record =
            needs_record.fold(!hists.is_empty(), |any, gate| any || gate.filter.is_some() || is_post(gate));
        let target = self.targets.iter().position(|target| target.system == system && target.event == event);
        let is_stack = system == "ftrace" && matches!(event, "kernel_stack" | "user_stack");
        OnEvent { hists, gates, needs_record, target, is_stack }
    }
}

impl OnEvent {
    /// True if it has no triggers, and none are about it.
    pub(super) fn is_nothing(&self) -> bool {
        self.hists.is_empty() && self.gates.is_empty()
    }
}

/// The times that a trigger acted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Firings {
    /// Events that passed its filter.
    pub matched: u64,
    /// Of them, those at which it did something: its count was not used up, and what it sets was not set.
    pub acted: u64,
    /// The first 10,000 of these.
    pub moments: Vec<Firing>,
}

/// A time that a trigger acted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Firing {
    /// In the clock's unit.
    pub time: Timestamp,
    /// The CPU.
    pub cpu: CpuId,
    /// The running task.
    pub task: Pid,
}

/// State of tracing as the triggers left it.
#[derive(Clone, Debug)]
pub(super) struct GateState {
    is_on: bool,
    /// By target: true if its events are kept out.
    off: Vec<bool>,
    /// By target: whether its histograms are paused, if a trigger has said.
    paused: Vec<Option<bool>>,
    /// By trigger: what is left of its count.
    left: Vec<Option<u64>>,
    pub(super) firings: Vec<Firings>,
    /// By CPU: whether the last event went into the ring buffer.
    last: Vec<bool>,
}

impl GateState {
    pub(super) fn new(gates: &Gates) -> Self {
        GateState {
            is_on: !gates.tracing_off,
            off: gates.targets.iter().map(|target| target.is_off).collect(),
            paused: vec![None; gates.targets.len()],
            left: gates.all.iter().map(|gate| gate.source.trigger.count).collect(),
            firings: vec![Firings::default(); gates.all.len()],
            last: Vec::new(),
        }
    }

    /// True if the ring buffer takes events.
    pub(super) fn is_on(&self) -> bool {
        self.is_on
    }

    /// State of the event's histograms, paused or not; `None` before any trigger has set it.
    pub(super) fn paused(&self, on: &OnEvent) -> Option<bool> {
        self.paused.get(on.target?).copied().flatten()
    }

    /// Runs the triggers of an event. True if it went into the ring buffer.
    pub(super) fn event(&mut self, gates: &Gates, on: &OnEvent, moment: &TriggerEvent<'_>) -> bool {
        let is_out = |state: &GateState| on.target.and_then(|at| state.off.get(at)).is_some_and(|off| *off);
        let (was_on, was_out) = (self.is_on, is_out(self));
        for number in &on.gates {
            self.run(gates, *number, moment);
        }
        let passes = match (on.needs_record, was_out) {
            (true, false) => was_on && !is_out(self),
            _ => self.is_on && !is_out(self),
        };
        let cpu = (moment.cpu.0 & 0xffff) as usize;
        if self.last.len() <= cpu {
            self.last.resize(cpu.saturating_add(1), true);
        }
        let Some(last) = self.last.get_mut(cpu) else { return passes };
        if on.is_stack {
            return passes && *last;
        }
        *last = passes;
        passes
    }

    fn run(&mut self, gates: &Gates, number: usize, moment: &TriggerEvent<'_>) {
        let Some(gate) = gates.all.get(number) else { return };
        let passes = gate.filter.as_ref().is_none_or(|program| {
            let comm = if program.needs_comm() { moment.comms.get(moment.task).unwrap_or_default() } else { b"" };
            program.matches(&Subject { data: moment.data, cpu: moment.cpu, comm, names: &() })
        });
        let (Some(left), Some(firings)) = (self.left.get_mut(number), self.firings.get_mut(number)) else { return };
        if !passes {
            return;
        }
        firings.matched = firings.matched.saturating_add(1);
        let is_set = match gate.act {
            GateAction::Tracing(on) => self.is_on == on,
            GateAction::Event { target, on } => self.off.get(target) == Some(&!on),
            GateAction::Note | GateAction::Hists { .. } => false,
        };
        if is_set || *left == Some(0) {
            return;
        }
        *left = left.map(|left| left.saturating_sub(1));
        firings.acted = firings.acted.saturating_add(1);
        if firings.moments.len() < MOMENTS {
            firings.moments.push(Firing { time: Timestamp(moment.time), cpu: moment.cpu, task: moment.task });
        }
        match gate.act {
            GateAction::Tracing(on) => self.is_on = on,
            GateAction::Event { target, on } => self.off.get_mut(target).into_iter().for_each(|off| *off = !on),
            GateAction::Hists { target, on } => {
                self.paused.get_mut(target).into_iter().for_each(|paused| *paused = Some(!on));
            }
            GateAction::Note => {}
        }
    }
}
