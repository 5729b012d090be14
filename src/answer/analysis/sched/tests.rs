use super::{Sched, SchedReport, SpanPlan, TimeIn, WakeSource};
use crate::answer::analysis::test_formats::{comm, format, number, record};
use crate::answer::analysis::{InOrder, Missing, TaskSet};
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Pid, Timestamp};
use crate::file::trace_dat::Cgroups;
use crate::kernel::event::{Lost, Record};
use crate::kernel::format::EventFormat;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

const SWITCH: u16 = 1;
const WAKEUP: u16 = 2;
const FORK: u16 = 3;
const WAKING: u16 = 4;

fn formats() -> Vec<EventFormat> {
    let one = |name: &str, id: u16, fields: &[&str]| format("sched", name, id, fields, "\"\"");
    vec![
        one("sched_switch", SWITCH, &["prev_comm", "prev_pid", "prev_state", "next_comm", "next_pid"]),
        one("sched_wakeup", WAKEUP, &["comm", "pid", "target_cpu"]),
        one("sched_process_fork", FORK, &["child_comm", "child_pid"]),
        one("sched_waking", WAKING, &["comm", "pid", "target_cpu"]),
    ]
}

/// A step of the scheduler.
#[derive(Clone, Copy, Debug)]
enum Does {
    /// The task leaves the CPU in this state, for the next one.
    Switch(i32, u64, i32),
    Wakeup(i32, u32),
    Waking(i32, u32),
    Fork(i32),
}

struct SchedTestEvent {
    at: u64,
    cpu: u32,
    current: i32,
    lost: Lost,
    does: Does,
}

fn follow(events: &[SchedTestEvent]) -> SchedReport {
    let mut sched = Sched::new(&formats(), Abi::HOST);
    assert!(sched.has_events());
    feed(&mut sched, events);
    sched.finish()
}

fn feed(sched: &mut Sched, events: &[SchedTestEvent]) {
    for event in events {
        let (pid, name) = (|pid: i32| number(pid.into()), |pid: i32| comm(&format!("task{pid}")));
        let (id, fields) = match event.does {
            Does::Switch(prev, state, next) => {
                (SWITCH, vec![name(prev), pid(prev), number(state as i64), name(next), pid(next)])
            }
            Does::Wakeup(task, target) => (WAKEUP, vec![name(task), pid(task), number(target.into())]),
            Does::Waking(task, target) => (WAKING, vec![name(task), pid(task), number(target.into())]),
            Does::Fork(child) => (FORK, vec![name(child), pid(child)]),
        };
        let data = record(id, event.current, &fields);
        let (timestamp, cpu) = (Timestamp(event.at), CpuId(event.cpu));
        sched.record(&Record { timestamp, cpu, buffer: 0, lost: event.lost, data: &data });
    }
}

const S: u64 = 1;
const D: u64 = 2;
const Z: u64 = 32;

/// Events of (time, CPU, current task, what it does).
fn events(of: &[(u64, u32, i32, Does)]) -> Vec<SchedTestEvent> {
    of.iter().map(|&(at, cpu, current, does)| SchedTestEvent { at, cpu, current, lost: Lost::None, does }).collect()
}

fn times(report: &SchedReport, pid: i32) -> [u64; 6] {
    let task = report.tasks.iter().find(|task| task.pid == Pid(pid)).unwrap();
    TimeIn::ALL.map(|state| task.time(state))
}

/// Checks the sums that hold whatever happens.
fn sums_hold(report: &SchedReport) {
    let Some((begin, end)) = report.window else { return };
    for task in &report.tasks {
        let sum: u64 = TimeIn::ALL.iter().map(|state| task.time(*state)).sum();
        assert_eq!(sum, task.life.1 - task.life.0, "{task:?}");
        assert!(begin <= task.life.0 && task.life.1 <= end);
        assert!(task.waits.distribution().total <= task.time(TimeIn::Wait));
        assert!(task.slices.distribution().total <= task.time(TimeIn::Run));
        assert!(task.missing.longest <= task.missing.total && task.missing.total <= task.time(TimeIn::Unknown));
    }
    let missing: u64 = report.tasks.iter().map(|task| task.missing.count).sum();
    assert_eq!(missing, report.counts.contradictions + report.counts.missed_wakeups);
    for cpu in &report.cpus {
        assert_eq!(cpu.busy + cpu.idle + cpu.unknown, end - begin, "{cpu:?}");
        assert_eq!(cpu.queue.iter().sum::<u64>(), end - begin, "{cpu:?}");
        assert!(cpu.idle_while_waited <= cpu.idle);
    }
    // A CPU that is busy runs a task.
    let busy: u64 = report.cpus.iter().map(|cpu| cpu.busy).sum();
    let run: u64 = report.tasks.iter().map(|task| task.time(TimeIn::Run)).sum();
    if report.counts.losses == 0 {
        assert_eq!(busy, run);
    }
}

#[test]
fn a_task_sleeps_waits_runs_and_is_preempted() {
    let report = follow(&events(&[
        (100, 0, 5, Does::Switch(5, S, 0)), // 5 ran since before the window
        (150, 1, 0, Does::Wakeup(5, 0)),    // slept 50
        (170, 0, 0, Does::Switch(0, 0, 5)), // waited 20
        (200, 0, 5, Does::Switch(5, 0, 6)), // ran 30; 6 was somewhere
        (260, 0, 6, Does::Switch(6, D, 5)), // 5 preempted for 60, 6 ran 60
        (300, 0, 5, Does::Switch(5, Z, 0)), // 5 ran 40 and ended
        (310, 1, 0, Does::Wakeup(6, 1)),    // 6 blocked 50
        (320, 1, 0, Does::Switch(0, 0, 6)), // waited 10
    ]));
    sums_hold(&report);
    // run, wait, preempted, sleep, blocked, unknown
    assert_eq!(times(&report, 5), [70, 20, 60, 50, 0, 0]);
    assert_eq!(times(&report, 6), [60, 10, 0, 0, 50, 100]);
    let five = report.tasks.iter().find(|task| task.pid == Pid(5)).unwrap();
    assert_eq!((five.life, five.voluntary, five.involuntary, five.wakeups), ((100, 300), 2, 1, 1));
    let longest = five.longest_wait.unwrap();
    assert_eq!((longest.time, longest.at, longest.cpu, longest.waker.unwrap().cpu), (20, 170, CpuId(0), CpuId(1)));
    let six = report.tasks.iter().find(|task| task.pid == Pid(6)).unwrap();
    assert_eq!((six.migrations, six.comm.as_slice()), (1, b"task6".as_slice()));
    assert_eq!((report.waits.distribution().count, report.waits.distribution().greatest), (2, 20));
    assert_eq!((report.preempted.distribution().count, report.preempted.distribution().total), (1, 60));
    // CPU 1 is idle while 5 waits for CPU 0 (which is idle as well), is preempted there, and while 6 waits for itself.
    assert_eq!(report.idle_while_waited, 20 + 60 + 10);
    let cpu1 = &report.cpus[1];
    assert_eq!((cpu1.busy, cpu1.idle, cpu1.unknown, cpu1.idle_while_waited), (0, 170, 50, 90));
    assert_eq!((report.cpus[0].queue.as_slice(), report.cpus[0].longest_queue()), ([140, 80].as_slice(), 1));
}

#[test]
fn a_wakeup_may_begin_before_its_task_has_left() {
    let mut steps = events(&[
        (100, 0, 0, Does::Switch(0, 0, 6)),
        (110, 1, 5, Does::Waking(6, 0)),
        (120, 0, 6, Does::Switch(6, S, 0)),
        (130, 0, 0, Does::Wakeup(6, 0)), // by an interrupt of another CPU, which tells of no waker
        (140, 0, 0, Does::Switch(0, 0, 6)),
        (150, 0, 6, Does::Switch(6, S, 0)),
        (160, 0, 0, Does::Wakeup(6, 0)), // its begin is missing
    ]);
    let wakes = |steps: &[SchedTestEvent]| {
        let mut sched = Sched::new(&formats(), Abi::HOST).with_flows(TaskSet::All);
        feed(&mut sched, steps);
        let flows = sched.finish().flows;
        flows.wakes.iter().map(|one| (one.waker, one.task.0, one.delays.total())).collect::<Vec<_>>()
    };
    assert_eq!(wakes(&steps), [(WakeSource::Task(Pid(5)), 6, 10)]);
    steps[2].lost = Lost::Count(1);
    assert_eq!(wakes(&steps), []);
}

#[test]
fn wakeups_have_wakers_and_runs_elsewhere_are_moves() {
    let steps = events(&[
        (100, 0, 5, Does::Switch(5, S, 6)),
        (150, 0, 6, Does::Wakeup(5, 1)),    // by 6, for CPU 1
        (170, 1, 0, Does::Switch(0, 0, 5)), // a delay of 20, and a move 0 -> 1
        (180, 1, 5, Does::Switch(5, 0, 0)),
        (190, 0, 6, Does::Switch(6, S, 5)), // pulled while it was preempted: 1 -> 0
        (200, 0, 5, Does::Wakeup(6, 0)),
        (210, 0, 5, Does::Switch(5, S, 6)), // where it was
    ]);
    let mut sched = Sched::new(&formats(), Abi::HOST).with_flows(TaskSet::All);
    feed(&mut sched, &steps);
    let flows = sched.finish().flows;
    let wakes: Vec<_> = flows.wakes.iter().map(|one| (one.waker, one.task.0, one.wakeups, one.elsewhere)).collect();
    let of = |pid: i32| WakeSource::Task(Pid(pid));
    assert_eq!(wakes, [(of(5), 6, 1, 0), (of(6), 5, 1, 1)]);
    assert_eq!((flows.wakes[1].delays.total(), flows.wakes[1].longest_at), (20, Some(170)));
    let moves: Vec<_> = flows.moves.iter().map(|((from, to), of)| (from.0, to.0, of.woken, of.preempted)).collect();
    assert_eq!(moves, [(0, 1, 1, 0), (1, 0, 0, 1)]);
    let tasks: Vec<_> = flows.tasks.iter().map(|one| (one.task.0, one.moves.all(), one.arrivals)).collect();
    assert_eq!(tasks, [(5, 2, 2), (6, 0, 1)]);
    // A loss on CPU 0 hides what 5 did after it slept: it may have been on a third CPU meanwhile.
    let mut lossy = steps;
    lossy[1].lost = Lost::Count(3);
    let mut sched = Sched::new(&formats(), Abi::HOST).with_flows([Pid(5)].into_iter().collect());
    feed(&mut sched, &lossy);
    let flows = sched.finish().flows;
    assert_eq!(flows.moves.iter().map(|(cpus, _)| *cpus).collect::<Vec<_>>(), [(CpuId(1), CpuId(0))]);
    assert!(flows.wakes.iter().all(|one| one.waker == of(5) || one.task == Pid(5)) && flows.tasks.len() == 1);
}

#[test]
fn what_is_not_seen_is_unknown() {
    let report = follow(&events(&[
        (0, 0, 7, Does::Switch(7, S, 0)),
        (50, 0, 0, Does::Switch(0, 0, 7)), // no wakeup: it slept for some of it and waited for the rest
        (60, 0, 7, Does::Fork(8)),
        (65, 0, 7, Does::Wakeup(8, 0)),
        (70, 0, 7, Does::Switch(7, S, 8)),
        (90, 0, 8, Does::Wakeup(8, 0)), // awake
    ]));
    sums_hold(&report);
    assert_eq!(times(&report, 7), [20, 0, 0, 20, 0, 50]);
    assert_eq!(times(&report, 8), [20, 5, 0, 5, 0, 0]);
    assert_eq!((report.counts.missed_wakeups, report.counts.awake, report.counts.contradictions), (1, 1, 0));
    let seven = report.tasks.iter().find(|task| task.pid == Pid(7)).unwrap();
    assert_eq!(seven.missing, Missing { count: 1, longest: 50, total: 50 });
}

/// 9 leaves the CPU that 8 seemed to run on: nothing says since when 8 does not, nor what it does until it is seen again.
#[test]
fn a_task_that_left_without_a_switch_did_not_run() {
    let report = follow(&events(&[
        (0, 0, 7, Does::Switch(7, S, 8)),
        (100, 0, 9, Does::Switch(9, S, 0)),
        (150, 1, 0, Does::Switch(0, 0, 8)),
        (170, 1, 8, Does::Switch(8, S, 0)),
    ]));
    sums_hold(&report);
    assert_eq!((times(&report, 8), times(&report, 9)), ([20, 0, 0, 0, 0, 150], [0, 0, 0, 70, 0, 100]));
    assert_eq!((report.cpus[0].busy, report.cpus[0].idle, report.cpus[0].unknown), (0, 70, 100));
    let eight = report.tasks.iter().find(|task| task.pid == Pid(8)).unwrap();
    assert_eq!((eight.missing, report.counts.contradictions), (Missing { count: 1, longest: 150, total: 150 }, 1));
}

#[test]
fn an_interval_with_losses_is_no_duration() {
    let mut events = events(&[
        (0, 0, 7, Does::Switch(7, S, 0)),
        (5, 1, 9, Does::Wakeup(7, 0)),
        (40, 0, 0, Does::Switch(0, 0, 7)),
        (50, 0, 7, Does::Switch(7, S, 0)),
        (60, 1, 9, Does::Switch(9, S, 0)),
    ]);
    events[2].lost = Lost::Count(3);
    let report = follow(&events);
    sums_hold(&report);
    assert_eq!(report.counts.losses, 1);
    assert_eq!(report.waits.count(), 0);
    // From 5 on 7 waited, as far as is known; CPU 0 was last seen before that.
    assert_eq!(times(&report, 7), [10, 0, 0, 10 + 5, 0, 35]);
    // 9 ran on CPU 1, which lost nothing.
    assert_eq!(times(&report, 9), [55, 0, 0, 0, 0, 5]);
}

/// A machine that keeps its own books.
struct Machine {
    now: u64,
    /// The task on each CPU.
    on: Vec<i32>,
    /// Of tasks 1..: where they are.
    state: Vec<TimeIn>,
    times: Vec<[u64; 6]>,
    events: Vec<SchedTestEvent>,
}

impl Machine {
    fn pass(&mut self, time: u64) {
        self.now += time;
        for (state, times) in self.state.iter().zip(&mut self.times) {
            times[*state as usize] += time;
        }
    }

    fn emit(&mut self, cpu: usize, does: Does) {
        let current = self.on[cpu];
        self.events.push(SchedTestEvent { at: self.now, cpu: cpu as u32, current, lost: Lost::None, does });
    }

    fn switch(&mut self, cpu: usize, left: u64) {
        let prev = self.on[cpu];
        let waiting = |state: &TimeIn| matches!(state, TimeIn::Wait | TimeIn::Preempted);
        let next = self.state.iter().position(waiting).map_or(0, |task| task as i32 + 1);
        if prev == next || prev == 0 && next == 0 {
            return;
        }
        self.emit(cpu, Does::Switch(prev, left, next));
        if prev > 0 {
            self.state[prev as usize - 1] = match left {
                0 => TimeIn::Preempted,
                D => TimeIn::Blocked,
                _ => TimeIn::Sleep,
            };
        }
        if next > 0 {
            self.state[next as usize - 1] = TimeIn::Run;
        }
        self.on[cpu] = next;
    }
}

proptest! {
    /// Any schedule, once each task has been seen: every time is the machine's own.
    #[test]
    fn times_are_those_of_the_machine(
        steps in prop::collection::vec((0..1000u64, 0..3usize, 0..6usize, 0..4u8), 1..300)
    ) {
        let tasks = 6;
        let mut machine = Machine {
            now: 0,
            on: vec![0; 3],
            state: vec![TimeIn::Sleep; tasks],
            times: vec![[0; 6]; tasks],
            events: Vec::new(),
        };
        for child in 1..=tasks as i32 {
            machine.emit(0, Does::Fork(child));
        }
        for cpu in 1..3 {
            machine.emit(cpu, Does::Wakeup(0, 0)); // so that each CPU is seen at once
        }
        for (time, cpu, task, what) in steps {
            machine.pass(time);
            match what {
                0 if matches!(machine.state[task], TimeIn::Sleep | TimeIn::Blocked) => {
                    machine.emit(cpu, Does::Wakeup(task as i32 + 1, cpu as u32));
                    machine.state[task] = TimeIn::Wait;
                }
                0 | 1 => machine.switch(cpu, S),
                2 => machine.switch(cpu, D),
                _ => machine.switch(cpu, 0),
            }
        }
        // The last event ends the window.
        machine.emit(0, Does::Wakeup(0, 0));
        let report = follow(&machine.events);
        sums_hold(&report);
        prop_assert_eq!(report.counts.contradictions + report.counts.missed_wakeups, 0);
        for (task, times) in machine.times.iter().enumerate() {
            prop_assert_eq!(&self::times(&report, task as i32 + 1), times);
        }
    }
}

proptest! {
    /// Any events, with any losses: the accounts of a task that moves are its intervals, cut where it moves.
    #[test]
    fn accounts_by_cgroup_are_intervals_cut_at_moves(
        steps in prop::collection::vec((1..1000u64, 0..3u32, 0..7i32, 0..7i32, 0..6u8), 1..300),
        moves in prop::collection::vec((1..7i32, 0..100_000u64, 0..3usize), 0..12),
        until in prop::option::of(0..100_000u64),
    ) {
        let mut at = 0;
        let event = |(time, cpu, current, other, what): (u64, u32, i32, i32, u8)| {
            at += time;
            let does = match what {
                0 | 1 => Does::Wakeup(other, cpu),
                2 => Does::Switch(current, S, other),
                3 => Does::Switch(current, 0, other),
                4 => Does::Switch(current, Z, other),
                _ => Does::Fork(other.max(1)),
            };
            let lost = if time % 37 == 0 { Lost::Count(2) } else { Lost::None };
            SchedTestEvent { at, cpu, current, lost, does }
        };
        let events: Vec<SchedTestEvent> = steps.into_iter().map(event).collect();
        let mut cgroups = Cgroups::new("");
        let mut moves = moves;
        moves.sort_unstable_by_key(|(_, at, _)| *at);
        (1..7).for_each(|task| _ = cgroups.set(Pid(task), 0, "/"));
        moves.iter().for_each(|(task, at, to)| _ = cgroups.set(Pid(*task), *at, ["/", "/a", "/b"][*to]));
        until.into_iter().for_each(|until| cgroups.end_at(until));
        let all = SpanPlan { from: 0, to: u64::MAX, only: None };
        let mut whole = Sched::new(&formats(), Abi::HOST).with_spans(all);
        feed(&mut whole, &events);
        let whole = whole.finish();
        let mut parted = Sched::new(&formats(), Abi::HOST).by_cgroup(Arc::new(cgroups.clone()));
        feed(&mut parted, &events);
        let parted = parted.finish();
        prop_assert_eq!((whole.waits.count(), whole.waits.total()), (parted.waits.count(), parted.waits.total()));
        let mut cut: BTreeMap<(i32, Option<&str>, usize), u64> = BTreeMap::new();
        for task in &whole.tasks {
            for span in task.spans.iter() {
                let inner: Vec<u64> =
                    cgroups.moves(task.pid).filter(|at| (span.begin + 1..span.end).contains(at)).collect();
                let ends = [&[span.begin], &inner[..], &[span.end]].concat();
                for piece in ends.windows(2) {
                    let key = (task.pid.0, cgroups.at(task.pid, piece[0]), span.state as usize);
                    *cut.entry(key).or_default() += piece[1] - piece[0];
                }
            }
        }
        let mut found: BTreeMap<(i32, Option<&str>, usize), u64> = BTreeMap::new();
        for task in &parted.tasks {
            for state in TimeIn::ALL {
                let key = (task.pid.0, cgroups.at(task.pid, task.life.0), state as usize);
                *found.entry(key).or_default() += task.time(state);
            }
        }
        found.retain(|_, time| *time > 0);
        prop_assert_eq!(found, cut);
    }
}

const TIMER: u16 = 5;
const MS: u64 = 1_000_000;

/// Time of task 5 that a quota kept it from its CPU: at least and at most. `timers` are whatever expires on CPU 1, with its function.
fn throttled(timers: &[(u64, i64)], prio: i64) -> (u64, u64) {
    let fields = ["prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm", "next_pid"];
    let formats = [
        format("sched", "sched_switch", SWITCH, &fields, "\"\""),
        format("timer", "hrtimer_expire_entry", TIMER, &["function"], "\"\""),
    ];
    let address = |name: &str| Some(if name == "sched_cfs_period_timer" { 0xa } else { 0xb });
    let mut sched = Sched::new(&formats, Abi::HOST).with_throttling(&formats, Abi::HOST, address);
    let switch = |at, prev: i64, next| {
        let data = [comm("a"), number(prev), number(prio), number(0), comm("b"), number(next)];
        (at, 0, record(SWITCH, prev as i32, &data))
    };
    // It runs for 10 ms, is preempted by 6 for 20 ms, its CPU is idle for 30 ms, and 6 runs for 5 ms until it runs again.
    let mut events = vec![
        switch(0, 6, 5),
        switch(10 * MS, 5, 6),
        switch(30 * MS, 6, 0),
        switch(60 * MS, 0, 6),
        switch(65 * MS, 6, 5),
        switch(70 * MS, 5, 6),
    ];
    events.extend(timers.iter().map(|(at, function)| (*at, 1, record(TIMER, 0, &[number(*function)]))));
    events.sort_by_key(|(at, ..)| *at);
    for (at, cpu, data) in &events {
        let (timestamp, cpu) = (Timestamp(*at), CpuId(*cpu));
        sched.record(&Record { timestamp, cpu, buffer: 0, lost: Lost::None, data });
    }
    let report = sched.finish();
    assert_eq!(report.window, Some((0, 70 * MS)), "timers are no part of the window");
    let found = report.tasks.iter().find(|task| task.pid == Pid(5)).unwrap().throttled;
    assert_eq!(found.wait, 0, "it was preempted");
    (found.least(), found.most)
}

#[test]
fn time_that_a_quota_took_lies_between_its_bounds() {
    let all = 55 * MS;
    assert_eq!(throttled(&[(59 * MS, 0xa)], 120), (29 * MS, all), "idle up to the timer");
    assert_eq!(throttled(&[(40 * MS, 0xb)], 120), (10 * MS, all), "the timer of what is left over");
    assert_eq!(throttled(&[(59 * MS, 0xa)], 98), (0, all), "a quota is for usual tasks");
    assert_eq!(throttled(&[(59 * MS, 0xc)], 120), (0, 0), "no timer of a quota");
    assert_eq!(throttled(&[(5 * MS, 0xa)], 120), (0, 0), "before it was preempted");
    assert_eq!(throttled(&[(10 * MS - 9, 0xa)], 120), (0, all), "on its way to the CPU");
    assert_eq!(throttled(&[(20 * MS, 0xa)], 120), (0, all), "while another task ran");
    assert_eq!(throttled(&[(40 * MS, 0xa), (40 * MS + 9, 0xa)], 120), (10 * MS, all), "one of two at once let it go");
    assert_eq!(throttled(&[], 120), (0, all), "no timers are recorded: nothing is known of them");
}
