//! Reports are the same bytes on any number of threads, in every layout.

use crate::common::environment::TestEnvironment;
use crate::common::synthetic::{Synthetic, fork_storm};
use rtrace::internal::trace_dat::Codec;
use rtrace::internal::trace_dat::write::Version;

/// Options of `report`, and the fewest lines that it prints with them.
const LAYOUTS: [(&[&str], usize); 14] = [
    (&[], 20_000),
    (&["-l"], 20_000),
    (&["-t"], 20_000),
    (&["-R"], 20_000),
    (&["--format", "kernel"], 20_000),
    (&["--format", "json"], 20_000),
    (&["--format", "csv"], 20_000),
    (&["--format", "raw"], 20_000),
    (&["--profile"], 20),
    (&["-w"], 20_000),
    (&["--summary"], 5),
    (&["--count"], 4),
    (&["--comm", "sh"], 10),
    (&["-F", "sched_switch: prev_comm == \"sh\""], 5),
];

#[test]
fn every_layout_is_the_same_on_any_number_of_threads() {
    let env = TestEnvironment::new();
    for (seed, (cpus, version)) in [(2, Version::V7(Codec::Zstd)), (24, Version::V6)].into_iter().enumerate() {
        fork_storm(cpus, 30_000, 400, 7 + seed as u64).write(&env.path().join("trace.dat"), version);
        for (layout, lines) in LAYOUTS {
            let report = |threads: &str| {
                let report = env.rtrace(&[&["report", "--threads", threads], layout].concat());
                report.exits(0);
                report.stdout()
            };
            let expected = report("1");
            let found = expected.lines().count();
            assert!(found >= lines, "{layout:?}: {found} lines");
            for threads in ["2", "3", "8"] {
                assert!(report(threads) == expected, "{cpus} CPUs, {layout:?}: {threads} threads");
            }
        }
    }
}

/// Between two events that pass the filter there are whole chunks without one.
#[test]
fn rare_events_are_the_same_on_any_number_of_threads() {
    const FAR_APART: u64 = 1_700;
    let env = TestEnvironment::new();
    let mut storm = Synthetic::new(2, "1 init\n");
    for number in 0..40_000u64 {
        let (cpu, time) = ((number % 2) as usize, 1_000_000 + number * 1_000);
        if number % FAR_APART < 3 {
            let pid = (number as i32).to_le_bytes();
            storm.event(cpu, time, "sched_wakeup", 1, &[("comm", b"rare"), ("pid", &pid)]);
        } else {
            storm.event(cpu, time, "sched_process_wait", 1, &[]);
        }
    }
    for chunk in [4096, 3 * 4096] {
        storm.write_in_chunks(&env.path().join("trace.dat"), Version::V7(Codec::Zstd), chunk);
        for layout in [&["--format", "json"][..], &["-t"], &["--count"]] {
            let report = |threads: &str| {
                let words = [&["report", "--threads", threads, "--filter", "sched_wakeup"], layout].concat();
                env.rtrace(&words).exits(0).stdout()
            };
            let expected = report("1");
            if layout[0] != "--count" {
                let pids: Vec<u64> = (0..40_000).filter(|number| number % FAR_APART < 3).collect();
                let lines: Vec<&str> = expected.lines().filter(|line| line.contains("rare")).collect();
                assert_eq!(lines.len(), pids.len(), "{layout:?}");
                let is_of = |(line, pid): (&&str, &u64)| line.contains(&pid.to_string());
                assert!(lines.iter().zip(&pids).all(is_of), "{layout:?}: {expected}");
            }
            for threads in ["2", "3", "8"] {
                assert_eq!(report(threads), expected, "{layout:?}, chunks of {chunk} bytes: {threads} threads");
            }
        }
    }
}
