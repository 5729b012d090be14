//! Unplanned ends: any signal, resource limits, removed files, a tracefs that is unmounted.

use crate::common::environment::TestEnvironment;
use crate::common::knobs::Knobs;
use crate::host::{SmallDisk, kernel, kills, record, summary};
use crate::state::{PATIENCE, start};
use nix::libc;
use nix::sys::signal::{Signal, kill};
use std::process::Stdio;
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
    for number in [libc::SIGUSR1, libc::SIGPWR, libc::SIGRTMIN() + 2].into_iter().chain(own) {
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
    // The starter of the tests may ignore some signals, and that is inherited.
    let all = [&["--default-signal", env!("CARGO_BIN_EXE_rtrace"), "record"][..], &args].concat();
    let masks = env.run("env", &all).exits(0).stdout();
    // The C library keeps the signals 32 and 33 for itself: no program can put them back.
    let reserved = 0b11u64 << 31;
    let seen: Vec<u64> = masks.lines().map(|mask| u64::from_str_radix(mask, 16).expect("a mask") & !reserved).collect();
    assert_eq!(seen, [0, 0]);
}

#[test]
fn beyond_the_limit_on_file_sizes_it_ends_as_on_a_full_disk() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let before = Knobs::read(tracefs.root());
    let env = TestEnvironment::new();
    // In units of 1024 bytes; the command is not to run into it.
    let load = kills(30_000) + "; exit 6";
    let args = format!(
        "ulimit -f 512; exec '{}' record --journal-dir journal --summary-json s.json -F --compression none \
         -e syscalls:sys_enter_kill -f 'sig == 0' -- bash -c '{load}'",
        env!("CARGO_BIN_EXE_rtrace")
    );
    env.run("bash", &["-c", &args]).exits(4).complains_with("File too large").complains_with("events (");
    before.assert_unchanged(&Knobs::read(tracefs.root()));
    let totals = &summary(&env)["totals"];
    assert!(totals["events_discarded"].as_u64().unwrap() > 0, "{totals}");
    env.rtrace(&["recover"]).exits(4).complains_with("they could not be written, and recording ended");
    let lines = env.rtrace(&["report"]).exits(4).stdout().lines().filter(|l| l.contains("sys_enter_kill")).count();
    assert_eq!(lines as u64, totals["events"].as_u64().unwrap());
}

#[test]
fn a_disk_that_is_full_from_the_start_is_counted() {
    let Some(_kernel) = kernel() else { return };
    let env = TestEnvironment::new();
    let disk = env.path().join("disk");
    let _disk = SmallDisk::mount(&disk, "2M");
    let load = kills(90_000);
    let args =
        ["-F", "--compression", "none", "-e", "syscalls:sys_enter_kill", "-o", "disk/trace.dat", "--", "bash", "-c"];
    let out = record(&env, &[&args[..], &[&load]].concat());
    out.exits(4).complains_with("No space left").complains_with("not written");
    assert!(!out.stderr().contains("nothing recorded is lost"), "{}", out.stderr());
    let totals = &summary(&env)["totals"];
    assert!(totals["events_discarded"].as_u64().unwrap() > 0, "{totals}");
    let lines = env.rtrace(&["report", "disk/trace.dat"]).stdout().lines().filter(|l| l.contains("kill")).count();
    assert_eq!(lines as u64, totals["events"].as_u64().unwrap(), "{totals}");
}

#[test]
fn a_file_that_is_removed_meanwhile_is_missed() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let before = Knobs::read(tracefs.root());
    let removed = |what: &str| {
        let env = TestEnvironment::new();
        std::fs::create_dir(env.path().join("d")).unwrap();
        let args = ["--summary-json", "s.json", "-o", "d/trace.dat", "-e", "sched:sched_process_exit"];
        let mut child = start_all(&env, &args);
        env.run("sh", &["-c", &format!("rm -r {what}")]).exits(0);
        kill(child.id(), Signal::SIGTERM).unwrap();
        let out = child.end();
        before.assert_unchanged(&Knobs::read(tracefs.root()));
        (env, out)
    };
    for what in ["d/trace.dat", "d"] {
        let (env, (status, stderr)) = removed(what);
        assert_eq!(status, Some(4), "{what}: {stderr}");
        assert!(stderr.contains("d/trace.dat was removed while it was recorded to"), "{what}: {stderr}");
        assert!(!stderr.contains("nothing recorded is lost"), "{stderr}");
        let totals = &summary(&env)["totals"];
        assert_eq!(totals["events"], 0, "{what}");
        assert!(totals["events_discarded"].as_u64().unwrap() > 0, "{what}: {totals}");
        let left = std::fs::read_dir(env.path().join("d")).map_or(0, Iterator::count);
        assert_eq!(left, 0, "{what}: spools without their file");
    }
    let (env, (status, stderr)) = removed("d/.trace.dat.cpu*.spool");
    assert_eq!(status, Some(4), "{stderr}");
    assert!(stderr.contains("the spool of cpu ") && stderr.contains(" was removed or cut off while"), "{stderr}");
    assert_eq!(summary(&env)["totals"]["events"], 0);
    let said = env.rtrace(&["report", "d/trace.dat"]);
    said.exits(4).complains_with("was removed or emptied").complains_with("rtrace: d/trace.dat: no events\n");
    // One that is cut off, with all that it held.
    let wait = "until [ -n \"$(find d -name '.trace.dat.cpu*' -size +100c)\" ]; do sleep 0.1; done; sleep 1";
    let (env, (status, stderr)) = removed(&format!("nothing; {wait}; truncate -s 0 d/.trace.dat.cpu*.spool; true"));
    assert_eq!(status, Some(4), "{stderr}");
    assert!(stderr.contains(" was removed or cut off while"), "{stderr}");
    env.rtrace(&["report", "d/trace.dat"]).exits(4).complains_with("was removed or emptied");
}

#[test]
fn a_file_that_is_renamed_meanwhile_is_finished_where_it_is() {
    let Some(_kernel) = kernel() else { return };
    for version in ["7", "6"] {
        let env = TestEnvironment::new();
        let args = [
            "--file-version",
            version,
            "-e",
            "sched:sched_process_exec",
            "--",
            "sh",
            "-c",
            "mv trace.dat other.dat; true",
        ];
        let out = record(&env, &args);
        out.exits(0)
            .complains_with("trace.dat was renamed while it was recorded to: it is ")
            .complains_with("other.dat: ");
        assert!(summary(&env)["file"].as_str().unwrap().ends_with("/other.dat"), "{}", summary(&env)["file"]);
        assert!(!env.path().join("trace.dat").exists());
        env.rtrace(&["report", "other.dat"]).exits(0).prints_with("sched_process_exec:");
        let dumped = env.rtrace(&["dump", "--json", "other.dat"]).exits(0).stdout();
        assert!(dumped.contains(&format!("\"file_version\": {version}")), "{dumped}");
    }
}

#[test]
fn a_tracefs_that_is_unmounted_meanwhile_is_put_back_when_it_returns() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let before = Knobs::read(tracefs.root());
    let env = TestEnvironment::new();
    let at = env.path().join("tracing");
    std::fs::create_dir(&at).unwrap();
    let mount = || {
        let flags = nix::mount::MsFlags::empty();
        nix::mount::mount(Some("tracefs"), &at, Some("tracefs"), flags, None::<&str>).unwrap();
    };
    mount();
    let mut child = start_all(&env, &["--tracefs", "tracing", "-e", "sched:sched_process_exit"]);
    nix::mount::umount2(&at, nix::mount::MntFlags::MNT_DETACH).unwrap();
    kill(child.id(), Signal::SIGTERM).unwrap();
    let (status, stderr) = child.end();
    assert!(status.is_some_and(|status| status != 0) && stderr.contains("is not a tracefs"), "{status:?} {stderr}");
    // All that was recorded is there, and so is what must be put back.
    env.rtrace(&["report"]).exits(0).complains("").prints_with("sched_process_exit");
    assert_eq!(std::fs::read_dir(env.path().join("journal")).unwrap().count(), 1, "the journal stays");
    mount();
    env.rtrace(&["reset", "--stale", "--journal-dir", "journal"]).exits(0);
    nix::mount::umount2(&at, nix::mount::MntFlags::MNT_DETACH).unwrap();
    before.assert_unchanged(&Knobs::read(tracefs.root()));
}

/// Nothing but the recording is seen beside it while it is made, and one of a former recorder, whose spools were to be
/// seen, is read and recovered.
#[test]
fn spools_are_hidden_and_former_ones_are_found() {
    let Some(_kernel) = kernel() else { return };
    let env = TestEnvironment::new();
    let look = "mkdir out; ls > out/seen; ls -A > out/all";
    env.rtrace(&["record", "-q", "-e", "sched", "-o", "trace.dat", "--", "sh", "-c", look]).exits(0);
    let listed = |file: &str| std::fs::read_to_string(env.path().join("out").join(file)).unwrap();
    assert_eq!(listed("seen"), "out\ntrace.dat\n");
    assert!(listed("all").contains(".trace.dat.cpu0.spool\n"), "{}", listed("all"));
    let killed = "for i in $(seq 3000); do (:); done; sleep 3; kill -9 $PPID";
    env.rtrace(&["record", "-q", "-e", "sched:sched_process_exit", "-o", "killed.dat", "--", "sh", "-c", killed]);
    env.run("sh", &["-c", "for f in .killed.dat.*; do mv $f ${f#.}; done"]).exits(0);
    let exits = || env.rtrace(&["report", "-q", "killed.dat"]).stdout().matches(" sched_process_exit:").count();
    let before = exits();
    let recovered = env.rtrace(&["recover", "killed.dat"]);
    let after = exits();
    assert!(before > 0 && after >= 3000, "{before} and {after} exits; {}{}", recovered.stdout(), recovered.stderr());
    let left = std::fs::read_dir(env.path()).unwrap().flatten().map(|file| file.file_name());
    assert!(left.into_iter().all(|name| !name.to_string_lossy().contains(".spool")), "spools are left");
}

#[test]
fn what_a_kill_before_the_first_event_leaves_is_cleared_up() {
    let Some(_kernel) = kernel() else { return };
    let env = TestEnvironment::new();
    for header in [&b""[..], b"\x17\x08\x44trac", b"\x17\x08\x44tracing7\0\0\x08\0\x10"] {
        let put = |name: &str, text: &[u8]| std::fs::write(env.path().join(name), text).unwrap();
        put("trace.dat", header);
        put(".trace.dat.cpu0.spool", &[0; 4]);
        put(".trace.dat.comms.spool", b"");
        let args = ["record", "-q", "-e", "irq", "--", "true"];
        env.rtrace(&args).exits(125).complains_with("rtrace recover trace.dat");
        env.rtrace(&["recover"]).exits(0).prints_with("killed before its first event");
        assert_eq!(std::fs::read_dir(env.path()).unwrap().count(), 0, "nothing is left");
        env.rtrace(&args).exits(0);
        std::fs::remove_file(env.path().join("trace.dat")).unwrap();
    }
    // Spools with data, and files that are no recording, stay.
    for (file, spool) in [(&b""[..], &b"\0\0\0\0data"[..]), (b"precious", &[0; 4])] {
        std::fs::write(env.path().join("trace.dat"), file).unwrap();
        std::fs::write(env.path().join(".trace.dat.cpu0.spool"), spool).unwrap();
        assert_ne!(env.rtrace(&["recover"]).status(), Some(0));
        assert_eq!(std::fs::read(env.path().join("trace.dat")).unwrap(), file);
        assert_eq!(std::fs::read(env.path().join(".trace.dat.cpu0.spool")).unwrap(), spool);
    }
}

/// A recorder whose standard error is read at its end.
struct Recorder(std::process::Child);

impl Recorder {
    fn id(&self) -> nix::unistd::Pid {
        nix::unistd::Pid::from_raw(self.0.id() as i32)
    }

    fn end(&mut self) -> (Option<i32>, String) {
        let stderr = std::io::read_to_string(self.0.stderr.take().unwrap()).unwrap();
        (self.0.wait().unwrap().code(), stderr)
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if let Ok(None) = self.0.try_wait() {
            let _ = kill(self.id(), Signal::SIGTERM);
            let _ = self.0.wait();
        }
    }
}

/// Starts a recording of a command that never ends, and returns when a process has ended in it.
fn start_all(env: &TestEnvironment, args: &[&str]) -> Recorder {
    let mark = env.path().join("runs");
    let mut command = env.command("env");
    command.args(["--default-signal", env!("CARGO_BIN_EXE_rtrace"), "record", "--journal-dir", "journal"]).args(args);
    command.args(["--", "sh", "-c", "/bin/true; echo > runs; while :; do /bin/true; done"]);
    let recorder = Recorder(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
    let since = Instant::now();
    while !mark.exists() {
        assert!(since.elapsed() < PATIENCE, "the recording does not start");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    recorder
}
