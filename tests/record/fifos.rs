//! Data of an agent through FIFOs: plain ones stand for the emulator's ports, which it keeps open at both ends too.
//!
//! The agent's recorder is this file: it sends the sub-buffers of a recording, so that no kernel is asked and what arrives is
//! held against what was sent, byte by byte.

use crate::common::environment::TestEnvironment;
use nix::sys::eventfd::EventFd;
use rtrace::internal::network::agent::{Agent, AgentJob, AgentNotice};
use rtrace::internal::network::control::{
    AgentConnection, Guest, GuestError, GuestSummary, GuestTarget, HostFacts, record_along,
};
use rtrace::internal::network::{Address, GuestFifos, Network};
use rtrace::internal::trace_dat::Trace;
use rtrace::tracefs::{Journal, Tracefs};
use rtrace::units::CpuId;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Mutex;
use std::thread;

const RECORDING: &str = "tests/data/traces/vm-6.1/trig.dat";
/// CPUs of the recording.
const CPUS: u32 = 2;
/// Times that its sub-buffers are sent: more than a FIFO holds.
const TIMES: u64 = 100;
/// From one time to the next, in ns: more than the recording lasts.
const TURN: u64 = 3_600_000_000_000;

/// The sub-buffers of a CPU, `times` times.
fn sub_buffers(trace: &Trace, cpu: usize, times: u64) -> Vec<u8> {
    let buffer = &trace.buffers[0];
    let mut sent = Vec::new();
    for turn in 0..times {
        let (mut pages, mut chunk) = (trace.raw_pages(buffer, cpu), Vec::new());
        while pages.next(&mut chunk).unwrap() {
            for sub_buffer in chunk.chunks_mut(buffer.page_size) {
                let (time, _) = sub_buffer.split_first_chunk_mut().unwrap();
                *time = (u64::from_le_bytes(*time) + turn * TURN).to_le_bytes();
            }
            sent.extend_from_slice(&chunk);
        }
    }
    sent
}

fn open(file: &Path) -> Trace {
    Trace::open(File::open(file).unwrap()).unwrap()
}

fn recording() -> Trace {
    open(&Path::new(env!("CARGO_MANIFEST_DIR")).join(RECORDING))
}

/// Sends the recording to the controller of `job`, until that says that it is over.
fn send(job: AgentJob<'_>) -> Result<String, String> {
    let trace = recording();
    let file = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(RECORDING)).unwrap();
    let mut rings: Vec<_> = (0..CPUS).map(|cpu| job.remote.ring("", CpuId(cpu), false)).collect();
    let io = |error: std::io::Error| error.to_string();
    job.remote.file(77, file.clone()).map_err(io)?;
    for (cpu, ring) in rings.iter_mut().enumerate() {
        let sent = sub_buffers(&trace, cpu, TIMES);
        sent.chunks(16 << 10).try_for_each(|chunk| ring.append(chunk, chunk.len() as u64)).map_err(io)?;
    }
    let mut fds = [nix::poll::PollFd::new(job.stop, nix::poll::PollFlags::POLLIN)];
    nix::poll::poll(&mut fds, nix::poll::PollTimeout::from(60_000u16)).unwrap();
    for ring in &mut rings {
        let _ = ring.settle();
    }
    job.remote.file(77, file).map_err(io)?;
    job.remote.finish().map_err(io)?;
    Ok("sent".to_owned())
}

/// A host and its guest.
struct Machine {
    env: TestEnvironment,
    /// As the emulator keeps them open.
    emulator: Vec<File>,
}

impl Machine {
    /// With FIFOs of the first `fifos` CPUs, and ports to those of the first `ports` of them.
    fn new(fifos: u32, ports: u32) -> Self {
        let env = TestEnvironment::new();
        let at = |name: &str| env.path().join(name);
        fs::create_dir_all(at("tracefs/events")).unwrap();
        fs::write(at("tracefs/trace_clock"), "[local]\n").unwrap();
        fs::create_dir(at("ports")).unwrap();
        let of_guest = GuestFifos::of(&at("virt"), "vm").unwrap();
        of_guest.create(fifos, 0o600, None).unwrap();
        let out = |cpu: u32| of_guest.path(cpu).with_extension("out");
        let emulator = (0..fifos).map(|cpu| OpenOptions::new().read(true).write(true).open(out(cpu)).unwrap());
        let emulator = emulator.collect();
        (0..ports).for_each(|cpu| symlink(out(cpu), at(&format!("ports/trace-pipe-cpu{cpu}"))).unwrap());
        Machine { env, emulator }
    }

    /// Records the guest; gives what both said about it: the controller's notes and the guest's summary, and the agent's log.
    fn record(&self) -> (Result<(Vec<String>, GuestSummary), GuestError>, String) {
        let loopback = Address::Ip((Ipv4Addr::LOCALHOST, 0).into());
        let agent = Agent::bind(loopback, vec![Network::of(Ipv4Addr::LOCALHOST.into())]).unwrap();
        let agent = agent.with_ports(self.env.path().join("ports"));
        let (place, end) = (agent.address().unwrap().to_string(), EventFd::new().unwrap());
        let tracefs = Tracefs::at(self.env.path().join("tracefs")).unwrap();
        let log = Mutex::new(String::new());
        let journal = || Journal::in_memory(&tracefs);
        let tell = |notice: &AgentNotice| *log.lock().unwrap() += &format!("{notice}\n");
        thread::scope(|scope| {
            let agent = scope.spawn(|| agent.run(end.as_fd(), &journal, &send, &tell));
            let host = self.env.path().join("trace.dat");
            let facts = HostFacts { id: 5, path: &host, date: None, max_size: None };
            let fifos = Some(self.env.path().join("virt"));
            let target = GuestTarget { place, name: Some("vm".to_owned()), fifos, ..GuestTarget::default() };
            let no_clock = Err("this test has no clock".to_owned());
            let asked = AgentConnection::open(&target)
                .and_then(|connection| Guest::connect(connection, &target, facts, no_clock, &|| false));
            let outcome = asked.map(|guest| {
                let notes = guest.notes().to_vec();
                let gone = |_: &str, why: &str| panic!("the guest went away: {why}");
                let ((), mut summaries) = record_along(vec![guest], &gone, || Ok::<(), ()>(())).unwrap();
                (notes, summaries.remove(0))
            });
            end.write(1).unwrap();
            agent.join().unwrap();
            (outcome, log.lock().unwrap().clone())
        })
    }
}

/// The guest's file has every byte that was sent.
#[track_caller]
fn holds_all(summary: &GuestSummary) {
    assert_eq!(summary.incomplete, None);
    let (sent, came) = (recording(), open(&summary.path));
    assert!(came.damage.is_empty(), "{:?}", came.damage);
    for cpu in 0..CPUS as usize {
        assert!(sub_buffers(&came, cpu, 1) == sub_buffers(&sent, cpu, TIMES), "cpu {cpu}");
    }
}

#[test]
fn nothing_is_lost_and_nothing_of_before_is_taken() {
    let mut machine = Machine::new(CPUS + 1, CPUS);
    // A session that was killed has left some, in the middle of a sub-buffer.
    machine.emulator[1].write_all(&[7; 5000]).unwrap();
    for left in [5000, 0] {
        let (outcome, log) = machine.record();
        let (notes, summary) = outcome.unwrap();
        holds_all(&summary);
        assert!(summary.through_fifos && log.contains(": sent\n"), "{log}");
        let expected =
            (left > 0).then(|| format!("{left} bytes that an earlier recording left in its FIFOs are dropped"));
        assert_eq!(notes, expected.into_iter().collect::<Vec<_>>());
        fs::remove_file(&summary.path).unwrap();
    }
}

#[test]
fn without_ports_or_fifos_for_all_there_are_connections() {
    for (fifos, ports, note, logged) in [
        (0, 0, None, ": sent\n"),
        (1, 1, Some("there are FIFOs for 1 of its 2 CPUs"), "the host has 1 for 2 CPUs"),
        (2, 1, Some("its agent cannot open the ports"), "ports/trace-pipe-cpu1: No such file"),
    ] {
        let machine = Machine::new(fifos, ports);
        let (outcome, log) = machine.record();
        let (notes, summary) = outcome.unwrap();
        holds_all(&summary);
        assert!(!summary.through_fifos && log.contains(logged), "{log}");
        let is_said = |note: &str| notes.iter().any(|said| said.contains(note));
        assert!(note.map_or(notes.is_empty(), is_said), "{notes:?}");
    }
}

#[test]
fn fifos_that_cannot_be_read_are_named() {
    let machine = Machine::new(CPUS, CPUS);
    let path = machine.env.path().join("virt/vm/trace-pipe-cpu1.out");
    fs::remove_file(&path).unwrap();
    fs::write(&path, "a file").unwrap();
    let (notes, summary) = machine.record().0.unwrap();
    holds_all(&summary);
    assert!(notes.len() == 1 && notes[0].ends_with("trace-pipe-cpu1.out: it is not a FIFO"), "{notes:?}");
}

#[test]
fn fifos_of_another_guest_are_recognised() {
    let machine = Machine::new(CPUS, 0);
    // The ports lead elsewhere: to where somebody reads, too.
    let elsewhere = GuestFifos::of(machine.env.path(), "other").unwrap();
    elsewhere.create(CPUS, 0o600, None).unwrap();
    let path = |cpu: u32| elsewhere.path(cpu).with_extension("out");
    let _emulator: Vec<File> =
        (0..CPUS).map(|cpu| OpenOptions::new().read(true).write(true).open(path(cpu)).unwrap()).collect();
    for cpu in 0..CPUS {
        symlink(path(cpu), machine.env.path().join(format!("ports/trace-pipe-cpu{cpu}"))).unwrap();
    }
    let error = machine.record().0.unwrap_err().to_string();
    assert!(error.contains("nothing of this recording comes out of") && error.contains("--no-fifos"), "{error}");
    assert!(!machine.env.path().join("trace-vm.dat").exists());
}
