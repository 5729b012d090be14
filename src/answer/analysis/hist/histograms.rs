//! The analysis.

use super::super::by_event::ByEvent;
use super::compile::Around;
use super::gates::{Firings, OnEvent};
use super::key::{Held, TriggerEvent};
use super::plan::{CompiledTrigger, TriggerPlan};
use super::setup::{HistNames, HistSetup, SetupError};
use super::shown;
use super::stacked::{StackedLog, WaitingEvent};
use super::state::HistState;
use super::synthetic::SyntheticEvent;
use super::table::HistCounts;
use crate::answer::analysis::Analysis;
use crate::answer::analysis::interface::Log;
use crate::base::abi::Abi;
use crate::base::units::{CpuId, EventId, Pid, Timestamp};
use crate::file::ring_buffer::Lost;
use crate::kernel::event::Record;
use crate::kernel::format::EventFormat;
use crate::kernel::symbols::Symbols;
use crate::language::filter::AddressNames;
use crate::language::hist::spec::HistSpec;
use crate::language::hist::table::HistTable;
use std::sync::Arc;

/// Hist triggers, of a buffer of a recording; an [`Analysis`].
pub struct Histograms<'a> {
    plan: Arc<TriggerPlan>,
    /// The triggers set on an event.
    events: ByEvent<Arc<OnEvent>>,
    abi: Abi,
    symbols: &'a Symbols,
    stacks: Option<StackEvent>,
    limits: bool,
    frames: usize,
}

/// The events that hold stacks, `ftrace:kernel_stack`.
#[derive(Clone, Copy, Debug)]
struct StackEvent {
    id: EventId,
    /// Offset of the return addresses, in bytes.
    caller: usize,
}

/// The tables after all events so far, or copies of later events.
pub enum HistPart {
    /// Tables of the events so far.
    #[doc(hidden)]
    Counted(Counted),
    /// Events whose turn has not come.
    #[doc(hidden)]
    Later(Log),
    /// The same with their stacks.
    #[doc(hidden)]
    LaterStacked(StackedLog),
}

/// The tables of some events.
pub struct Counted {
    state: HistState,
    waiting: WaitingEvent,
}

impl<'a> Histograms<'a> {
    /// The triggers of `setup` on the events of a recording, whose tasks and functions `symbols` names.
    ///
    /// # Errors
    /// [`SetupError`]: a trigger that the kernel would refuse, or that a recording cannot answer.
    pub fn new(
        setup: &HistSetup,
        formats: &[&EventFormat],
        abi: Abi,
        symbols: &'a Symbols,
    ) -> Result<Self, SetupError> {
        let is_stack = |format: &&&EventFormat| format.system == "ftrace" && format.name == "kernel_stack";
        let stacks = formats
            .iter()
            .find(is_stack)
            .and_then(|format| Some(StackEvent { id: format.id, caller: format.field("caller")?.offset }));
        let around = Around { formats, abi, functions: &symbols.kallsyms, has_stacks: stacks.is_some() };
        let plan = TriggerPlan::compile(setup, &around)?;
        // A synthetic event of the setup is the one that the setup's triggers fire, whatever was recorded of that name.
        let is_made = |format: &EventFormat| {
            format.system == "synthetic" && plan.synthetic.iter().any(|event| event.format.name == format.name)
        };
        let triggers_of = |format: &EventFormat| {
            if is_made(format) {
                return None;
            }
            let on = plan.gates.on(&format.system, &format.name, plan.hists_on(&format.system, &format.name));
            (plan.note_held || !on.is_nothing()).then(|| Arc::new(on))
        };
        let events = ByEvent::new(formats.iter().copied(), abi, triggers_of);
        let (limits, frames) = (setup.kernel_limits, setup.stack_frames());
        Ok(Histograms { events, abi, symbols, stacks, limits, frames, plan: Arc::new(plan) })
    }

    /// True if stacks are keys or values: the events that follow those with triggers must be handed out, too.
    pub fn needs_stacks(&self) -> bool {
        self.plan.needs_stacks
    }

    /// True if the names of the events' tasks decide or are counted: they must be known when the events come.
    pub fn needs_comms(&self) -> bool {
        self.plan.triggers.iter().any(CompiledTrigger::needs_comms) || self.plan.gates.need_comms()
    }

    /// True if all events are to be handed out, not only [those](Histograms::events) with triggers.
    pub fn needs_all_events(&self) -> bool {
        self.plan.needs_stacks || self.plan.note_held
    }

    /// The findings of the events so far; events go on.
    pub fn so_far(&self, part: &HistPart) -> HistFindings {
        let state = match part {
            HistPart::Counted(counted) => counted.state.clone(),
            // The part that `begin` made is counted.
            HistPart::Later(_) | HistPart::LaterStacked(_) => HistState::new(&self.plan, self.limits),
        };
        HistFindings::new(self.plan.clone(), state)
    }

    /// The synthetic events that the triggers fire.
    pub fn synthetic(&self) -> &[SyntheticEvent] {
        &self.plan.synthetic
    }

    /// Hands out the synthetic events that fired so far, in the order of time, and forgets them.
    pub(crate) fn take_fired(&self, part: &mut HistPart, take: impl FnMut(&Record<'_>)) {
        if let HistPart::Counted(Counted { state, .. }) = part
            && !state.fired.is_empty()
        {
            let mut take = take;
            state.fired.records().for_each(|record| take(&record));
            state.fired.clear();
        }
    }

    /// The system and name of each recorded event that triggers are set on.
    pub fn events(&self) -> Vec<(&str, &str)> {
        let recorded = self.plan.triggers.iter().filter(|trigger| trigger.source.system != "synthetic");
        let recorded = recorded.map(|trigger| (trigger.source.system.as_str(), trigger.source.event.as_str()));
        let gates = self.plan.gates.events().filter(|(system, _)| *system != "synthetic");
        let mut events: Vec<_> = recorded.chain(gates).collect();
        events.sort_unstable();
        events.dedup();
        events
    }

    #[inline]
    fn count(&self, state: &mut HistState, record: &Record<'_>, stack: &[u8]) {
        if self.plan.is_ordered && record.lost != Lost::None {
            state.lose(&self.plan);
        }
        let Some(on) = self.events.of(record) else { return };
        let moment = TriggerEvent {
            abi: self.abi,
            data: record.data,
            time: record.timestamp.0,
            cpu: record.cpu,
            task: self.events.task(record),
            stack,
            frames: self.frames,
            comms: &self.symbols.comms,
        };
        let is_held = state.event(&self.plan, on, &moment, 0);
        if self.plan.note_held {
            let is_on = state.gates.is_on();
            state.held.note(self.events.id(record), record.cpu, record.timestamp, is_held, is_on);
        }
    }

    /// The return addresses of `next`, if it is the stack of `record`.
    fn stack_of<'n>(&self, record: &Record<'_>, next: &Record<'n>) -> Option<&'n [u8]> {
        let stacks = self.stacks?;
        let is_its = next.cpu == record.cpu
            && self.events.id(next) == stacks.id.0
            && self.events.task(next) == self.events.task(record);
        is_its.then(|| self.trimmed(next.data.get(stacks.caller..).unwrap_or_default()))
    }

    /// A recorded stack from where that of a trigger begins: two frames later, where it begins with the event's probe
    /// (kernels with the ORC unwinder).
    fn trimmed<'s>(&self, stack: &'s [u8]) -> &'s [u8] {
        const PROBES: [&str; 3] = ["trace_event_raw_event_", "ftrace_syscall_enter", "ftrace_syscall_exit"];
        let size = usize::from(self.abi.long_size);
        let first = self.abi.uint(stack, 0, size).and_then(|address| self.symbols.kallsyms.function(address));
        let is_probe = first.is_some_and(|name| PROBES.iter().any(|probe| name.starts_with(probe)));
        stack.get(if is_probe { size.saturating_mul(2) } else { 0 }..).unwrap_or_default()
    }

    fn begin_with(&self, limits: bool) -> HistPart {
        HistPart::Counted(Counted { state: HistState::new(&self.plan, limits), waiting: WaitingEvent::default() })
    }

    /// Takes an event and the record that may be its stack.
    fn count_followed(&self, state: &mut HistState, record: &Record<'_>, next: Option<&Record<'_>>) {
        let stack = next.and_then(|next| self.stack_of(record, next)).unwrap_or_default();
        self.count(state, record, stack);
    }
}

impl Analysis for Histograms<'_> {
    type Part = HistPart;
    type Finding = HistFindings;

    fn begin(&self) -> HistPart {
        self.begin_with(self.limits)
    }

    fn fork(&self, used: Option<HistPart>) -> HistPart {
        match used {
            Some(HistPart::LaterStacked(mut log)) => {
                log.clear();
                HistPart::LaterStacked(log)
            }
            Some(HistPart::Later(mut log)) => {
                log.clear();
                HistPart::Later(log)
            }
            Some(part) if !self.plan.is_ordered => part,
            _ if self.plan.needs_stacks => HistPart::LaterStacked(StackedLog::default()),
            _ if self.plan.is_ordered => HistPart::Later(Log::default()),
            // Later entries may find the table full: that is decided when it is merged.
            _ => self.begin_with(false),
        }
    }

    #[inline]
    fn record<'n>(&self, record: &Record<'_>, next: impl FnOnce() -> Option<Record<'n>>, part: &mut HistPart) {
        let is_wanted = self.events.of(record).is_some();
        let is_lost = self.plan.is_ordered && record.lost != Lost::None;
        match part {
            HistPart::LaterStacked(log) => {
                let is_first = log.is_first(record);
                if is_wanted {
                    let next = next();
                    let next = next.as_ref().map(|next| (next, self.stack_of(record, next).is_some()));
                    log.push(record, next);
                } else if is_lost || is_first {
                    log.push_first(record);
                }
            }
            HistPart::Counted(Counted { state, .. }) if is_wanted || is_lost => {
                let next = if self.plan.needs_stacks && is_wanted { next() } else { None };
                self.count_followed(state, record, next.as_ref());
            }
            HistPart::Later(log) if is_wanted || is_lost => log.push(record),
            HistPart::Counted(_) | HistPart::Later(_) => {}
        }
    }

    fn merge(&self, known: &mut HistPart, later: &mut HistPart) {
        // The part that `begin` made is counted.
        let HistPart::Counted(Counted { state, waiting }) = known else { return };
        match later {
            HistPart::Counted(later) => state.merge(&mut later.state),
            HistPart::Later(log) => log.records().for_each(|record| self.count(state, &record, &[])),
            HistPart::LaterStacked(log) => {
                waiting.replay(log, |record, next| self.count_followed(state, record, next));
            }
        }
    }

    fn finish(self, mut known: HistPart) -> HistFindings {
        let mut all = Counted { state: HistState::new(&self.plan, self.limits), waiting: WaitingEvent::default() };
        if let HistPart::Counted(counted) = &mut known {
            std::mem::swap(&mut all, counted);
        }
        let Counted { mut state, mut waiting } = all;
        waiting.finish(|record, next| self.count_followed(&mut state, record, next));
        HistFindings::new(self.plan, state)
    }
}

// The triggers' tables and counts.

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
