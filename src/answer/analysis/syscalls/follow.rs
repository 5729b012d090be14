//! Following each task's call from entry to exit.

use super::callers::{
    CallSelection, Callers, DescriptorCalls, DescriptorChange, DescriptorRole, Descriptors, OpenSyscall,
};
use super::events::{CallFamily, SyscallEvent, SyscallEvents};
use super::report::{LongestSyscall, OngoingSyscall, SyscallCounts, SyscallReport, SyscallTimes};
use crate::answer::analysis::by_event::KnownEvents;
use crate::answer::analysis::interface::Map;
use crate::answer::analysis::{CellPlan, Durations, InOrder, Longest, TaskSet};
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Pid};
use crate::kernel::event::{Lost, Record};
use crate::kernel::format::EventFormat;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// System calls: their durations, errors and time off the CPU; an [`Analysis`](crate::answer::analysis::Analysis).
#[derive(Clone, Debug)]
pub struct Syscalls {
    events: SyscallEvents,
    asked: CallSelection,
    window: Option<(u64, u64)>,
    has_switches: bool,
    losses: u64,
    raw: SyscallCalls,
    named: SyscallCalls,
    /// Names of calls that the events of the system `syscalls` give.
    names: Map<i64, String>,
    /// By task, the path of its last call that opens a file.
    paths: Map<Pid, Path>,
}

/// The calls that one family of events tells of.
#[derive(Clone, Debug, Default)]
struct SyscallCalls {
    any: bool,
    /// Durations before the first one.
    none: Durations,
    /// The longest calls before the first one.
    none_longest: Longest<LongestSyscall>,
    callers: Callers,
    by_number: Map<i64, SyscallTimes>,
    descriptors: Descriptors,
    counts: SyscallCounts,
}

/// A path that the kernel stored at the entry of a call.
#[derive(Clone, Debug)]
struct Path {
    number: i64,
    at: u64,
    text: Box<[u8]>,
}

/// The end of a call.
struct SyscallExit<'n> {
    task: Pid,
    number: i64,
    result: i64,
    at: u64,
    cpu: CpuId,
    name: Option<&'n str>,
    role: DescriptorRole,
}

/// The least result that is an error (`MAX_ERRNO`, include/linux/err.h).
const LEAST_ERROR: i64 = -4095;

impl SyscallExit<'_> {
    fn failed(&self) -> bool {
        (LEAST_ERROR..0).contains(&self.result)
    }
}

impl SyscallCalls {
    fn enter(&mut self, events: &SyscallEvents, record: &Record<'_>, number: i64, asked: &CallSelection) {
        self.any = true;
        let Some(caller) = self.callers.get(events.task(record), asked) else { return };
        let mut row = None;
        if let (Some(owner), Some(calls)) = (caller.owner, &asked.descriptors) {
            let role = events.role(record, number, calls);
            let fd = events.fd(record, role);
            row = fd.filter(|_| caller.counts).map(|fd| self.descriptors.row(owner, fd));
            match (role.act, fd) {
                (DescriptorChange::Close, Some(fd)) => self.descriptors.forget(owner, fd),
                (DescriptorChange::CloseRange, _) => {
                    let (first, last) = events.range(record);
                    self.descriptors.forget_if(owner, |fd| (first..=last).contains(&fd.cast_unsigned()));
                }
                (DescriptorChange::Exit, _) => self.descriptors.forget_if(owner, |_| true),
                _ => {}
            }
        }
        if caller.counts {
            let open = OpenSyscall { number, at: record.timestamp.0, off_cpu: 0, left: None, row };
            self.counts.unfinished += u64::from(caller.open.replace(open).is_some());
        }
    }

    /// `path` is that of the task's last call that opens a file.
    fn exit(&mut self, exit: &SyscallExit<'_>, path: Option<&Path>, asked: &CallSelection) {
        self.any = true;
        let Some(caller) = self.callers.get(exit.task, asked) else { return };
        let returned = std::mem::replace(&mut caller.returned, exit.at);
        if let Some(owner) = caller.owner {
            let path = path.filter(|path| path.number == exit.number && path.at >= returned);
            match (exit.role.act, i32::try_from(exit.result)) {
                (DescriptorChange::Open, Ok(fd @ 0..)) => {
                    self.descriptors.open(owner, fd, path.map(|path| &*path.text))
                }
                (DescriptorChange::Replace, Ok(fd @ 0..)) => self.descriptors.forget(owner, fd),
                (DescriptorChange::Exec, Ok(0)) => self.descriptors.forget_if(owner, |_| true),
                // A new process has its own; a new task of an old one shares them.
                (DescriptorChange::Fork, Ok(0)) if owner.pid == exit.task => {
                    self.descriptors.forget_if(owner, |_| true)
                }
                _ => {}
            }
        }
        if !caller.counts || !asked.tasks.contains(exit.task, exit.at) {
            caller.open = None;
            return;
        }
        let Some(open) = caller.open.take() else {
            self.counts.without_entry += 1;
            return;
        };
        if open.number != exit.number {
            self.counts.unfinished += 1;
            self.counts.without_entry += 1;
            return;
        }
        let (time, failed) = (exit.at.saturating_sub(open.at), exit.failed());
        let none = &self.none;
        let call = self.by_number.entry(exit.number).or_insert_with(|| SyscallTimes {
            number: exit.number,
            name: exit.name.map(str::to_owned),
            times: none.clone(),
            off_cpu: 0,
            errors: BTreeMap::new(),
            failures: none.clone(),
            longest: self.none_longest.clone(),
        });
        call.times.add_at(exit.at, time);
        call.off_cpu = call.off_cpu.saturating_add(open.off_cpu);
        call.longest.add(time, || LongestSyscall { time, at: open.at, pid: exit.task, cpu: exit.cpu });
        if failed {
            *call.errors.entry(-exit.result as i32).or_default() += 1;
            call.failures.add_at(exit.at, time);
        }
        let own = &mut caller.own;
        own.calls += 1;
        own.errors += u64::from(failed);
        own.time = own.time.saturating_add(time);
        own.off_cpu = own.off_cpu.saturating_add(open.off_cpu);
        if let Some(row) = open.row.and_then(|row| self.descriptors.row_mut(row)) {
            row.calls += 1;
            row.errors += u64::from(failed);
            row.time = row.time.saturating_add(time);
            row.off_cpu = row.off_cpu.saturating_add(open.off_cpu);
            row.longest = row.longest.max(time);
        }
    }

    fn switch(&mut self, prev: Pid, next: Pid, at: u64) {
        if !self.any {
            return;
        }
        if let Some(open) = self.callers.open(prev) {
            open.left = Some(at);
        }
        if let Some(open) = self.callers.open(next)
            && let Some(left) = open.left.take()
        {
            open.off_cpu = open.off_cpu.saturating_add(at.saturating_sub(left));
        }
    }

    /// Events were dropped: exits and entries may be among them, and calls that close descriptors.
    fn lose(&mut self) {
        self.counts.censored += self.callers.abandon();
        self.descriptors.forget_all();
    }
}

impl Syscalls {
    /// For records of a file with these formats.
    pub fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi) -> Self {
        Syscalls {
            events: SyscallEvents::new(formats, abi),
            asked: CallSelection::default(),
            window: None,
            has_switches: false,
            losses: 0,
            raw: SyscallCalls::default(),
            named: SyscallCalls::default(),
            names: Map::default(),
            paths: Map::default(),
        }
    }

    /// Counts calls of these tasks alone.
    pub fn of_tasks(mut self, tasks: impl IntoIterator<Item = Pid>) -> Self {
        self.asked.tasks = tasks.into_iter().collect();
        self
    }

    /// The same of a set that may be all but some.
    pub fn of(mut self, tasks: TaskSet) -> Self {
        self.asked.tasks = tasks;
        self
    }

    /// Counts calls by file descriptor too.
    pub fn with_descriptors(mut self, calls: DescriptorCalls) -> Self {
        self.asked.descriptors = Some(calls);
        self
    }

    /// Keeps durations by the cell of `plan` too.
    pub fn in_cells(mut self, plan: CellPlan) -> Self {
        (self.raw.none, self.named.none) = (Durations::in_cells(plan), Durations::in_cells(plan));
        self
    }

    /// Keeps the `most` longest calls of each number, in place of the longest.
    pub fn keeping(mut self, most: usize) -> Self {
        (self.raw.none_longest, self.named.none_longest) = (Longest::of(most), Longest::of(most));
        self
    }

    /// True if the formats have exits of calls, without which there is nothing to say.
    pub fn has_events(&self) -> bool {
        self.events.have_calls()
    }
}

impl InOrder for Syscalls {
    type Finding = SyscallReport;

    #[inline]
    fn events(&self) -> Option<&dyn KnownEvents> {
        Some(&*self.events)
    }

    fn record(&mut self, record: &Record<'_>) {
        if record.lost != Lost::None {
            self.losses += 1;
            self.raw.lose();
            self.named.lose();
            self.paths.clear();
        }
        let Some(event) = self.events.event(record) else { return };
        let at = record.timestamp.0;
        let begin = self.window.map_or(at, |window| window.0);
        self.window = Some((begin, at));
        match event {
            SyscallEvent::Entry { family, number } => {
                let Syscalls { events, asked, raw, named, .. } = self;
                match family {
                    CallFamily::Raw => raw.enter(events, record, number, asked),
                    // Both tell of the same calls.
                    CallFamily::Named if raw.any => {}
                    CallFamily::Named => named.enter(events, record, number, asked),
                }
                if let Some(path) = asked.descriptors.as_ref().and_then(|_| events.path(record)) {
                    self.paths.insert(events.task(record), Path { number, at, text: path.into() });
                }
            }
            SyscallEvent::Exit { family, number, result } => {
                let Syscalls { events, asked, raw, named, names, paths, .. } = self;
                let (task, name) = (events.task(record), events.name(record));
                if let Some(name) = name.filter(|_| !names.contains_key(&number)) {
                    names.insert(number, name.to_owned());
                }
                if family == CallFamily::Named && raw.any {
                    return;
                }
                let role = asked.descriptors.as_ref().map(|calls| events.role(record, number, calls));
                let exit =
                    SyscallExit { task, number, result, at, cpu: record.cpu, name, role: role.unwrap_or_default() };
                let path = if exit.role.act == DescriptorChange::Open { paths.get(&task) } else { None };
                let calls = if family == CallFamily::Raw { raw } else { named };
                calls.exit(&exit, path, asked);
            }
            SyscallEvent::Switch { prev, next } => {
                self.has_switches = true;
                self.raw.switch(prev, next, at);
                self.named.switch(prev, next, at);
            }
        }
    }

    fn finish(self) -> SyscallReport {
        let names = self.names;
        let found = if self.raw.any { self.raw } else { self.named };
        let mut counts = found.counts;
        let end = self.window.map_or(0, |window| window.1);
        let ongoing = |(pid, open): (Pid, &OpenSyscall)| OngoingSyscall {
            number: open.number,
            name: names.get(&open.number).cloned(),
            at: open.at,
            time: end.saturating_sub(open.at),
            pid,
        };
        let going_on: Vec<OngoingSyscall> =
            found.callers.open_calls().map(ongoing).filter(|call| self.asked.tasks.contains(call.pid, end)).collect();
        counts.unfinished += going_on.len() as u64;
        counts.losses = self.losses;
        let mut calls: Vec<SyscallTimes> = found.by_number.into_values().collect();
        let mut times = Durations::default();
        calls.sort_by_key(|call| (Reverse(call.times.total()), call.number));
        for call in &mut calls {
            call.name = call.name.take().or_else(|| names.get(&call.number).cloned());
            times.merge(&call.times);
        }
        let mut tasks = found.callers.into_tasks();
        tasks.sort_by_key(|task| (Reverse(task.time), task.pid.0));
        let mut descriptors = found.descriptors.into_rows();
        descriptors.sort_by(|one, other| one.order().cmp(&other.order()));
        SyscallReport {
            window: self.window,
            calls,
            tasks,
            descriptors,
            times,
            going_on,
            counts,
            has_switches: self.has_switches,
        }
    }
}
