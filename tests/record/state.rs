//! Tracefs is as it was after any end of a recording.

use crate::common::environment::TestEnvironment;
use crate::common::knobs::Knobs;
use crate::host::kernel;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A recorder, killed if the test fails before it has ended.
pub(crate) struct Running(Child);

impl Running {
    pub(crate) fn start(mut command: Command) -> Self {
        Running(command.stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap())
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_raw(self.0.id() as i32)
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        !matches!(self.0.try_wait(), Ok(None))
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        self.0.wait().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // SIGTERM takes the command along and puts everything back.
        if let Ok(None) = self.0.try_wait() {
            let _ = kill(self.pid(), Signal::SIGTERM);
            let _ = self.0.wait();
        }
    }
}

/// The longest that anything is waited for, however busy the machine is.
pub(crate) const PATIENCE: Duration = Duration::from_secs(600);

/// Starts a recording of a command that never ends, and returns when that runs and a process has ended in it; with the
/// command's pid.
pub(crate) fn start(env: &TestEnvironment, args: &[&str]) -> (Running, Pid) {
    start_doing(env, args, "/bin/true")
}

/// The same; `what` is done by the command again and again.
pub(crate) fn start_doing(env: &TestEnvironment, args: &[&str], what: &str) -> (Running, Pid) {
    let mark = env.path().join("runs");
    let _ = std::fs::remove_file(&mark);
    let wait = format!("/bin/true; echo $$ > runs; while :; do {what}; done");
    // The starter of the tests may have ignored a signal that is sent to it, and that would be inherited.
    let mut command = env.command("env");
    command.args(["--default-signal=HUP,INT,QUIT,TERM,PIPE", env!("CARGO_BIN_EXE_rtrace")]);
    command.args(["record", "--journal-dir", "journal"]).args(args).args(["--", "sh", "-c", &wait]);
    let mut child = Running::start(command);
    let since = Instant::now();
    let pid = loop {
        if let Ok(pid) = std::fs::read_to_string(&mark).unwrap_or_default().trim().parse() {
            break Pid::from_raw(pid);
        }
        if since.elapsed() > PATIENCE {
            panic!("the recording does not start: {:?}", child.0.try_wait());
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    (child, pid)
}

const ALL_KINDS: &[&str] = &[
    "-b",
    "512",
    "-C",
    "mono",
    "-e",
    "sched:sched_switch",
    "-f",
    "prev_pid != 7",
    "-R",
    "stacktrace:3",
    "-e",
    "irq",
    "-B",
    "rtrace-test-other",
    "-e",
    "timer",
    "-f",
    "common_pid != 0",
];

#[test]
fn knobs_are_the_same_after_every_kind_of_end() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let before = Knobs::read(tracefs.root());
    for args in [ALL_KINDS, &["--top", "-b", "600", "-C", "mono", "-e", "sched", "-F", "-c"]] {
        let unchanged = || before.assert_unchanged(&Knobs::read(tracefs.root()));
        let env = TestEnvironment::new();
        let run = |command: &[&str], status| {
            let all = [&["record", "--journal-dir", "journal"], args, &["--"], command].concat();
            env.rtrace(&all).exits(status);
        };
        run(&["true"], 0);
        unchanged();
        run(&["sh", "-c", "exit 9"], 9);
        unchanged();
        let bad = [args, &["-e", "sched:sched_switch", "-f", "nonsense"]].concat();
        env.rtrace(&[&["record", "--journal-dir", "journal"][..], &bad[..], &["--", "true"]].concat()).exits(2);
        unchanged();
        for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGPIPE] {
            let (mut child, _) = start(&env, args);
            kill(child.pid(), signal).unwrap();
            // SIGPIPE is ours alone: the recording ends, the command goes on and must be ended by itself.
            if signal == Signal::SIGPIPE {
                let since = Instant::now();
                while !before.differences(&Knobs::read(tracefs.root())).is_empty() {
                    assert!(since.elapsed() < PATIENCE, "{:?}", before.differences(&Knobs::read(tracefs.root())));
                }
                kill(child.pid(), Signal::SIGTERM).unwrap();
            }
            let expected = if signal == Signal::SIGPIPE { Signal::SIGTERM } else { signal };
            assert_eq!(child.wait().code(), Some(128 + expected as i32), "{signal}: the command's end");
            unchanged();
            env.rtrace(&["report"]).exits(0).complains("");
        }
    }
}

#[test]
fn no_empty_list_of_tasks_is_left_in_force() {
    let Some((_tracefs, _guard)) = kernel() else { return };
    let env = TestEnvironment::new();
    let events = |args: &[&str]| {
        let all = [&["record", "--top", "--summary-json", "s.json", "-e", "sched"], args, &["--", "true"]].concat();
        env.rtrace(&all).exits(0);
        crate::host::summary(&env)["totals"]["events"].as_u64().unwrap()
    };
    // The command has ended, and with it the list of tasks is empty, which nothing shows.
    assert!(events(&["-F", "-c"]) > 0);
    assert!(events(&[]) > 0, "nothing is recorded any more");
}

/// True if a CPU's spool of the main buffer holds a chunk.
fn has_spooled(dir: &std::path::Path) -> bool {
    let files = std::fs::read_dir(dir).unwrap().flatten();
    let mut spools = files.filter(|f| f.file_name().to_string_lossy().starts_with(".trace.dat.cpu"));
    spools.any(|f| f.metadata().is_ok_and(|m| m.len() > 512))
}

#[test]
fn what_a_kill_leaves_behind_is_put_back_and_recovered() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let before = Knobs::read(tracefs.root());
    for args in [ALL_KINDS, &["--top", "-b", "600", "-C", "mono", "-e", "sched", "-F", "-c"]] {
        let env = TestEnvironment::new();
        let (mut child, command) = start(&env, args);
        let since = Instant::now();
        while !has_spooled(env.path()) {
            assert!(since.elapsed() < PATIENCE, "nothing is written while recording");
            std::thread::sleep(Duration::from_millis(10));
        }
        kill(child.pid(), Signal::SIGKILL).unwrap();
        child.wait();
        kill(command, Signal::SIGKILL).unwrap();
        assert!(!before.differences(&Knobs::read(tracefs.root())).is_empty());
        env.rtrace(&["report"]).exits(4).complains_with("its recorder is gone");
        env.rtrace(&["reset", "--stale", "--journal-dir", "journal"]).exits(0);
        before.assert_unchanged(&Knobs::read(tracefs.root()));
        // What the rings held was dropped.
        let lacks = "its ring buffer and its recorder still held";
        env.rtrace(&["recover"]).exits(4).complains_with(lacks);
        env.rtrace(&["report"]).exits(4).complains_with(lacks).prints_with("sched_switch:");
    }
}

#[test]
fn recordings_do_not_disturb_each_other() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let before = Knobs::read(tracefs.root());
    let (one, two) = (TestEnvironment::new(), TestEnvironment::new());
    let (mut first, _) = start(&one, &["-e", "sched", "-C", "mono"]);
    let (mut second, _) = start(&two, &["-e", "irq", "-e", "syscalls:sys_enter_exit_group"]);
    // A third one that comes and goes.
    let three = TestEnvironment::new();
    three.rtrace(&["record", "--journal-dir", "journal", "-e", "timer", "--", "sleep", "0.1"]).exits(0);
    kill(first.pid(), Signal::SIGTERM).unwrap();
    assert_eq!(first.wait().code(), Some(143));
    kill(second.pid(), Signal::SIGTERM).unwrap();
    assert_eq!(second.wait().code(), Some(143));
    before.assert_unchanged(&Knobs::read(tracefs.root()));
    let systems = |env: &TestEnvironment, wanted: &str, other: &str| {
        let text = env.rtrace(&["report"]).exits(0).complains("").stdout();
        assert!(text.contains(wanted) && !text.contains(other), "{wanted} and no {other}");
    };
    systems(&one, "sched_switch:", "sys_enter_exit_group");
    systems(&two, "sys_enter_exit_group", "sched_switch:");
}
