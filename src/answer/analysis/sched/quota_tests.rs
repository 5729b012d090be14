//! Waits that throttled time proves to be a quota's.

use super::quota_account::{BEFORE_SWITCH, QuotaAccount};
use super::quota_bounds::{CLOCKS_DIFFER, CUT_OFF, ProvenThrottle, least_throttled, most_throttled};
use crate::base::units::{CpuId, Pid};
use crate::file::trace_dat::{CgroupCounters, Cgroups, QuotaSample, QuotaSamples, QuotaSeries};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

const MS: u64 = 1_000_000;
/// Its least, where nothing else may have been: the 80 ms that were counted, without what clocks may differ.
const ALONE: u64 = 80 * MS - BEFORE_SWITCH - 80 * MS / CLOCKS_DIFFER;

#[derive(Clone, Copy)]
enum QuotaStep {
    /// CPU, task that leaves it, task that comes.
    Switch(u32, i32, i32),
    /// CPU, task.
    Enqueue(u32, i32),
    Timer,
    /// CPU, the time of its last event.
    Loss(u32, u64),
}
use QuotaStep::{Enqueue, Loss, Switch, Timer};

/// Tasks from 5 to 9 are in `/q/in`, 5 since `joined`; throttled time of `/q` is that of `samples`.
fn cgroups(joined: u64, samples: &[(u64, u64)]) -> Cgroups {
    let mut cgroups = Cgroups::new("");
    cgroups.set(Pid(5), 0, if joined > 0 { "/" } else { "/q/in" });
    cgroups.set(Pid(5), joined, "/q/in");
    (6..10).for_each(|task| _ = cgroups.set(Pid(task), 0, "/q/in"));
    (1..5).for_each(|task| _ = cgroups.set(Pid(task), 0, "/"));
    let mut series = QuotaSeries::new("/q");
    for (at, throttled) in samples {
        series.add(QuotaSample { begin: *at, end: at + 2_000, throttled: *throttled });
    }
    let mut quotas = QuotaSamples::default();
    quotas.add(series);
    cgroups.with_quotas(quotas)
}

fn proven(cgroups: &Cgroups, steps: &[(u64, QuotaStep)], has_timers: bool) -> Vec<ProvenThrottle> {
    let Some(mut account) = QuotaAccount::new(Arc::new(cgroups.clone())) else { return Vec::new() };
    for (at, step) in steps {
        account.see(*at, has_timers);
        match step {
            Switch(cpu, prev, next) => {
                account.switch(CpuId(*cpu), (*at, *at), (Pid(*prev), true), (Pid(*next), true));
            }
            Enqueue(cpu, task) => account.enqueue(Pid(*task), CpuId(*cpu), *at),
            Timer => account.timer(*at),
            Loss(cpu, from) => account.lose(CpuId(*cpu), *from, *at),
        }
    }
    account.finish()
}

/// Proven times of a task that ran from 180 to 200, was off until 284, as a timer ran at 280, and 80 ms of it throttled. Times
/// of `more` are milliseconds.
fn of_one(more: &[(u64, QuotaStep)], joined: u64, has_timers: bool) -> Vec<(i32, (u64, u64), u64)> {
    let mut steps = vec![
        (100, Switch(0, 0, 1)),
        (180, Switch(0, 1, 5)),
        (200, Switch(0, 5, 1)),
        (280, Timer),
        (284, Switch(0, 1, 5)),
        (300, Switch(0, 5, 1)),
        (340, Switch(0, 1, 0)),
    ];
    steps.extend(more);
    steps.sort_by_key(|(at, _)| *at);
    let steps = steps.into_iter().map(|(at, step)| {
        let step = if let Loss(cpu, from) = step { Loss(cpu, from * MS) } else { step };
        (at * MS, step)
    });
    let steps: Vec<_> = steps.collect();
    let cgroups = cgroups(joined * MS, &[(120 * MS, 7), (240 * MS, 7), (290 * MS, 80 * MS + 7)]);
    let found = proven(&cgroups, &steps, has_timers).into_iter();
    found.map(|one| (one.task.0, (one.ends.0 / MS, one.ends.1 / MS), one.least)).collect()
}

#[test]
fn what_was_counted_is_that_of_the_only_task_that_was_off() {
    assert_eq!(of_one(&[], 0, true), [(5, (200, 281), ALONE)]);
    assert_eq!(of_one(&[], 0, false), [(5, (200, 284), ALONE)], "without timers");
    assert_eq!(of_one(&[(150, Switch(1, 7, 0))], 0, true), [(5, (200, 281), ALONE)], "that would be 130 ms");
    let other = [(210, Switch(1, 7, 0))];
    let slacks = 2 * (BEFORE_SWITCH + 80 * MS / CLOCKS_DIFFER);
    let both = [(5, (200, 281), 80 * MS - 71 * MS - slacks)];
    assert_eq!(of_one(&other, 0, true)[..1], both, "some of it may be the other CPU's");
    assert!(of_one(&[(205, Enqueue(1, 7))], 0, true).iter().all(|one| one.2 < 5 * MS), "it may wait there");
}

#[test]
fn nothing_is_certain_where_something_else_may_have_been() {
    let none = Vec::new();
    assert_eq!(of_one(&[(181, Switch(0, 5, 8)), (182, Switch(0, 8, 5))], 0, true).len(), 1, "before it");
    assert_eq!(of_one(&[(284, Switch(0, 1, 8)), (285, Switch(0, 8, 1))], 0, true), none, "two tasks of one CPU");
    assert_eq!(of_one(&[], 210, true), none, "one that came meanwhile");
    assert_eq!(of_one(&[(270, Loss(1, 250))], 0, true), none, "events are missing");
    assert_eq!(of_one(&[(340, Loss(1, 285))], 0, true), none, "as is seen later");
    assert_eq!(of_one(&[(340, Loss(1, 300))], 0, true).len(), 1, "after it");
    let late = [(100, Loss(1, 90)), (202, Loss(1, 201))];
    assert_eq!(of_one(&late, 0, true), none, "it may have been off since before the loss");
}

#[test]
fn the_most_is_what_was_counted_around() {
    let mut cgroups = cgroups(150 * MS, &[(120 * MS, 7), (240 * MS, 7), (290 * MS, 80 * MS + 7)]);
    let _ = ["/", "/q/in"].map(|path| cgroups.set_counters(path, CgroupCounters::default()));
    let most = |begin, end| most_throttled(&cgroups, Pid(5), (begin * MS, end * MS));
    assert_eq!(most(200, 230), Some(0), "none was");
    assert_eq!(most(200, 284), Some(80 * MS + 80_000 + CUT_OFF));
    assert_eq!((most(200, 291), most(140, 200)), (None, None), "no reading after it; one that came meanwhile");
    let unknown = cgroups.clone().with_quotas(QuotaSamples::default());
    assert_eq!(most_throttled(&unknown, Pid(5), (200 * MS, 230 * MS)), None);
}

/// A machine of two CPUs: what each does, one thing after the other, as (kind, milliseconds, which task).
type Doings = [Vec<(u8, u64, i32)>; 2];

/// The steps of the machine, the waits of tasks (task, CPU, from, to, and how much a quota took), and throttles (end, time).
#[expect(clippy::type_complexity, reason = "the parts of one small test")]
fn machine(doings: &Doings) -> (Vec<(u64, QuotaStep)>, Vec<(i32, u32, u64, u64, u64)>, Vec<(u64, u64)>) {
    let (mut steps, mut waits, mut throttles) = (Vec::new(), Vec::new(), Vec::new());
    let mut timers = std::collections::BTreeSet::new();
    for (cpu, doings) in (0..).zip(doings) {
        let mut at = MS * u64::from(cpu) / 2;
        let mut off: BTreeMap<i32, u64> = BTreeMap::new();
        for (kind, time, which) in doings {
            let task = 5 + which % 2 + 2 * cpu as i32;
            let begun = off.remove(&task).unwrap_or(at);
            if begun < at {
                waits.push((task, cpu, begun, at, 0));
            }
            steps.push((at, Switch(cpu, 1, task)));
            at += time * MS / 4;
            steps.push((at, Switch(cpu, task, 1)));
            match kind % 3 {
                // Its quota is used up: it goes on some time after the next timer.
                0 => {
                    let timer = (at / (50 * MS) + 1) * 50 * MS;
                    timers.insert(timer);
                    throttles.push((timer + 3_000, timer + 3_000 - at));
                    let back = timer + 3_000 + time * MS / 20;
                    waits.push((task, cpu, at, back, timer + 3_000 - at));
                    // Others of the group are kept off too.
                    off.values_mut().for_each(|since| *since = (*since).max(back));
                    at = back;
                }
                // Another task runs in its place, or a task of its group does.
                1 => _ = off.insert(task, at),
                _ => {
                    at += time * MS;
                    steps.push((at - 1, Enqueue(cpu, task)));
                }
            }
            at += 1;
        }
    }
    steps.extend(timers.into_iter().map(|timer| (timer, Timer)));
    steps.sort_by_key(|(at, _)| *at);
    (steps, waits, throttles)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]
    #[test]
    fn what_is_said_of_a_wait_holds(
        doings in [0, 1].map(|_| proptest::collection::vec((0u8..6, 1u64..40, 0i32..3), 0..30)),
        apart in 5u64..70, alone in any::<bool>(), has_timers in any::<bool>(),
    ) {
        let doings = doings.map(|all| all.into_iter().map(|(kind, time, which)| (kind, time, if alone { 0 } else { which })).collect());
        let (steps, waits, throttles) = machine(&doings);
        let end = steps.last().map_or(0, |(at, _)| *at) + 100 * MS;
        let counted = |at: u64| throttles.iter().filter(|(ended, _)| *ended <= at + 1_000).map(|(_, time)| time).sum();
        let samples: Vec<(u64, u64)> = (0..end / (apart * MS)).map(|n| (n * apart * MS, counted(n * apart * MS))).collect();
        let mut cgroups = cgroups(0, &samples);
        let _ = ["/", "/q/in"].map(|path| cgroups.set_counters(path, CgroupCounters::default()));
        let found = proven(&cgroups, &steps, has_timers);
        for (task, cpu, begin, end, truth) in waits {
            let of_it = found.iter().filter(|one| one.task == Pid(task) && one.cpu == CpuId(cpu));
            let least = least_throttled(of_it, (begin, end));
            let most = most_throttled(&cgroups, Pid(task), (begin, end)).unwrap_or(u64::MAX);
            prop_assert!(least <= truth && truth <= most, "{least} {truth} {most} {:?}", (task, cpu, begin, end));
        }
    }
}
