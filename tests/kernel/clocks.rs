//! The clocks of two machines: a guest in the emulator is the controller, this machine's agent records along. Then the guest is the
//! agent, whose data comes through FIFOs.
//!
//! The guest's clock begins with its boot, so that the two are as far apart as this machine has been up before. A byte goes to and
//! fro between them, and each side makes an event before it sends: the order of those is known.

use crate::common::environment::TestEnvironment;
use crate::common::listening::Listening;
use crate::common::not_run::not_run;
use crate::guest_machine::{Guest, Kernel, on_kernels};
use nix::sys::signal::kill;
use nix::unistd::Pid;
use rtrace::internal::network::FIFO_FOLDER;
use rtrace::tracefs::Tracefs;
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Events of each machine.
const ROUNDS: usize = 5_000;

/// The guest as an agent, with the ports that the emulator gave it; no udev names them. It ends after a recording.
const AS_AGENT: &str = r"
mkdir -p /dev/virtio-ports
for port in /sys/class/virtio-ports/*; do [ ! -e $port/name ] || ln -s ../${port##*/} /dev/virtio-ports/$(cat $port/name); done
rtrace agent -N 10.0.2.2 -p 8230 2> agent.log & agent=$!
i=0
until [ $(grep -c ': the controller at' agent.log) -ge 1 ] || [ $i -gt 300 ]; do i=$((i + 1)); sleep 0.1; done
kill -INT $agent; wait $agent";

/// FIFOs of a guest, where `record -A` finds them, and the port by which its agent is reached.
struct Fifos {
    name: String,
    port: u16,
    printed: String,
    env: TestEnvironment,
}

impl Fifos {
    fn new() -> Self {
        let env = TestEnvironment::new();
        let name = format!("rtrace-test-{}", std::process::id());
        let printed = env.rtrace(&["setup-guest", "-c", "2", &name]).exits(0).stdout();
        let port = TcpListener::bind("127.0.0.1:0").expect("a free port").local_addr().expect("an address").port();
        Fifos { name, port, printed, env }
    }

    /// Options of `tests/kernel/boot`: those of the emulator that `setup-guest` printed, and a network whose port leads to the agent.
    fn options(&self) -> Vec<String> {
        let printed = self.printed.lines().skip(2).flat_map(str::split_whitespace).filter(|word| *word != "\\");
        let net = format!("user,id=net,hostfwd=tcp:127.0.0.1:{}-:8230", self.port);
        let net = ["-netdev", &net, "-device", "virtio-net-pci,netdev=net,romfile="];
        let emulator = printed.chain(net).flat_map(|word| ["-q", word]);
        ["-m", "virtio_net"].into_iter().chain(emulator).map(str::to_owned).collect()
    }

    /// Records this machine and the guest, as soon as its agent is there; gives the summary. `None` if the guest is gone before.
    fn record(&self, over: &AtomicBool) -> Option<String> {
        let place = format!("127.0.0.1:{}", self.port);
        let switches = ["-e", "sched:sched_switch"];
        let guest = ["-A", &place, "--name", &self.name, "--tsync-interval", "-1", "-e", "sched", "-e", "syscalls"];
        let args = [&["record", "-o", "fifos.dat"], &switches[..], &guest, &["--", "sleep", "1"]].concat();
        while !over.load(Ordering::Relaxed) {
            let out = self.env.rtrace(&args);
            if out.status() == Some(0) {
                return Some(out.stderr());
            }
            std::thread::sleep(Duration::from_millis(500));
        }
        None
    }

    /// The guest's file has the events that its agent says it sent.
    fn hold(&self, summary: &str, agent: &str) {
        let file = format!("fifos-{}.dat", self.name);
        let line = summary.lines().find(|line| line.starts_with(&file)).unwrap_or_else(|| panic!("{summary}"));
        assert!(line.contains(" written from FIFOs"), "{line}");
        let events = |text: &str, before: &str| -> String {
            let rest = text.split(before).nth(1).unwrap_or_else(|| panic!("no `{before}`: {text}"));
            rest.split(" events").next().unwrap_or_default().rsplit(' ').next().unwrap_or_default().to_owned()
        };
        let came = events(line, "guest ");
        assert_eq!(came, events(agent, ": the controller at"));
        println!("{came} events through FIFOs");
        self.env.rtrace(&["dump", "--validate", &file]).exits(0);
    }
}

impl Drop for Fifos {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(Path::new(FIFO_FOLDER).join(&self.name));
    }
}

/// Answers the first that connects, byte by byte, each after a `kill(2)` with signal 0.
fn answering() -> u16 {
    let socket = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = socket.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        let (mut stream, _) = socket.accept()?;
        stream.set_nodelay(true)?;
        let mut byte = [0];
        while stream.read(&mut byte)? == 1 {
            kill(Pid::this(), None)?;
            stream.write_all(&byte)?;
        }
        Ok::<(), std::io::Error>(())
    });
    port
}

/// Times of the system calls in a file, as they are shown with `how`.
fn times(env: &TestEnvironment, how: &[&str], file: &Path) -> Vec<i64> {
    let time = regex::Regex::new(r"(?:(\d+)\.(\d{9})|(\d{10,})): sys_enter_kill:").expect("a pattern");
    let file = file.to_str().expect("a plain path");
    let out = env.rtrace(&[&["report", "-t"], how, &[file]].concat()).exits(0).stdout();
    // Seconds and nanoseconds, or the clock's number.
    let number =
        |nth: usize, found: &regex::Captures<'_>| found.get(nth).map_or(0, |n| n.as_str().parse::<i64>().unwrap());
    let found = out.lines().filter_map(|line| time.captures(line));
    let times: Vec<i64> =
        found.map(|found| number(1, &found) * 1_000_000_000 + number(2, &found) + number(3, &found)).collect();
    assert_eq!(times.len(), ROUNDS, "{file}");
    times
}

/// The least and the most that can be added to the times `there` so that each follows the one here and precedes the next one.
fn bracket(here: &[i64], there: &[i64]) -> (i64, i64) {
    let least = here.iter().zip(there).map(|(here, there)| here - there).max();
    let most = here[1..].iter().zip(there).map(|(here, there)| here - there).min();
    (least.expect("some"), most.expect("some"))
}

#[test]
fn another_machines_clock_is_known_within_the_error() {
    if let Err(error) = Tracefs::discover() {
        not_run(error);
        return;
    }
    let Some(helper) = crate::load::program("helper") else { return };
    let _alone = crate::load::alone_on_this_machine();
    let agent = Listening::agent(&[]);
    let (place, server, own) = (agent.port, answering(), std::process::id());
    let fifos = Fifos::new();
    let script = format!(
        "ifconfig lo up; ifconfig eth0 10.0.2.15 netmask 255.255.255.0 up || exit 3
         rtrace record -C mono --summary-json s.json -F -e syscalls:sys_enter_kill -f 'sig == 0' \\
           -A 10.0.2.2:{place} --name here -C mono -e syscalls:sys_enter_kill -f 'sig == 0 && pid == {own}' \\
           --tsync-interval 1000 -- /case/helper ping 10.0.2.2 {server} {ROUNDS} || exit
         {AS_AGENT}"
    );
    let options = fifos.options();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let over = AtomicBool::new(false);
    let (guest, recorded) = std::thread::scope(|scope| {
        let recorded = scope.spawn(|| fifos.record(&over));
        let guest = Guest::run_with(&options, Kernel::V6_12, &script, &[&helper.path]);
        over.store(true, Ordering::Relaxed);
        (guest, recorded.join().expect("the recordings through FIFOs"))
    });
    let Some(guest) = guest else { return };
    assert_eq!(agent.end().0, Some(0));
    let Some(recorded) = recorded else { panic!("no recording through FIFOs: {}", guest.text("agent.log")) };
    fifos.hold(&recorded, &guest.text("agent.log"));
    let summary: serde_json::Value = serde_json::from_str(&guest.text("s.json")).expect("JSON");
    let clock = &summary["guests"][0]["clock"];
    let [offset, error, measurements] =
        ["offset", "error", "measurements"].map(|key| clock[key].as_i64().unwrap_or_else(|| panic!("{summary}")));
    assert!(clock["failed"].is_null() && measurements >= 2, "{clock}");
    let env = TestEnvironment::new();
    let (here, there) = (guest.file("trace.dat"), guest.file("trace-here.dat"));
    // The clocks are seconds apart, and the last measurement fits the last events; they drift by less than 500 us in a second.
    let raw = [times(&env, &["--raw-ts"], &here), times(&env, &["--raw-ts"], &there)];
    let last = ROUNDS * 9 / 10;
    let (least, most) = bracket(&raw[0][last..], &raw[1][last..]);
    println!("{offset} ns, within {error}, by the events between {least} and {most}; {measurements} measurements");
    assert!(least - error - 500_000 <= offset && offset <= most + error + 500_000, "{least} {offset} {most}, {error}");
    assert!(offset < -1_000_000_000, "this machine is up for longer than the guest");
    let (least, most) = bracket(&times(&env, &[], &here), &times(&env, &[], &there));
    println!("shown times could be shifted by {least} to {most}");
    assert!(least <= error && most >= -error, "an effect before its cause: {least} {most}, {error}");
    let merged = env.rtrace(&["report", here.to_str().unwrap(), there.to_str().unwrap()]);
    merged.exits(0).complains_with(&format!("within {}.{:03} us", error / 1000, error % 1000));
}

/// A program that is killed with this.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Instances that trace-cmd makes for its clock, and leaves behind.
fn of_trace_cmd() -> BTreeSet<String> {
    let names = Tracefs::discover().and_then(|tracefs| tracefs.instances()).expect("tracefs");
    names.into_iter().filter(|name| name.starts_with("clock_synch-")).collect()
}

/// Removes those that were not there `before`.
fn tidy(before: &BTreeSet<String>) {
    for name in of_trace_cmd().difference(before) {
        let _ = std::fs::remove_dir(Path::new("/sys/kernel/tracing/instances").join(name));
    }
}

/// True if a program listens on `port`.
fn is_taken(port: u16) -> bool {
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap_or_default()
        + &std::fs::read_to_string("/proc/net/tcp6").unwrap_or_default();
    let local = format!(":{port:04X}");
    let rows = table.lines().map(|row| row.split_whitespace().collect::<Vec<_>>());
    rows.filter(|row| row.len() > 3).any(|row| row[1].ends_with(&local) && row[3] == "0A")
}

/// trace-cmd 3.4 as the controller, then as the agent, on this machine: the clocks are one, so every offset is an error.
#[test]
fn trace_cmd_takes_part() {
    let Some(trace_cmd) = crate::common::trace_cmd::fetched() else { return };
    if let Err(error) = Tracefs::discover() {
        not_run(error);
        return;
    }
    let _alone = crate::load::alone_on_this_machine();
    let before = of_trace_cmd();
    let here = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernel/peers/trace-cmd-here");
    let here = here.to_str().expect("a plain path");
    let env = TestEnvironment::new();
    let sample = regex::Regex::new(r"(?m)^\t(-?\d+) 1 0 \d+\[offset").expect("a pattern");
    let offsets = |file: &str| -> Vec<i64> {
        let dump = env.rtrace(&["dump", "--options", file]).exits(0).stdout();
        sample.captures_iter(&dump).map(|found| found[1].parse().unwrap()).collect()
    };

    let agent = Listening::agent(&[]);
    let place = format!("127.0.0.1:{}", agent.port);
    let switches = ["-e", "sched:sched_switch"];
    let args =
        [&[&trace_cmd, "record", "-o", "t.dat"], &switches[..], &["-A", &place], &switches, &["sleep", "1"]].concat();
    let out = env.run(here, &args);
    assert_eq!(agent.end().0, Some(0));
    tidy(&before);
    out.exits(0);
    let found = offsets("t-127.0.0.1.dat");
    assert!(found.len() >= 2 && found.iter().all(|offset| offset.abs() < 50_000_000), "{found:?}");
    let merged = env.rtrace(&["report", "t.dat", "t-127.0.0.1.dat"]);
    merged.exits(0).complains_with("times by the host's clock; the file does not say how exactly");

    let port = TcpListener::bind("127.0.0.1:0").expect("a free port").local_addr().expect("an address").port();
    let mut agent = Command::new(here);
    agent.args([&trace_cmd, "agent", "-N", "localhost", "-p", &port.to_string()]);
    let agent =
        Killed(agent.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts"));
    let since = Instant::now();
    while !is_taken(port) {
        assert!(since.elapsed() < Duration::from_secs(60), "trace-cmd's agent does not listen");
        std::thread::sleep(Duration::from_millis(50));
    }
    let place = format!("127.0.0.1:{port}");
    let args =
        [&["record", "--summary-json", "s.json"], &switches[..], &["-A", &place], &switches, &["--", "sleep", "1"]];
    let out = env.rtrace(&args.concat());
    drop(agent);
    tidy(&before);
    out.exits(0);
    let text = std::fs::read_to_string(env.path().join("s.json")).expect("a summary");
    let summary: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let error = summary["guests"][0]["clock"]["error"].as_i64().unwrap_or_else(|| panic!("{summary}"));
    let found = offsets("trace-127.0.0.1.dat");
    assert!(found.len() >= 2 && found.iter().all(|offset| offset.abs() <= error), "{found:?}, {error}");
    println!("offsets {found:?}, within {error}");
}

on_kernels!(a_wall_clock_that_is_set_meanwhile_is_named: V6_1, AllTracers => |kernel| {
    let script = "rtrace record -q -o s.dat -e sched:sched_switch -- \
                  sh -c 'sleep 0.2; date -s \"2031-01-01 12:00:00\" > set; sleep 0.2' || exit\n\
                  rtrace report --summary s.dat > summary || exit\n\
                  rtrace report --wall s.dat > /dev/null 2> wall || exit\n\
                  rtrace report s.dat --since 12:00 --count > /dev/null 2> since";
    let Some(guest) = Guest::run(kernel, script, &[]) else { return };
    let named = "the wall clock was set by +";
    for file in ["summary", "wall", "since"] {
        assert!(guest.text(file).contains(named), "{file}: {}", guest.text(file));
    }
    // Said once, and not of a second that begins before the clock was set.
    assert_eq!(guest.text("wall").matches(named).count(), 1);
    let summary = guest.text("summary");
    let times = summary.lines().filter(|line| !line.contains("date -s")); // not the command line
    assert!(times.clone().count() > 3 && times.clone().all(|line| !line.contains("2031-01-01")), "{summary}");
});
