//! Values and verdicts of assertions.

use super::answers::Compared;
use crate::common::environment::TestEnvironment;
use serde_json::Value;
use std::path::Path;

const ASSERTIONS: [&str; 34] = [
    "count(sched:sched_switch) < 100",
    "count(sched:sched_waking) < 100",
    "count(sched:sched_wakeup) == 0",
    "rate(sched:sched_switch) > 500",
    "run() < 100ms",
    "busy < 50%",
    "duration < 500ms",
    "lost < 10",
    "max(wait()) < 1ms",
    "min(wait()) < 5us",
    "mean(wait()) < 100us",
    "p50(wait()) < 50us",
    "p99(wait()) < 1ms",
    "sum(wait()) < 10ms",
    "count(wait()) < 100",
    "max(preempted()) < 1ms",
    "sum(preempted()) < 1ms",
    "count(preempted()) == 0",
    "max(syscall()) < 1ms",
    "sum(syscall()) < 100ms",
    "count(syscall()) < 100",
    "errors(syscall()) == 0",
    "p90(syscall()) < 10us",
    "max(irq()) < 100us",
    "sum(irq()) < 1ms",
    "count(irq()) < 100",
    "faults() < 10",
    "live() < 100000",
    "max(lock()) < 1us",
    "count(lock()) == 0",
    "max(latency(sched:sched_waking, sched:sched_switch, pid=next_pid)) < 1ms",
    "p50(latency(sched:sched_wakeup, sched:sched_switch, pid=next_pid)) < 100us",
    "count(latency(raw_syscalls:sys_enter, raw_syscalls:sys_exit, common_pid)) < 100",
    "sum(latency(irq:softirq_entry, irq:softirq_exit, common_cpu)) < 100us",
];

/// The answers to all assertions of `part`, about tasks of these pids too, held against those of `whole` in the same time, which
/// is given too.
pub(super) fn compare(
    env: &TestEnvironment,
    whole: &Path,
    part: &Path,
    pids: &[String],
) -> (Compared, Option<[String; 2]>) {
    let (whole, part) = (whole.to_string_lossy(), part.to_string_lossy());
    let of_tasks = pids.iter().flat_map(|pid| {
        ["run(PID) < 1ms", "max(wait(PID)) < 1ms", "sum(preempted(PID)) < 1ms", "faults(PID) < 3"]
            .map(|one| one.replace("PID", pid))
    });
    let assertions: Vec<String> = ASSERTIONS.into_iter().map(str::to_owned).chain(of_tasks).collect();
    let ask = |file: &str, window: &[&str]| {
        let mut words = vec!["check", file, "--json", "--buffer", "", "--allow-absent"];
        words.extend(window);
        words.extend(assertions.iter().flat_map(|one| ["-a", one]));
        serde_json::from_str::<Value>(&env.rtrace(&words).stdout()).unwrap_or_default()
    };
    let answer = ask(&part, &[]);
    let mut compared = Compared::default();
    let (Some(begin), Some(end)) = (answer["window"]["begin"].as_u64(), answer["window"]["end"].as_u64()) else {
        return (compared, None);
    };
    let in_ticks = answer["unit"] == "ticks";
    let point = |at: u64| {
        if in_ticks { at.to_string() } else { format!("{}.{:09}", at / 1_000_000_000, at % 1_000_000_000) }
    };
    let (since, until) = (point(begin), point(end));
    let truth = ask(&whole, &["--since", &since, "--until", &until]);
    let both =
        answer["assertions"].as_array().into_iter().flatten().zip(truth["assertions"].as_array().into_iter().flatten());
    for (ours, theirs) in both {
        // A part has losses that the whole has not.
        if ours["assertion"].as_str().is_some_and(|text| text.starts_with("lost")) {
            continue;
        }
        let place = || format!("{whole} {since} to {until}: {}", ours["assertion"]);
        let bounds = |value: &Value| {
            (value["least"].as_f64().unwrap_or(f64::NEG_INFINITY), value["most"].as_f64().unwrap_or(f64::INFINITY))
        };
        if ours["left"].is_null() || theirs["left"].is_null() {
            compared.unknown += u64::from(!theirs["left"].is_null());
            continue;
        }
        let ((least, most), (low, high)) = (bounds(&ours["left"]), bounds(&theirs["left"]));
        let pair = (ours["verdict"].as_str().unwrap_or_default(), theirs["verdict"].as_str().unwrap_or_default());
        match () {
            () if most < low || high < least => {
                compared.wrong.push(format!("{}: {} is not of {}", place(), theirs["left"], ours["left"]));
            }
            () if matches!(pair, ("pass", "fail") | ("fail", "pass")) => {
                compared.wrong.push(format!("{}: {} for {}", place(), pair.0, pair.1));
            }
            () if least == most => compared.equal += 1,
            () if most.is_finite() => compared.between += 1,
            () if least > 0.0 => compared.at_least += 1,
            () => compared.unknown += 1,
        }
    }
    (compared, Some([since, until]))
}
