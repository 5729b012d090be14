//! `record -N`: what was produced is at the listener or counted as lost, whatever happens on the way.

use crate::common::environment::TestEnvironment;
use crate::common::installed_trace_cmd::installed;
use crate::common::listening::Listening;
use crate::common::small_disk::SmallDisk;
use crate::host::{kernel, kills, kills_while_tracing, summary};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use rtrace::internal::network::wire::{BANNER, Frame, FrameHeader, OFFER, OURS, RingSizes};
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// System calls that are recorded.
const PRODUCED: u64 = 5_000;

const EVENTS: [&str; 5] = ["-F", "-e", "syscalls:sys_enter_kill", "-f", "sig == 0"];

/// The words of a recording of `load` to `port`.
fn words<'a>(port: &'a str, how: &[&'a str], load: &'a str) -> Vec<&'a str> {
    let first = ["record", "--summary-json", "s.json", "-N", port];
    [&first[..], how, &EVENTS, &["--", "bash", "-c", load]].concat()
}

/// The same, started.
fn start(env: &TestEnvironment, port: u16, load: &str) -> Child {
    let mut command = env.command(env!("CARGO_BIN_EXE_rtrace"));
    command.args(words(&port.to_string(), &[], load)).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// The recording that a listener wrote to `dir`.
fn only_file(dir: &Path) -> PathBuf {
    let mut files: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "dat"));
    assert_eq!(files.len(), 1, "{files:?}");
    files.remove(0)
}

/// Events of a file, by what a report has of them.
pub(crate) fn in_file(env: &TestEnvironment, file: &Path) -> u64 {
    let out = env.rtrace(&["report", file.to_str().unwrap()]);
    out.stdout().lines().filter(|line| line.contains("sys_enter_kill")).count() as u64
}

/// Events, discarded ones and lost ones of the sender's summary.
pub(crate) fn counts(env: &TestEnvironment) -> [u64; 3] {
    let totals = &summary(env)["totals"];
    ["events", "events_discarded", "lost"].map(|key| totals[key].as_u64().unwrap())
}

#[test]
fn what_is_sent_is_there_or_counted() {
    let Some((_, _guard)) = kernel() else { return };
    let all: [&[&str]; 4] =
        [&[], &["--compression", "none"], &["--compression", "zlib"], &["-c", "-B", "rtrace-test-net"]];
    for how in all {
        let (env, dir) = (TestEnvironment::new(), TestEnvironment::new());
        let mut listening = Listening::start(dir.path(), &[]);
        let load = kills(PRODUCED as u32);
        let port = format!("127.0.0.1:{}", listening.port);
        env.rtrace(&words(&port, how, &load)).exits(0);
        let [events, discarded, lost] = counts(&env);
        assert_eq!((discarded, events + lost), (0, PRODUCED), "{how:?}");
        let said = listening.says(", complete").replace(',', "");
        // Chunks have an index, which counts.
        let count = if how.contains(&"none") { String::new() } else { format!(" {events} events") };
        assert!(said.contains(&format!("iB{count} complete")), "{how:?}: {said}");
        assert_eq!(listening.end().0, Some(0));
        let file = only_file(dir.path());
        assert_eq!(in_file(&env, &file), events, "{how:?}");
        assert!(!env.path().join("trace.dat").exists());
        let report = env.rtrace(&["report", file.to_str().unwrap()]);
        report.exits(0).complains("");
        let named = report.stdout().lines().filter(|line| line.contains("bash-")).count() as u64;
        assert_eq!(named, events, "{how:?}: tasks have their names");
        env.rtrace(&["dump", "--validate", file.to_str().unwrap()]).exits(0);
    }
}

#[test]
fn a_listener_that_is_killed_and_comes_back_gets_the_rest() {
    let Some((_, _guard)) = kernel() else { return };
    let (env, dir) = (TestEnvironment::new(), TestEnvironment::new());
    let mut listening = Listening::start(dir.path(), &[]);
    let port = listening.port;
    // Until the test has what it wants: the file `enough` appears.
    let load = format!("while [ ! -e enough ]; do {}; echo x >> rounds; sleep 0.01; done", kills(50));
    let sender = start(&env, port, &load);
    listening.says("records to");
    for _ in 0..2 {
        std::thread::sleep(Duration::from_millis(700));
        listening.kill();
        std::thread::sleep(Duration::from_millis(300));
        listening = Listening::start(dir.path(), &["-p", &port.to_string()]);
        listening.says("goes on with");
    }
    fs::write(env.path().join("enough"), "").unwrap();
    let output = sender.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    listening.says(", complete");
    assert_eq!(listening.end().0, Some(0));
    let rounds = fs::read_to_string(env.path().join("rounds")).unwrap().lines().count() as u64;
    let [events, discarded, lost] = counts(&env);
    assert_eq!((discarded, events + lost), (0, rounds * 50), "{said}");
    assert_eq!(in_file(&env, &only_file(dir.path())), events);
}

#[test]
fn a_sender_that_is_killed_leaves_what_came_and_a_mark() {
    let Some((_, _guard)) = kernel() else { return };
    let (env, dir) = (TestEnvironment::new(), TestEnvironment::new());
    let mut listening = Listening::start(dir.path(), &["--wait", "1s"]);
    // 720 KiB: a sub-buffer of 32 KiB goes when it is full, and the load may run on any CPU.
    let load = format!("{}; echo $$ > pid; exec sleep 600", kills(20_000));
    let mut sender = start(&env, listening.port, &load);
    listening.says("records to");
    let until = Instant::now() + Duration::from_secs(60);
    let pid = env.path().join("pid");
    while fs::read_to_string(&pid).map_or(true, |text| text.is_empty()) && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(50));
    }
    // A quiet ring is fetched every half second, and a busy machine takes its time.
    let file = only_file(dir.path());
    while in_file(&env, &file) == 0 && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(200));
    }
    sender.kill().unwrap();
    sender.wait().unwrap();
    let command: i32 = fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
    let _ = kill(Pid::from_raw(command), Signal::SIGKILL);
    listening.says("is interrupted");
    listening.says("INCOMPLETE: its sender went away and was not back after 1.000 s");
    assert_eq!(listening.end().0, Some(4));
    assert!(in_file(&env, &file) > 0);
    env.rtrace(&["report", file.to_str().unwrap()]).exits(4);
    env.rtrace(&["reset", "--stale"]).exits(0);
}

#[test]
fn a_full_disk_at_the_listener_is_the_senders_failure() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let (env, dir) = (TestEnvironment::new(), TestEnvironment::new());
    let disk = dir.path().join("disk");
    let _mounted = SmallDisk::mount(&disk, "6M");
    let mut listening = Listening::start(&disk, &[]);
    let load = kills_while_tracing(&tracefs, 10_000);
    let port = listening.port.to_string();
    let out = env.rtrace(&words(&port, &["--compression", "none"], &load));
    out.exits(4).complains_with("No space left on device");
    listening.says("INCOMPLETE: failed to write "); // a spool, or the file that it is to become
    assert_eq!(listening.end().0, Some(4));
    let [events, discarded, _] = counts(&env);
    assert!(events > 0 && discarded > 0, "{events} {discarded}");
    let file = only_file(&disk);
    let there = in_file(&env, &file);
    assert!(there >= events, "{there} of {events}: what was confirmed is there");
    nix::mount::mount(None::<&str>, &disk, None::<&str>, nix::mount::MsFlags::MS_REMOUNT, Some("size=60m")).unwrap();
    let path = file.to_string_lossy();
    env.rtrace(&["recover", &path]);
    env.rtrace(&["recover", &path]).exits(4).prints_with("a finished recording, nothing to recover");
    // It fails where the ring overran too, as on a busy machine.
    let judged = env.rtrace(&["check", "--assert", "lost == 0", &path]);
    assert!(matches!(judged.status(), Some(3 | 4)), "{}", judged.stdout());
    judged.prints_with("1 assertion: 0 pass");
}

#[test]
fn a_recording_that_finds_no_room_at_all_is_a_lost_one() {
    let Some((_, _guard)) = kernel() else { return };
    // Whoever learns of it before it begins records nothing.
    for how in [&[][..], &["--udp"]] {
        let (env, dir) = (TestEnvironment::new(), TestEnvironment::new());
        let disk = dir.path().join("disk");
        let _mounted = SmallDisk::mount(&disk, "1M");
        let _ = fs::write(disk.join("ballast"), vec![0; 2 << 20]);
        let mut listening = Listening::start(&disk, &[]);
        let out = env.rtrace(&words(&listening.port.to_string(), how, &kills(100)));
        out.complains_with("the listener: ").complains_with("No space left on device");
        assert!(matches!(out.status(), Some(4 | 125)), "{how:?}: {:?}", out.status());
        listening.says("No space left on device");
        // trace-cmd's sender ends with 0 then: this one must not.
        let (code, said) = listening.end();
        assert_eq!(code, Some(4), "{how:?}: {said}");
        assert_eq!(fs::read_dir(&disk).unwrap().count(), 1, "nothing but the ballast");
    }
}

#[test]
fn a_sender_that_stands_still_loses_nothing_by_it() {
    let Some((_, _guard)) = kernel() else { return };
    let (env, dir) = (TestEnvironment::new(), TestEnvironment::new());
    let mut listening = Listening::start(dir.path(), &[]);
    let sender = start(&env, listening.port, &format!("{}; sleep 11; {}", kills(1000), kills(1000)));
    listening.says("records to");
    std::thread::sleep(Duration::from_millis(500));
    let pid = Pid::from_raw(sender.id() as i32);
    kill(pid, Signal::SIGSTOP).unwrap();
    std::thread::sleep(Duration::from_secs(10));
    kill(pid, Signal::SIGCONT).unwrap();
    let output = sender.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    listening.says(", complete");
    assert_eq!(listening.end().0, Some(0));
    let [events, discarded, lost] = counts(&env);
    assert_eq!((discarded, events + lost), (0, 2000));
    assert_eq!(in_file(&env, &only_file(dir.path())), events);
}

#[test]
fn many_senders_at_once() {
    let Some((_, _guard)) = kernel() else { return };
    let dir = TestEnvironment::new();
    let mut listening = Listening::start(dir.path(), &[]);
    let load = kills(500);
    let senders: Vec<(TestEnvironment, Child)> = (0..50)
        .map(|_| {
            let env = TestEnvironment::new();
            let child = start(&env, listening.port, &load);
            (env, child)
        })
        .collect();
    let mut sent = 0;
    for (env, child) in senders {
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        let [events, discarded, lost] = counts(&env);
        assert_eq!((discarded, events + lost), (0, 500));
        sent += events;
        listening.says(", complete");
    }
    assert_eq!(listening.end().0, Some(0));
    let env = TestEnvironment::new();
    let files = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
    assert_eq!(files.map(|file| in_file(&env, &file)).sum::<u64>(), sent);
}

#[test]
fn a_sender_that_is_turned_away_reads_why_that_may_be() {
    let Some((_, _guard)) = kernel() else { return };
    let (env, dir) = (TestEnvironment::new(), TestEnvironment::new());
    let listening = Listening::start(dir.path(), &["--allow", "10.0.0.0/8"]);
    let sent = env.rtrace(&words(&format!("127.0.0.1:{}", listening.port), &[], "touch ran"));
    sent.exits(125).complains_with("closed the connection without an answer: it may take other senders only (--allow)");
    assert!(!env.path().join("ran").exists());
    assert_eq!(listening.end().0, Some(0));
}

#[test]
fn places_and_codecs_that_cannot_be_are_wrong_usage() {
    let env = TestEnvironment::new();
    for place in ["x", "host:", ":1", "[]:1", "host:65536", "[::1]", "::1", "@3", "@3:x", ""] {
        env.rtrace(&["record", "-e", "sched", "-N", place]).exits(2).complains_with("expected HOST:PORT");
    }
    let packed = ["record", "-e", "sched", "-N", "1", "--udp", "--compression", "zstd"];
    env.rtrace(&packed).exits(2).complains_with("--compression does nothing with --udp");
}

#[test]
fn without_a_listener_nothing_is_recorded() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let before = fs::read_dir(tracefs.root().join("instances")).unwrap().count();
    let env = TestEnvironment::new();
    let unused = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let load = "touch ran";
    env.rtrace(&words(&unused, &[], load)).exits(125).complains_with("failed to connect to");
    env.rtrace(&words("no-such-host.invalid:1", &[], load)).exits(125).complains_with("failed to find");
    // One that is something else.
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = other.local_addr().unwrap().port().to_string();
    std::thread::spawn(move || {
        let (mut stream, _) = other.accept().unwrap();
        std::io::Write::write_all(&mut stream, b"SSH-2.0-OpenSSH\r\n").unwrap();
    });
    env.rtrace(&words(&port, &[], load)).exits(125).complains_with("is no listener for recordings");
    env.rtrace(&words("1", &["-o", "x.dat"], load)).exits(2);
    assert!(!env.path().join("ran").exists());
    assert_eq!(fs::read_dir(tracefs.root().join("instances")).unwrap().count(), before);
}

/// A listener that greets, says that it has opened the recording, and leaves the rest to `then`.
fn faulty_listener(then: impl FnOnce(&mut TcpStream) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    std::thread::spawn(move || {
        let (mut peer, _) = listener.accept().unwrap();
        drop(listener);
        peer.write_all(BANNER).unwrap();
        peer.read_exact(&mut vec![0; OFFER.len()]).unwrap();
        peer.write_all(OURS).unwrap();
        let Frame::Open { rings, chunked, .. } = frame(&mut peer) else { panic!("it opens a recording") };
        let sizes = RingSizes { file: 0, rings: vec![if chunked { 4 } else { 0 }; rings.len()] };
        peer.write_all(&Frame::Opened { name: "t.dat".to_owned(), sizes }.bytes()).unwrap();
        then(&mut peer);
    });
    port
}

fn frame(peer: &mut TcpStream) -> Frame {
    let mut header = [0; FrameHeader::SIZE];
    peer.read_exact(&mut header).unwrap();
    let header = FrameHeader::read(&header).unwrap();
    let mut body = vec![0; header.body];
    peer.read_exact(&mut body).unwrap();
    Frame::read(header, &body).unwrap()
}

#[test]
fn a_listener_that_has_what_it_was_not_sent_is_not_believed() {
    let Some((_, _guard)) = kernel() else { return };
    let stored = |peer: &mut TcpStream| {
        let rings = vec![1 << 40; 64];
        peer.write_all(&Frame::Stored(RingSizes { file: 0, rings }).bytes()).unwrap();
    };
    let done = |peer: &mut TcpStream| peer.write_all(&Frame::Done(1).bytes()).unwrap();
    for (nth, says) in ["is complete, which has not ended", "bytes of a ring, of which"].into_iter().enumerate() {
        let env = TestEnvironment::new();
        let port = faulty_listener(move |peer| if nth == 0 { done(peer) } else { stored(peer) });
        let out = env.rtrace(&words(&port, &[], &kills(PRODUCED as u32)));
        out.complains_with(says);
        // Whoever learns of it before it begins records nothing.
        assert!(matches!(out.status(), Some(4 | 125)), "{}", out.stderr());
    }
}

#[test]
fn a_signal_after_the_end_gives_a_silent_listener_up() {
    let Some((_, _guard)) = kernel() else { return };
    let env = TestEnvironment::new();
    let (tell, ended) = std::sync::mpsc::channel();
    let port = faulty_listener(move |peer| {
        while !matches!(frame(peer), Frame::File { .. }) {}
        // The command has ended once the chunks are asked for.
        while !matches!(frame(peer), Frame::Alive) {}
        tell.send(()).unwrap();
        let _ = std::io::copy(peer, &mut std::io::sink());
    });
    let sender = start(&env, port.parse().unwrap(), &kills(PRODUCED as u32));
    ended.recv_timeout(Duration::from_secs(60)).expect("it waits for the listener");
    let begun = Instant::now();
    let pid = Pid::from_raw(sender.id().cast_signed());
    let gone = || !Path::new(&format!("/proc/{pid}/task")).exists() || sender_is_over(pid);
    while !gone() {
        let _ = kill(pid, Signal::SIGINT);
        std::thread::sleep(Duration::from_millis(100));
        assert!(begun.elapsed() < Duration::from_secs(25), "the listener would be waited for 30 s");
    }
    let out = sender.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(said.contains("given up at a signal"), "{said}");
    assert_eq!(out.status.code(), Some(4), "{said}");
}

/// True of a process that has ended and was not waited for.
fn sender_is_over(pid: Pid) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_none_or(|rest| rest.trim_start().starts_with('Z'))
}

/// trace-cmd's listener says nothing when it is done: it closes the connection.
#[test]
fn trace_cmds_listener_takes_it_too() {
    to_trace_cmd(&[]);
}

/// Its listener packs the events as the file says.
#[test]
fn trace_cmds_listener_takes_version_7_too() {
    to_trace_cmd(&["--file-version", "7"]);
    to_trace_cmd(&["--file-version", "7", "--compression", "none"]);
}

fn to_trace_cmd(how: &[&str]) {
    let Some((_, _guard)) = kernel() else { return };
    let Some(trace_cmd) = installed() else { return };
    let (env, dir) = (TestEnvironment::new(), TestEnvironment::new());
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let mut listener = Command::new(trace_cmd);
    listener.args(["listen", "-p", &port, "-d"]).arg(dir.path()).stdin(Stdio::null());
    listener.stdout(Stdio::null()).stderr(Stdio::null());
    let mut listener = listener.spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(30);
    // A connection that says nothing is given up by it when it is closed.
    while std::net::TcpStream::connect(("127.0.0.1", port.parse::<u16>().unwrap())).is_err() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(50));
    }
    let out = env.rtrace(&words(&port, how, &kills(PRODUCED as u32)));
    let files_of_one = recordings(dir.path());
    // A session, and a file, for each buffer: the instance has no event of the load.
    let apart = [how, &["-e", "sched:sched_process_exec", "-B", "rtrace-test-net", "-C", "mono"][..]].concat();
    let both = env.rtrace(&words(&port, &apart, &kills(PRODUCED as u32)));
    kill(Pid::from_raw(listener.id() as i32), Signal::SIGINT).unwrap();
    listener.wait().unwrap();
    out.exits(0);
    both.exits(0);
    let sum = |file: &PathBuf| in_file(&env, file);
    let sent = summary(&env);
    let (sessions, files) = (sent["sessions"].as_array().unwrap(), recordings(dir.path()));
    assert_eq!((files_of_one.len(), files.len(), sessions.len()), (1, 3, 2), "{files:?} {sessions:?}");
    // The kernel loses none of so few.
    assert_eq!(sum(&files_of_one[0]), PRODUCED);
    let of = |session: &serde_json::Value| {
        let port = format!(":{}.dat", session["port"]);
        files.iter().find(|file| file.to_string_lossy().ends_with(&port)).expect("the file that the summary names")
    };
    assert_eq!((&sessions[0]["buffer"], &sessions[1]["buffer"]), (&"".into(), &"rtrace-test-net".into()));
    let execs = |file: &PathBuf| {
        let report = env.rtrace(&["report", file.to_str().unwrap()]);
        report.stdout().lines().filter(|line| line.contains("sched_process_exec:")).count()
    };
    let (main, instance) = (of(&sessions[0]), of(&sessions[1]));
    assert!(both.stderr().contains("instance rtrace-test-net: the file there with"), "{}", both.stderr());
    assert_eq!((sum(main), sum(instance)), (0, PRODUCED), "-F and the kills are the instance's");
    assert!(execs(main) > 0 && execs(instance) == 0);
    for file in &files {
        let path = file.to_str().unwrap();
        if !how.is_empty() {
            env.rtrace(&["dump", "--validate", path]).exits(0);
        }
        let clock = env.rtrace(&["dump", "--options", path]).stdout();
        assert_eq!(clock.contains("[mono]"), file == instance, "{path}: {clock}");
    }
}

/// The recordings in a directory; of a connection that said nothing there is a file, too.
fn recordings(dir: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "dat") && fs::metadata(path).unwrap().len() > 100);
    files
}
