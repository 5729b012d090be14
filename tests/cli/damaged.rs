//! A damaged place of a recording is a loss to all that measure time: no interval spans it.

use crate::common::environment::TestEnvironment;
use crate::common::synthetic::Synthetic;
use rtrace::internal::trace_dat::write::Version;
use rtrace::internal::trace_dat::{Codec, Trace};
use std::path::Path;

const MS: u64 = 1_000_000;
const PERIOD: u64 = 20 * MS;
/// From wakeup to CPU, each time: most of the period, so that damage begins in one such wait and ends in another.
const WAIT: u64 = 19 * MS;
const LONGEST: &str = "max(wait()) < 20ms";

/// Task 100 is woken, waits, runs for 0.5 ms and sleeps for 0.5 ms, on CPU 0, with other events between; CPU 1 has its own.
fn waits(path: &Path) {
    let mut made = Synthetic::new(2, "100 late\n");
    let pid = |pid: i32| pid.to_le_bytes();
    for period in 0..400 {
        let begin = MS + period * PERIOD;
        made.event(0, begin, "sched_wakeup", 0, &[("comm", b"late"), ("pid", &pid(100))]);
        for other in 1..40 {
            let at = begin + other * WAIT / 40;
            made.event(0, at, "sched_process_wait", 0, &[]);
            made.event(1, at, "sched_process_wait", 7, &[]);
        }
        let switch = |from: i32, to: i32| [("prev_pid", pid(from)), ("next_pid", pid(to))];
        for (at, of, mut fields) in [(WAIT, 0, switch(0, 100)), (WAIT + MS / 2, 100, switch(100, 0))] {
            let state = i64::from(of == 100).to_le_bytes();
            let fields: Vec<(&str, &[u8])> = fields
                .iter_mut()
                .map(|(name, value)| (*name, &value[..]))
                .chain([("prev_state", &state[..])])
                .collect();
            made.event(0, begin + at, "sched_switch", of, &fields);
        }
    }
    made.write_in_chunks(path, Version::V7(Codec::Zstd), 8 << 10);
}

/// Flips a bit within the chunk of CPU 0 that has this number.
fn damage(path: &Path, number: usize) {
    let trace = Trace::open(std::fs::File::open(path).expect("the recording")).expect("the recording");
    let chunks = trace.chunks(&trace.buffers[0], 0, &mut |damage| panic!("{damage}"));
    assert!(chunks.len() > number, "{} chunks", chunks.len());
    let mut bytes = std::fs::read(path).expect("the recording");
    bytes[chunks[number].offset as usize + 8 + chunks[number].stored as usize / 2] ^= 0x10;
    std::fs::write(path, bytes).expect("the recording");
}

/// The largest number under this key, anywhere.
fn largest(of: &serde_json::Value, key: &str) -> Option<u64> {
    match of {
        serde_json::Value::Object(map) => {
            map.iter().filter_map(|(name, of)| if name == key { of.as_u64() } else { largest(of, key) }).max()
        }
        serde_json::Value::Array(all) => all.iter().filter_map(|of| largest(of, key)).max(),
        _ => None,
    }
}

#[test]
fn no_interval_spans_a_damaged_place() {
    let env = TestEnvironment::new();
    let path = env.path().join("trace.dat");
    let latency =
        ["latency", "-i", "trace.dat", "sched:sched_wakeup", "sched:sched_switch", "--by", "pid=next_pid", "--json"];
    let longest = |args: &[&str], key: &str, status: i32| {
        let outcome = env.rtrace(args);
        outcome.exits(status);
        let said: serde_json::Value = serde_json::from_str(&outcome.stdout()).expect("JSON");
        largest(&said, key).unwrap_or_else(|| panic!("{said}"))
    };
    for number in 1..4 {
        waits(&path);
        assert_eq!(longest(&["analyze", "sched", "--json", "--top", "0"], "max", 0), WAIT);
        damage(&path, number);
        for what in ["sched", "all"] {
            // A longest time that switches on two CPUs make is unknown there.
            let most = longest(&["analyze", what, "--json", "--top", "0"], "max", 4);
            assert!(most <= WAIT, "analyze {what}, chunk {number}: {most}");
        }
        // Logarithmic cells, whose upper ends are powers of two: 19,000 us are below 2^15.
        assert_eq!(longest(&latency, "high", 4), 1 << 15, "latency, chunk {number}");
        env.rtrace(&latency)
            .complains_with("an unknown number of events were lost while trace.dat was recorded, or by damage");
        let why = env.rtrace(&["why", "100", "--worst", "wakeup"]);
        why.exits(4).prints_with("19000.000 us");
        // Nor is it sure that there was none: what was in the place is not known.
        env.rtrace(&["check", "-a", LONGEST]).exits(4).prints_with("indeterminate");
        env.rtrace(&["report", "--format", "json"]).exits(4).prints_with("\"type\":\"lost\"");
        for layout in [
            &["analyze", "all", "--json", "--top", "0"][..],
            &latency,
            &["report"],
            &["report", "--format", "kernel"],
            &["report", "--summary"],
            &["check", "-a", LONGEST],
        ] {
            let on = |threads: &str| {
                let outcome = env.rtrace(&[layout, &["--threads", threads]].concat());
                (outcome.status(), outcome.stdout(), outcome.stderr())
            };
            let expected = on("1");
            for threads in ["2", "8"] {
                assert_eq!(on(threads), expected, "{layout:?}, chunk {number}: {threads} threads");
            }
        }
    }
}

/// A copy lacks the damaged chunk, and says so as the file does; a part from elsewhere lacks nothing.
#[test]
fn copies_say_what_damage_they_left_out() {
    let env = TestEnvironment::new();
    let path = env.path().join("trace.dat");
    let trace = |name: &str| Trace::open(std::fs::File::open(env.path().join(name)).expect("a copy")).expect("a copy");
    // In the middle, and at the end.
    for at_the_end in [false, true] {
        waits(&path);
        let last = trace("trace.dat").chunks(&trace("trace.dat").buffers[0], 0, &mut |_| ()).len() - 1;
        damage(&path, if at_the_end { last } else { 2 });
        for (args, mark) in [
            (&["convert", "trace.dat", "copy.dat", "--force"][..], 4),
            (&["convert", "trace.dat", "copy.dat", "--force", "--filter", "sched:*"], 4),
            (&["convert", "trace.dat", "copy.dat", "--force", "--file-version", "6"], 0),
            (&["split", "-o", "copy.dat", "--force"], 4),
            (&["split", "-o", "copy.dat", "--force", "--filter", "sched:*"], 4),
        ] {
            let made = env.rtrace(args);
            made.exits(4);
            assert_eq!(
                made.stdout().contains("left out: what is damaged in 1 place"),
                args[0] == "convert",
                "{args:?}"
            );
            let read = env.rtrace(&["report", "copy.dat"]);
            read.exits(mark);
            assert!(read.stdout().contains("EVENTS DROPPED]") || at_the_end && mark == 4, "{args:?}");
            assert_ne!(env.rtrace(&["check", "copy.dat", "-a", "lost == 0"]).status(), Some(0), "{args:?}");
            assert_ne!(env.rtrace(&["check", "copy.dat", "-a", LONGEST]).status(), Some(0), "{args:?}");
        }
        env.rtrace(&["split", "-o", "part.dat", "--force", "0", "0.020"]).exits(4);
        env.rtrace(&["report", "part.dat"]).exits(0).complains("");
    }
}

/// A file without its end has lost its index, and that is one line; what to record is no answer to what is lost.
#[test]
fn a_file_that_was_cut_off_is_said_to_be() {
    let env = TestEnvironment::new();
    let whole = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/traces/vm-6.1/trig.dat");
    let whole = std::fs::read(whole).expect("the recording");
    std::fs::write(env.path().join("cut.dat"), &whole[..14_000]).expect("a part of it");
    std::fs::write(env.path().join("empty.dat"), "").expect("a file");
    for (line, hints) in [(&["report", "cut.dat"][..], 0), (&["analyze", "sched", "cut.dat"], 1)] {
        let printed = env.rtrace(line);
        printed
            .exits(4)
            .complains_with("cut.dat: cut off after 14,000 bytes: the index at 0x8fa6 and the events beyond are gone");
        let text = printed.stderr();
        assert!(!text.contains("no option points") && !text.contains("rtrace record"), "{text}");
        assert_eq!(text.matches("may have been in the part that is damaged").count(), hints, "{text}");
    }
    env.rtrace(&["report", "empty.dat"]).exits(1).complains_with("it is empty");
}

#[test]
fn each_format_of_a_selection_tells_the_losses_before_events_that_are_not_selected() {
    let env = TestEnvironment::new();
    let mut made = Synthetic::new(1, "7 worker\n");
    for at in 1..=400 {
        let name = if at % 50 == 0 { "sched_switch" } else { "sched_process_wait" };
        made.event(0, at * MS, name, 7, &[]);
    }
    made.lose(0, 60, 5);
    made.lose(0, 70, 6);
    made.write(&env.path().join("trace.dat"), Version::V7(Codec::Zstd));
    for selection in [["--filter", "sched:sched_switch"], ["-F", "sched_switch"]] {
        for (format, told) in
            [(&["text"][..], "[11 EVENTS DROPPED]"), (&["csv", "--fields", "lost"], "\n11\n"), (&["json"], ":11")]
        {
            let printed = env.rtrace(&[&["report", "--format"], format, &selection].concat()).exits(0).stdout();
            assert_eq!(printed.matches(told).count(), 1, "{format:?} {selection:?}: {printed}");
        }
    }
}

/// `uptime` counts 1/100 s: nothing that is judged takes it for nanoseconds; report's column is trace-cmd's.
#[test]
fn a_span_of_uptime_is_no_time() {
    let env = TestEnvironment::new();
    for (clock, unit, status) in
        [("uptime", "ticks", 4), ("counter", "ticks", 4), ("x86-tsc", "ticks", 4), ("mono", "ns", 0), ("tai", "ns", 0)]
    {
        let mut made = Synthetic::new(1, "7 worker\n").by_clock(clock);
        (0..50).for_each(|at| made.event(0, 400_000 + at, "sched_switch", 7, &[]));
        made.write(&env.path().join("trace.dat"), Version::V7(Codec::Zstd));
        env.rtrace(&["check", "-a", "duration < 1ms"]).exits(status);
        env.rtrace(&["analyze", "sched", "--json"]).prints_with(&format!("\"unit\": \"{unit}\""));
        env.rtrace(&["report", "--format", "json"]).prints_with(&format!("\"unit\":\"{unit}\""));
        let is_seconds = env.rtrace(&["report"]).stdout().contains(" 0.000400:");
        assert_eq!(is_seconds, unit == "ns" || clock == "uptime", "{clock}");
    }
}

/// `+TIME` counts from the recording's first event, whichever CPUs are shown, also for `split`.
#[test]
fn a_time_from_the_begin_is_from_that_of_the_recording() {
    let env = TestEnvironment::new();
    let mut made = Synthetic::new(2, "7 worker\n");
    for at in 1..=100 {
        made.event(0, at * MS, "sched_switch", 7, &[]);
        if at >= 50 {
            made.event(1, at * MS + 7, "sched_process_wait", 7, &[]);
        }
    }
    made.write(&env.path().join("trace.dat"), Version::V7(Codec::Zstd));
    let count = |args: &[&str]| {
        let out = env.rtrace(&[&["report", "--format", "csv", "--fields", "ts"], args].concat()).exits(0).stdout();
        out.lines().count() - 1
    };
    // From 61 ms to 71 ms.
    let window = ["--since", "+60ms", "--until", "+70ms"];
    assert_eq!(count(&[&window[..], &["--cpu", "1"]].concat()), 10);
    assert_eq!(count(&window), 21);
    for begin in ["+0.0500", "+50ms"] {
        env.rtrace(&["split", "trace.dat", "--force", "-o", "part.dat", begin]).exits(0);
        let whole = count(&[]);
        assert_eq!((whole, count(&["part.dat"])), (151, 50 + 50), "{begin}");
    }
    env.rtrace(&["split", "trace.dat", "-o", "other.dat", "+five"]).exits(2).complains_with("`+five` is no time");
}

/// A recording that was cut off is not unfinished: there is nothing to recover, and all is not well.
#[test]
fn a_damaged_recording_is_not_called_complete() {
    let env = TestEnvironment::new();
    let mut made = Synthetic::new(1, "7 worker\n");
    (1..400).for_each(|at| made.event(0, at * MS, "sched_switch", 7, &[]));
    let path = env.path().join("trace.dat");
    made.write(&path, Version::V7(Codec::Zstd));
    env.rtrace(&["recover"]).exits(0).prints_with("a complete recording");
    let whole = std::fs::read(&path).expect("a file");
    std::fs::write(&path, &whole[..whole.len() - 100]).expect("a file");
    env.rtrace(&["recover"]).exits(4).complains_with("not unfinished but damaged").complains_with("--validate");
    // Within the events.
    std::fs::write(&path, &whole).expect("a file");
    damage(&path, 0);
    let out = env.rtrace(&["recover"]);
    out.exits(4).prints_with("a finished recording").complains_with("compressed bytes are damaged");
}
