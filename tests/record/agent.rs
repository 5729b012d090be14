//! `rtrace agent` and `record -A`: two recordings at once, joined, and nothing left behind, whichever end goes away.

use crate::common::environment::TestEnvironment;
use crate::common::listening::Listening;
use crate::host::{kernel, kills};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::net::TcpListener;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// System calls that are recorded.
const PRODUCED: u64 = 5_000;

/// The recordings of [`start`].
const FILES: [&str; 2] = ["trace.dat", "trace-127.0.0.1.dat"];

/// Events of a file that are system calls of the load.
fn calls(env: &TestEnvironment, file: &str) -> u64 {
    let out = env.rtrace(&["report", file]);
    out.exits(0);
    out.stdout().lines().filter(|line| line.contains("sys_enter_kill")).count() as u64
}

/// Instances that a process made.
fn instances_of(pid: nix::unistd::Pid) -> Vec<String> {
    let all = std::fs::read_dir("/sys/kernel/tracing/instances").expect("tracefs is mounted");
    let names = all.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned());
    names.filter(|name| name.contains(&pid.to_string())).collect()
}

/// Starts a recording of switches here and at the agent at `place`, for `seconds`.
fn start(env: &TestEnvironment, place: &str, seconds: &str) -> Child {
    let mut command = env.command(env!("CARGO_BIN_EXE_rtrace"));
    let switches = ["-e", "sched:sched_switch"];
    command.arg("record").args(switches).args(["-A", place]).args(switches).args(["--", "sleep", seconds]);
    command.stderr(Stdio::piped()).spawn().expect("rtrace starts")
}

/// True if what both files begin with is written: they can be read, as unfinished recordings, and recovered.
fn begun(env: &TestEnvironment) -> bool {
    FILES.iter().all(|file| matches!(env.rtrace(&["report", "--count", file]).status(), Some(0 | 4)))
}

/// Waits until `done`, a minute at most.
#[track_caller]
fn until(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn host_and_guest_are_recorded_at_once() {
    let Some((_, _guard)) = kernel() else { return };
    let env = TestEnvironment::new();
    let mut agent = Listening::agent(&[]);
    let (place, load) = (format!("127.0.0.1:{}", agent.port), kills(PRODUCED as u32));
    let host = ["record", "-e", "syscalls:sys_enter_kill", "-f", "sig == 0", "-F"];
    let guest = ["-A", &place, "--name", "vm", "-e", "syscalls:sys_enter_kill", "-f", "sig == 0", "-b", "4M"];
    let out = env.rtrace(&[&host[..], &guest, &["--", "bash", "-c", &load]].concat());
    out.exits(0);
    assert!(out.stderr().contains("trace-vm.dat: guest vm: "), "{}", out.stderr());
    // The guest records all of this machine's tasks, the host those of the load.
    assert_eq!(calls(&env, "trace.dat"), PRODUCED);
    assert!(calls(&env, "trace-vm.dat") >= PRODUCED);
    for file in ["trace.dat", "trace-vm.dat"] {
        env.rtrace(&["dump", "--validate", file]).exits(0);
    }
    let merged = env.rtrace(&["report", "trace.dat", "trace-vm.dat"]);
    merged.exits(0);
    assert!(merged.stdout().matches("sys_enter_kill").count() as u64 >= 2 * PRODUCED);

    // It is free, and has put everything back, when the controller returns.
    assert_eq!(instances_of(agent.pid()), [""; 0]);
    for file in ["again.dat", "once-more.dat"] {
        env.rtrace(&["record", "-q", "-o", file, "-e", "sched", "-A", &place, "-e", "sched", "--", "true"]).exits(0);
    }
    let twice = ["-A", &place, "-e", "sched", "-A", &place, "-e", "irq", "--", "touch", "ran"];
    let out = env.rtrace(&[&["record", "-e", "sched"], &twice[..]].concat());
    out.exits(2);
    assert!(out.stderr().contains("trace-127.0.0.1.dat") && out.stderr().contains("--name"), "{}", out.stderr());

    // Its refusal is explained, on both sides, before the load runs.
    let out =
        env.rtrace(&["record", "-e", "sched", "-o", "n.dat", "-A", &place, "-e", "nosuch:event", "--", "touch", "ran"]);
    out.exits(125);
    assert!(out.stderr().contains("nosuch"), "{}", out.stderr());
    assert!(!env.path().join("ran").exists() && !env.path().join("n.dat").exists());
    agent.says("nosuch");
    let pid = agent.pid();
    assert_eq!(agent.end().0, Some(0));
    assert_eq!(instances_of(pid), [""; 0]);
}

/// `--at` after `-A` is the agent's own option: its machine's clock counts.
#[test]
fn an_agent_begins_at_a_moment() {
    const STEP_NS: i64 = 5_000_000_000;
    let Some((_, _guard)) = kernel() else { return };
    let env = TestEnvironment::new();
    let agent = Listening::agent(&[]);
    let place = format!("127.0.0.1:{}", agent.port);
    let each = ["-e", "sched:sched_switch", "--at", "/5s"];
    let record = [&["record", "-q", "--duration", "1s"], &each[..], &["-A", &place], &each].concat();
    env.rtrace(&record).exits(0);
    for file in FILES {
        let first = ["report", "--format", "csv", "--fields", "wall", "--first", "1", file];
        let csv = env.rtrace(&first).exits(0).stdout();
        let first = env.run("date", &["-d", csv.lines().nth(1).expect("an event"), "+%s%N"]).exits(0).stdout();
        let after = first.trim().parse::<i64>().expect("a number") % STEP_NS;
        assert!(after < 1_500_000_000, "{file} begins {after} ns after a multiple of 5 s");
    }
}

#[test]
fn a_killed_controller_leaves_nothing_at_the_agent() {
    let Some((_, _guard)) = kernel() else { return };
    let env = TestEnvironment::new();
    let agent = Listening::agent(&[]);
    let place = format!("127.0.0.1:{}", agent.port);
    let mut controller = start(&env, &place, "100");
    until("both record", || begun(&env) && !instances_of(agent.pid()).is_empty());
    // A second one is refused meanwhile.
    let out = env.rtrace(&["record", "-e", "sched", "-o", "second.dat", "-A", &place, "-e", "sched", "--", "true"]);
    out.exits(125);
    assert!(out.stderr().contains("another controller"), "{}", out.stderr());
    controller.kill().expect("it runs");
    controller.wait().expect("it ends");
    until("the agent ends its recording", || instances_of(agent.pid()).is_empty());
    // It serves the next one.
    until("another recording", || {
        let out =
            env.rtrace(&["record", "-q", "-e", "sched", "-o", "next.dat", "-A", &place, "-e", "sched", "--", "true"]);
        out.status() == Some(0)
    });
    for file in FILES {
        // 4: with the controller went events that it had taken out of the rings.
        let out = env.rtrace(&["recover", file]);
        assert!(matches!(out.status(), Some(0 | 4)), "{}", out.stderr());
        // The contents of the rings of a killed recorder, and of its agent's, are in no file.
        let out = env.rtrace(&["dump", "--validate", file]);
        assert!(matches!(out.status(), Some(0 | 4)), "{}", out.stderr());
    }
    let killed = nix::unistd::Pid::from_raw(controller.id().cast_signed());
    assert_eq!(instances_of(killed), [""; 0], "recover puts back whatever the file says");
    assert_eq!(agent.end().0, Some(0));
}

#[test]
fn ctrl_c_ends_both_recordings_as_it_ends_one() {
    let Some((_, _guard)) = kernel() else { return };
    // Without a command the signal is how a recording ends; a command that it ends has that status.
    for (signal, command, code) in
        [(Signal::SIGINT, false, 0), (Signal::SIGTERM, false, 0), (Signal::SIGTERM, true, 128 + Signal::SIGTERM as i32)]
    {
        let env = TestEnvironment::new();
        let agent = Listening::agent(&[]);
        let place = format!("127.0.0.1:{}", agent.port);
        let mut controller = env.command(env!("CARGO_BIN_EXE_rtrace"));
        controller.args(["record", "-e", "sched:sched_switch", "-A", &place, "-e", "sched:sched_switch"]);
        if command {
            controller.args(["--", "sleep", "100"]);
        }
        let controller = controller.stderr(Stdio::piped()).spawn().expect("rtrace starts");
        until("both record", || begun(&env) && !instances_of(agent.pid()).is_empty());
        let pid = Pid::from_raw(controller.id().cast_signed());
        // It may still be on its way to the loop that waits for signals.
        std::thread::sleep(Duration::from_millis(500));
        kill(pid, signal).expect("it runs");
        let out = controller.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(code), "{signal}: {said}");
        for file in FILES {
            env.rtrace(&["dump", "--validate", file]).exits(0);
            assert!(env.rtrace(&["recover", file]).stdout().contains("nothing to recover"), "{signal}: {file}");
        }
        assert_eq!(instances_of(pid), [""; 0]);
        let agents = agent.pid();
        assert_eq!(agent.end().0, Some(0));
        assert_eq!(instances_of(agents), [""; 0]);
    }
}

/// An agent that takes the connection and says nothing: the instance by which clocks are compared is there by then.
#[test]
fn a_signal_while_an_agent_is_silent_leaves_nothing_behind() {
    let Some((_, _guard)) = kernel() else { return };
    for signal in [Signal::SIGTERM, Signal::SIGHUP, Signal::SIGINT, Signal::SIGUSR1] {
        let env = TestEnvironment::new();
        let silent = TcpListener::bind("127.0.0.1:0").unwrap();
        let place = format!("127.0.0.1:{}", silent.local_addr().unwrap().port());
        let controller = start(&env, &place, "100");
        let pid = Pid::from_raw(controller.id().cast_signed());
        let (_held, _) = silent.accept().unwrap();
        until("the clock's instance is there", || !instances_of(pid).is_empty());
        kill(pid, signal).expect("it runs");
        let begun = Instant::now();
        let out = controller.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&out.stderr);
        assert_eq!(out.status.code(), Some(125), "{signal}: {said}");
        assert!(said.contains("interrupted"), "{signal}: {said}");
        assert!(begun.elapsed() < Duration::from_secs(60), "{signal}: it does not wait for the agent");
        assert_eq!(instances_of(pid), [""; 0], "{signal}");
        let journals = std::fs::read_dir("/run/rtrace").into_iter().flatten().flatten();
        let journals = journals.filter(|entry| entry.file_name().to_string_lossy().starts_with(&format!("{pid}-")));
        assert_eq!(journals.count(), 0, "{signal}");
        assert!(FILES.iter().all(|file| !env.path().join(file).exists()), "{signal}");
    }
}

#[test]
fn wrong_values_after_an_agent_are_named() {
    let env = TestEnvironment::new();
    for (line, wrong) in [
        (&["-A", "h", "--tsync-interval", "x"][..], "rtrace: --tsync-interval takes a number of milliseconds, not `x`"),
        (&["-A", "h", "--name", ""], "rtrace: --name needs a name"),
        (&["--proxy", "x"], "rtrace: --proxy takes CID or CID:PORT in numbers, not `x`"),
        (&["-A", ""], "rtrace: -A needs a host or an address"),
    ] {
        let out = env.rtrace(&[&["record", "-e", "sched"], line, &["-e", "sched", "--", "true"]].concat());
        out.exits(2).complains_with(wrong);
    }
}

#[test]
fn a_guest_that_goes_away_is_reported_and_the_host_goes_on() {
    let Some((_, _guard)) = kernel() else { return };
    let env = TestEnvironment::new();
    let agent = Listening::agent(&[]);
    let place = format!("127.0.0.1:{}", agent.port);
    let controller = start(&env, &place, "2");
    until("both record", || begun(&env) && !instances_of(agent.pid()).is_empty());
    let pid = agent.pid();
    agent.kill();
    let out = controller.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(4), "{said}");
    assert!(said.contains("recording goes on without it") && said.contains("INCOMPLETE"), "{said}");
    env.rtrace(&["report", "--count", "trace.dat"]).exits(0);
    // `reset --stale` removes the remains of a killed recorder.
    env.rtrace(&["reset", "--stale"]).exits(0);
    assert_eq!(instances_of(pid), [""; 0]);
}

/// A peer whose machine is gone says nothing: the kernel asks for it after half a minute, on all control connections.
#[test]
fn control_connections_ask_whether_the_other_end_is_there() {
    let Some((_, _guard)) = kernel() else { return };
    let agent = Listening::agent(&[]);
    let _quiet = std::net::TcpStream::connect(("127.0.0.1", agent.port)).expect("it listens");
    // `sl local_address rem_address st tx:rx tr:tm->when`: timer 2 asks, in hundredths of a second.
    let local = format!(":{:04X}", agent.port);
    let timer = || {
        let table = std::fs::read_to_string("/proc/net/tcp").expect("the kernel's table of connections");
        let mut rows = table.lines().map(|row| row.split_whitespace().collect::<Vec<_>>());
        let of_agent = rows.find(|row| row[1].ends_with(&local) && row[3] == "01")?;
        let (timer, when) = of_agent[5].split_once(':')?;
        (timer == "02").then(|| u64::from_str_radix(when, 16).expect("a number"))
    };
    until("the agent's connection is watched", || timer().is_some());
    let when = timer().expect("as before");
    assert!((1..=3000).contains(&when), "{when}");
}

#[test]
fn an_agent_serves_whom_it_may() {
    let Some((_, _guard)) = kernel() else { return };
    let env = TestEnvironment::new();
    let out = env.rtrace(&["agent", "-p", "0", "-N", "127.0.0.1", "--allow", "@3"]);
    out.exits(2);
    assert!(out.stderr().contains("over TCP or over vsock, not both"), "{}", out.stderr());
    // No machine has an address of this network, which is for documents.
    let mut agent = Listening::agent_for("192.0.2.1", &["--bind", "127.0.0.1"]);
    let place = format!("127.0.0.1:{}", agent.port);
    let out = env.rtrace(&["record", "-e", "sched", "-A", &place, "-e", "sched", "--", "true"]);
    out.exits(125);
    assert!(out.stderr().contains("not allowed"), "{}", out.stderr());
    agent.says("not allowed");
    assert_eq!(agent.end().0, Some(0));
}
