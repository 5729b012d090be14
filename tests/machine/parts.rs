//! Parts of a recording are what a scan of the whole would show of them.

use crate::files::{events, json, recordings, report, run};
use serde_json::Value;

fn time(event: &Value) -> u64 {
    event["ts"].as_u64().unwrap()
}

/// As an option takes it: seconds, or ticks.
fn option(lines: &[Value], ts: u64) -> String {
    match lines[0]["sources"][0]["buffers"][0]["unit"].as_str() {
        Some("ns") => format!("{}.{:09}", ts / 1_000_000_000, ts % 1_000_000_000),
        _ => ts.to_string(),
    }
}

#[test]
fn windows() {
    for file in recordings() {
        let lines = json(&file, &[]);
        let all = events(&lines);
        let expect = |options: &[&str], wanted: &[&Value]| {
            let found = json(&file, options);
            assert!(events(&found) == wanted, "{}: {options:?}: {} events", file.display(), events(&found).len());
        };
        let (a, b) = (time(all[all.len() / 3]), time(all[all.len() / 2]));
        let within: Vec<&Value> = all.iter().copied().filter(|e| (a..=b).contains(&time(e))).collect();
        expect(&["--since", &option(&lines, a), "--until", &option(&lines, b)], &within);
        let (first, last) = (time(all[0]), time(all[all.len() - 1]));
        let ticks = option(&lines, a).parse::<u64>().is_ok();
        if !ticks {
            let from_start: Vec<&Value> = all.iter().copied().filter(|e| time(e) >= first + 2_000_000).collect();
            expect(&["--since", "+2ms"], &from_start);
            let to_end: Vec<&Value> = all.iter().copied().filter(|e| time(e) >= last - 3_000_000).collect();
            expect(&["--since=-3ms"], &to_end);
            let around: Vec<&Value> = all.iter().copied().filter(|e| time(e).abs_diff(b) <= 500_000).collect();
            expect(&["--around", &format!("{}±500us", option(&lines, b))], &around);
        }
        for n in [0, 1, 7, 1000, 1_000_000] {
            let text = n.to_string();
            expect(&["--first", &text], &all[..n.min(all.len())]);
            expect(&["--last", &text], &all[all.len().saturating_sub(n)..]);
        }
    }
}

#[test]
fn tasks_and_cpus() {
    for file in recordings() {
        let lines = json(&file, &[]);
        let all = events(&lines);
        let event = all[all.len() / 2];
        let (pid, cpu) = (event["pid"].to_string(), event["cpu"].to_string());
        let same = |key: &str| all.iter().copied().filter(|e| e[key] == event[key]).collect::<Vec<_>>();
        assert!(events(&json(&file, &["--pid", &pid])) == same("pid"), "{}: pid {pid}", file.display());
        assert!(events(&json(&file, &["--cpu", &cpu])) == same("cpu"), "{}: cpu {cpu}", file.display());
        if let Some(comm) = event["comm"].as_str().filter(|c| !c.contains(['[', '*', '?', '<', '\\'])) {
            assert!(events(&json(&file, &["--comm", comm])) == same("comm"), "{}: comm {comm}", file.display());
        }
        let last = json(&file, &["--pid", &pid, "--last", "3"]);
        let wanted = same("pid");
        assert!(events(&last) == wanted[wanted.len().saturating_sub(3)..], "{}", file.display());
    }
}

#[test]
fn the_kernels_filter_language() {
    let file = &recordings()[1];
    let lines = json(file, &[]);
    let switches: Vec<&Value> = events(&lines).into_iter().filter(|e| e["event"] == "sched:sched_switch").collect();
    let wanted: Vec<&Value> =
        switches.iter().copied().filter(|e| e["fields"]["prev_prio"].as_i64() >= Some(120)).collect();
    assert!(!wanted.is_empty() && wanted.len() <= switches.len());
    let found = json(file, &["--filter", "sched:sched_switch: prev_prio >= 120"]);
    assert!(events(&found) == wanted);
    assert!(events(&json(file, &["--filter", "sched:sched_switch"])) == switches);
    // Signed where the field is: trace-cmd's own language compares unsigned.
    assert!(events(&json(file, &["--filter", "sched_switch: prev_prio > -1"])).len() == switches.len());
    run(file, &["--filter", "sched:sched_swich: prev_prio > 1"]).exits(2).complains_with("`sched_switch`");
    let caret = run(file, &["--filter", "sched:sched_switch: prev_pro > 1"]);
    caret.exits(2).complains_with("^").complains_with("prev_prio").prints("");
}

#[test]
fn a_window_of_text_is_a_part_of_the_text() {
    let file = &recordings()[1];
    let whole = report(file, &["-t"]);
    let part = report(file, &["-t", "--first", "50"]);
    assert_eq!(part, whole.lines().take(51).map(|l| format!("{l}\n")).collect::<String>());
}
