//! Following each task's call from entry to exit.

use super::events::{Family, SyscallEvent, SyscallEvents};
use super::report::{LongestSyscall, SyscallCounts, SyscallReport, SyscallTimes, TaskSyscalls};
use crate::abi::Abi;
use crate::analysis::map::Map;
use crate::analysis::{CellPlan, Durations, InOrder};
use crate::event::{Lost, Record};
use crate::format::EventFormat;
use crate::units::{CpuId, Pid};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// System calls: their durations, errors and time off the CPU; an [`Analysis`](crate::analysis::Analysis).
#[derive(Clone, Debug)]
pub struct Syscalls {
    events: SyscallEvents,
    /// Tasks whose calls count; without any, all tasks.
    only: Option<Arc<HashSet<Pid>>>,
    window: Option<(u64, u64)>,
    has_switches: bool,
    losses: u64,
    raw: SyscallCalls,
    named: SyscallCalls,
}

/// The calls that one family of events tells of.
#[derive(Clone, Debug, Default)]
struct SyscallCalls {
    any: bool,
    /// Durations before the first one.
    none: Durations,
    /// The call that each task is in.
    open: Map<Pid, OpenSyscall>,
    by_number: Map<i64, SyscallTimes>,
    by_task: Map<Pid, TaskSyscalls>,
    counts: SyscallCounts,
}

/// A call that has not ended.
#[derive(Clone, Copy, Debug)]
struct OpenSyscall {
    number: i64,
    at: u64,
    off_cpu: u64,
    /// Time at which its task left the CPU.
    left: Option<u64>,
}

/// The least result that is an error (`MAX_ERRNO`, include/linux/err.h).
const LEAST_ERROR: i64 = -4095;

impl SyscallCalls {
    fn enter(&mut self, task: Pid, number: i64, at: u64) {
        self.any = true;
        let open = OpenSyscall { number, at, off_cpu: 0, left: None };
        if self.open.insert(task, open).is_some() {
            self.counts.unfinished += 1;
        }
    }

    fn exit(&mut self, task: Pid, (number, result): (i64, i64), at: u64, cpu: CpuId, name: Option<&str>) {
        self.any = true;
        let Some(open) = self.open.remove(&task) else {
            self.counts.without_entry += 1;
            return;
        };
        if open.number != number {
            self.counts.unfinished += 1;
            self.counts.without_entry += 1;
            return;
        }
        let time = at.saturating_sub(open.at);
        let none = &self.none;
        let call = self.by_number.entry(number).or_insert_with(|| SyscallTimes {
            number,
            name: name.map(str::to_owned),
            times: none.clone(),
            off_cpu: 0,
            errors: BTreeMap::new(),
            failures: none.clone(),
            longest: None,
        });
        call.times.add_at(at, time);
        call.off_cpu = call.off_cpu.saturating_add(open.off_cpu);
        if call.longest.is_none_or(|longest| longest.time < time) {
            call.longest = Some(LongestSyscall { time, at: open.at, pid: task, cpu });
        }
        let failed = (LEAST_ERROR..0).contains(&result);
        if failed {
            *call.errors.entry(-result as i32).or_default() += 1;
            call.failures.add_at(at, time);
        }
        let none = TaskSyscalls { pid: task, calls: 0, errors: 0, time: 0, off_cpu: 0 };
        let caller = self.by_task.entry(task).or_insert(none);
        caller.calls += 1;
        caller.errors += u64::from(failed);
        caller.time = caller.time.saturating_add(time);
        caller.off_cpu = caller.off_cpu.saturating_add(open.off_cpu);
    }

    fn switch(&mut self, prev: Pid, next: Pid, at: u64) {
        if let Some(open) = self.open.get_mut(&prev) {
            open.left = Some(at);
        }
        if let Some(open) = self.open.get_mut(&next)
            && let Some(left) = open.left.take()
        {
            open.off_cpu = open.off_cpu.saturating_add(at.saturating_sub(left));
        }
    }

    /// Events were dropped: an exit and an entry may be among them.
    fn lose(&mut self) {
        self.counts.censored += self.open.len() as u64;
        self.open.clear();
    }
}

impl Syscalls {
    /// For records of a file with these formats.
    pub fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi) -> Self {
        Syscalls {
            events: SyscallEvents::new(formats, abi),
            only: None,
            window: None,
            has_switches: false,
            losses: 0,
            raw: SyscallCalls::default(),
            named: SyscallCalls::default(),
        }
    }

    /// Counts calls of these tasks alone.
    pub fn of_tasks(mut self, tasks: impl IntoIterator<Item = Pid>) -> Self {
        self.only = Some(Arc::new(tasks.into_iter().collect()));
        self
    }

    /// Keeps durations by the cell of `plan` too.
    pub fn in_cells(mut self, plan: CellPlan) -> Self {
        (self.raw.none, self.named.none) = (Durations::in_cells(plan), Durations::in_cells(plan));
        self
    }

    /// True if the formats have exits of calls, without which there is nothing to say.
    pub fn has_events(&self) -> bool {
        self.events.have_calls()
    }

    fn of(&mut self, family: Family) -> &mut SyscallCalls {
        match family {
            Family::Raw => &mut self.raw,
            Family::Named => &mut self.named,
        }
    }
}

impl InOrder for Syscalls {
    type Finding = SyscallReport;

    #[inline]
    fn wants(&self, record: &Record<'_>) -> bool {
        record.lost != Lost::None || self.events.knows(record)
    }

    fn record(&mut self, record: &Record<'_>) {
        if record.lost != Lost::None {
            self.losses += 1;
            self.raw.lose();
            self.named.lose();
        }
        let Some(event) = self.events.event(record) else { return };
        let (task, at) = (self.events.task(record), record.timestamp.0);
        let begin = self.window.map_or(at, |window| window.0);
        self.window = Some((begin, at));
        let is_left_out = self.only.as_ref().is_some_and(|only| !only.contains(&task));
        match event {
            SyscallEvent::Entry { .. } | SyscallEvent::Exit { .. } if is_left_out => {}
            SyscallEvent::Entry { family, number } => self.of(family).enter(task, number, at),
            SyscallEvent::Exit { family: Family::Raw, number, result } => {
                self.raw.exit(task, (number, result), at, record.cpu, None);
            }
            SyscallEvent::Exit { family: Family::Named, number, result } => {
                self.named.exit(task, (number, result), at, record.cpu, self.events.name(record));
            }
            SyscallEvent::Switch { prev, next } => {
                self.has_switches = true;
                self.raw.switch(prev, next, at);
                self.named.switch(prev, next, at);
            }
        }
    }

    fn finish(self) -> SyscallReport {
        let names: Map<i64, String> =
            self.named.by_number.values().filter_map(|call| Some((call.number, call.name.clone()?))).collect();
        let found = if self.raw.any { self.raw } else { self.named };
        let mut counts = found.counts;
        counts.unfinished += found.open.len() as u64;
        counts.losses = self.losses;
        let mut calls: Vec<SyscallTimes> = found.by_number.into_values().collect();
        let mut times = Durations::default();
        calls.sort_by_key(|call| (Reverse(call.times.total()), call.number));
        for call in &mut calls {
            call.name = call.name.take().or_else(|| names.get(&call.number).cloned());
            times.merge(&call.times);
        }
        let mut tasks: Vec<TaskSyscalls> = found.by_task.into_values().collect();
        tasks.sort_by_key(|task| (Reverse(task.time), task.pid.0));
        SyscallReport { window: self.window, calls, tasks, times, counts, has_switches: self.has_switches }
    }
}
