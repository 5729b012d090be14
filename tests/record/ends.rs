//! Ends that nobody planned: any signal, resource limits.

use crate::common::environment::TestEnvironment;
use crate::common::knobs::Knobs;
use crate::host::kernel;
use crate::state::{PATIENCE, start};
use nix::libc;
use nix::sys::signal::{Signal, kill};
use std::time::Instant;

/// Sends the signal `number`, which may be a real-time one.
fn send(env: &TestEnvironment, pid: nix::unistd::Pid, number: i32) {
    env.run("kill", &[&format!("-{number}"), &pid.to_string()]).exits(0);
}

#[test]
fn every_signal_that_ends_a_process_ends_the_recording() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let before = Knobs::read(tracefs.root());
    // Those about the recorder alone do not reach the command.
    let own = [libc::SIGALRM, libc::SIGPROF, libc::SIGXCPU, libc::SIGXFSZ];
    for number in [libc::SIGUSR1, libc::SIGUSR2, libc::SIGPWR, libc::SIGRTMIN() + 2].into_iter().chain(own) {
        let env = TestEnvironment::new();
        let (mut child, command) = start(&env, &["-e", "sched:sched_process_exit"]);
        send(&env, child.pid(), number);
        if own.contains(&number) {
            let since = Instant::now();
            while !before.differences(&Knobs::read(tracefs.root())).is_empty() {
                assert!(since.elapsed() < PATIENCE, "{number}: {:?}", before.differences(&Knobs::read(tracefs.root())));
            }
            assert!(kill(command, None).is_ok(), "the command goes on after signal {number}");
            kill(child.pid(), Signal::SIGTERM).unwrap();
        }
        let expected = if own.contains(&number) { libc::SIGTERM } else { number };
        assert_eq!(child.wait().code(), Some(128 + expected), "the command's end after signal {number}");
        before.assert_unchanged(&Knobs::read(tracefs.root()));
        env.rtrace(&["report"]).exits(0).complains("").prints_with("sched_process_exit");
    }
}

#[test]
fn the_command_inherits_no_blocked_and_no_ignored_signal() {
    let Some(_kernel) = kernel() else { return };
    let env = TestEnvironment::new();
    let masks = "sed -n 's/^Sig\\(Blk\\|Ign\\):.*\\t//p' /proc/self/status";
    let args = ["-q", "-e", "irq", "--", "sh", "-c", masks];
    // Whoever started the tests may ignore some, and that is inherited.
    let all = [&["--default-signal", env!("CARGO_BIN_EXE_rtrace"), "record"][..], &args].concat();
    let none = "0000000000000000\n0000000000000000\n";
    env.run("env", &all).exits(0).prints(none);
}
