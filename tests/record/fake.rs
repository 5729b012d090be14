//! The whole recorder, unprivileged, over a directory that looks like tracefs: files made of a real recording, FIFOs as
//! `trace_pipe_raw` through which that recording's own sub-buffers flow.

use crate::common::environment::TestEnvironment;
use crate::common::knobs::Knobs;
use crate::common::pty::on_terminals;
use nix::fcntl::{FcntlArg, fcntl};
use rtrace::internal::trace_dat::Trace;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;

const STATS: &str = "entries: 0\noverrun: 0\ncommit overrun: 0\nbytes: 0\noldest event ts:  1.000000\n\
                     now ts:  2.000000\ndropped events: 0\nread events: 0\n";

/// From one turn to the next, in ns: more than the recording lasts.
const TURN: u64 = 3_600_000_000_000;

struct FakeTracefs {
    recording: Trace,
    /// Each CPU's FIFO, held open so that the recorder's open does not wait.
    pipes: Vec<File>,
    /// Number of times that the sub-buffers were sent; each time their events happen later.
    sent: u64,
}

impl FakeTracefs {
    fn new(root: &Path, cpus: usize) -> Self {
        let recording = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/traces/vm-6.1/trig.dat");
        let recording = Trace::open(File::open(recording).unwrap()).unwrap();
        let put = |file: &str, text: &[u8]| {
            let path = root.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("trace_clock", b"[local] global mono\n");
        put("tracing_on", b"0\n");
        put("buffer_size_kb", b"1408\n");
        put("buffer_percent", b"50\n");
        put("set_event", b"");
        put("set_event_pid", b"");
        put("printk_formats", b"");
        put("saved_cmdlines", b"1 init\n");
        put("instances/.keep", b"");
        put("events/enable", b"0\n");
        put("events/header_page", &recording.header_texts.0);
        put("events/header_event", &recording.header_texts.1);
        let mut available = String::new();
        for format in recording.ftrace_formats.iter().chain(&recording.event_formats) {
            let dir = format!("events/{}/{}", format.system, format.name);
            put(&format!("{dir}/format"), format.to_string().as_bytes());
            if format.system != "ftrace" {
                put(&format!("{dir}/enable"), b"0\n");
                put(&format!("{dir}/filter"), b"none\n");
                put(&format!("events/{}/enable", format.system), b"0\n");
                available.push_str(&format!("{}:{}\n", format.system, format.name));
            }
        }
        put("available_events", available.as_bytes());
        let pipes = (0..cpus)
            .map(|cpu| {
                let dir = format!("per_cpu/cpu{cpu}");
                put(&format!("{dir}/stats"), STATS.as_bytes());
                let fifo = root.join(dir).join("trace_pipe_raw");
                nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
                OpenOptions::new().read(true).write(true).open(fifo).unwrap()
            })
            .collect();
        FakeTracefs { recording, pipes, sent: 0 }
    }

    /// Sends the recording's own sub-buffers `times` times; gives what was sent, per CPU.
    fn feed(&mut self, times: usize) -> Vec<Vec<u8>> {
        let mut sent = vec![Vec::new(); self.pipes.len()];
        for _ in 0..times {
            for index in 0..self.recording.buffers[0].cpus.len() {
                self.feed_one(index, &mut sent);
            }
        }
        sent
    }

    /// Sends the sub-buffers of the recording's CPU number `index`.
    fn feed_one(&mut self, index: usize, sent: &mut [Vec<u8>]) {
        let buffer = &self.recording.buffers[0];
        let mut pages = self.recording.raw_pages(buffer, index);
        let mut chunk = Vec::new();
        self.sent += 1;
        while pages.next(&mut chunk).unwrap() {
            for sub_buffer in chunk.chunks_mut(buffer.page_size) {
                let (time, _) = sub_buffer.split_first_chunk_mut().unwrap();
                *time = (u64::from_le_bytes(*time) + self.sent * TURN).to_le_bytes();
            }
            let cpu = buffer.cpus[index].cpu.0 as usize;
            self.pipes[cpu].write_all(&chunk).unwrap();
            sent[cpu].extend_from_slice(&chunk);
        }
    }
}

/// The sub-buffers that a file holds, per CPU.
fn pages_of(file: &Path, cpus: usize) -> Vec<Vec<u8>> {
    let trace = Trace::open(File::open(file).unwrap()).unwrap();
    assert!(trace.damage.is_empty() && trace.spools.is_none(), "{:?}", trace.damage);
    let mut found = vec![Vec::new(); cpus];
    for index in 0..trace.buffers[0].cpus.len() {
        let mut pages = trace.raw_pages(&trace.buffers[0], index);
        let mut chunk = Vec::new();
        while pages.next(&mut chunk).unwrap() {
            found[trace.buffers[0].cpus[index].cpu.0 as usize].extend_from_slice(&chunk);
        }
    }
    found
}

/// Whose right the recorder runs by.
#[derive(Clone, Copy, PartialEq)]
enum User {
    /// The user who runs the tests.
    Own,
    /// `nobody`, where the tests are root's.
    Nobody,
}

/// `rtrace` as `user`, to whom everything in the folder then belongs.
fn rtrace_of(user: User, env: &TestEnvironment) -> Command {
    if user == User::Own || !nix::unistd::geteuid().is_root() {
        return env.command(env!("CARGO_BIN_EXE_rtrace"));
    }
    let program = env.path().join("rtrace");
    // Copied by another process: what other tests start now would have a copy of ours open, and no process could execute it.
    env.run("install", &["-m", "755", env!("CARGO_BIN_EXE_rtrace"), program.to_str().unwrap()]).exits(0);
    env.run("chown", &["-R", "65534:65534", env.path().to_str().unwrap()]).exits(0);
    let mut command = env.command("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs"]).arg(program);
    command
}

fn record_through_fifos(cpus: usize, times: usize, how: &[&str]) {
    record_through_fifos_as(User::Own, cpus, times, how);
}

fn record_through_fifos_as(user: User, cpus: usize, times: usize, how: &[&str]) {
    let env = TestEnvironment::new();
    let root = env.path().join("tracing");
    let mut fake = FakeTracefs::new(&root, cpus);
    let before = Knobs::read(&root);
    let journal = env.path().join("journal");
    // The command ends when all was sent, so the recorder must drain everything after that.
    let wait = "while [ ! -e sent ]; do sleep 0.01; done; exit 5";
    let common = [
        "record",
        "--tracefs",
        "tracing",
        "--journal-dir",
        journal.to_str().unwrap(),
        "--top",
        "-e",
        "sched",
        "--summary-json",
        "summary.json",
        "-o",
        "out.dat",
    ];
    let args = [&common[..], how, &["--", "sh", "-c", wait]].concat();
    let mut command = rtrace_of(user, &env);
    let running = command.args(args).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let since = std::time::Instant::now();
    while fs::read_to_string(root.join("tracing_on")).unwrap().trim() != "1" {
        assert!(since.elapsed() < crate::state::PATIENCE, "tracing is not switched on");
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let sent = fake.feed(times);
    File::create(env.path().join("sent")).unwrap();
    let output = running.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(5), "the command's own status: {stderr}");

    let owner = fs::metadata(env.path().join("out.dat")).unwrap().uid();
    assert!(user == User::Own || owner != 0, "root recorded");
    assert!(pages_of(&env.path().join("out.dat"), cpus) == sent);
    let trace = Trace::open(File::open(env.path().join("out.dat")).unwrap()).unwrap();
    assert_eq!(trace.header_texts, fake.recording.header_texts);
    let systems: Vec<&str> = trace.event_formats.iter().map(|f| f.system.as_str()).collect();
    assert!(!systems.is_empty() && systems.iter().all(|system| *system == "sched"), "{systems:?}");
    assert_eq!(trace.ftrace_formats.len(), fake.recording.ftrace_formats.len());
    assert_eq!(trace.cpu_count as usize, cpus);
    before.assert_unchanged(&Knobs::read(&root));
    let mut left: Vec<_> = fs::read_dir(env.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    left.retain(|name| name != "rtrace");
    left.sort();
    assert_eq!(left, ["journal", "out.dat", "sent", "summary.json", "tracing"]);
    assert_eq!(fs::read_dir(journal).unwrap().count(), 0, "the journal is gone");
    let summary: serde_json::Value =
        serde_json::from_slice(&fs::read(env.path().join("summary.json")).unwrap()).unwrap();
    let raw: usize = sent.iter().map(Vec::len).sum();
    assert_eq!((summary["totals"]["bytes_raw"].as_u64(), summary["version"].as_u64()), (Some(raw as u64), Some(1)));
    assert_eq!(summary["buffers"][0]["cpus"].as_array().unwrap().len(), cpus);
}

#[test]
fn all_that_flows_through_the_rings_is_in_the_file() {
    for compression in ["zstd", "zstd:3", "zlib", "zlib:9", "none"] {
        record_through_fifos(2, 40, &["--compression", compression]);
    }
}

#[test]
fn also_in_a_file_of_version_6_and_with_readers_that_do_not_wait() {
    record_through_fifos(2, 40, &["--file-version", "6"]);
    record_through_fifos(2, 40, &["--poll", "-s", "200"]);
}

#[test]
fn nobody_records_as_well_as_root() {
    for how in [&["--compression", "zstd"][..], &["--compression", "none", "--poll"], &["--file-version", "6"]] {
        record_through_fifos_as(User::Nobody, 2, 40, how);
    }
}

#[test]
fn a_hundred_and_twenty_eight_cpus() {
    record_through_fifos(128, 1, &[]);
}

/// Records what is in the FIFOs already, under the limits that the shell words `limits` set; the summary.
fn record_what_is_there(limits: &str, how: &[&str], status: i32) -> serde_json::Value {
    let env = TestEnvironment::new();
    let mut fake = FakeTracefs::new(&env.path().join("tracing"), 2);
    for pipe in &fake.pipes {
        let _ = fcntl(pipe, FcntlArg::F_SETPIPE_SZ(1 << 20)).unwrap();
    }
    // 160 KiB for the first CPU, 320 KiB for the second.
    let mut sent = fake.feed(20);
    (0..20).for_each(|_| fake.feed_one(1, &mut sent));
    let record = format!(
        "{limits} exec '{}' record --tracefs tracing --journal-dir journal --top -e sched --summary-json s.json \
         -o out.dat --compression none {} -- sleep 0.3",
        env!("CARGO_BIN_EXE_rtrace"),
        how.join(" ")
    );
    env.run("bash", &["-c", &record]).exits(status);
    let report = env.rtrace(&["report", "out.dat"]).stdout();
    let printed = report.lines().filter(|line| !line.starts_with("cpus=")).count() as u64;
    let summary: serde_json::Value = serde_json::from_slice(&fs::read(env.path().join("s.json")).unwrap()).unwrap();
    assert_eq!(summary["totals"]["events"], printed, "{limits} {how:?}: {}", summary["totals"]);
    summary
}

#[test]
fn what_is_in_the_file_and_what_is_not_is_all_that_was_there() {
    let all = record_what_is_there("", &[], 0)["totals"]["events"].as_u64().unwrap();
    assert!(all > 1000);
    let limited = record_what_is_there("ulimit -f 200;", &[], 4);
    let [events, rest] = ["events", "events_discarded"].map(|key| limited["totals"][key].as_u64().unwrap());
    assert!(events > 0 && rest > 0 && events + rest == all, "{events} and {rest} of {all}: {limited}");
    assert!(limited["failures"].to_string().contains("File too large"), "{limited}");
    assert!(limited["untraced_ns"].as_u64() > Some(50_000_000), "{limited}");
}

#[test]
fn a_bad_event_changes_nothing() {
    let env = TestEnvironment::new();
    let root = env.path().join("tracing");
    let _fake = FakeTracefs::new(&root, 2);
    let before = Knobs::read(&root);
    let common = ["record", "--tracefs", "tracing", "--journal-dir", "journal", "--top"];
    env.rtrace(&[&common[..], &["-e", "sched:sched_swich", "--", "true"]].concat())
        .exits(2)
        .complains_with("no event matches `sched:sched_swich`")
        .complains_with("Hint: did you mean `sched:sched_switch`");
    env.rtrace(&[&common[..], &["-e", "sched", "--", "./nothing"]].concat()).exits(127);
    env.rtrace(&[&common[..], &["-e", "sched", "--", "/dev/null"]].concat()).exits(126);
    env.rtrace(&[&common[..], &["-e", "sched", "-C", "sundial"]].concat())
        .exits(2)
        .complains_with("no trace clock is called `sundial`; this kernel has local, global, mono");
    env.rtrace(&[&common[..], &["-e", "sched", "-o", "no/such/dir"]].concat()).exits(1).complains_with("no/such/dir");
    before.assert_unchanged(&Knobs::read(&root));
    assert!(!env.path().join("trace.dat").exists());
}

#[test]
fn an_unfinished_recording_is_not_overwritten() {
    let env = TestEnvironment::new();
    let _fake = FakeTracefs::new(&env.path().join("tracing"), 2);
    fs::write(env.path().join(".trace.dat.cpu1.spool"), "precious").unwrap();
    let args = ["record", "--tracefs", "tracing", "--journal-dir", "journal", "--top", "-e", "sched", "--", "true"];
    env.rtrace(&args).exits(125).complains_with("unfinished recording").complains_with("rtrace recover trace.dat");
    assert_eq!(fs::read_to_string(env.path().join(".trace.dat.cpu1.spool")).unwrap(), "precious");
}

#[test]
fn what_is_in_the_way_is_kept_and_no_one_elses_is_written() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let env = TestEnvironment::new();
    let _fake = FakeTracefs::new(&env.path().join("tracing"), 2);
    let at = |name: &str| env.path().join(name);
    let record = |more: &[&str]| {
        let common = ["record", "-q", "--tracefs", "tracing", "--journal-dir", "journal", "--top", "-e", "sched"];
        env.rtrace(&[&common[..], more, &["--", "true"]].concat())
    };
    let is_private = |name: &str| fs::metadata(at(name)).unwrap().permissions().mode() & 0o777 == 0o600;
    fs::write(at("trace.dat"), "notes").unwrap();
    record(&[]).exits(0);
    assert!(fs::read(at("trace.dat.old")).unwrap() == b"notes" && is_private("trace.dat"));
    // Notes are not a recording, and are not replaced by one.
    let first = fs::read(at("trace.dat")).unwrap();
    record(&[]).exits(125).complains_with("trace.dat.old").complains_with("not a recording");
    assert!(fs::read(at("trace.dat")).unwrap() == first);
    fs::remove_file(at("trace.dat.old")).unwrap();
    record(&[]).exits(0);
    assert!(fs::read(at("trace.dat.old")).unwrap() == first);
    let second = fs::read(at("trace.dat")).unwrap();
    assert!(second != first && is_private("trace.dat"));
    // One that does not begin changes nothing.
    record(&["-e", "sched:nosuch"]).exits(2);
    record(&["-e", "sched,sched:nosuch"]).exits(2).complains_with("no event matches `sched:nosuch`");
    assert!(fs::read(at("trace.dat")).unwrap() == second && fs::read(at("trace.dat.old")).unwrap() == first);
    // An empty file of one's own, as mktemp makes it, is used; a link of one's own leads to its file.
    fs::write(at("empty.dat"), "").unwrap();
    symlink("behind.dat", at("link.dat")).unwrap();
    for (given, written) in [("empty.dat", "empty.dat"), ("link.dat", "behind.dat")] {
        record(&["-o", given]).exits(0);
        assert!(is_private(written) && !at(&format!("{written}.old")).exists(), "{given}");
    }
    record(&["-o", "/dev/null"]).exits(125).complains_with("not a regular file");
    record(&["--summary-json", "s.json", "-o", "s.dat"]).exits(0);
    assert!(is_private("s.json"));
    record(&["--summary-json", "/dev/stdout", "-o", "s.dat"]).exits(0).prints_with("rtrace.record");
    record(&["--summary-json", "/dev/full", "-o", "s2.dat"]).exits(125).complains_with("No space left");
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    // A directory that nobody (the user) has planted in a directory for everybody.
    fs::create_dir(at("tmp")).unwrap();
    fs::set_permissions(at("tmp"), PermissionsExt::from_mode(0o1777)).unwrap();
    fs::write(at("tmp/victim"), "whole").unwrap();
    let plant =
        "cd tmp && ln -s victim link && ln -s nothing dangling && : > file && mkfifo pipe && chmod 666 file pipe";
    let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c", plant];
    fs::set_permissions(env.path(), PermissionsExt::from_mode(0o755)).unwrap();
    env.run("setpriv", &nobody).exits(0);
    for name in ["tmp/link", "tmp/dangling", "tmp/file", "tmp/pipe"] {
        record(&["-o", name]).exits(125).complains_with("belongs to another user");
        record(&["-o", "own.dat", "--summary-json", name]).exits(125).complains_with("belongs to another user");
        assert!(!at("own.dat").exists(), "refused before anything is recorded");
    }
    assert_eq!(fs::read(at("tmp/victim")).unwrap(), b"whole");
    assert!(!at("tmp/nothing").exists() && fs::read(at("tmp/file")).unwrap().is_empty());
}

/// Events that lack a filter's field are recorded whole, and that is said.
#[test]
fn a_filter_that_some_events_cannot_have() {
    let env = TestEnvironment::new();
    let _fake = FakeTracefs::new(&env.path().join("tracing"), 1);
    let common = ["--tracefs", "tracing", "--journal-dir", "journal", "-e", "sched", "-f"];
    let record = |filter: &str| env.rtrace(&[&["record", "--top"], &common[..], &[filter, "--", "true"]].concat());
    let warning = "filter `prev_pid == 1` is set on 1 of 2 events of `sched`; the others are recorded unfiltered (field \
                   `prev_pid` not found)";
    record("prev_pid == 1").exits(0).complains_with(warning);
    env.rtrace(&[&["set"], &common[..], &["prev_pid == 1"]].concat()).exits(0).complains_with(warning);
    assert!(!record("common_pid == 1").exits(0).stderr().contains("unfiltered"));
    record("nosuch == 1").exits(2).complains_with("field `nosuch` not found");
}

/// Commands that only change something say what comes next, to a person only.
#[test]
fn a_person_is_shown_what_comes_next() {
    let env = TestEnvironment::new();
    let _fake = FakeTracefs::new(&env.path().join("tracing"), 1);
    fs::write(env.path().join("tracing/trace"), "").unwrap();
    for (verb, words) in [
        ("stop", "tracing in the top level is paused; `rtrace restart` goes on"),
        ("restart", "tracing in the top level goes on; `rtrace stop` pauses it"),
        ("clear", "the ring buffers of the top level are empty"),
    ] {
        let args = [verb, "--tracefs", "tracing"];
        env.rtrace(&args).exits(0).prints("").complains("");
        let mut command = env.command(env!("CARGO_BIN_EXE_rtrace"));
        command.args(args);
        let seen = on_terminals(command);
        let reported = String::from_utf8_lossy(&seen.stderr).into_owned();
        assert!(seen.status.success() && seen.stdout.is_empty() && reported.contains(words), "{verb}: {reported}");
    }
}

/// Pipes that the caller reads end when the parent does, while the recording goes on until it is asked to end.
#[test]
fn the_background_lets_go_of_the_callers_pipes() {
    let env = TestEnvironment::new();
    let root = env.path().join("tracing");
    let _fake = FakeTracefs::new(&root, 1);
    let journal = env.path().join("journal");
    let words = "record --tracefs tracing --journal-dir JOURNAL --top -e sched -o out.dat --pid-file pid --daemonize";
    let words = words.replace("JOURNAL", journal.to_str().unwrap());
    let started = env.rtrace(&words.split(' ').collect::<Vec<_>>());
    let pid = fs::read_to_string(env.path().join("pid")).unwrap().trim().to_owned();
    started
        .exits(0)
        .prints("")
        .complains(&format!("rtrace: recording in the background as process {pid}; `rtrace record --stop {pid}` ends it and completes the file\n"));
    assert!(Path::new("/proc").join(&pid).exists(), "it records");
    env.run("kill", &["-INT", &pid]).exits(0);
    let since = std::time::Instant::now();
    while env.path().join("pid").exists() {
        assert!(since.elapsed() < crate::state::PATIENCE, "it does not end");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(Trace::open(File::open(env.path().join("out.dat")).unwrap()).unwrap().spools.is_none(), "it is complete");
}
