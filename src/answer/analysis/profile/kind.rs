//! The meaning of each event to the profile.

use super::hook::{Hook, HookEvent, HookProblem};
use crate::answer::analysis::by_event::{RecordNumber, RecordText};
use crate::base::abi::Abi;
use crate::kernel::event::Common;
use crate::kernel::format::{ById, EventFormat};
use crate::kernel::print_fmt::state_letters;
use std::collections::HashMap;

/// One event.
#[derive(Clone, Debug)]
pub(super) struct EventMeaning {
    pub(super) id: u16,
    pub(super) system: String,
    pub(super) name: String,
    pub(super) role: EventRole,
    pub(super) label: Label,
    /// True if no event of another system has its name.
    pub(super) is_named_alone: bool,
}

/// The layout of values.
#[derive(Clone, Debug)]
pub(super) enum Label {
    /// `name:0x..`
    Hex,
    /// `name:N`
    Decimal,
    /// `func: name()`
    Function,
    /// `name:RCU`
    SoftIrq,
    /// `name:S`: the letters of the bits.
    State(Vec<u8>),
}

/// The effect of an event on the account.
#[derive(Clone, Debug)]
pub(super) enum EventRole {
    /// `kernel_stack`: belongs to the event before it, or to the function after it.
    Stack {
        /// Offset of the addresses.
        callers: usize,
    },
    Switch(SwitchFields),
    Wakeup(WakeupFields),
    /// `sched_process_exec`: the task gets a new name.
    Exec {
        old_pid: Option<RecordNumber>,
    },
    GraphEntry(Start),
    GraphExit(PairEnd),
    /// One of two events, or both of different pairs.
    Pair {
        ends: Vec<PairEnd>,
        starts: Vec<Start>,
    },
    /// Counted under a value.
    Count(Option<RecordNumber>),
}

/// `sched_switch`.
#[derive(Clone, Debug)]
pub(super) struct SwitchFields {
    pub(super) prev_pid: RecordNumber,
    pub(super) prev_comm: RecordText,
    pub(super) prev_state: RecordNumber,
    /// The bits of the state that say why a task sleeps.
    pub(super) asleep: u64,
    /// And the one that says that it was pushed aside.
    pub(super) preempted: u64,
    pub(super) next_pid: RecordNumber,
    pub(super) next_comm: RecordText,
}

/// `sched_wakeup`.
#[derive(Clone, Debug)]
pub(super) struct WakeupFields {
    pub(super) pid: RecordNumber,
    pub(super) comm: RecordText,
    /// Until Linux 4.3.
    pub(super) success: Option<RecordNumber>,
}

/// The beginning of a pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct Start {
    /// The pair's number: the event's, of the first pair that it begins.
    pub(super) pair: usize,
    /// The value that the end has too.
    pub(super) matching: RecordNumber,
    /// Whose it is, if not the current task's.
    pub(super) pid: Option<RecordNumber>,
    pub(super) pinned: bool,
    pub(super) global: bool,
    /// Stack traces are recorded with it.
    pub(super) stack: bool,
}

/// The end of a pair.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairEnd {
    pub(super) pair: usize,
    pub(super) matching: RecordNumber,
    pub(super) pinned: bool,
    pub(super) global: bool,
}

/// All events of a kernel.
#[derive(Clone, Debug)]
pub(super) struct EventKinds {
    pub(super) common: Common,
    all: Vec<EventMeaning>,
    /// By id, the number plus 1.
    by_id: ById<usize>,
    formats: Vec<EventFormat>,
    /// Event ids that hooks cover.
    hooked: Vec<bool>,
    /// Further pairs of events that begin one already: the numbers of the two.
    more_pairs: Vec<[usize; 2]>,
    /// The numbers of the two that are about one another.
    pub(super) switch: Option<usize>,
    pub(super) wakeup: Option<usize>,
}

impl EventKinds {
    /// With `irqs_global` interrupts are put down to their CPU.
    pub(super) fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi, irqs_global: bool) -> Self {
        let formats: Vec<EventFormat> = formats.into_iter().cloned().collect();
        let common = formats.first().map_or_else(Common::default, Common::of);
        let by_id = formats.iter().enumerate().map(|(number, format)| (format.id, number)).collect();
        let hooked = vec![false; formats.len()];
        let mut named: HashMap<&str, usize> = HashMap::new();
        formats.iter().for_each(|format| *named.entry(&format.name).or_default() += 1);
        let all = formats.iter().map(|format| kind(format, abi, named[format.name.as_str()] == 1)).collect();
        let mut kinds =
            EventKinds { common, all, by_id, formats, hooked, more_pairs: Vec::new(), switch: None, wakeup: None };
        let find = |kinds: &EventKinds, name| kinds.find(&HookEvent::of("sched", name));
        kinds.switch = find(&kinds, "sched_switch").filter(|at| matches!(kinds.all[*at].role, EventRole::Switch(_)));
        kinds.wakeup = find(&kinds, "sched_wakeup").filter(|at| matches!(kinds.all[*at].role, EventRole::Wakeup(_)));
        let per_cpu = PairingRule { pinned: true, global: irqs_global, stack: false };
        let per_task = PairingRule { pinned: false, global: false, stack: false };
        kinds.pair("irq", ["irq_handler_entry", "irq_handler_exit"], "irq", per_cpu);
        kinds.pair("irq", ["softirq_entry", "softirq_exit"], "vec", per_cpu);
        kinds.pair("irq", ["softirq_raise", "softirq_entry"], "vec", per_cpu);
        kinds.pair("raw_syscalls", ["sys_enter", "sys_exit"], "id", per_task);
        kinds.graph(["funcgraph_entry", "funcgraph_exit"]);
        kinds
    }

    pub(super) fn number(&self, id: u16) -> Option<usize> {
        self.by_id.get(id).copied()
    }

    pub(super) fn get(&self, number: usize) -> Option<&EventMeaning> {
        self.all.get(number)
    }

    /// The event that begins a pair; and the one that ends it, if others end it in other pairs.
    pub(super) fn of_pair(&self, pair: usize) -> Option<(&EventMeaning, Option<&EventMeaning>)> {
        match pair.checked_sub(self.all.len()) {
            None => Some((self.get(pair)?, None)),
            Some(more) => {
                let [start, end] = *self.more_pairs.get(more)?;
                Some((self.get(start)?, self.get(end)))
            }
        }
    }

    /// Makes a pair of two events, which lose what they meant before, but for other hooks. The same pair again changes
    /// nothing.
    pub(super) fn hook(&mut self, hook: &Hook) -> Result<(), HookProblem> {
        let find = |event: &HookEvent| {
            let missing = || HookProblem::NoEvent { hook: hook.to_string(), event: event.to_string() };
            self.find(event).ok_or_else(missing)
        };
        let (start, end) = (find(&hook.start)?, find(&hook.end)?);
        let number = |at: usize, field: &str| self.hook_number(hook, at, field);
        let start_matching = number(start, &hook.start.field)?;
        let end_matching = number(end, &hook.end.field)?;
        let known = |start_of: &Start, end_of: &PairEnd| {
            start_of.pair == end_of.pair
                && start_of.matching == start_matching
                && end_of.matching == end_matching
                && self.hooked[start]
                && self.hooked[end]
        };
        if let (EventRole::Pair { starts, .. }, EventRole::Pair { ends, .. }) =
            (&self.all[start].role, &self.all[end].role)
            && starts.iter().any(|start| ends.iter().any(|end| known(start, end)))
        {
            return Ok(());
        }
        let pid = hook.start_pid.as_deref().map(|field| number(start, field)).transpose()?;
        for at in [start, end] {
            if !std::mem::replace(&mut self.hooked[at], true) {
                let kind = &mut self.all[at];
                (kind.role, kind.label) = (EventRole::Pair { ends: Vec::new(), starts: Vec::new() }, Label::Hex);
                self.switch = self.switch.filter(|switch| *switch != at);
                self.wakeup = self.wakeup.filter(|wakeup| *wakeup != at);
            }
        }
        let how = PairingRule { pinned: hook.pinned, global: hook.global, stack: hook.stack };
        self.join(start, start_matching, pid, end, end_matching, how);
        Ok(())
    }

    fn hook_number(&self, hook: &Hook, at: usize, field: &str) -> Result<RecordNumber, HookProblem> {
        let format = &self.formats[at];
        let (hook, event, field) = (hook.to_string(), format.name.clone(), field.to_owned());
        match RecordNumber::of(format, &field) {
            Some(number) if number.is_number() => Ok(number),
            Some(_) => Err(HookProblem::NoNumber { hook, event, field }),
            None => {
                let fields = format.fields.iter().map(|field| field.name.clone()).collect();
                Err(HookProblem::NoField { hook, event, field, fields })
            }
        }
    }

    fn find(&self, event: &HookEvent) -> Option<usize> {
        let is = |format: &EventFormat| {
            format.name == event.event && event.system.as_ref().is_none_or(|system| *system == format.system)
        };
        self.formats.iter().position(is)
    }

    /// Pairs two events of a system by the field that both have, if both are there.
    fn pair(&mut self, system: &str, [start, end]: [&str; 2], field: &str, how: PairingRule) {
        let at = |name| {
            let at = self.find(&HookEvent::of(system, name))?;
            Some((at, RecordNumber::of(&self.formats[at], field)?))
        };
        if let (Some((start, start_matching)), Some((end, end_matching))) = (at(start), at(end)) {
            self.join(start, start_matching, None, end, end_matching, how);
        }
    }

    fn join(
        &mut self,
        start: usize,
        matching: RecordNumber,
        pid: Option<RecordNumber>,
        end: usize,
        of_end: RecordNumber,
        how: PairingRule,
    ) {
        let PairingRule { pinned, global, stack } = how;
        let mut pair = start;
        if !self.paired(start).1.is_empty() {
            pair = self.all.len() + self.more_pairs.len();
            self.more_pairs.push([start, end]);
        }
        self.paired(start).1.push(Start { pair, matching, pid, pinned, global, stack });
        self.paired(end).0.push(PairEnd { pair, matching: of_end, pinned, global });
    }

    /// The ends and beginnings that an event is.
    fn paired(&mut self, at: usize) -> (&mut Vec<PairEnd>, &mut Vec<Start>) {
        let role = &mut self.all[at].role;
        if !matches!(role, EventRole::Pair { .. }) {
            *role = EventRole::Pair { ends: Vec::new(), starts: Vec::new() };
        }
        match role {
            EventRole::Pair { ends, starts } => (ends, starts),
            _ => unreachable!("it was made one"),
        }
    }

    fn graph(&mut self, names: [&str; 2]) {
        let at = |name| {
            let at = self.find(&HookEvent::of("ftrace", name))?;
            Some((at, RecordNumber::of(&self.formats[at], "func")?))
        };
        let (Some((start, matching)), Some((end, of_end))) = (at(names[0]), at(names[1])) else { return };
        let (pinned, global, stack, pid) = (false, false, false, None);
        self.all[start].role = EventRole::GraphEntry(Start { pair: start, matching, pid, pinned, global, stack });
        self.all[end].role = EventRole::GraphExit(PairEnd { pair: start, matching: of_end, pinned, global });
    }
}

/// The rule that pairs a beginning with its end.
#[derive(Clone, Copy)]
struct PairingRule {
    pinned: bool,
    global: bool,
    stack: bool,
}

impl HookEvent {
    fn of(system: &str, event: &str) -> Self {
        HookEvent { system: Some(system.to_owned()), event: event.to_owned(), field: String::new() }
    }
}

/// An event by itself.
fn kind(format: &EventFormat, abi: Abi, is_named_alone: bool) -> EventMeaning {
    let first = format.fields.first().and_then(|field| RecordNumber::of(format, &field.name));
    let counted = (EventRole::Count(first), Label::Hex);
    let (role, label) = match (format.system.as_str(), format.name.as_str()) {
        ("ftrace", "kernel_stack") => match format.field("caller") {
            Some(callers) => (EventRole::Stack { callers: callers.offset }, Label::Hex),
            None => counted,
        },
        ("ftrace", "function") => (EventRole::Count(RecordNumber::of(format, "ip")), Label::Function),
        ("ftrace", "funcgraph_entry" | "funcgraph_exit") => {
            (EventRole::Count(RecordNumber::of(format, "func")), Label::Function)
        }
        ("sched", "sched_switch") => {
            let letters = state_letters(format, abi.long_size);
            let asleep = 1u64.checked_shl(letters.len() as u32).map_or(u64::MAX, |bit| bit - 1);
            match switch(format, asleep) {
                Some(switch) => (EventRole::Switch(switch), Label::State(letters)),
                None => counted,
            }
        }
        ("sched", "sched_wakeup") => match (RecordNumber::of(format, "pid"), RecordText::of(format, "comm")) {
            (Some(pid), Some(comm)) => {
                let success = RecordNumber::of(format, "success");
                (EventRole::Wakeup(WakeupFields { pid, comm, success }), Label::Hex)
            }
            _ => counted,
        },
        ("sched", "sched_process_exec") => {
            (EventRole::Exec { old_pid: RecordNumber::of(format, "old_pid") }, Label::Hex)
        }
        ("irq", "softirq_entry" | "softirq_exit" | "softirq_raise") => (EventRole::Count(first), Label::SoftIrq),
        ("raw_syscalls", _) => (EventRole::Count(first), Label::Decimal),
        _ => counted,
    };
    let (id, system, name) = (format.id.0, format.system.clone(), format.name.clone());
    EventMeaning { id, system, name, role, label, is_named_alone }
}

fn switch(format: &EventFormat, asleep: u64) -> Option<SwitchFields> {
    Some(SwitchFields {
        prev_pid: RecordNumber::of(format, "prev_pid")?,
        prev_comm: RecordText::of(format, "prev_comm")?,
        prev_state: RecordNumber::of(format, "prev_state")?,
        asleep,
        preempted: asleep.wrapping_add(1),
        next_pid: RecordNumber::of(format, "next_pid")?,
        next_comm: RecordText::of(format, "next_comm")?,
    })
}
