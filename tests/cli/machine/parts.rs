//! Parts of a recording are what a scan of the whole would show of them.

use super::files::{events, json, recordings, report, run};
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

#[test]
fn any_number_of_threads_prints_the_same() {
    for file in recordings() {
        let lines = json(&file, &[]);
        let all = events(&lines);
        let since = option(&lines, time(all[all.len() / 3]));
        let until = option(&lines, time(all[all.len() * 2 / 3]));
        for format in ["text", "json", "csv", "raw"] {
            for window in [&[][..], &["--since", &since, "--until", &until]] {
                let of = |threads: &str| report(&file, &[&["--format", format, "--threads", threads], window].concat());
                assert!(of("1") == of("3"), "{}: {format} {window:?}", file.display());
            }
        }
        let count = |threads: &str| report(&file, &["--count", "--threads", threads]);
        assert_eq!(count("1"), count("3"), "{}", file.display());
    }
}

#[test]
fn files_are_aligned() {
    let files = recordings();
    let (one, two) = (&files[0], &files[1]);
    for by in ["start", "end", "sched_switch", "sched/sched_switch"] {
        let both = json(one, &["-i", two.to_str().unwrap(), "--align", by]);
        let times = |file: &std::path::Path| {
            let label = file.file_name().unwrap().to_str().unwrap();
            let own = events(&both).into_iter().filter(|e| e["source"] == label);
            let at =
                |event: &&Value| by.starts_with("sched").then(|| event["event"] == "sched:sched_switch") != Some(false);
            own.filter(at).map(time).collect::<Vec<_>>()
        };
        let (a, b) = (times(one), times(two));
        let same = if by == "end" { (a.last(), b.last()) } else { (a.first(), b.first()) };
        assert!(same.0.is_some() && same.0 == same.1, "{by}: {same:?}");
        let alone: Vec<u64> = events(&json(one, &[])).into_iter().map(time).collect();
        assert!(a.iter().all(|t| alone.contains(t)), "{by}: the first file keeps its times");
    }
    let wrong = run(one, &["-i", two.to_str().unwrap(), "--align", "no_such_event"]);
    wrong.exits(2).complains_with("has no event no_such_event");
}

#[test]
fn processes_are_named_by_recordings_that_know_them() {
    run(&recordings()[0], &["--tgid", "1"]).exits(1).complains_with("does not say which process a task belongs to");
}
