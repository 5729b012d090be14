//! `record -N --udp`: a datagram that is lost is counted at both ends, and marked in the file.

use crate::common::environment::TestEnvironment;
use crate::common::installed_trace_cmd::installed;
use crate::common::listening::Listening;
use crate::host::{kernel, kills};
use crate::network::{counts, in_file};
use nix::sys::signal::{Signal, kill};
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const EVENTS: [&str; 5] = ["-F", "-e", "syscalls:sys_enter_kill", "-f", "sig == 0"];
/// More than the receive buffer of a listener that stands still.
const MANY: u32 = 400_000;

fn words<'a>(port: &'a str, how: &[&'a str], load: &'a str) -> Vec<&'a str> {
    let first = ["record", "--summary-json", "s.json", "-N", port, "--udp"];
    [&first[..], how, &EVENTS, &["--", "bash", "-c", load]].concat()
}

fn start(env: &TestEnvironment, port: u16, how: &[&str], load: &str) -> Child {
    let mut command = env.command(env!("CARGO_BIN_EXE_rtrace"));
    command.args(words(&port.to_string(), how, load)).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|ending| ending == "dat")).collect()
}

#[test]
fn all_that_arrives_is_there_and_the_sender_knows() {
    let Some((_, _guard)) = kernel() else { return };
    let (env, dir) = (TestEnvironment::new(), TestEnvironment::new());
    let mut listening = Listening::start(dir.path(), &[]);
    let port = listening.port.to_string();
    env.rtrace(&words(&port, &[], &kills(5_000))).exits(0);
    listening.says("(rtrace over UDP) records to");
    listening.says("5,000 events, complete");
    assert_eq!(counts(&env), [5_000, 0, 0]);
    let two = ["-e", "sched:sched_switch", "-B", "rtrace-test-net"];
    env.rtrace(&words(&port, &two, &kills(5_000))).exits(0).complains_with("instance rtrace-test-net: the file there");
    env.rtrace(&words(&port, &["-t"], "touch ran")).exits(2).complains_with("cannot be used with");
    assert!(!env.path().join("ran").exists());
    assert_eq!(listening.end().0, Some(0));
    // The second recording's instance has its own file.
    let mut events: Vec<u64> = files(dir.path()).iter().map(|file| in_file(&env, file)).collect();
    events.sort_unstable();
    assert_eq!(events, [0, 5_000, 5_000]);
}

/// The listener stands still until its receive buffer is full.
#[test]
fn losses_on_the_way_are_counted_at_both_ends_and_marked() {
    let Some((_, _guard)) = kernel() else { return };
    let (env, dir) = (TestEnvironment::new(), TestEnvironment::new());
    let mut listening = Listening::start(dir.path(), &[]);
    // The lost events lie between received ones.
    let load = format!(
        "{}; sleep 1; touch first; while [ ! -e goon ]; do sleep 0.05; done; {}; touch second; \
         while [ ! -e end ]; do sleep 0.05; done; {}",
        kills(1_000),
        kills(MANY),
        kills(1_000)
    );
    // Packed in the large chunks of a busy machine they might all fit into that buffer.
    let sender = start(&env, listening.port, &["-b", "8192", "--compression", "none"], &load);
    let wait = |name: &str| {
        let until = Instant::now() + Duration::from_secs(120);
        while !env.path().join(name).exists() {
            assert!(Instant::now() < until, "{name}");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    wait("first");
    kill(listening.pid(), Signal::SIGSTOP).unwrap();
    fs::write(env.path().join("goon"), "").unwrap();
    wait("second");
    std::thread::sleep(Duration::from_secs(1));
    kill(listening.pid(), Signal::SIGCONT).unwrap();
    fs::write(env.path().join("end"), "").unwrap();
    let output = sender.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(4), "{said}");
    listening.says("were lost on the way");
    assert_eq!(listening.end().0, Some(4));
    let [events, discarded, lost] = counts(&env);
    assert_eq!(events + discarded + lost, u64::from(MANY) + 2_000, "{said}");
    assert!(discarded > 0, "{said}");
    let file = files(dir.path()).remove(0);
    assert_eq!(in_file(&env, &file), events);
    let file = file.to_str().unwrap();
    let report = env.rtrace(&["report", file]);
    report.exits(0);
    let text = report.stdout();
    let missing = text.lines().filter_map(|line| line.strip_suffix(" EVENTS DROPPED]")?.rsplit('[').next());
    assert_eq!(missing.map(|number| number.parse::<u64>().unwrap()).sum::<u64>(), discarded + lost);
    let [dropped, last] = ["EVENTS DROPPED", "sys_enter_kill"].map(|word| text.rfind(word).unwrap());
    assert!(dropped < last, "the gap is where it was");
}

#[test]
fn a_listener_that_is_killed_is_the_senders_failure() {
    let Some((_, _guard)) = kernel() else { return };
    let (env, dir) = (TestEnvironment::new(), TestEnvironment::new());
    let mut listening = Listening::start(dir.path(), &[]);
    let load = format!("while [ ! -e end ]; do {}; sleep 0.05; done", kills(50));
    let sender = start(&env, listening.port, &[], &load);
    listening.says("records to");
    std::thread::sleep(Duration::from_secs(1));
    listening.kill();
    std::thread::sleep(Duration::from_secs(1));
    fs::write(env.path().join("end"), "").unwrap();
    let output = sender.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", String::from_utf8_lossy(&output.stderr));
    let [events, discarded, _] = counts(&env);
    assert!(events == 0 && discarded > 0, "{events} {discarded}: nothing is known to be there");
    let file = files(dir.path()).remove(0);
    env.rtrace(&["recover", file.to_str().unwrap()]);
}

#[test]
fn a_sender_that_is_killed_leaves_what_came() {
    let Some((_, _guard)) = kernel() else { return };
    let (env, dir) = (TestEnvironment::new(), TestEnvironment::new());
    let mut listening = Listening::start(dir.path(), &[]);
    // More and more: the first datagrams may get lost on a busy machine.
    let load = format!("echo $$ > pid; while :; do {}; sleep 0.1; done", kills(1_000));
    let mut sender = start(&env, listening.port, &[], &load);
    listening.says("records to");
    let until = Instant::now() + Duration::from_secs(60);
    let (file, pid) = (files(dir.path()).remove(0), env.path().join("pid"));
    while in_file(&env, &file) == 0 || fs::read_to_string(&pid).map_or(true, |text| text.is_empty()) {
        assert!(Instant::now() < until);
        std::thread::sleep(Duration::from_millis(200));
    }
    sender.kill().unwrap();
    sender.wait().unwrap();
    let command: i32 = fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
    let _ = kill(nix::unistd::Pid::from_raw(command), Signal::SIGKILL);
    listening.says("INCOMPLETE: the sender went away without CLOSE");
    assert_eq!(listening.end().0, Some(4));
    env.rtrace(&["report", file.to_str().unwrap()]).exits(4);
    env.rtrace(&["reset", "--stale"]).exits(0);
}

/// It counts nothing, which the sender says.
#[test]
fn trace_cmds_listener_takes_datagrams_and_a_warning_says_that_it_does_not_count() {
    let Some((_, _guard)) = kernel() else { return };
    let Some(trace_cmd) = installed() else { return };
    let (env, dir) = (TestEnvironment::new(), TestEnvironment::new());
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut listener = Command::new(trace_cmd);
    listener.args(["listen", "-p", &port.to_string(), "-d"]).arg(dir.path()).stdin(Stdio::null());
    let mut listener = listener.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(30);
    while std::net::TcpStream::connect(("127.0.0.1", port)).is_err() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(50));
    }
    let out = env.rtrace(&words(&port.to_string(), &[], &kills(5_000)));
    kill(nix::unistd::Pid::from_raw(listener.id() as i32), Signal::SIGINT).unwrap();
    listener.wait().unwrap();
    out.exits(0).complains_with("does not count datagrams");
    let [events, discarded, lost] = counts(&env);
    assert_eq!((discarded, events + lost), (0, 5_000));
    let there: u64 =
        files(dir.path()).iter().filter(|f| f.metadata().unwrap().len() > 100).map(|f| in_file(&env, f)).sum();
    assert_eq!(there, events);
}
