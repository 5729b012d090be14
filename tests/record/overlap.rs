//! Recordings that overlap in one buffer: whichever ends first, and however, the last leaves what the first had found.

use crate::common::environment::TestEnvironment;
use crate::common::knobs::Knobs;
use crate::host::kernel;
use crate::state::{Running, start};
use nix::sys::signal::{Signal, kill};
use std::fs;
use std::path::PathBuf;

/// An instance of the test's own.
struct OwnInstance(PathBuf);

impl OwnInstance {
    fn make(root: &std::path::Path) -> Self {
        let dir = root.join(format!("instances/rtrace-test-overlap-{}", std::process::id()));
        fs::create_dir(&dir).unwrap();
        OwnInstance(dir)
    }

    fn name(&self) -> &str {
        self.0.file_name().unwrap().to_str().unwrap()
    }

    fn says(&self, file: &str) -> String {
        fs::read_to_string(self.0.join(file)).unwrap().trim().to_owned()
    }
}

impl Drop for OwnInstance {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

fn end(env: &TestEnvironment, (mut recorder, command): (Running, nix::unistd::Pid), signal: Signal) {
    kill(recorder.pid(), signal).unwrap();
    recorder.wait();
    if signal == Signal::SIGKILL {
        let _ = kill(command, Signal::SIGKILL);
        env.rtrace(&["reset", "--stale", "--journal-dir", "journal"]).exits(0);
    }
}

const FILTER: &str = "events/sched/sched_switch/filter";
const ENABLE: &str = "events/sched/sched_switch/enable";

#[test]
fn the_last_one_leaves_what_the_first_had_found() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let instance = OwnInstance::make(tracefs.root());
    // Somebody wants this one.
    fs::write(instance.0.join("events/sched/sched_waking/filter"), "pid == 4").unwrap();
    let before = Knobs::read(&instance.0);
    for kills in
        [[Signal::SIGTERM, Signal::SIGTERM], [Signal::SIGKILL, Signal::SIGTERM], [Signal::SIGTERM, Signal::SIGKILL]]
    {
        for first_ends_first in [true, false] {
            let env = TestEnvironment::new();
            let with = |file, filter, more: &'static [&str]| {
                let args = ["-o", file, "-B", instance.name(), "-e", "sched:sched_switch", "-f", filter];
                start(&env, &[&args[..], more].concat())
            };
            let first = with("a.dat", "prev_pid == 1", &["-e", "irq", "-C", "mono"]);
            let second = with("b.dat", "prev_pid == 2", &["-P", "2", "-c", "-C", "mono"]);
            let (sooner, later) = if first_ends_first { (first, second) } else { (second, first) };
            end(&env, sooner, kills[0]);
            assert_eq!(instance.says(FILTER), if first_ends_first { "prev_pid == 2" } else { "prev_pid == 1" });
            assert_eq!((instance.says(ENABLE), instance.says("tracing_on")), ("1".into(), "1".into()));
            assert!(instance.says("trace_clock").contains("[mono]"));
            end(&env, later, kills[1]);
            before.assert_unchanged(&Knobs::read(&instance.0));
        }
    }
}

#[test]
fn who_records_where_another_does_is_told() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let instance = OwnInstance::make(tracefs.root());
    let env = TestEnvironment::new();
    let args = ["-o", "a.dat", "-B", instance.name(), "-e", "sched:sched_switch"];
    let first = start(&env, &args);
    let (pid, command) = (first.0.pid(), first.1);
    let second = [
        "record",
        "--journal-dir",
        "journal",
        "-o",
        "b.dat",
        "-B",
        instance.name(),
        "-e",
        "sched:sched_switch",
        "--",
        "true",
    ];
    let said = env.rtrace(&second).stderr();
    assert!(said.contains(&format!("(process {pid}) too: each event goes to one of the two")), "{said}");
    // The other goes on.
    assert_eq!((instance.says(ENABLE), instance.says("tracing_on")), ("1".into(), "1".into()));
    end(&env, first, Signal::SIGTERM);
    let _ = kill(command, Signal::SIGKILL);
    let said = env.rtrace(&second).stderr();
    assert!(!said.contains("too: each event"), "{said}");
}
