//! Values of recordings that lack events, held against those of the same recordings with all their events.

use super::{Assertion, Check, Conditions, Interval, Names};
use crate::answer::analysis::test_formats::{comm, format, number, record};
use crate::answer::analysis::{Analysis, Extents, InOrder, IrqSource};
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Pid, Timestamp};
use crate::file::trace_dat::{Cgroups, Coverage};
use crate::kernel::event::{Lost, Record};
use crate::kernel::format::EventFormat;
use crate::kernel::symbols::Comms;
use proptest::prelude::*;
use std::sync::Arc;

const SWITCH: u16 = 1;
const WAKEUP: u16 = 2;
const CPUS: usize = 2;
const TASKS: usize = 9;

/// No names beside those in the events, and the cgroups of tasks.
struct Nameless;

impl Names for Nameless {
    fn syscall(&self, _: i64) -> Option<String> {
        None
    }
    fn syscalls(&self) -> Vec<String> {
        Vec::new()
    }
    fn tasks(&self) -> Vec<String> {
        Vec::new()
    }
    fn is_symbol(&self, _: &str) -> bool {
        false
    }
    fn function(&self, _: u64) -> String {
        String::new()
    }
    fn variable(&self, _: u64) -> String {
        String::new()
    }
    fn task(&self, _: Pid) -> Option<String> {
        None
    }
    fn handler(&self, _: &IrqSource) -> String {
        String::new()
    }
    /// Every second task moves, again and again.
    fn cgroups(&self) -> Option<Arc<Cgroups>> {
        let mut cgroups = Cgroups::new("");
        for task in 1..=TASKS as u64 {
            let moves = if task % 2 == 0 { 40 } else { 1 };
            (0..moves).for_each(|at| {
                let path = if (at + task) % 3 == 0 { "/a" } else { "/b" };
                cgroups.set(Pid(task as i32), at * 7_919 * task, path);
            });
        }
        Some(Arc::new(cgroups))
    }
}

/// An event of a CPU.
struct ScheduleEvent {
    at: u64,
    cpu: usize,
    lost: Lost,
    data: Vec<u8>,
}

fn formats() -> Vec<EventFormat> {
    let one = |name: &str, id: u16, fields: &[&str]| format("sched", name, id, fields, "\"\"");
    vec![
        one("sched_switch", SWITCH, &["prev_comm", "prev_pid", "prev_state", "next_comm", "next_pid"]),
        one("sched_wakeup", WAKEUP, &["comm", "pid", "target_cpu"]),
    ]
}

/// A machine on which tasks sleep, are woken, wait, run and are preempted, as `choices` have it.
fn schedule(choices: &[(u8, u8, u8)]) -> Vec<ScheduleEvent> {
    let mut running = [0usize; CPUS];
    let mut queues: [Vec<usize>; CPUS] = Default::default();
    let mut asleep: Vec<usize> = (1..=TASKS).collect();
    let (mut events, mut at) = (Vec::new(), 1_000u64);
    for &(what, who, pause) in choices {
        at += if pause == 0 { 5_000 } else { u64::from(pause) };
        let cpu = usize::from(what) % CPUS;
        let current = running[cpu];
        let (id, fields) = if what % 5 < 3 && !asleep.is_empty() {
            let task = asleep.swap_remove(usize::from(who) % asleep.len());
            let target = usize::from(who / 16) % CPUS;
            queues[target].push(task);
            (WAKEUP, vec![comm("task"), number(task as i64), number(target as i64)])
        } else {
            let next = if queues[cpu].is_empty() { 0 } else { queues[cpu].remove(0) };
            let preempted = who % 3 == 0;
            if next == current {
                continue;
            }
            match current {
                0 => {}
                task if preempted => queues[cpu].push(task),
                task => asleep.push(task),
            }
            running[cpu] = next;
            let state = i64::from(!preempted && current != 0);
            let fields = vec![comm("task"), number(current as i64), number(state), comm("task"), number(next as i64)];
            (SWITCH, fields)
        };
        events.push(ScheduleEvent { at, cpu, lost: Lost::None, data: record(id, current as i32, &fields) });
    }
    events
}

/// The same without some events of one CPU that follow each other; the number of those that no later event tells of.
fn without(events: &mut Vec<ScheduleEvent>, cpu: usize, first: usize, count: usize) -> u64 {
    let places: Vec<usize> = (0..events.len()).filter(|at| events[*at].cpu == cpu).collect();
    let first = first % places.len().max(1);
    let gone = &places[first.min(places.len())..(first + count).min(places.len())];
    let mut lost = gone.len() as u64;
    gone.iter().for_each(|at| lost += if let Lost::Count(more) = events[*at].lost { more } else { 0 });
    let reported = match places.get(first + count).and_then(|at| events.get_mut(*at)) {
        Some(after) => {
            let before = if let Lost::Count(before) = after.lost { before } else { 0 };
            after.lost = if lost + before > 0 { Lost::Count(lost + before) } else { Lost::None };
            true
        }
        None => false,
    };
    let mut at = 0;
    events.retain(|_| {
        at += 1;
        !gone.contains(&(at - 1))
    });
    if reported { 0 } else { lost }
}

/// The values of `quantities`.
fn values(events: &[ScheduleEvent], dropped: u64, quantities: &[String]) -> Vec<Option<Interval>> {
    values_of(events, dropped, quantities, &Coverage::default())
}

/// The same where the recorder left out its own threads.
fn values_of(
    events: &[ScheduleEvent],
    dropped: u64,
    quantities: &[String],
    coverage: &Coverage,
) -> Vec<Option<Interval>> {
    let (formats, comms) = (formats(), Comms::default());
    let formats: Vec<&EventFormat> = formats.iter().collect();
    let assertion = |quantity: &String| Assertion::parse(&format!("{quantity} >= 0ns")).unwrap();
    let check = Check::new(quantities.iter().map(assertion).collect(), &formats, Abi::HOST, &comms, &Nameless).unwrap();
    let (mut measures, extents) = (check.measures(coverage).0, Extents::new(formats.iter().copied(), Abi::HOST));
    let mut extent = Analysis::begin(&extents);
    for event in events {
        let (timestamp, cpu) = (Timestamp(event.at), CpuId(event.cpu as u32));
        let record = Record { timestamp, cpu, buffer: 0, lost: event.lost, data: &event.data };
        extents.record(&record, || None, &mut extent);
        measures.iter_mut().for_each(|measure| InOrder::record(measure, &record));
    }
    let findings: Vec<_> = measures.into_iter().map(InOrder::finish).collect();
    let conditions = Conditions {
        damaged: 0,
        unfinished: false,
        dropped,
        coverage: coverage.clone(),
        late: Vec::new(),
        in_ticks: false,
        min_samples: 0,
        allow_absent: false,
        names: &Nameless,
    };
    check.verdicts(&findings, &extent, &conditions).into_iter().map(|one| one.values[0]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    /// Values with all events lie within the bounds given without some of them.
    #[test]
    fn values_with_all_events_lie_within_those_without_some(
        choices in prop::collection::vec(any::<(u8, u8, u8)>(), 1_000..3_000),
        losses in prop::collection::vec((0..CPUS, any::<usize>(), 1..8usize), 1..4),
    ) {
        let sources = ["wait()", "preempted()", "wait(3)", "wait(cgroup:/a)", "preempted(cgroup:/b)", "latency(sched:sched_wakeup, sched:sched_switch, pid=next_pid)"];
        let quantities: Vec<String> = sources
            .iter()
            .flat_map(|source| ["p50", "p90", "p99", "p25", "mean", "min", "max", "sum"].map(|by| format!("{by}({source})")))
            .chain(["run(cgroup:/a)".to_owned(), "run(3)".to_owned()])
            .collect();
        let mut events = schedule(&choices);
        let whole = values(&events, 0, &quantities);
        let dropped = losses.iter().map(|(cpu, first, count)| without(&mut events, *cpu, *first, *count)).sum();
        let told = |event: &ScheduleEvent| if let Lost::Count(lost) = event.lost { lost } else { 0 };
        let dropped = events.iter().map(told).fold(dropped, |all: u64, lost| all + lost);
        for ((quantity, whole), seen) in quantities.iter().zip(whole).zip(values(&events, dropped, &quantities)) {
            if let (Some(whole), Some(seen)) = (whole, seen) {
                let within = seen.least <= whole.observed && whole.observed <= seen.most;
                prop_assert!(within, "{quantity}: {whole:?} is not within {seen:?}, {losses:?}");
            }
        }
    }
}

/// With few losses among many intervals, a quantile is known closely enough to pass and to fail.
#[test]
fn few_losses_leave_quantiles_known() {
    let mut choice = 7u32;
    let mut next = || {
        choice = choice.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (choice >> 24) as u8
    };
    let choices: Vec<(u8, u8, u8)> = (0..40_000).map(|_| (next(), next(), next())).collect();
    let mut events = schedule(&choices);
    let quantities = ["p50(wait())".to_owned(), "p99.9(wait())".to_owned(), "mean(wait())".to_owned()];
    let whole = values(&events, 0, &quantities);
    without(&mut events, 1, 500, 3);
    let seen = values(&events, 0, &quantities);
    let [median, tail, mean] = [0, 1, 2].map(|at| (whole[at].unwrap().observed, seen[at].unwrap()));
    assert!(median.1.least > 0.9 * median.0 && median.1.most < 1.1 * median.0, "{median:?}");
    assert!(tail.1.least > 0.5 * tail.0, "{tail:?}");
    assert!(mean.1.least > 0.9 * mean.0 && mean.1.most.is_infinite(), "{mean:?}");
}

/// Of the recorder's own threads some events are left out, so that what they wait is unknown; of others it is not.
#[test]
fn the_recorders_own_threads_wait_for_nothing() {
    let choices: Vec<(u8, u8, u8)> = (0..3_000u32).map(|n| ((n * 7) as u8, (n * 13) as u8, (n * 29) as u8)).collect();
    let events = schedule(&choices);
    let quantities = ["sum(wait(1))".to_owned(), "sum(wait(3))".to_owned()];
    let whole = values(&events, 0, &quantities);
    let coverage = Coverage { left_out: vec![Pid(1)], ..Coverage::default() };
    let seen = values_of(&events, 0, &quantities, &coverage);
    assert!(whole[0].is_some_and(|wait| wait.observed > 0.0));
    assert!(seen[0].is_none_or(|wait| wait.observed == 0.0), "{:?}", seen[0]);
    assert_eq!(seen[1].map(|wait| wait.observed), whole[1].map(|wait| wait.observed));
}
