use super::path::{IntervalPart, PartKind};
use super::{Histories, History, InterruptShares, Leaves, Priority, critical_path};
use crate::answer::analysis::test_formats::{comm, format, number, record};
use crate::answer::analysis::{Handler, HandlerKind, InOrder, WakeContext};
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Pid, Timestamp};
use crate::file::trace_dat::{CgroupCounters, Cgroups, QuotaCounters};
use crate::kernel::event::{Lost, Record};
use crate::kernel::format::EventFormat;
use proptest::prelude::*;
use std::cmp::Ordering::{Equal, Greater, Less};

const SWITCH: u16 = 1;
const WAKING: u16 = 2;
const WAKEUP: u16 = 3;
const FORK: u16 = 4;
const MIGRATE: u16 = 5;
const SOFT: u16 = 6;
const SOFT_END: u16 = 7;
const HARD: u16 = 8;
const HARD_END: u16 = 9;
const ISSUE: u16 = 10;
const COMPLETE: u16 = 11;

fn formats() -> Vec<EventFormat> {
    let one = |system: &str, name: &str, id: u16, fields: &[&str]| format(system, name, id, fields, "\"\"");
    vec![
        one("sched", "sched_switch", SWITCH, &["prev_comm", "prev_pid", "prev_state", "next_comm", "next_pid"]),
        one("sched", "sched_waking", WAKING, &["comm", "pid", "target_cpu"]),
        one("sched", "sched_wakeup", WAKEUP, &["comm", "pid", "target_cpu"]),
        one("sched", "sched_process_fork", FORK, &["child_comm", "child_pid"]),
        one("sched", "sched_migrate_task", MIGRATE, &["pid", "dest_cpu"]),
        one("irq", "softirq_entry", SOFT, &["vec"]),
        one("irq", "softirq_exit", SOFT_END, &["vec"]),
        one("timer", "hrtimer_expire_entry", HARD, &["hrtimer", "function"]),
        one("timer", "hrtimer_expire_exit", HARD_END, &["hrtimer"]),
        one("block", "block_rq_issue", ISSUE, &["dev", "sector", "nr_sector", "rwbs"]),
        one("block", "block_rq_complete", COMPLETE, &["dev", "sector", "nr_sector", "error", "rwbs"]),
    ]
}

/// An event: time, CPU, current task, event, `common_flags`, numbers of its fields.
type Event<'a> = (u64, u32, i32, u16, u8, &'a [i64]);

fn history(events: &[Event<'_>], lost: &[usize], ends: (u64, u64)) -> History {
    let mut histories = Histories::new(&formats(), Abi::HOST, ends);
    for (place, (at, cpu, current, id, flags, numbers)) in events.iter().enumerate() {
        let name = |pid: i64| comm(&format!("task{pid}"));
        let fields: Vec<Vec<u8>> = match (*id, *numbers) {
            (SWITCH, [prev, state, next]) => {
                vec![name(*prev), number(*prev), number(*state), name(*next), number(*next)]
            }
            (WAKING | WAKEUP, [pid, target]) => vec![name(*pid), number(*pid), number(*target)],
            (FORK, [pid]) => vec![name(*pid), number(*pid)],
            (_, numbers) => numbers.iter().map(|one| number(*one)).collect(),
        };
        let mut data = record(*id, *current, &fields);
        data[2] = *flags;
        let lost = if lost.contains(&place) { Lost::Count(1) } else { Lost::None };
        let (timestamp, cpu) = (Timestamp(*at), CpuId(*cpu));
        histories.record(&Record { timestamp, cpu, buffer: 0, lost, data: &data });
    }
    histories.finish()
}

fn add_up(history: &History, parts: &[IntervalPart], (begin, end): (u64, u64)) {
    let mut at = begin;
    for part in parts {
        assert_eq!(part.begin, at, "{parts:#?}");
        assert!(part.end > part.begin, "{part:#?}");
        let within = part.parts(history);
        if !within.is_empty() {
            add_up(history, &within, (part.begin, part.end));
        }
        at = part.end;
    }
    assert_eq!(at, end, "{parts:#?}");
}

/// Kind, begin and end of each part, those within indented.
fn lines(history: &History, parts: &[IntervalPart], indent: usize) -> Vec<String> {
    let mut all = Vec::new();
    for part in parts {
        let kind = match &part.kind {
            PartKind::Run { task, cpu } => format!("{} on {}", task.0, cpu.0),
            PartKind::Wait { task, cpu, waking } => {
                format!("{} {} {:?}", task.0, if *waking { "waking" } else { "waits" }, cpu.map(|cpu| cpu.0))
            }
            PartKind::Preempted { task, cpu } => format!("{} preempted {:?}", task.0, cpu.map(|cpu| cpu.0)),
            PartKind::Sleep { task, wake, handler, .. } => {
                let by = wake.map(|wake| (wake.by.pid.0, wake.context == WakeContext::Task));
                format!("{} sleeps {by:?} {:?}", task.0, handler.as_ref().map(|one| one.id))
            }
            PartKind::Interrupt { handler, .. } => format!("{} {}", handler.kind.name(), handler.id),
            PartKind::Idle { cpu } => format!("idle {}", cpu.0),
            PartKind::Absent { task } => format!("{} absent", task.0),
            PartKind::Unknown => "unknown".to_owned(),
        };
        all.push(format!("{:indent$}{}-{} {kind}", "", part.begin, part.end));
        all.extend(lines(history, &part.parts(history), indent + 2));
    }
    all
}

#[test]
fn a_sleep_is_what_its_waker_did_and_a_wait_what_its_cpu_ran() {
    let history = history(
        &[
            (0, 0, 5, SWITCH, 0, &[5, 1, 6]),  // 5 sleeps, 6 runs on CPU 0
            (5, 1, 7, SWITCH, 0, &[7, 1, 0]),  // 7 sleeps on CPU 1
            (20, 0, 6, SOFT, 0, &[3]),         // an interrupt in the time of 6
            (25, 0, 6, WAKING, 0x10, &[7, 1]), // wakes 7
            (30, 0, 6, SOFT_END, 0, &[3]),
            (32, 1, 0, WAKEUP, 0x08, &[7, 1]),
            (40, 1, 0, SWITCH, 0, &[0, 0, 7]),
            (60, 1, 7, WAKING, 0, &[5, 0]), // 7 wakes 5
            (61, 1, 7, WAKEUP, 0, &[5, 0]),
            (70, 0, 6, HARD, 0, &[24, 7]),
            (75, 0, 6, HARD_END, 0, &[24]),
            (80, 0, 6, SWITCH, 0, &[6, 0, 5]), // 6 is preempted by 5
            (90, 0, 5, SWITCH, 0, &[5, 0, 8]), // 5 by 8
            (95, 0, 8, SWITCH, 0, &[8, 1, 0]),
            (99, 1, 7, SWITCH, 0, &[7, 0, 5]), // 5 goes on, on CPU 1
        ],
        &[],
        (0, 99),
    );
    let parts = critical_path(&history, Pid(5), (0, 99), 1);
    add_up(&history, &parts, (0, 99));
    assert_eq!(
        lines(&history, &parts, 0),
        [
            "0-60 5 sleeps Some((7, true)) None",
            "  0-5 unknown",
            "  5-25 7 sleeps Some((6, false)) Some(3)", // woken in a soft interrupt: 6 had nothing to do with it
            "  25-32 7 waking Some(1)",
            "    25-32 idle 1",
            "  32-40 7 waits Some(1)",
            "    32-40 idle 1",
            "  40-60 7 on 1",
            "60-61 5 waking Some(0)",
            "  60-61 6 on 0",
            "61-80 5 waits Some(0)",
            "  61-80 6 on 0",
            "    61-70 6 on 0",
            "    70-75 hrtimer 7",
            "    75-80 6 on 0",
            "80-90 5 on 0",
            "90-99 5 preempted None", // preempted on CPU 0; when it came to CPU 1 is not known
            "  90-99 unknown",
        ]
    );
    let first = &critical_path(&history, Pid(5), (0, 60), 0)[0];
    assert!(first.parts(&history).is_empty(), "depth 0 follows no waker");
    let (unknown, absent) =
        (critical_path(&history, Pid(77), (3, 9), 1), critical_path(&history, Pid(5), (90, 120), 1));
    assert_eq!(lines(&history, &unknown, 0), ["3-9 unknown"]);
    assert_eq!(lines(&history, &absent, 0)[2..], ["99-120 unknown"]);
}

#[test]
fn a_task_is_absent_before_its_fork_and_unknown_across_losses() {
    let events: &[Event<'_>] = &[
        (0, 0, 5, SWITCH, 0, &[6, 1, 5]),
        (10, 0, 5, FORK, 0, &[9]),
        (12, 0, 5, WAKEUP, 0, &[9, 1]),
        (20, 1, 0, SWITCH, 0, &[0, 0, 9]),
        (40, 1, 9, SWITCH, 0, &[9, 32, 0]),
        (60, 0, 5, SWITCH, 0, &[5, 1, 0]),
        (80, 0, 0, SWITCH, 0, &[0, 0, 5]),
    ];
    let whole = history(events, &[], (0, 80));
    let parts = critical_path(&whole, Pid(9), (0, 80), 3);
    add_up(&whole, &parts, (0, 80));
    let parts = lines(&whole, &parts, 0);
    assert_eq!(parts[0], "0-10 9 absent");
    assert_eq!(parts[parts.len() - 2..], ["20-40 9 on 1", "40-80 9 absent"]);
    let lost = history(events, &[5], (0, 80));
    assert_eq!((lost.losses[0].begin, lost.losses[0].end), (12, 60));
    let parts = critical_path(&lost, Pid(5), (0, 80), 3);
    add_up(&lost, &parts, (0, 80));
    assert_eq!(lines(&lost, &parts, 0), ["0-12 5 on 0", "12-60 unknown", "60-80 unknown"]);
}

/// The last request that the waking handler completed before the wakeup; none of another handler's.
#[test]
fn a_completed_request_wakes_its_task() {
    let write = i64::from_ne_bytes(*b"WS\0\0\0\0\0\0");
    let events: &[Event<'_>] = &[
        (0, 0, 5, ISSUE, 0, &[7, 4096, 8, write]),
        (5, 0, 5, SWITCH, 0, &[5, 2, 6]),
        (20, 0, 6, SOFT, 0, &[4]),
        (22, 0, 6, COMPLETE, 0x10, &[7, 64, 8, 0, write]),
        (24, 0, 6, COMPLETE, 0x10, &[7, 4096, 8, 0, write]),
        (25, 0, 6, WAKING, 0x10, &[5, 0]),
        (26, 0, 6, SOFT_END, 0, &[4]),
        (30, 0, 6, SWITCH, 0, &[6, 0, 5]),
        (40, 0, 5, SWITCH, 0, &[5, 2, 6]),
        (50, 0, 6, SOFT, 0, &[3]),
        (51, 0, 6, WAKING, 0x10, &[5, 0]),
        (52, 0, 6, SOFT_END, 0, &[3]),
        (60, 0, 6, SWITCH, 0, &[6, 0, 5]),
    ];
    let requests = |lost: &[usize]| {
        let history = history(events, lost, (0, 60));
        let parts = critical_path(&history, Pid(5), (0, 60), 0);
        let sleeps = parts.into_iter().filter_map(|part| match part.kind {
            PartKind::Sleep { request, .. } => Some(request.map(|one| (one.sector, one.issued, one.completed))),
            _ => None,
        });
        sleeps.collect::<Vec<_>>()
    };
    assert_eq!(requests(&[]), [Some((4096, Some(0), 24)), None]);
    // Events that were lost between the completion and the wakeup may have been other completions.
    assert!(requests(&[5]).iter().all(Option::is_none));
}

/// Priorities are those of the last event before; a CPU that was idle meanwhile is told.
#[test]
fn priorities_change_with_the_events_that_name_them() {
    let fields = ["prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm", "next_pid", "next_prio"];
    let formats = [
        format("sched", "sched_switch", SWITCH, &fields, "\"\""),
        format("sched", "sched_waking", WAKING, &["comm", "pid", "prio", "target_cpu"], "\"\""),
    ];
    let mut histories = Histories::new(&formats, Abi::HOST, (20, 60));
    let switch = |prev: (i64, i64), state: i64, next: (i64, i64)| {
        let name = comm("task");
        let [prev, prio, state, next, next_prio] = [prev.0, prev.1, state, next.0, next.1].map(number);
        record(SWITCH, 0, &[name.clone(), prev, prio, state, name, next, next_prio])
    };
    let waking = |pid: i64, prio: i64| record(WAKING, 0, &[comm("task"), number(pid), number(prio), number(0)]);
    for (at, cpu, data) in [
        (0, 1, switch((8, 120), 1, (0, 120))),  // CPU 1 is idle
        (5, 0, switch((5, 120), 1, (6, 120))),  // 6 has the usual priority
        (10, 0, switch((6, 139), 0, (6, 89))),  // and another one
        (20, 0, waking(5, 110)),                // 5 waits, nice -10
        (50, 1, switch((0, 120), 0, (8, 120))), // CPU 1 is busy again
        (60, 0, switch((6, 89), 1, (5, 110))),
    ] {
        let (timestamp, cpu) = (Timestamp(at), CpuId(cpu));
        histories.record(&Record { timestamp, cpu, buffer: 0, lost: Lost::None, data: &data });
    }
    let history = histories.finish();
    let of = |pid: i32, at: u64| history.priority(Pid(pid), at).map(|one| (one.to_string(), one.class()));
    assert_eq!(of(6, 20), Some(("real-time 10".to_owned(), "realtime")));
    assert_eq!(of(5, 20), Some(("nice -10".to_owned(), "normal")));
    assert_eq!((of(0, 30), of(77, 30)), (None, None));
    assert_eq!(history.idle_elsewhere(Some(CpuId(0)), (20, 60)), [(CpuId(1), 30)]);
    assert!(history.idle_elsewhere(Some(CpuId(1)), (20, 60)).is_empty());
    let before = |a: i32, b: i32| Priority(a).before(Priority(b));
    assert_eq!((before(-1, 0), before(89, 120), before(139, 98)), (Some(Less), Some(Less), Some(Greater)));
    assert_eq!((before(98, 98), before(110, 120)), (Some(Equal), None));
    assert_eq!((Priority(-1).to_string(), Priority(0).to_string()), ("deadline".to_owned(), "real-time 99".to_owned()));
}

/// A history of records made by `formats`: time, CPU, bytes.
fn history_of(formats: &[EventFormat], records: &[(u64, u32, Vec<u8>)], ends: (u64, u64)) -> History {
    let mut histories = Histories::new(formats, Abi::HOST, ends);
    for (at, cpu, data) in records {
        let (timestamp, cpu) = (Timestamp(*at), CpuId(*cpu));
        histories.record(&Record { timestamp, cpu, buffer: 0, lost: Lost::None, data });
    }
    histories.finish()
}

/// A CPU that is idle although its task could run; handlers within handlers.
#[test]
fn a_limit_is_named_by_the_timer_that_lifts_it() {
    let fields = ["prev_comm", "prev_pid", "prev_prio", "prev_state", "next_comm", "next_pid", "next_prio"];
    let formats = [
        format("sched", "sched_switch", SWITCH, &fields, "\"\""),
        format("timer", "hrtimer_expire_entry", HARD, &["hrtimer", "now", "function"], "\"\""),
        format("timer", "hrtimer_expire_exit", HARD_END, &["hrtimer"], "\"\""),
        format("irq", "softirq_entry", SOFT, &["vec"], "\"\""),
        format("irq", "softirq_exit", SOFT_END, &["vec"], "\"\""),
    ];
    let switch = |prev: i64, next: i64, prio: i64| {
        let [prev, next, state, prio] = [prev, next, 0, prio].map(number);
        let name = comm("task");
        record(SWITCH, 0, &[name.clone(), prev, prio.clone(), state, name, next, prio])
    };
    let of = |id: u16, numbers: &[i64]| record(id, 0, &numbers.iter().map(|one| number(*one)).collect::<Vec<_>>());
    let records = |prio: i64| {
        vec![
            (0, 1, switch(6, 7, 120)),
            (10, 0, switch(5, 0, prio)),
            (39, 1, of(HARD, &[0xa0, 39, 0xfa])),
            (42, 1, of(HARD_END, &[0xa0])),
            (43, 0, switch(0, 5, prio)),
            (50, 0, of(SOFT, &[3])),
            (52, 0, of(HARD, &[0xb0, 52, 0xfb])),
            (55, 0, of(HARD_END, &[0xb0])),
            (57, 0, of(SOFT_END, &[3])),
            (60, 0, switch(5, 0, prio)),
        ]
    };
    let is_named = |handler: &Handler, name: &str| handler.id == 0xfa && name == "sched_cfs_period_timer";
    let found = |prio: i64| {
        let history = history_of(&formats, &records(prio), (0, 60));
        let parts = critical_path(&history, Pid(5), (10, 60), 0);
        let throttle = history.throttle(&parts[0], &is_named);
        let mut interrupts = InterruptShares::default();
        parts.iter().for_each(|part| interrupts.add(&history, part));
        let throttle = throttle.map(|one| (one.limit, one.cpu, one.at));
        (throttle, history.idle_within(&parts[0]), interrupts.finish(&history))
    };
    let (throttle, idle, interrupts) = found(120);
    assert_eq!((throttle, idle), (Some(("cgroup", CpuId(1), 39)), Some((10, 43))));
    let times: Vec<_> = interrupts.iter().map(|one| (one.handler.kind, one.cpu, one.count, one.time)).collect();
    assert_eq!(times, [(HandlerKind::SoftIrq, CpuId(0), 1, 4), (HandlerKind::HrTimer, CpuId(0), 1, 3)]);
    assert_eq!(found(89).0, None, "a limit of another class");
}

/// On a busy CPU no event says that a quota keeps a task off: the kernel's counters say that it may.
#[test]
fn a_quota_on_a_busy_cpu_may_have_kept_a_task_off() {
    let formats = formats();
    let switch = |prev: i64, next: i64| {
        let fields = [comm("a"), number(prev), number(0), comm("b"), number(next)];
        record(SWITCH, prev as i32, &fields)
    };
    let timer = |id: u16, fields: &[i64]| record(id, 0, &fields.iter().map(|field| number(*field)).collect::<Vec<_>>());
    let records = [
        (0, 0, switch(6, 5)),
        (10, 0, switch(5, 6)),
        (20, 1, timer(HARD, &[0xa0, 0xfa])),
        (21, 1, timer(HARD_END, &[0xa0])),
        (43, 0, switch(6, 5)),
        (50, 0, switch(5, 6)),
    ];
    let history = history_of(&formats, &records, (0, 50));
    let part = &critical_path(&history, Pid(5), (10, 43), 0)[0];
    let is_named = |handler: &Handler, name: &str| handler.id == 0xfa && name == "sched_cfs_period_timer";
    assert_eq!(history.throttle(part, &is_named), None, "the CPU was not idle");
    let mut cgroups = Cgroups::new("");
    cgroups.set(Pid(5), 0, "/b/c");
    let counters = QuotaCounters { throttled: 70, periods: 3, throttled_periods: 2 };
    let of = |quota| CgroupCounters { usage: None, quota: Some(quota) };
    cgroups.set_counters("/b/c", of(QuotaCounters { throttled_periods: 0, ..counters }));
    assert_eq!(history.quota(part, &cgroups, &is_named), None, "none of them was throttled");
    cgroups.set_counters("/b", of(counters));
    let quota = history.quota(part, &cgroups, &is_named).expect("it was");
    assert_eq!((quota.cgroup.as_str(), quota.counters, quota.cpu, quota.at), ("/b", counters, CpuId(1), 20));
    assert_eq!(history.quota(part, &cgroups, &|_, _| false), None, "no period began meanwhile");
}

/// A CPU that was idle twice while a task waited for it shows that a limit kept the task off, whoever ran between.
#[test]
fn what_runs_while_a_limit_holds_a_task_is_no_cause() {
    let switch = |prev: i64, next: i64| {
        let fields = [comm("a"), number(prev), number(0), comm("b"), number(next)];
        record(SWITCH, prev as i32, &fields)
    };
    let records = [
        (0, 0, switch(6, 5)),
        (10, 0, switch(5, 6)),
        (15, 0, switch(6, 0)),
        (18, 0, switch(0, 6)),
        (38, 0, switch(6, 0)),
        (40, 0, switch(0, 7)),
        (43, 0, switch(7, 5)),
        (50, 0, switch(5, 6)),
    ];
    let history = history_of(&formats(), &records, (0, 50));
    let part = critical_path(&history, Pid(5), (10, 43), 0).remove(0);
    let leading = |held: Option<(u64, u64)>| {
        let held = |part: &IntervalPart| held.filter(|_| matches!(part.kind, PartKind::Preempted { .. }));
        let mut leaves = Leaves::new(&held);
        leaves.add(&history, part.clone());
        let leading = leaves.leading().expect("a part");
        (leading.part.kind, leading.time, leading.count, leading.next)
    };
    let (cpu, task) = (CpuId(0), Pid(6));
    assert_eq!(leading(None), (PartKind::Run { task, cpu }, 25, 2, 5), "nothing held it: 6 ran");
    assert_eq!(leading(Some((15, 40))), (PartKind::Idle { cpu }, 25, 3, 5), "from the first idle time to the timer");
}

/// The lock that a task waits for as it falls asleep; none once it has it.
#[test]
fn a_lock_is_named() {
    let mut formats = formats();
    formats.push(format("lock", "contention_begin", 20, &["lock_addr", "flags"], "\"\""));
    formats.push(format("lock", "contention_end", 21, &["lock_addr", "ret"], "\"\""));
    let of = |id: u16, task: i32, fields: &[Vec<u8>]| record(id, task, fields);
    let switch = |prev: i64, state: i64, next: i64| {
        let [before, state, after] = [prev, state, next].map(number);
        of(SWITCH, prev as i32, &[comm("a"), before, state, comm("b"), after])
    };
    let wake = |by: i32, task: i64| of(WAKING, by, &[comm("a"), number(task), number(0)]);
    let records = [
        (0, 0, switch(6, 1, 5)),
        (3, 0, of(20, 5, &[number(0xa0), number(0x20)])),
        (5, 0, switch(5, 2, 0)),
        (20, 1, wake(7, 5)),
        (21, 0, switch(0, 0, 5)),
        (22, 0, of(21, 5, &[number(0xa0), number(0)])),
        (30, 0, switch(5, 2, 0)),
        (40, 1, wake(7, 5)),
        (41, 0, switch(0, 0, 5)),
        (50, 0, switch(5, 1, 0)),
    ];
    let history = history_of(&formats, &records, (0, 50));
    let locks = critical_path(&history, Pid(5), (0, 50), 0).into_iter().filter_map(|part| match part.kind {
        PartKind::Sleep { lock, .. } => Some(lock.map(|lock| (lock.lock, lock.kind.name(), lock.begin, lock.end))),
        _ => None,
    });
    assert_eq!(locks.collect::<Vec<_>>(), [Some((0xa0, "mutex".to_owned(), 3, 22)), None]);
}

proptest! {
    /// Events that contradict each other, handlers without ends, losses: parts add up all the same.
    #[test]
    fn parts_always_add_up(
        steps in prop::collection::vec((0..20u64, 0..3u32, 0..5i64, 0..5i64, 0..12u8, any::<bool>()), 1..120),
        lost in prop::collection::vec(0..120usize, 0..4),
        (from, length) in (0..800u64, 0..800u64),
    ) {
        let mut at = 10;
        let mut numbers = Vec::new();
        for (time, cpu, one, other, what, flag) in &steps {
            at += time;
            let (id, of): (u16, Vec<i64>) = match what {
                0..4 => (SWITCH, vec![*one, i64::from(what % 3), *other]),
                4 | 5 => (WAKING, vec![*one, *other % 3]),
                6 => (WAKEUP, vec![*one, *other % 3]),
                7 => (FORK, vec![*one + 1]),
                8 => (MIGRATE, vec![*one, *other % 3]),
                9 => (if *flag { SOFT } else { SOFT_END }, vec![*one]),
                10 => (HARD, vec![*one, 0]),
                _ => (HARD_END, vec![*one]),
            };
            numbers.push((at, *cpu, *one as i32, id, if *flag { 0x10 } else { 0 }, of));
        }
        let events: Vec<Event<'_>> =
            numbers.iter().map(|(at, cpu, pid, id, flags, of)| (*at, *cpu, *pid, *id, *flags, of.as_slice())).collect();
        let ends = (from, from + length);
        let history = history(&events, &lost, ends);
        for pid in 0..6 {
            add_up(&history, &critical_path(&history, Pid(pid), ends, 3), ends);
        }
    }
}
