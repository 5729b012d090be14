//! Reports are the same bytes on any number of threads, in every layout.

use crate::common::environment::TestEnvironment;
use crate::common::synthetic::fork_storm;
use rtrace::trace_dat::Codec;
use rtrace::trace_dat::write::Version;

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
