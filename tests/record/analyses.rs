//! Analyses of what this machine does.

use crate::common::account::agree;
use crate::common::environment::TestEnvironment;
use crate::common::not_run::not_run;
use crate::host::kernel;
use std::time::Instant;

/// Tasks that fork, sleep, wait for each other and for a CPU.
#[test]
fn where_time_went_is_what_the_definitions_say() {
    let Some((_, _alone)) = kernel() else { return };
    let env = TestEnvironment::new();
    let load = "for i in 1 2 3 4; do (while :; do :; done) & done; for i in 1 2 3 4 5 6 7 8 9; do ls -R /etc | sort | \
                wc -l; sleep 0.01; done; kill $(jobs -p)";
    // With the recorder's own threads, so that the account has each task whole.
    let record = ["record", "-q", "--self", "--journal-dir", "journal", "--for", "sched", "--", "bash", "-c", load];
    env.rtrace(&record).exits(0);
    for what in ["sched", "wakers", "migrations", "map"] {
        let Some(events) = agree(&env, what, "trace.dat", &[]) else { return };
        assert!(events > 200, "{what}: {events}");
    }
    let text = env.rtrace(&["analyze", "sched", "--sort", "preempted", "--top", "5"]);
    text.exits(0).complains("");
    assert!(text.stdout().contains("bash "), "{}", text.stdout());
}

/// Beside perf's view of the same run, with each difference by its cause. `benches/perf_sched` has more loads.
#[test]
fn perf_sched_differs_by_known_causes_alone() {
    let Some((_, _alone)) = kernel() else { return };
    let env = TestEnvironment::new();
    let version = env.command("perf").arg("version").output();
    if !version.is_ok_and(|found| String::from_utf8_lossy(&found.stdout).starts_with("perf version 6.1.")) {
        return not_run("no perf 6.1 is installed, whose causes are known");
    }
    let load = "for i in 1 2 3; do (while :; do :; done) & done; for i in 1 2 3 4 5; do ls -R /etc | sort | wc -l; \
                sleep 0.01; done; kill $(jobs -p)";
    let record = ["record", "-q", "--self", "--journal-dir", "journal", "--for", "sched", "-b", "16M", "--"];
    let events = ["switch", "waking", "wakeup", "wakeup_new", "process_fork", "stat_runtime", "migrate_task"];
    let events = events.map(|event| format!("sched:sched_{event}")).join(",");
    let perf = ["perf", "record", "-q", "-a", "-R", "-c", "1", "-m", "2048", "-e", &events, "-o", "perf.data", "--"];
    env.rtrace(&[&record[..], &perf, &["bash", "-c", load]].concat());
    let Some(events) = agree(&env, "perf_sched", "trace.dat", &["perf.data"]) else { return };
    assert!(events > 200, "{events}");
}

/// Calls that fail, sleep, wait for others and never return.
#[test]
fn system_calls_are_what_the_definitions_say() {
    let Some((_, _alone)) = kernel() else { return };
    let env = TestEnvironment::new();
    let load = "for i in 1 2 3 4 5; do ls -R /etc | sort | wc -l; cat /no/such/file; sleep 0.01; done; kill -9 $$";
    let record = ["record", "-q", "--journal-dir", "journal", "--for", "syscalls", "--", "bash", "-c", load];
    env.rtrace(&record);
    let Some(events) = agree(&env, "syscalls", "trace.dat", &[]) else { return };
    assert!(events > 2_000, "{events}");
    let window = ["--since", "+5ms", "--until", "-5ms"];
    agree(&env, "syscalls", "trace.dat", &window);
    let of_ls = env.rtrace(&["analyze", "syscalls", "--comm", "cat", "--call", "open*"]);
    of_ls.exits(0).complains("");
    let stdout = of_ls.stdout();
    let row: Vec<&str> =
        stdout.lines().find(|line| line.starts_with("openat ")).unwrap_or("").split_whitespace().collect();
    assert!(row.len() > 10 && row[2].parse().is_ok_and(|failed: u32| failed >= 5), "{stdout}");
    let errors = stdout.lines().find(|line| line.starts_with("openat ") && line.contains("ENOENT"));
    assert!(errors.is_some(), "{stdout}");
    assert!(!stdout.contains("bash "), "{stdout}");
    let expected = env.rtrace(&["analyze", "syscalls", "--json", "--top", "0", "--threads", "1"]).stdout();
    for threads in ["2", "3", "8"] {
        assert!(
            env.rtrace(&["analyze", "syscalls", "--json", "--top", "0", "--threads", threads]).stdout() == expected,
            "{threads}"
        );
    }
    let csv = env.rtrace(&["analyze", "syscalls", "--csv", "--sort", "errors"]).stdout();
    let columns = |line: Option<&str>| line.unwrap_or("").split('"').next().unwrap_or("").matches(',').count();
    assert_eq!(columns(csv.lines().next()), columns(csv.lines().nth(1)), "{csv}");
    let fds = env.rtrace(&["analyze", "syscalls", "--csv", "--table", "fds", "--comm", "cat"]).stdout();
    assert!(fds.lines().nth(1).is_some_and(|row| row.contains(",1,cat,")), "not by process: {fds}");
}

/// Timers, soft interrupts and work items of whatever goes on.
#[test]
fn interrupts_are_what_the_definitions_say() {
    let Some((_, _alone)) = kernel() else { return };
    let env = TestEnvironment::new();
    let load = "for i in 1 2 3 4 5 6 7 8 9; do ls -R /etc > list; sync list; sleep 0.02; done";
    let record = ["record", "-q", "--journal-dir", "journal", "--for", "irq", "--", "bash", "-c", load];
    env.rtrace(&record).exits(0);
    let Some(events) = agree(&env, "irq", "trace.dat", &[]) else { return };
    assert!(events > 100, "{events}");
    // With the switches of tasks, work items have an own time.
    let both =
        ["record", "-q", "--journal-dir", "journal", "--for", "sched,irq", "-o", "both.dat", "--", "bash", "-c", load];
    env.rtrace(&both).exits(0);
    agree(&env, "irq", "both.dat", &[]);
    let text = env.rtrace(&["analyze", "irq", "--kind", "softirq,hrtimer"]);
    text.exits(0).complains("");
    assert!(text.stdout().contains("\nsoftirq  TIMER "), "{}", text.stdout());
    assert!(text.stdout().contains("\nhrtimer  "), "{}", text.stdout());
    let csv = env.rtrace(&["analyze", "irq", "--csv"]).stdout();
    let columns: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
    assert!(columns.len() > 3 && columns.iter().all(|count| *count == columns[0]), "{csv}");
}

/// Writes that are flushed, and reads of what no cache holds, where the temporary folder lies on a block device.
#[test]
fn requests_to_devices_are_what_the_definitions_say() {
    let Some((_, _alone)) = kernel() else { return };
    let env = TestEnvironment::new();
    let load = "for i in 1 2 3 4 5 6 7 8; do head -c 300000 /dev/urandom > file; sync file; done; dd if=file of=/dev/null \
                iflag=direct bs=64k";
    let record = ["record", "-q", "--journal-dir", "journal", "--for", "io", "--", "bash", "-c", load];
    env.rtrace(&record);
    let analyze = env.rtrace(&["analyze", "io"]);
    if analyze.status() == Some(1) && analyze.stderr().contains("holds no whole requests") {
        return not_run("nothing reached a block device, as where the temporary folder lies in memory");
    }
    analyze.exits(0).complains("");
    let Some(events) = agree(&env, "io", "trace.dat", &[]) else { return };
    assert!(events > 10, "{events}");
    assert!(analyze.stdout().contains("  write "), "{}", analyze.stdout());
    let csv = env.rtrace(&["analyze", "io", "--csv"]).stdout();
    let columns: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
    assert!(columns.len() > 1 && columns.iter().all(|count| *count == columns[0]), "{csv}");
}

/// Locks, memory and page faults of tasks that begin, read and end; one recording for all three.
#[test]
fn locks_memory_and_faults_are_what_the_definitions_say() {
    let Some((_, _alone)) = kernel() else { return };
    let env = TestEnvironment::new();
    let load = "for i in 1 2 3 4; do (ls -R /etc/ssl | sort | wc -l; cat /proc/self/maps > /dev/null) & done; wait";
    let record = ["record", "-q", "--journal-dir", "journal", "--for", "locks,memory,faults", "--", "sh", "-c", load];
    env.rtrace(&record).exits(0);
    for (what, least) in [("memory", 1000), ("faults", 50), ("locks", 0)] {
        let analyze = env.rtrace(&["analyze", what, "--csv"]);
        if what == "locks" && analyze.status() == Some(1) {
            not_run("no task waited for a lock meanwhile");
            continue;
        }
        let csv = analyze.exits(0).stdout();
        let columns: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
        assert!(columns.iter().all(|count| *count == columns[0]), "{csv}");
        let Some(events) = agree(&env, what, "trace.dat", &[]) else { return };
        assert!(events > least, "{what}: {events}");
        let expected = env.rtrace(&["analyze", what, "--json", "--top", "0", "--threads", "1"]).stdout();
        assert!(
            env.rtrace(&["analyze", what, "--json", "--top", "0", "--threads", "3"]).stdout() == expected,
            "{what}"
        );
    }
    env.rtrace(&["analyze", "faults", "--comm", "ls"]).exits(0).prints_with("\nls [");
    env.rtrace(&["analyze", "functions"]).exits(1).complains_with("`rtrace record --for functions`");
}

/// A real-time task keeps the CPU while another one waits for it, which is allowed nowhere else.
#[test]
fn why_names_the_priority_that_came_first() {
    let Some((_, _alone)) = kernel() else { return };
    let env = TestEnvironment::new();
    if env.command("python3").arg("--version").output().is_err() {
        return not_run("no python3 is installed, which makes the load");
    }
    let load = "import os, time\n\
                def spin(until):\n    while time.monotonic() < until: pass\n\
                cpu = min(os.sched_getaffinity(0))\nos.sched_setaffinity(0, {cpu})\nbegin = time.monotonic()\n\
                child = os.fork()\n\
                if not child:\n\
                \x20   open('/proc/self/comm', 'w').write('first')\n\
                \x20   os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))\n\
                \x20   time.sleep(0.02)\n    spin(begin + 0.1)\n    os._exit(0)\n\
                open('/proc/self/comm', 'w').write('second')\ntime.sleep(0.05)\nos.waitpid(child, 0)\n";
    let record = ["record", "-q", "--journal-dir", "journal", "--for", "sched,irq", "--", "python3", "-c", load];
    env.rtrace(&record).exits(0);
    let report = env.rtrace(&["report"]).stdout();
    if !report.lines().any(|line| line.contains("sched_switch:") && line.contains("==> first:")) {
        return not_run("this kernel left out the switch to the task that keeps the CPU");
    }
    let why = env.rtrace(&["why", "second", "--worst", "wakeup"]);
    let text = why.stdout();
    assert!(text.contains("first [") && text.contains(", which comes first: real-time 10, not nice 0"), "{text}");
    agree(&env, "why", "trace.dat", &[]);
}

/// Memory that is moved together at somebody's wish, packets to ourselves, and CPUs that have nothing to do now and then.
#[test]
fn stalls_packets_and_idle_cpus_are_what_the_definitions_say() {
    let Some((_, _alone)) = kernel() else { return };
    let env = TestEnvironment::new();
    let load = "import socket, threading, time\n\
                for file in ('/proc/sys/vm/compact_memory',):\n    open(file, 'w').write('1')\n\
                server = socket.create_server(('127.0.0.1', 0))\n\
                def serve():\n    one, _ = server.accept()\n    while data := one.recv(4096):\n        one.sendall(data)\n\
                thread = threading.Thread(target=serve)\nthread.start()\n\
                client = socket.create_connection(server.getsockname())\n\
                for size in range(1, 60):\n    client.sendall(b'x' * size)\n    client.recv(4096)\n    time.sleep(0.001)\n\
                client.close()\nthread.join()\n";
    let record = ["record", "-q", "--journal-dir", "journal", "--for", "reclaim,net,idle", "-b", "8M", "--"];
    if env.command("python3").arg("--version").output().is_err() {
        return not_run("no python3 is installed, which makes the load");
    }
    env.rtrace(&[&record[..], &["python3", "-c", load]].concat()).exits(0);
    for (what, least) in [("reclaim", 0), ("net", 200), ("idle", 0)] {
        let analyze = env.rtrace(&["analyze", what, "--csv"]);
        // A machine may have no memory to move, and no idle states.
        if least == 0 && analyze.status() == Some(1) {
            not_run(format!("no event of {what} was written meanwhile"));
            continue;
        }
        let csv = analyze.exits(0).stdout();
        let columns: Vec<usize> = csv.lines().map(|line| line.split(',').count()).collect();
        assert!(columns.iter().all(|count| *count == columns[0]), "{csv}");
        let Some(events) = agree(&env, what, "trace.dat", &[]) else { return };
        assert!(events > least, "{what}: {events}");
        agree(&env, what, "trace.dat", &["--since", "+5ms", "--until", "-5ms"]);
    }
    let net = env.rtrace(&["analyze", "net"]);
    net.exits(0).prints_with("\nlo ").prints_with("python3 [");
}

/// Requests that threads hand on by lines of the marker, which wait for a lock, a pipe, a device and each other.
#[test]
fn requests_are_what_their_threads_do() {
    let Some((kernel, _alone)) = kernel() else { return };
    let env = TestEnvironment::new();
    if env.command("python3").arg("--version").output().is_err() {
        return not_run("no python3 is installed, which makes the load");
    }
    let load = "import os, sys, threading, time, queue\n\
                marker = os.open(f'{sys.argv[1]}/instances/rtrace-{os.getppid()}/trace_marker', os.O_WRONLY)\n\
                say = lambda text: os.write(marker, (text + '\\n').encode())\n\
                lock, todo = threading.Lock(), queue.Queue()\n\
                def work():\n    while (one := todo.get()) is not None:\n\
                \x20       say(f'take {one}')\n        with lock: time.sleep(0.001)\n\
                \x20       file = os.open('file', os.O_WRONLY | os.O_CREAT)\n        os.write(file, os.urandom(20000))\n\
                \x20       os.fsync(file)\n        os.close(file)\n        say(f'end {one} well')\n\
                threads = [threading.Thread(target=work) for _ in range(3)]\n\
                for thread in threads: thread.start()\n\
                for one in range(40):\n    say(f'begin {one}')\n    sum(range(20000))\n    todo.put(one)\n\
                for thread in threads: todo.put(None)\nfor thread in threads: thread.join()\n";
    let root = kernel.root().display().to_string();
    let record = ["record", "-q", "--journal-dir", "journal", "--for", "requests", "-b", "8M", "--"];
    env.rtrace(&[&record[..], &["python3", "-c", load, &root]].concat()).exits(0);
    let ends = ["--begin", "begin *", "--end", "end *", "--by", "marker"];
    let carried = [&ends[..], &["--carry", "take *"]].concat();
    for words in [&ends[..], &carried] {
        let Some(events) = agree(&env, "requests", "trace.dat", words) else { return };
        assert!(events > 200, "{events}");
    }
    let text = env.rtrace(&[&["analyze", "requests"], &carried[..]].concat());
    text.exits(0).prints_with("; 40 requests").prints_with("\nqueued ");
    for threads in ["1", "3"] {
        let csv =
            env.rtrace(&[&["analyze", "requests", "--csv", "--threads", threads], &carried[..]].concat()).stdout();
        assert_eq!(csv.lines().count(), 41, "{csv}");
    }
}

/// Events that were enabled and did not happen are known not to have happened; also of files made from this one.
#[test]
fn what_did_not_happen_is_known() {
    let Some((_, _alone)) = kernel() else { return };
    let env = TestEnvironment::new();
    let quiet = ["-e", "sched:sched_switch", "-e", "sched:sched_pi_setprio"];
    let events = [&quiet[..], &["-e", "sched:sched_process_hang", "-f", "pid == 1"]].concat();
    env.rtrace(&[&["record", "-q", "--journal-dir", "journal"], &events[..], &["sleep", "0.05"]].concat()).exits(0);
    env.rtrace(&["convert", "trace.dat", "-o", "converted.dat", "--compression", "none"]).exits(0);
    env.rtrace(&["split", "-i", "trace.dat", "-o", "part.dat"]).exits(0);
    for file in ["trace.dat", "converted.dat", "part.dat"] {
        let outcome = env.rtrace(&["check", file, "-a", "count(sched:sched_process_hang) == 0"]);
        outcome.exits(4).prints_with("sched:sched_process_hang was recorded with the filter pid == 1");
        let none = ["-a", "count(sched:sched_pi_setprio) == 0", "-a", "count(sched:sched_switch if next_pid >= 0) > 0"];
        let outcome = env.rtrace(&[&["check", file, "-a", "lost == 0"], &none[..]].concat());
        outcome.exits(0).prints_with("3 assertions: 3 pass, 0 fail, 0 indeterminate");
        env.rtrace(&["check", file, "-a", "count(sched:sched_switch) == 0"]).exits(3);
        // Not asked for.
        env.rtrace(&["check", file, "-a", "count(sched:sched_wakeup_new) == 0"]).exits(4);
    }
    let Some(quantities) = agree(&env, "check", "trace.dat", &[]) else { return };
    assert!(quantities > 10, "{quantities}");
    // A trigger may switch an event off at any time.
    let events = ["-e", "sched:sched_switch", "-e", "sched:sched_process_hang", "-R", "traceoff:1 if pid == 1"];
    env.rtrace(&[&["record", "-q", "--journal-dir", "journal"], &events[..], &["sleep", "0.05"]].concat()).exits(0);
    let outcome = env.rtrace(&["check", "-a", "count(sched:sched_process_hang) == 0"]);
    outcome.exits(4).prints_with("which does not say that it was enabled");
}

/// A part of what happened passes no assertion about the whole, and fails none but by what it holds.
#[test]
fn a_part_does_not_contradict_the_whole() {
    let Some((_, _alone)) = kernel() else { return };
    let env = TestEnvironment::new();
    let record = |limit: &[&str]| {
        let line = ["record", "-q", "--journal-dir", "journal", "-e", "sched:sched_switch"];
        let command = ["-e", "sched:sched_waking", "--", "sh", "-c", "i=0; while [ $i -lt 9999 ]; do i=$((i+1)); done"];
        env.rtrace(&[&line[..], limit, &command].concat()).exits(0);
    };
    for (limit, told) in [
        (&["-f", "next_prio < 50"][..], "sched:sched_switch was recorded with the filter next_prio < 50"),
        (&["-M", "1"], "only events on these CPUs were recorded: 0"),
        (&["-F"], "only events of these tasks were recorded: "),
        (&["--not-pid", "1"], "events of these tasks were not recorded: 1"),
    ] {
        record(limit);
        env.rtrace(&["convert", "trace.dat", "-o", "converted.dat", "--force"]).exits(0);
        for file in ["trace.dat", "converted.dat"] {
            for assertion in ["run(sh) < 1h", "max(wait()) < 1h", "busy < 100%", "count(sched:sched_switch) < 1000000"]
            {
                env.rtrace(&["check", file, "-a", assertion]).exits(4).prints_with(told);
            }
            env.rtrace(&["check", file, "-a", "duration < 1h"]).exits(0);
        }
    }
    // Other tasks that the switches name are in no value of a comparison.
    record(&["-F", "-c"]);
    let table = env.rtrace(&["analyze", "sched", "--csv", "--top", "0"]).stdout();
    let run: f64 = table.lines().skip(1).filter_map(|row| row.split(',').nth(5)?.parse::<f64>().ok()).sum();
    let compared = env.rtrace(&["diff", "trace.dat", "trace.dat", "--metric", "run()", "--json"]).stdout();
    let compared: serde_json::Value = serde_json::from_str(&compared).expect("a document");
    assert_eq!(compared["metrics"][0]["base"].as_f64().map(f64::round), Some(run), "{table}");
    record(&[]);
    env.rtrace(&["check", "-a", "count(sched:sched_switch) < 1000000"]).exits(0);
}

/// A recording is judged as soon as it is made; the command's own failure counts more.
#[test]
fn a_recording_is_held_against_assertions() {
    let Some((_, _alone)) = kernel() else { return };
    let env = TestEnvironment::new();
    let record = |assertions: &[&str], command: &[&str]| {
        let assertions: Vec<&str> = assertions.iter().flat_map(|one| ["--assert", one]).collect();
        let line = ["record", "-q", "--journal-dir", "journal", "--for", "sched"];
        env.rtrace(&[&line[..], &assertions, &["--"], command].concat())
    };
    record(&["lost == 0", "max(wait()) < 10s"], &["sleep", "0.02"]).exits(0).complains("");
    let fails = record(&["count(sched:sched_switch) == 0"], &["sleep", "0.02"]);
    fails.exits(3).prints("");
    assert!(fails.stderr().starts_with("FAIL           count(sched:sched_switch) == 0\n"), "{}", fails.stderr());
    record(&["max(io()) < 1s"], &["sleep", "0.02"]).exits(4);
    record(&["count(sched:sched_switch) == 0"], &["sh", "-c", "exit 7"]).exits(7);
    let wrong = record(&["lots == 0"], &["touch", "ran"]);
    wrong.exits(2);
    assert!(!env.path().join("ran").exists(), "nothing runs after a wrong assertion");
    record(&["count(sched:sched_switch if nosuch == 1) == 0"], &["true"]).exits(125);
}

/// By no clock of this kernel a recording is shorter than the load, nor longer than the wall's time; what counts ticks says nothing.
#[test]
fn a_duration_is_that_of_the_wall_by_every_clock() {
    let Some((tracefs, _alone)) = kernel() else { return };
    let clocks = tracefs.top().trace_clock().unwrap().available;
    let mut of_time = 0;
    for clock in &clocks {
        let env = TestEnvironment::new();
        let started = Instant::now();
        let line = ["record", "-q", "--journal-dir", "journal", "-C", clock, "-e", "sched", "--", "sleep", "0.1"];
        env.rtrace(&line).exits(0);
        let wall = started.elapsed().as_nanos() as f64;
        let short = env.rtrace(&["check", "-a", "duration < 1ms", "-a", "max(wait()) < 1us"]);
        assert!(matches!(short.status(), Some(3 | 4)), "{clock}: {}", short.stdout());
        assert!(!short.stdout().contains("pass           "), "{clock}: {}", short.stdout());
        let json = env.rtrace(&["check", "--json", "-a", "duration >= 0s"]).stdout();
        let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        match (json["assertions"][0]["left"]["observed"].as_f64(), json["unit"].as_str()) {
            (Some(span), Some("ns")) => {
                assert!((0.09e9..=wall * 1.01).contains(&span), "{clock}: {span} ns of {wall} ns");
                of_time += 1;
            }
            (None, Some("ticks")) => {}
            other => panic!("{clock}: {other:?}"),
        }
    }
    assert!(of_time >= 4 && clocks.iter().any(|clock| clock == "uptime"), "{clocks:?}");
}

/// A kernel without hist triggers: its events are counted as they come.
#[test]
fn events_are_counted_here_where_the_kernel_cannot() {
    let Some((tracefs, _alone)) = kernel() else { return };
    let env = TestEnvironment::new();
    let load = ["--", "dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=3000", "status=none"];
    let here = ["--in-user", "--journal-dir", "journal", "--json"];
    // Others may write more meanwhile.
    let by_one = "echo $$ > pid; exec dd if=/dev/zero of=/dev/null bs=1 count=3000 status=none";
    let words = ["hist", "raw_syscalls:sys_enter", "--key", "common_pid", "--if", "id == 1"];
    let words: Vec<&str> = words.iter().chain(&here).chain(&["--", "sh", "-c", by_one]).copied().collect();
    let printed = env.rtrace(&words);
    let document: serde_json::Value = serde_json::from_str(&printed.exits(0).stdout()).expect("JSON");
    let pid: u64 = std::fs::read_to_string(env.path().join("pid")).expect("a file").trim().parse().expect("a number");
    let entries = document["tables"][0]["entries"].as_array().expect("entries");
    let of_dd = entries.iter().find(|entry| entry["keys"]["common_pid"] == pid).expect("its calls");
    let hits = of_dd["hitcount"].as_u64().expect("a number");
    let lost = document["recording"]["lost"].as_u64().expect("a number");
    // One for the number, and those of dd.
    assert!(hits <= 3001 && hits + lost >= 3001, "{hits} {lost}");
    // The kernel filters by the name of the task; while the events come it is not known.
    let named = ["hist", "raw_syscalls:sys_enter", "--key", "id", "--if", "comm == \"dd\" && id == 1"];
    let words: Vec<&str> = named.iter().chain(&here).chain(&load).copied().collect();
    let document: serde_json::Value = serde_json::from_str(&env.rtrace(&words).exits(0).stdout()).expect("JSON");
    let (hits, lost) = (&document["tables"][0]["hits"], &document["recording"]["lost"]);
    let (hits, lost) = (hits.as_u64().expect("a number"), lost.as_u64().expect("a number"));
    assert!((1..=3000).contains(&hits) && hits + lost >= 3000, "{document:#}");
    let counted = ["hist", "raw_syscalls:sys_enter", "--key", "common_comm"];
    let words: Vec<&str> = counted.iter().chain(&here).chain(&load).copied().collect();
    env.rtrace(&words).exits(2).complains_with("-i");
    // Each call that returned has its time.
    let words =
        ["latency", "raw_syscalls:sys_enter", "raw_syscalls:sys_exit", "--by", "common_pid", "--if-start", "id == 1"];
    let words: Vec<&str> = words.iter().chain(&here).chain(&["--max-lost", "1000000"]).chain(&load).copied().collect();
    let document: serde_json::Value = serde_json::from_str(&env.rtrace(&words).exits(0).stdout()).expect("JSON");
    let times = document["tables"][0]["summary"]["hitcount"].as_u64().unwrap_or(0);
    let lost = document["recording"]["lost"].as_u64().expect("a number");
    assert!(times + lost >= 3000, "{document:#}");
    // Readings while the command runs: none has more than the one after it, and all that is counted is in the last one.
    let slow = "for i in 1 2 3 4 5 6; do dd if=/dev/zero of=/dev/null bs=1 count=300 status=none; sleep 0.1; done";
    for (what, summary) in [
        (&["hist", "raw_syscalls:sys_enter", "--key", "id", "--if", "id == 1"][..], false),
        (
            &[
                "latency",
                "raw_syscalls:sys_enter",
                "raw_syscalls:sys_exit",
                "--by",
                "common_pid",
                "--if-start",
                "id == 1",
            ],
            true,
        ),
    ] {
        let words: Vec<&str> = what
            .iter()
            .chain(&here)
            .chain(&["--follow=100ms", "--max-lost", "1000000", "--", "bash", "-c", slow])
            .copied()
            .collect();
        let printed = env.rtrace(&words);
        let readings: Vec<serde_json::Value> =
            printed.exits(0).stdout().lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert!(readings.len() >= 4, "{readings:#?}");
        let hits = |reading: &serde_json::Value| {
            let table = &reading["tables"][0];
            if summary { table["summary"]["hitcount"].as_u64() } else { table["hits"].as_u64() }
        };
        let counts: Vec<u64> = readings.iter().map(|reading| hits(reading).unwrap_or(0)).collect();
        assert!(counts.is_sorted() && counts.first() < counts.last(), "{counts:?}");
        let last = readings.last().expect("a reading");
        assert!(last["interval"].is_null() && readings[0]["interval"] == 1, "{last:#}");
        let lost = last["recording"]["lost"].as_u64().expect("a number");
        assert!(counts.last().is_some_and(|count| count + lost >= 1800), "{counts:?}, {lost} lost");
    }
    let failing = [
        "hist",
        "sched:sched_switch",
        "--key",
        "next_pid",
        "--in-user",
        "--journal-dir",
        "journal",
        "--",
        "sh",
        "-c",
        "exit 7",
    ];
    env.rtrace(&failing).exits(7);
    let left: Vec<String> =
        tracefs.instances().expect("a list").into_iter().filter(|name| name.starts_with("rtrace")).collect();
    assert!(left.is_empty(), "{left:?}");
}
