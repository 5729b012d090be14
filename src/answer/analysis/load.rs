//! Load of CPUs, tasks and events from one reading to the next: for tables that live.

use super::by_event::{ByEvent, RecordNumber, RecordText};
use super::interface::Map;
use crate::base::abi::Abi;
use crate::base::units::{CpuId, EventId, Lost, Pid};
use crate::kernel::event::Record;
use crate::kernel::format::EventFormat;
use std::collections::BTreeMap;

/// Follows the records of running rings, in the order of time, and gives the load since the last reading. Times are in the
/// clock's unit.
#[derive(Clone, Debug)]
pub struct Loads {
    events: ByEvent<LoadEvent>,
    running: BTreeMap<CpuId, RunningTask>,
    /// Tasks that wait for a CPU: since when.
    waiting: Map<Pid, u64>,
    comms: Map<Pid, Vec<u8>>,
    period: LoadPeriod,
}

/// The load between two readings.
#[derive(Clone, Debug, Default)]
pub struct LoadPeriod {
    /// The first and the last event; `None` without any.
    pub window: Option<(u64, u64)>,
    /// Number of events by type.
    pub events: BTreeMap<u16, u64>,
    /// Tasks that ran, or that came to a CPU.
    pub tasks: BTreeMap<Pid, TaskLoad>,
    /// CPUs.
    pub cpus: BTreeMap<CpuId, CpuLoad>,
    /// Events that the kernel dropped, as far as it counted them.
    pub lost: u64,
    /// Places where it dropped some without counting them.
    pub gaps: u64,
}

/// Load of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskLoad {
    /// Its last name; empty if no event of the scheduler said it.
    pub comm: Vec<u8>,
    /// Time on CPUs.
    pub run: u64,
    /// Time that it waited for a CPU, of waits that ended.
    pub wait: u64,
    /// The longest of these waits.
    pub longest: u64,
}

/// Load of a CPU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuLoad {
    /// Time in which the running task is known.
    pub known: u64,
    /// The part of it in which that was not the idle task.
    pub busy: u64,
}

#[derive(Clone, Copy, Debug)]
struct RunningTask {
    pid: Pid,
    since: u64,
    /// Time of the CPU's last event.
    last: u64,
}

#[derive(Clone, Copy, Debug)]
enum LoadEvent {
    Switch { state: RecordNumber, prev_comm: RecordText, next: RecordNumber, next_comm: RecordText },
    Wake(RecordNumber),
}

/// Bits of `prev_state` that say that a task sleeps; without any it goes on as soon as it can (include/trace/events/sched.h).
const ASLEEP: u64 = 0xff;

impl LoadEvent {
    fn of(format: &EventFormat) -> Option<Self> {
        let number = |field| RecordNumber::of(format, field);
        let text = |field| RecordText::of(format, field);
        match (format.system.as_str(), format.name.as_str()) {
            ("sched", "sched_switch") => Some(LoadEvent::Switch {
                state: number("prev_state")?,
                prev_comm: text("prev_comm")?,
                next: number("next_pid")?,
                next_comm: text("next_comm")?,
            }),
            ("sched", "sched_waking" | "sched_wakeup" | "sched_wakeup_new") => number("pid").map(LoadEvent::Wake),
            _ => None,
        }
    }
}

impl Loads {
    /// For records of these formats.
    pub fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi) -> Self {
        Loads {
            events: ByEvent::new(formats, abi, LoadEvent::of),
            running: BTreeMap::new(),
            waiting: Map::default(),
            comms: Map::default(),
            period: LoadPeriod::default(),
        }
    }

    /// Takes the next record.
    pub fn record(&mut self, record: &Record<'_>) {
        let (at, cpu) = (record.timestamp.0, record.cpu);
        let window = self.period.window.get_or_insert((at, at));
        window.1 = window.1.max(at);
        *self.period.events.entry(EventId(self.events.id(record)).0).or_default() += 1;
        match record.lost {
            Lost::None => {}
            Lost::Count(count) => self.period.lost = self.period.lost.saturating_add(count),
            Lost::Unknown => self.period.gaps += 1,
        }
        let current = self.events.task(record);
        let known = self.running.get(&cpu).copied();
        match known.filter(|task| record.lost == Lost::None && task.pid == current) {
            Some(task) => drop(self.running.insert(cpu, RunningTask { last: at, ..task })),
            None => {
                // What ran since the last event, nobody knows.
                if let Some(task) = known {
                    self.ran(cpu, task.pid, task.since, task.last);
                    self.waiting.clear();
                }
                self.running.insert(cpu, RunningTask { pid: current, since: at, last: at });
            }
        }
        match self.events.of(record).copied() {
            Some(LoadEvent::Wake(pid)) => self.wake(Pid(pid.read_signed(self.events.abi, record.data) as i32), at),
            Some(LoadEvent::Switch { state, prev_comm, next, next_comm }) => {
                let (abi, data) = (self.events.abi, record.data);
                let next = Pid(next.read_signed(abi, data) as i32);
                self.name(current, prev_comm.read(abi, data));
                self.name(next, next_comm.read(abi, data));
                if let Some(task) = self.running.get(&cpu).copied() {
                    self.ran(cpu, task.pid, task.since, at);
                }
                self.running.insert(cpu, RunningTask { pid: next, since: at, last: at });
                if state.read(abi, data) & ASLEEP == 0 && current.0 != 0 {
                    self.waiting.insert(current, at);
                } else {
                    self.waiting.remove(&current);
                }
                if let Some(since) = self.waiting.remove(&next) {
                    let (time, load) = (at.saturating_sub(since), self.period.tasks.entry(next).or_default());
                    load.wait = load.wait.saturating_add(time);
                    load.longest = load.longest.max(time);
                }
            }
            None => {}
        }
    }

    fn wake(&mut self, pid: Pid, at: u64) {
        if pid.0 != 0 && !self.running.values().any(|task| task.pid == pid) {
            self.waiting.entry(pid).or_insert(at);
        }
    }

    fn name(&mut self, pid: Pid, comm: &[u8]) {
        if self.comms.get(&pid).is_none_or(|known| known != comm) {
            self.comms.insert(pid, comm.to_vec());
        }
    }

    fn ran(&mut self, cpu: CpuId, pid: Pid, begin: u64, end: u64) {
        let time = end.saturating_sub(begin);
        let load = self.period.cpus.entry(cpu).or_default();
        load.known = load.known.saturating_add(time);
        if pid.0 != 0 {
            load.busy = load.busy.saturating_add(time);
            let task = self.period.tasks.entry(pid).or_default();
            task.run = task.run.saturating_add(time);
        }
    }

    /// The load since the last reading, up to the last event.
    pub fn take(&mut self) -> LoadPeriod {
        let end = self.period.window.map_or(0, |window| window.1);
        for (cpu, task) in self.running.clone() {
            self.ran(cpu, task.pid, task.since, end);
            let since = task.since.max(end);
            self.running.insert(cpu, RunningTask { since, last: task.last.max(since), ..task });
        }
        let mut period = std::mem::take(&mut self.period);
        for (pid, task) in &mut period.tasks {
            task.comm = self.comms.get(pid).cloned().unwrap_or_default();
        }
        period
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::analysis::test_formats::{comm, format, number, record};
    use crate::base::units::Timestamp;

    fn loads() -> Loads {
        let fields = ["prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm", "next_pid", "next_prio"];
        let formats =
            [format("sched", "sched_switch", 1, &fields, "\"\""), format("sched", "sched_waking", 2, &["pid"], "\"\"")];
        Loads::new(&formats, Abi::HOST)
    }

    fn see(loads: &mut Loads, at: u64, cpu: u32, lost: Lost, data: &[u8]) {
        loads.record(&Record { timestamp: Timestamp(at), cpu: CpuId(cpu), buffer: 0, lost, data });
    }

    fn switch(prev: i64, state: i64, next: i64) -> Vec<u8> {
        let fields = [comm("a"), number(prev), number(0), number(state), comm("b"), number(next), number(0)];
        record(1, prev as i32, &fields)
    }

    #[test]
    fn a_task_that_never_stops_has_its_time_in_each_period() {
        let mut loads = loads();
        see(&mut loads, 100, 0, Lost::None, &switch(0, 0, 7));
        see(&mut loads, 200, 0, Lost::None, &record(2, 7, &[number(8)]));
        let first = loads.take();
        assert_eq!(
            (first.window, first.tasks[&Pid(7)].run, &first.tasks[&Pid(7)].comm[..]),
            (Some((100, 200)), 100, &b"b"[..])
        );
        see(&mut loads, 500, 0, Lost::None, &switch(7, 0, 8));
        let second = loads.take();
        assert_eq!((second.tasks[&Pid(7)].run, second.cpus[&CpuId(0)]), (300, CpuLoad { known: 300, busy: 300 }));
        assert_eq!((second.tasks[&Pid(8)].wait, second.tasks[&Pid(8)].longest), (300, 300), "woken at 200");
        see(&mut loads, 550, 0, Lost::None, &switch(8, 1, 7));
        let third = loads.take();
        assert_eq!(
            (third.tasks[&Pid(7)].wait, third.tasks[&Pid(8)].run, third.events[&1]),
            (50, 50, 1),
            "7 was preempted"
        );
    }

    #[test]
    fn what_ran_before_a_loss_is_not_known() {
        let mut loads = loads();
        see(&mut loads, 100, 0, Lost::None, &switch(0, 0, 7));
        see(&mut loads, 150, 0, Lost::None, &record(2, 7, &[number(8)]));
        see(&mut loads, 900, 0, Lost::Count(5), &switch(9, 1, 0));
        let period = loads.take();
        assert_eq!((period.lost, period.cpus[&CpuId(0)]), (5, CpuLoad { known: 50, busy: 50 }));
        assert!(!period.tasks.contains_key(&Pid(8)), "it may have run meanwhile");
    }
}
