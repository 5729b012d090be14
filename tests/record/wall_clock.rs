//! Local time of events, against date(1) that ran between them.

use crate::common::environment::TestEnvironment;
use crate::host::kernel;
use nix::sys::signal::kill;
use nix::unistd::Pid;
use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::Duration;

/// Nanoseconds since 1970 of each event, of the command `date +%s%N` between the first two and the last two in turn, and the
/// rest of what was recorded in `run.dat`.
fn recorded(env: &TestEnvironment, clock: &str) -> (Vec<i64>, Vec<i64>) {
    let load = "for i in 1 2 3; do kill -0 $$; date +%s%N >> dates; kill -0 $$; sleep 0.05; done";
    let args = ["record", "-q", "-C", clock, "-F", "-e", "syscalls:sys_enter_kill", "-f", "sig == 0", "-o", "run.dat"];
    env.rtrace(&[&args[..], &["--", "bash", "-c", load]].concat()).exits(0);
    let csv = env.rtrace(&["report", "--format", "csv", "--fields", "wall", "run.dat"]).exits(0).stdout();
    let nanoseconds = |wall: &str| {
        let date = env.run("date", &["-d", wall, "+%s%N"]).exits(0).stdout();
        date.trim().parse().unwrap_or_else(|_| panic!("{wall}: {date}"))
    };
    let events = csv.lines().skip(1).map(nanoseconds).collect();
    let dates = std::fs::read_to_string(env.path().join("dates")).expect("the dates");
    (events, dates.lines().map(|line| line.parse().expect("a number")).collect())
}

#[test]
fn it_is_that_of_the_machine_by_every_clock_that_counts_nanoseconds() {
    let Some((_, _guard)) = kernel() else { return };
    for clock in ["local", "global", "mono", "mono_raw", "boot", "tai"] {
        let env = TestEnvironment::new();
        let (events, dates) = recorded(&env, clock);
        assert_eq!((events.len(), dates.len()), (6, 3), "{clock}");
        for (pair, date) in events.chunks(2).zip(&dates) {
            // A busy machine reads the two clocks less closely.
            let (before, after) = (pair[0] - 1_000_000, pair[1] + 1_000_000);
            assert!((before..=after).contains(date), "{clock}: {pair:?} around {date}");
        }
    }
    let env = TestEnvironment::new();
    let args = ["record", "-q", "-C", "counter", "-e", "sched:sched_switch", "-o", "run.dat", "--", "true"];
    env.rtrace(&args).exits(0);
    let known = "does not say what time of day it was";
    env.rtrace(&["report", "--wall", "run.dat"]).exits(2).complains_with(known);
    env.rtrace(&["report", "--since", "12:00", "run.dat"]).exits(2).complains_with(known);
}

#[test]
fn windows_are_asked_for_by_it_in_the_readers_zone() {
    let Some((_, _guard)) = kernel() else { return };
    let env = TestEnvironment::new();
    let (events, _) = recorded(&env, "mono");
    for zone in ["UTC", "Asia/Kolkata", "America/St_Johns"] {
        let rtrace = |args: &[&str]| {
            let mut command = env.command(env!("CARGO_BIN_EXE_rtrace"));
            let output = command.args(args).env("TZ", zone).output().expect("rtrace starts");
            assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        let text = rtrace(&["report", "--wall", "-t", "run.dat"]);
        let times: Vec<&str> =
            text.lines().filter_map(|line| line.split_whitespace().find(|word| word.starts_with("20"))).collect();
        assert_eq!(times.len(), events.len(), "{text}");
        let third = times[2].trim_end_matches(':');
        let count = |more: &[&str]| rtrace(&[&["report", "run.dat", "--since", third, "--count"], more].concat());
        assert!(count(&[]).contains(" 4 in all"), "{zone}: {}", count(&[]));
        assert!(count(&["--until", third]).contains(" 1 in all"), "{zone}");
        // Of the recording's own day, in the same zone.
        let time_alone = third.split_once('T').expect("a day").1;
        let alone = rtrace(&["report", "run.dat", "--around", &format!("{time_alone}±1us"), "--count"]);
        assert!(alone.contains(" 1 in all"), "{zone}: {alone}");
        let summary = rtrace(&["report", "--summary", "run.dat"]);
        assert!(summary.contains(&format!("{} to ", &times[0][..19])), "{zone}: {summary}");
    }
}

#[test]
fn recordings_begin_at_a_moment_and_are_laid_beside_each_other_by_it() {
    let Some((_, _guard)) = kernel() else { return };
    let env = TestEnvironment::new();
    let filter = "sig == 0 && pid > 100000000";
    let recorder = |file: &str, clock: &str| {
        let mut command = env.command(env!("CARGO_BIN_EXE_rtrace"));
        command.args(["record", "-q", "-C", clock, "-e", "syscalls:sys_enter_kill", "-f", filter, "-o", file]);
        command.args(["--at", "/5s", "--duration", "2s"]).spawn().expect("rtrace starts")
    };
    let mut recorders = [recorder("a.dat", "tai"), recorder("b.dat", "mono")];
    // Calls with rising numbers, before and while they record.
    let mut numbers = 200_000_000..;
    while recorders.iter_mut().any(|recorder| recorder.try_wait().expect("a child").is_none()) {
        let _ = kill(Pid::from_raw(numbers.next().expect("a number")), None);
        sleep(Duration::from_millis(1));
    }
    for recorder in &mut recorders {
        assert!(recorder.wait().expect("a child").success());
    }
    for file in ["a.dat", "b.dat"] {
        let csv =
            env.rtrace(&["report", "--format", "csv", "--fields", "wall", "--first", "1", file]).exits(0).stdout();
        let first = env.run("date", &["-d", csv.lines().nth(1).expect("an event"), "+%s%N"]).exits(0).stdout();
        let after = first.trim().parse::<i64>().expect("a number") % 5_000_000_000;
        assert!(after < 1_500_000_000, "{file} begins {after} ns after a multiple of 5 s");
    }
    let text = env.rtrace(&["report", "--align", "wall", "a.dat", "b.dat"]).exits(0).stdout();
    let mut times: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for line in text.lines() {
        let Some((before, call)) = line.split_once(": sys_enter_kill:") else { continue };
        let time = before.split(' ').next_back().and_then(|time| time.parse().ok()).expect("a time");
        times.entry(call).or_default().push(time);
    }
    let in_both: Vec<f64> = times.values().filter(|times| times.len() == 2).map(|times| times[1] - times[0]).collect();
    assert!(in_both.len() > 100, "{} calls are in both", in_both.len());
    // Seconds; a busy machine reads the clocks less closely.
    assert!(in_both.iter().all(|apart| *apart < 0.001), "{in_both:?}");
    env.rtrace(&["record", "--at", "2020-01-01 00:00", "-e", "sched"]).exits(2).complains_with("is over");
}
