//! Bounds on the disk: `--max-size`, `--min-free`, `--ring`, `--ring-time`; and `-r`.

use crate::common::environment::TestEnvironment;
use crate::host::{SmallDisk, kernel, kills, kills_while_tracing, record, report, summary};
use crate::state::{PATIENCE, Running};
use nix::sys::signal::{Signal, kill};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// Bytes of the recording and its spools while and after it runs.
fn on_disk(dir: &Path) -> u64 {
    let files = fs::read_dir(dir).into_iter().flatten().flatten();
    let ours = files.filter(|f| f.file_name().to_string_lossy().starts_with("trace.dat"));
    ours.filter_map(|f| f.metadata().ok()).map(|m| m.len()).sum()
}

/// Number of lines that name sys_enter_kill.
fn kills_in(lines: &[String]) -> usize {
    lines.iter().filter(|line| line.contains("sys_enter_kill")).count()
}

#[test]
fn a_file_is_no_larger_than_allowed() {
    let Some((tracefs, _guard)) = kernel() else { return };
    // Symbols alone are some 5 MB when they are not compressed.
    for (compression, megabytes) in [("zstd", 5), ("none", 12)] {
        let env = TestEnvironment::new();
        // Compressed, there is no end to what fits.
        let load = if compression == "none" { kills_while_tracing(&tracefs, 10_000) } else { kills(100_000) };
        let load = load + "; touch done; exit 6";
        let args = ["-F", "--max-size", &format!("{megabytes}M"), "--compression", compression, "-e", "syscalls"];
        let out = record(&env, &[&args[..], &["--", "bash", "-c", &load]].concat());
        let size = fs::metadata(env.path().join("trace.dat")).unwrap().len();
        assert!(size <= megabytes << 20, "{compression}: {size}");
        if compression == "none" {
            out.exits(6).complains_with("stopped: the file is as large as --max-size allows");
            assert_eq!(summary(&env)["limit"], "max-size");
            assert!(summary(&env)["totals"]["bytes_discarded"].as_u64().unwrap() > 0);
            assert!(size > 10 << 20, "{size}");
            assert!(env.path().join("done").exists(), "the command goes on");
            assert!(kills_in(&report(&env)) > 1000);
        }
    }
    let env = TestEnvironment::new();
    record(&env, &["--max-size", "64K", "-e", "sched", "--", "true"]).exits(125).complains_with("no room for events");
    assert!(!env.path().join("trace.dat").exists());
}

#[test]
fn each_cpu_keeps_its_newest_events() {
    let Some(_kernel) = kernel() else { return };
    let env = TestEnvironment::new();
    let load = kills(100_000) + "; kill -0 $$";
    let args = ["-F", "-m", "256", "--compression", "none", "-e", "syscalls:sys_enter_kill", "--", "bash", "-c", &load];
    record(&env, &args).exits(0);
    let summary = summary(&env);
    assert!(summary["totals"]["bytes_discarded"].as_u64().unwrap() > 0);
    for cpu in summary["buffers"][0]["cpus"].as_array().unwrap() {
        assert!(cpu["bytes_written"].as_u64().unwrap() <= 256 << 10, "{cpu}");
    }
    let lines = report(&env);
    assert!(kills_in(&lines) > 256 << 10 >> 6, "half of what fits, or more: {}", kills_in(&lines));
    assert!(lines.last().is_some_and(|line| line.contains("sig: 0x00000000")), "{:?}", lines.last());
}

/// A CPU that is busy keeps a shorter time than one that is not: numbers of the time before are at least so, also of a copy.
#[test]
fn a_time_that_one_cpu_gave_up_is_not_known() {
    let Some(_kernel) = kernel() else { return };
    let env = TestEnvironment::new();
    let load =
        "taskset -c 1 true; taskset -c 0 dd if=/dev/zero of=/dev/null bs=1 count=100000 status=none; taskset -c 1 true";
    if env.run("taskset", &["-c", "1", "true"]).status() != Some(0) {
        return crate::common::not_run::not_run("this machine has one CPU");
    }
    // Larger than all that the load writes, so that nothing is lost where the draining threads wait for a CPU.
    record(&env, &["-b", "32M", "-e", "raw_syscalls", "--ring", "512K", "--", "sh", "-c", load]).exits(0);
    env.rtrace(&["convert", "trace.dat", "copy.dat"]);
    for file in ["trace.dat", "copy.dat"] {
        let few = ["-a", "count(raw_syscalls:sys_enter) < 1000000", file];
        let reason = "a flight recorder gave up older events of some CPUs: CPU 0 begins ";
        env.rtrace(&[&["check"], &few[..]].concat())
            .exits(4)
            .prints_with(" or more, wanted < 1000000")
            .prints_with(reason);
        // In the last moments all CPUs are there.
        env.rtrace(&[&["check", "--since", "-100us"], &few[..]].concat()).exits(0);
    }
}

#[test]
fn free_space_is_left_to_others() {
    let Some((tracefs, _guard)) = kernel() else { return };
    let env = TestEnvironment::new();
    let disk = env.path().join("disk");
    // A spool is copied whole into the file before it is removed: there is room for one that has all events.
    let _disk = SmallDisk::mount(&disk, "32M");
    let load = kills_while_tracing(&tracefs, 10_000);
    let args = ["-F", "--min-free", "20M", "--compression", "none", "-e", "syscalls:sys_enter_kill"];
    let out = record(&env, &[&args[..], &["-o", "disk/trace.dat", "--", "bash", "-c", &load]].concat());
    out.exits(4).complains_with("than --min-free leaves to others; the file holds everything before");
    let stat = nix::sys::statvfs::statvfs(&disk).unwrap();
    // Descriptions of the events are written beside them and not counted.
    assert!(stat.blocks_available() * stat.fragment_size() > 8 << 20);
    let out = env.rtrace(&["report", "disk/trace.dat"]);
    let lines = out.exits(4).complains_with("they could not be written, and recording ended").stdout().lines().count();
    assert!(lines > 20_000, "{lines}");
    assert_eq!(fs::read_dir(&disk).unwrap().count(), 1, "complete, no spools");
}

#[test]
fn a_flight_recorder_keeps_the_newest() {
    let Some(_kernel) = kernel() else { return };
    let cpus = std::thread::available_parallelism().unwrap().get() as u64;
    for compression in ["none", "zstd"] {
        let env = TestEnvironment::new();
        let size = 512 * cpus;
        let load = kills(100_000) + "; kill -0 1";
        let args = ["-F", "--ring", &format!("{size}K"), "--compression", compression];
        let more = ["-e", "syscalls:sys_enter_kill", "--", "bash", "-c", &load];
        record(&env, &[&args[..], &more[..]].concat()).exits(0);
        let totals = &summary(&env)["totals"];
        assert!(totals["bytes_written"].as_u64().unwrap() <= size << 10, "{totals}");
        let lines = report(&env);
        assert!(lines.last().unwrap().contains("pid: 0x00000001"), "{:?}", lines.last());
        if compression == "none" {
            assert!(totals["bytes_discarded"].as_u64().unwrap() > 0);
            let per_cpu = lines.len() as u64 * 24;
            assert!(lines.len() < 100_000 && per_cpu > 256 << 10, "{} lines", lines.len());
        }
        assert_eq!(fs::read_dir(env.path()).unwrap().count(), 2, "the file and the summary");
    }
}

#[test]
fn a_flight_recorder_never_holds_more_and_is_recovered() {
    let Some(_kernel) = kernel() else { return };
    let cpus = std::thread::available_parallelism().unwrap().get() as u64;
    let env = TestEnvironment::new();
    let size = (256 * cpus) << 10;
    let mark = env.path().join("runs");
    let load = "echo $$ > runs; while :; do kill -0 $$; done";
    let mut command = env.command(env!("CARGO_BIN_EXE_rtrace"));
    let args = ["record", "-q", "--journal-dir", "journal", "-F", "--compression", "none", "--ring"];
    command.args(args).arg(size.to_string()).args(["-e", "syscalls:sys_enter_kill", "--", "bash", "-c", load]);
    let mut child = Running::start(command);
    let since = Instant::now();
    let base = loop {
        assert!(since.elapsed() < PATIENCE);
        if mark.exists() {
            break fs::metadata(env.path().join("trace.dat")).unwrap().len();
        }
    };
    let (mut pieces, mut looks) = (0, 0);
    while pieces <= 3 || looks < 200 {
        assert!(since.elapsed() < PATIENCE, "{pieces} pieces");
        looks += 1;
        let files: Vec<_> = fs::read_dir(env.path()).unwrap().flatten().map(|f| f.file_name()).collect();
        pieces = pieces.max(files.iter().filter(|f| f.to_string_lossy().contains(".spool.")).count());
        // Symbols are still being written into the file itself.
        assert!(on_disk(env.path()) <= size + (base + (8 << 20)), "more than --ring");
        std::thread::sleep(Duration::from_millis(5));
    }
    kill(child.pid(), Signal::SIGKILL).unwrap();
    child.wait();
    let command: i32 = fs::read_to_string(mark).unwrap().trim().parse().unwrap();
    kill(nix::unistd::Pid::from_raw(command), Signal::SIGKILL).unwrap();
    env.rtrace(&["reset", "--stale", "--journal-dir", "journal"]).exits(0);
    env.rtrace(&["recover"]).exits(4).complains_with("its ring buffer and its recorder still held");
    let lines = env.rtrace(&["report"]).exits(4).stdout();
    let lines: Vec<_> = lines.lines().filter(|line| line.contains("sys_enter_kill")).collect();
    assert!(lines.len() > 1000, "{} lines of all pieces", lines.len());
    assert!(fs::read_dir(env.path()).unwrap().flatten().all(|f| !f.file_name().to_string_lossy().contains("spool")));
}

#[test]
fn a_flight_recorder_of_the_last_moments() {
    let Some(_kernel) = kernel() else { return };
    let env = TestEnvironment::new();
    // Waits until something was written, and until that has gone again.
    let until = |condition: &str| format!("n=0; until {condition} || [ $n -ge 3000 ]; do sleep 0.1; n=$((n+1)); done");
    let written = "[ -n \"$(find . -name '.trace.dat.cpu*' -size +1k)\" ]";
    let gone = "[ -z \"$(find . -name '.trace.dat.cpu*' -size +1k)\" ]";
    let load = [&kills(20_000), &until(written), &until(gone), "kill -0 1"].join("; ");
    let args = ["-F", "--ring-time", "500ms", "-e", "syscalls:sys_enter_kill", "--", "bash", "-c", &load];
    record(&env, &args).exits(0).complains_with("kept the newest");
    let lines = report(&env);
    assert!(kills_in(&lines) < 20_001, "all are kept");
    assert!(lines.last().unwrap().contains("pid: 0x00000001"));
}

#[test]
fn threads_get_the_priority_asked_for() {
    let Some(_kernel) = kernel() else { return };
    let env = TestEnvironment::new();
    // Fields 40, 41 and 19 of stat: rt_priority, policy (1: SCHED_FIFO; the flag for forks is not shown), nice.
    // A thread gives itself its priority, as the first it does: that may be after the command begins.
    let look = "n=0; until grep -qs '^EXPECTED' tasks || [ $n -ge 3000 ]; do \
                for t in /proc/$PPID/task/*; do read -r name < $t/comm; set -- $(sed 's/.*) //' $t/stat); \
                echo \"$name ${38} ${39} ${17}\"; done > tasks; sleep 0.1; n=$((n+1)); done; \
                set -- $(sed 's/.*) //' /proc/$$/stat); echo own ${38} ${39} ${17} >> tasks";
    // As the starter of the tests is.
    let stat = fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split(' ').collect();
    let own = format!("own {} {} {}\n", fields[37], fields[38], fields[16]);
    for (more, expected) in [(&["-r", "7"][..], "rtrace/0 7 1 "), (&[], "rtrace/0 0 0 -20\n")] {
        let look = look.replace("EXPECTED", expected.trim_end());
        let _ = fs::remove_file(env.path().join("tasks"));
        record(&env, &[more, &["-e", "sched:sched_process_exit", "--", "bash", "-c", &look]].concat()).exits(0);
        let tasks = fs::read_to_string(env.path().join("tasks")).unwrap();
        assert!(tasks.contains(expected) && tasks.contains(&own), "{more:?}: {tasks}");
    }
    record(&env, &["-r", "100", "-e", "sched", "--", "true"]).exits(2);
}

#[test]
fn a_flight_recorder_drops_the_names_of_tasks_that_it_has_dropped() {
    let Some(_kernel) = kernel() else { return };
    let env = TestEnvironment::new();
    let cpus = std::thread::available_parallelism().unwrap().get() as u64;
    let size = (256 * cpus) << 10;
    let look =
        "stat -c %s .trace.dat.*spool* | awk '{sum += $1} END {print sum}' > beside; cp .trace.dat.comms.spool names";
    let load = format!("for i in $(seq 30000); do (:); done; {look}");
    let args = ["--ring", &size.to_string(), "--compression", "none", "-e", "sched:sched_process_fork"];
    record(&env, &[&args[..], &["-e", "sched:sched_process_exit", "--", "bash", "-c", &load]].concat()).exits(0);
    let beside: u64 = fs::read_to_string(env.path().join("beside")).unwrap().trim().parse().unwrap();
    assert!(beside <= size, "{beside} bytes in spools of events and names");
    let text = env.rtrace(&["report", "-F", "sched_process_exit"]).exits(0).stdout();
    let exits: Vec<&str> = text.lines().filter(|line| line.contains("sched_process_exit")).collect();
    let nameless = exits.iter().filter(|line| line.trim_start().starts_with("<...>")).count();
    assert!(exits.len() > 1000 && nameless == 0, "{nameless} of {} are of tasks without a name", exits.len());
    // Those that live beside it, and those it was recording a moment before, are there too.
    let in_file = env.rtrace(&["dump", "--cmd-lines"]).exits(0).stdout().lines().count();
    assert!(in_file > exits.len() / 2 && in_file < exits.len() + 2000, "{in_file} names, {} tasks", exits.len());
    let in_spool = fs::read_to_string(env.path().join("names")).unwrap();
    assert!(in_spool.lines().count() > exits.len() / 2, "a killed one has them as well");
}
