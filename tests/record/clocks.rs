//! Clocks of host and guest: times of both in one order, as exact as is said.
//!
//! Host and guest are this machine, so that their clocks' distance is known: a shell makes an event of the host's recording and
//! one of the guest's by turns, and each lies between its neighbours.

use crate::common::environment::{Outcome, TestEnvironment};
use crate::common::listening::Listening;
use crate::common::not_run::not_run;
use crate::host::{kernel, summary};
use rtrace::internal::network::wire::{HEADER, KVM, Message, MessageHeader, PTP, TimeSync, TraceRequest};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Events of each recording.
const ROUNDS: usize = 5_000;
/// A file mode mask that no other program of the machine sets: 0123.
const MASK: &str = "mask == 83";

/// Records `ROUNDS` pairs with `host` clock here and `guest` clock at an agent, and options `more` for it.
fn ping_pong(env: &TestEnvironment, host: &str, guest: &str, more: &[&str]) -> Outcome {
    let agent = Listening::agent(&[]);
    let place = format!("127.0.0.1:{}", agent.port);
    let pair = "kill -0 $$; umask 0123; [ $((i % 50)) -gt 0 ] || sleep 0.01";
    let load = format!("i=0; while [ $i -lt {ROUNDS} ]; do {pair}; i=$((i+1)); done");
    let pings = ["-C", host, "-F", "-e", "syscalls:sys_enter_kill", "-f", "sig == 0"];
    let pongs = ["-A", &place, "--name", "vm", "-C", guest, "-e", "syscalls:sys_enter_umask", "-f", MASK];
    let args = [&["record", "--summary-json", "s.json"], &pings[..], &pongs, more, &["--", "bash", "-c", &load]];
    let out = env.rtrace(&args.concat());
    assert_eq!(agent.end().0, Some(0));
    out
}

/// Times of the events `name` in a file, as they are shown with `how`.
fn times(env: &TestEnvironment, how: &[&str], file: &str, name: &str) -> Vec<i64> {
    let time = regex::Regex::new(r"(?:(\d+)\.(\d{9})|(\d{10,})): (\w+):").expect("a pattern");
    let out = env.rtrace(&[&["report", "-t"], how, &[file]].concat()).exits(0).stdout();
    let times = out.lines().filter_map(|line| time.captures(line)).filter(|found| &found[4] == name);
    // Seconds and nanoseconds, or the clock's number.
    let number =
        |nth: usize, found: &regex::Captures<'_>| found.get(nth).map_or(0, |n| n.as_str().parse::<i64>().unwrap());
    times.map(|found| number(1, &found) * 1_000_000_000 + number(2, &found) + number(3, &found)).collect()
}

/// Pings and pongs of the recordings.
fn both(env: &TestEnvironment, how: &[&str]) -> (Vec<i64>, Vec<i64>) {
    let pings = times(env, how, "trace.dat", "sys_enter_kill");
    let pongs = times(env, how, "trace-vm.dat", "sys_enter_umask");
    assert_eq!((pings.len(), pongs.len()), (ROUNDS, ROUNDS));
    (pings, pongs)
}

/// The most and the least that can be added to the guest's times so that each pong follows its ping and precedes the next one.
fn bracket((pings, pongs): &(Vec<i64>, Vec<i64>)) -> (i64, i64) {
    let least = pings.iter().zip(pongs).map(|(ping, pong)| ping - pong).max();
    let most = pings[1..].iter().zip(pongs).map(|(ping, pong)| ping - pong).min();
    (least.unwrap(), most.unwrap())
}

#[test]
fn an_effect_is_not_before_its_cause_by_more_than_the_error() {
    let Some((_, _guard)) = kernel() else { return };
    // Raw monotonic time runs at another rate than the local clock's, and began at another moment.
    for (host, guest, more) in [
        ("mono", "mono", &[][..]),
        ("local", "mono_raw", &["--tsync-interval", "200"]),
        ("mono_raw", "boot", &["--tsync-interval=100", "--date"]),
    ] {
        let env = TestEnvironment::new();
        let out = ping_pong(&env, host, guest, more);
        out.exits(0);
        let clock = &summary(&env)["guests"][0]["clock"];
        let [offset, error, measurements] =
            ["offset", "error", "measurements"].map(|key| clock[key].as_i64().unwrap_or_else(|| panic!("{clock}")));
        assert_eq!((clock["host"].as_str(), clock["unit"].as_str()), (Some(host), Some("ns")));
        assert!(if more.is_empty() { measurements == 2 } else { measurements > 2 }, "{measurements}");
        assert!(error > 0 && error < 50_000_000, "{error} ns of error say nothing");
        let says = format!("times by the host's clock {host}, within {}.{:03} us", error / 1000, error % 1000);
        assert!(out.stderr().contains(&says), "{}", out.stderr());

        // The last measurement, against what the last events say: clocks that drift apart do so by less than 500 us in a second.
        let (pings, pongs) = both(&env, &["--raw-ts"]);
        let (least, most) = bracket(&(pings[ROUNDS * 9 / 10..].to_vec(), pongs[ROUNDS * 9 / 10..].to_vec()));
        let fits = least - error - 500_000 <= offset && offset <= most + error + 500_000;
        assert!(fits, "{host} {guest}: {least} {offset} {most}, {error}");
        println!("{host} {guest}: {offset} ns, within {error}, by the events between {least} and {most}");
        // The output: a pong never precedes its ping, nor follows the next one.
        let (least, most) = bracket(&both(&env, &[]));
        assert!(least <= error && most >= -error, "{host} {guest}: {least} {most}, {error}");
        println!("{host} {guest}: shown times could be shifted by {least} to {most}");
        let merged = env.rtrace(&["report", "trace.dat", "trace-vm.dat"]);
        merged.exits(0).complains_with(&says);
        let stat = env.rtrace(&["report", "--stat", "trace-vm.dat"]);
        assert!(stat.exits(0).stdout().contains(&says.replacen("times", "Times", 1)));
        let dump = env.rtrace(&["dump", "--options", "trace-vm.dat"]).exits(0).stdout();
        let samples = format!("{measurements} [samples count for CPU 0]");
        assert!(dump.contains(&samples) && dump.contains(&format!("error {error}\n")), "{dump}");
        env.rtrace(&["dump", "--validate", "trace-vm.dat"]).exits(0);
    }
}

#[test]
fn clocks_that_are_not_compared_are_named() {
    let Some((_, _guard)) = kernel() else { return };
    for (host, guest, more, why) in [
        ("mono", "mono", &["--tsync-interval", "-1"][..], "--tsync-interval says so"),
        ("mono", "counter", &[], "its clock counter does not count time"),
        ("counter", "counter", &[], "the host's clock counter does not count time"),
    ] {
        let env = TestEnvironment::new();
        let out = ping_pong(&env, host, guest, more);
        out.exits(0);
        assert!(out.stderr().contains(&format!("clocks not compared: {why}")), "{}", out.stderr());
        assert_eq!(summary(&env)["guests"][0]["clock"]["not_compared"].as_str(), Some(why));
        let merged = env.rtrace(&["report", "trace.dat", "trace-vm.dat"]);
        merged.exits(0).complains_with(&format!("by the guest's own clock, which was not compared: {why}"));
    }
    let env = TestEnvironment::new();
    env.rtrace(&["record", "-e", "sched", "-A", "127.0.0.1:1", "--tsync-interval", "x"]).exits(2);
    env.rtrace(&["record", "-e", "sched", "--tsync-interval", "5", "--", "true"]).exits(2);
}

/// The next message of a peer.
fn message(stream: &mut TcpStream) -> Message {
    let mut header = [0; HEADER];
    stream.read_exact(&mut header).expect("a message");
    let header = MessageHeader::read(&header).expect("a header");
    let mut body = vec![0; header.body];
    stream.read_exact(&mut body).expect("its body");
    Message::read(header, &body).expect("a message")
}

/// Asks the agent for a recording by `clock`; gives both connections, and the protocol by which the clocks are compared.
fn asked(agent: &Listening, clock: &str) -> (TcpStream, TcpStream, String) {
    let mut control = TcpStream::connect(("127.0.0.1", agent.port)).expect("it listens");
    let args = ["-C", clock, "-e", "sched:sched_switch"].map(str::to_owned).to_vec();
    let protocols = [KVM, PTP].map(str::to_owned).to_vec();
    let request = TraceRequest { id: 5, args, protocols, ..TraceRequest::default() };
    control.write_all(&Message::TraceRequest(request).bytes()).expect("it reads");
    let Message::TraceResponse(response) = message(&mut control) else { panic!("no answer") };
    let clocks = TcpStream::connect(("127.0.0.1", response.sync_port as u16)).expect("it waits");
    clocks.set_read_timeout(Some(Duration::from_secs(30))).expect("a limit");
    (control, clocks, response.protocol)
}

/// The host of a guest of KVM, in bytes: there is no such machine here.
#[test]
fn an_agent_asks_its_host_for_the_offset_of_the_counter() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let clocks = std::fs::read_to_string(tracefs.root().join("trace_clock")).expect("clocks");
    if !clocks.contains("x86-tsc") {
        not_run("the clock protocol kvm: this machine has no clock x86-tsc");
        return;
    }
    let mut agent = Listening::agent(&[]);
    let (control, mut clocks, protocol) = asked(&agent, "x86-tsc");
    assert_eq!(protocol, "kvm");
    let head = |size: u8, name: &[u8; 4], number: u8| {
        [&[0, 0, 0, size, 0, 0, 0, 9, 0, 0, 0, 20][..], name, &[0; 12], &[0, 0, 0, number]].concat()
    };
    let mut before = 0;
    for cpu in [0u16, 1, 0] {
        clocks.write_all(&[head(34, b"none", 1), cpu.to_ne_bytes().to_vec()].concat()).expect("it reads");
        let mut request = [0; 64];
        clocks.read_exact(&mut request).expect("a request");
        let (front, time) = request.split_at(32);
        assert_eq!(front, head(64, b"kvm\0", 1));
        let (time, rest) = time.split_first_chunk().expect("a time");
        assert_eq!(rest, [0; 24]);
        assert!(i64::from_ne_bytes(*time) > before, "{time:?}");
        before = i64::from_ne_bytes(*time);
        let numbers = [before, -77, 1, 0].map(i64::to_ne_bytes).concat();
        clocks.write_all(&[head(64, b"kvm\0", 2), numbers].concat()).expect("it reads");
    }
    clocks.write_all(&head(32, b"none", 2)).expect("it reads");
    assert_eq!(clocks.read_to_end(&mut Vec::new()).expect("its end"), 0);
    drop(control);
    agent.says("refused 127.0.0.1");
    // Of no other clock KVM knows anything.
    let (control, clocks, protocol) = asked(&agent, "mono");
    assert_eq!(protocol, "ptp");
    drop((control, clocks));
    agent.says("refused 127.0.0.1");
    assert_eq!(agent.end().0, Some(0));
}

#[test]
fn a_hostile_controller_costs_its_session() {
    let Some((_, _guard)) = kernel() else { return };
    let mut agent = Listening::agent(&[]);
    let sync = |message: TimeSync| Message::TimeSync(message).bytes();
    let start = |series, flags| sync(TimeSync::Start { series, flags });
    // Sent at once; each is a wrong answer to the agent's first message.
    for (nth, sent) in [
        vec![0xff; 64],
        sync(TimeSync::Probe(7)),
        sync(TimeSync::Measure(u16::MAX)).into_iter().chain(start(77, 3)).collect(),
        sync(TimeSync::Measure(0)).into_iter().chain(start(1, 3)).chain(sync(TimeSync::Probe(2))).collect(),
        Message::Close.bytes(),
    ]
    .into_iter()
    .enumerate()
    {
        let mut control = TcpStream::connect(("127.0.0.1", agent.port)).expect("it listens");
        let args = ["-e", "sched:sched_switch"].map(str::to_owned).to_vec();
        let request = TraceRequest { id: 5, args, protocols: vec![PTP.to_owned()], ..TraceRequest::default() };
        control.write_all(&Message::TraceRequest(request).bytes()).expect("it reads");
        let Message::TraceResponse(response) = message(&mut control) else { panic!("no answer") };
        assert_eq!(response.protocol, PTP);
        let mut clocks = TcpStream::connect(("127.0.0.1", response.sync_port as u16)).expect("it waits");
        clocks.set_read_timeout(Some(Duration::from_secs(30))).expect("a limit");
        clocks.write_all(&sent).expect("it reads");
        let mut answer = Vec::new();
        match clocks.read_to_end(&mut answer) {
            Ok(_) => {}
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "{nth}: {error}"),
        }
        drop(control);
        agent.says("refused 127.0.0.1");
    }
    let env = TestEnvironment::new();
    let place = format!("127.0.0.1:{}", agent.port);
    env.rtrace(&["record", "-q", "-e", "sched", "-A", &place, "-e", "sched", "--", "true"]).exits(0);
    let pid = agent.pid().to_string();
    assert_eq!(agent.end().0, Some(0));
    let left = std::fs::read_dir("/sys/kernel/tracing/instances").expect("tracefs is mounted");
    let left = left.map(|entry| entry.expect("a name").file_name().to_string_lossy().into_owned());
    assert_eq!(left.filter(|name| name.contains(&pid)).collect::<Vec<_>>(), [""; 0]);
}
