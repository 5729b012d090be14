//! Every example in the help of the verbs that read files is done on a recording. Those of the verbs that trace are done
//! in guests (`tests/kernel/examples.rs`).

use crate::common::environment::TestEnvironment;
use crate::common::help_examples::commands;
use std::path::Path;

/// Each verb and how many examples it has at least.
const VERBS: [(&str, usize); 6] =
    [("report", 13), ("convert", 3), ("dump", 3), ("split", 4), ("options", 2), ("recover", 2)];

#[test]
fn of_verbs_that_read_files() {
    let recording = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/traces/i386/events-v6.dat");
    let mut wrong = String::new();
    for (verb, least) in VERBS {
        let env = TestEnvironment::new();
        let page = env.rtrace(&[verb, "--help"]).exits(0).stdout();
        let mut examples = commands(&page);
        // The example that restores trace-cmd's files reads the running kernel.
        examples.retain(|example| !example.contains("restore"));
        // Its markers have no fields; `files.rs` has some that do.
        examples.retain(|example| !example.contains("--marker-events"));
        // No system calls are in it; `record/syscalls.rs` has some.
        examples.retain(|example| !example.contains("--syscalls"));
        assert!(examples.len() >= least, "{verb}: {examples:?}");
        for example in examples {
            let env = TestEnvironment::new();
            for name in ["trace.dat", "run.dat", "old.dat", "host.dat", "guest.dat"] {
                std::fs::copy(&recording, env.path().join(name)).expect("a copy");
            }
            // Times that this recording has, a `jq` that every machine has, and another machine's standard input.
            let command = example
                .replace("167.716832", "14.325023")
                .replace("167.716", "14.3")
                .replace("167.720", "14.4")
                .replace("rtrace ", concat!(env!("CARGO_BIN_EXE_rtrace"), " "));
            let script = format!("jq() {{ cat; }}\nssh() {{ cat; }}\n{command}");
            let outcome = env.run("sh", &["-c", &script]);
            let (printed, seen) = (outcome.stdout(), outcome.stderr());
            // There are no memory maps in it.
            let well = seen.is_empty()
                || seen.contains("no event matches")
                || seen.contains("were not recorded")
                || example.contains("--symbols user") && seen.contains("--proc-map")
                || example.contains("-o -") && seen.contains("; left out: ");
            // Nor call stacks, and it is longer than one part.
            let well = well || example.contains("split") && seen.contains("one part was asked for");
            let no_stacks =
                example.contains(".folded") && outcome.status() == Some(1) && seen.contains("no call stacks");
            if no_stacks {
                continue;
            }
            if outcome.status() != Some(0) || !well || printed.is_empty() && verb != "convert" {
                wrong.push_str(&format!("{example}: {:?}: {seen}\n", outcome.status()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
