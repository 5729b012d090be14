//! System calls in words, against strace in the same run.

use crate::common::environment::TestEnvironment;
use crate::common::not_run::not_run;
use crate::host::kernel;

/// Names, arguments and results of some ninety different calls, and the same output on any number of threads.
#[test]
fn calls_are_what_strace_prints() {
    let Some((_, _alone)) = kernel() else { return };
    let env = TestEnvironment::new();
    for program in ["python3", "strace"] {
        if env.command(program).arg("--version").output().is_err() {
            return not_run("no python3 or no strace is installed");
        }
    }
    let common = |file: &str| format!("{}/tests/common/{file}", env!("CARGO_MANIFEST_DIR"));
    let load = format!("python3 -B {}; ls -R /etc | sort | wc -l; cat /no/such/file; true", common("many_calls.py"));
    let record = ["record", "-q", "--journal-dir", "journal", "-e", "raw_syscalls", "-F", "-c", "--"];
    let strace = ["strace", "-f", "-s", "0", "-e", "verbose=none", "-o", "strace.txt", "bash", "-c", &load];
    env.rtrace(&[&record[..], &strace].concat()).exits(0);
    let account = env
        .run("python3", &["-B", &common("account_strace.py"), env!("CARGO_BIN_EXE_rtrace"), "trace.dat", "strace.txt"]);
    account.exits(0);
    let said = account.stdout();
    let last = said.lines().last().unwrap_or_default();
    assert!(last.ends_with(" 0 differences"), "{said}");
    let calls: usize = last.split(", ").nth(1).and_then(|calls| calls.split(' ').next()?.parse().ok()).unwrap_or(0);
    let kinds: usize = said.lines().find_map(|line| line.split_once(" different calls")?.0.parse().ok()).unwrap_or(0);
    assert!(calls > 2_000 && kinds > 60, "{said}");
    for format in ["text", "json"] {
        let report = |threads| {
            let report = env.rtrace(&["report", "--syscalls", "--format", format, "--threads", threads]);
            report.exits(0).complains("");
            report.stdout()
        };
        let expected = report("1");
        for threads in ["2", "8"] {
            assert!(report(threads) == expected, "{format}, {threads} threads");
        }
    }
}

/// As they happen, of both families.
#[test]
fn a_stream_shows_calls() {
    let Some((_, _alone)) = kernel() else { return };
    let env = TestEnvironment::new();
    for events in ["raw_syscalls", "syscalls:sys_*_openat"] {
        let stream = ["stream", "-q", "--journal-dir", "journal", "--syscalls", "-F", "-e", events];
        let shown = env.rtrace(&[&stream[..], &["--", "cat", "/no/such/file"]].concat());
        let stdout = shown.stdout();
        let failed =
            |line: &str| line.contains(": openat(AT_FDCWD, 0x") && line.contains(", O_RDONLY) = -1 ENOENT <0.0");
        assert!(stdout.lines().any(failed), "{events}: {stdout}");
        let json = env.rtrace(&[&stream[..], &["--json", "--", "cat", "/no/such/file"]].concat()).stdout();
        let calls: Vec<serde_json::Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let failed =
            |call: &serde_json::Value| call["call"] == "openat" && call["error"] == "ENOENT" && call["result"] == -2;
        assert!(calls.iter().any(failed), "{events}: {json}");
    }
}

#[test]
fn a_recording_without_calls_is_said() {
    let recording = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/traces/i386/events-v6.dat");
    let report = TestEnvironment::new().rtrace(&["report", "--syscalls", recording]);
    report.exits(1).complains_with("there are no events of system calls for --syscalls");
    let counted = TestEnvironment::new().rtrace(&["report", "--syscalls", "--count", recording]);
    counted.exits(2).complains_with("`--syscalls` has no effect on `--count`");
}
