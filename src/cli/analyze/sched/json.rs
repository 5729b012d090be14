//! `rtrace analyze sched --json`.

use super::answer::SchedAnswer;
use crate::cli::analyze::distribution;
use rtrace::analysis::{Durations, TaskSched, TimeIn};
use serde_json::{Value, json};

/// The answer as an object.
pub(super) fn answer(found: &SchedAnswer<'_>, tasks: &[&TaskSched]) -> Value {
    let report = &found.report;
    let counts = report.counts;
    let cpus: Vec<Value> = report
        .cpus
        .iter()
        .map(|cpu| {
            json!({
                "cpu": cpu.cpu.0,
                "busy": cpu.busy,
                "idle": cpu.idle,
                "unknown": cpu.unknown,
                "idle_while_waited": cpu.idle_while_waited,
                "switches": cpu.switches,
                "wakeups": cpu.wakeups,
                "queue": {"mean": cpu.mean_queue(), "max": cpu.longest_queue(), "time": cpu.queue},
            })
        })
        .collect();
    json!({
        "counts": {
            "switches": counts.switches,
            "wakeups": counts.wakeups,
            "awake": counts.awake,
            "missed_wakeups": counts.missed_wakeups,
            "contradictions": counts.contradictions,
            "censored": counts.censored,
            "losses": counts.losses,
        },
        "idle_while_waited": report.idle_while_waited,
        "waits": report.has_wakeups.then(|| distributed(&report.waits)),
        "preempted": distributed(&report.preempted),
        "cpus": cpus,
        "tasks": tasks.iter().map(|one| task(found, one)).collect::<Vec<_>>(),
    })
}

fn task(found: &SchedAnswer<'_>, task: &TaskSched) -> Value {
    let time = |state| task.time(state);
    let longest = task.longest_wait.map(|longest| {
        let waker = longest.waker;
        let waker = waker.map(|waker| json!({"pid": waker.pid.0, "comm": found.waker(waker.pid), "cpu": waker.cpu.0}));
        json!({"time": longest.time, "at": longest.at, "cpu": longest.cpu.0, "waker": waker})
    });
    json!({
        "pid": task.pid.0,
        "comm": found.comm(task),
        "begin": task.life.0,
        "end": task.life.1,
        "run": time(TimeIn::Run),
        "wait": time(TimeIn::Wait),
        "preempted": time(TimeIn::Preempted),
        "sleep": time(TimeIn::Sleep),
        "blocked": time(TimeIn::Blocked),
        "unknown": time(TimeIn::Unknown),
        "io_wait": found.report.has_io_wait.then_some(task.io_wait),
        "voluntary": task.voluntary,
        "involuntary": task.involuntary,
        "migrations": task.migrations,
        "wakeups": task.wakeups,
        "waits": distributed(&task.waits),
        "longest_wait": longest,
        "preemptions": distributed(&task.preempted),
        "slices": distributed(&task.slices),
    })
}

fn distributed(durations: &Durations) -> Value {
    distribution::json(&durations.distribution())
}
