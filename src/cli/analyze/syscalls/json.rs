//! `rtrace analyze syscalls --json`.

use super::answer::SyscallsAnswer;
use crate::cli::analyze::{distribution, errno};
use rtrace::analysis::{DescriptorTimes, SyscallTimes, TaskSyscalls};
use serde_json::{Value, json};

/// The calls, tasks and descriptors of a buffer that are shown.
type SyscallRows<'f> = (Vec<&'f SyscallTimes>, Vec<&'f TaskSyscalls>, Vec<&'f DescriptorTimes>);

/// The answer as an object.
pub(super) fn answer(found: &SyscallsAnswer<'_>, (calls, tasks, descriptors): &SyscallRows<'_>) -> Value {
    let report = &found.report;
    let counts = report.counts;
    json!({
        "counts": {
            "unfinished": counts.unfinished,
            "without_entry": counts.without_entry,
            "censored": counts.censored,
            "losses": counts.losses,
        },
        "times": distribution::json(&report.times.distribution()),
        "calls": calls.iter().map(|one| call(found, one)).collect::<Vec<_>>(),
        "tasks": tasks.iter().map(|one| task(found, one)).collect::<Vec<_>>(),
        "descriptors": descriptors.iter().map(|one| descriptor(found, one)).collect::<Vec<_>>(),
    })
}

fn call(found: &SyscallsAnswer<'_>, call: &SyscallTimes) -> Value {
    let longest = call.longest.map(|longest| {
        json!({
            "time": longest.time,
            "at": longest.at,
            "cpu": longest.cpu.0,
            "pid": longest.pid.0,
            "comm": found.comm(longest.pid),
        })
    });
    json!({
        "call": found.name(call),
        "number": call.number,
        "failed": call.failed(),
        "errors": errno::json(&call.errors),
        "times": distribution::json(&call.times.distribution()),
        "off_cpu": found.report.has_switches.then_some(call.off_cpu),
        "longest": longest,
    })
}

fn task(found: &SyscallsAnswer<'_>, task: &TaskSyscalls) -> Value {
    json!({
        "pid": task.pid.0,
        "comm": found.comm(task.pid),
        "calls": task.calls,
        "failed": task.errors,
        "time": task.time,
        "off_cpu": found.report.has_switches.then_some(task.off_cpu),
    })
}

fn descriptor(found: &SyscallsAnswer<'_>, descriptor: &DescriptorTimes) -> Value {
    json!({
        "pid": descriptor.pid.0,
        "is_process": descriptor.is_process,
        "comm": found.comm(descriptor.pid),
        "fd": descriptor.fd,
        "file": found.file(descriptor),
        "calls": descriptor.calls,
        "failed": descriptor.errors,
        "time": descriptor.time,
        "off_cpu": found.report.has_switches.then_some(descriptor.off_cpu),
        "longest": descriptor.longest,
    })
}
