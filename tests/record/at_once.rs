//! Two recordings of this machine at once, one whole and one limited, judged over the same time.

use crate::common::environment::TestEnvironment;
use crate::common::long::is_left_out;
use crate::host::kernel;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A process that runs and sleeps by turns until this goes.
struct Busy(std::process::Child);

impl Busy {
    fn start() -> Self {
        let mut shell = std::process::Command::new("bash");
        shell.args(["-c", "while :; do i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done; read -t 0.01 x; done"]);
        Busy(shell.stdin(std::process::Stdio::piped()).spawn().expect("bash starts"))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// CPU, event and pid of an event: what two recordings of it have in common, but for its time.
type EventKey = (String, String, String);

/// The events of a recording: times of those alike, and all in the order of time.
struct Stamps {
    alike: BTreeMap<EventKey, Vec<u64>>,
    all: Vec<(u64, EventKey)>,
}

impl Stamps {
    fn read(env: &TestEnvironment, file: &str) -> Self {
        let printed = env.rtrace(&["report", file, "--format", "csv", "--fields", "ts,cpu,event,pid"]).stdout();
        let all: Vec<(u64, EventKey)> = printed.lines().skip(1).filter_map(Self::line).collect();
        let mut alike: BTreeMap<EventKey, Vec<u64>> = BTreeMap::new();
        for (at, key) in &all {
            alike.entry(key.clone()).or_default().push(*at);
        }
        Stamps { alike, all }
    }

    fn line(line: &str) -> Option<(u64, EventKey)> {
        let mut cells = line.split(',');
        let at = cells.next()?.parse().ok()?;
        let mut cell = || cells.next().map(str::to_owned);
        Some((at, (cell()?, cell()?, cell()?)))
    }

    /// The time nearest to `at` of an event like this.
    fn nearest(&self, at: u64, key: &EventKey) -> Option<u64> {
        let times = self.alike.get(key)?;
        let after = times.partition_point(|time| *time < at);
        let near = times.iter().skip(after.saturating_sub(1)).take(2).copied();
        near.min_by_key(|time| time.abs_diff(at))
    }

    /// The most by which the stamps of one event differ: each ring has its own, taken one after the other, and an interrupt
    /// or the host may come between.
    fn skew(&self, whole: &Stamps) -> u64 {
        let apart = self.all.iter().filter_map(|(at, key)| Some(whole.nearest(*at, key)?.abs_diff(*at)));
        apart.max().unwrap_or_default()
    }

    /// A time among these events that no event lies before in one recording and behind in the other: within the longest
    /// silence, of both, of which that is so.
    fn edge(&self, whole: &Stamps, among: std::ops::Range<usize>) -> u64 {
        let mut silences: Vec<(u64, usize)> =
            among.filter_map(|at| Some((self.all.get(at + 1)?.0 - self.all.get(at)?.0, at))).collect();
        silences.sort_unstable();
        let found = silences.into_iter().rev().find_map(|(length, at)| {
            let edge = self.all[at].0 + length / 2;
            let (before, after) = self.all.split_at(at + 1);
            let of_each_cpu = |seen: &mut BTreeSet<String>, key: &EventKey| seen.insert(key.0.clone());
            let (mut last, mut first) = (BTreeSet::new(), BTreeSet::new());
            let mut near = before.iter().rev().take(500).filter(|(_, key)| of_each_cpu(&mut last, key));
            let is_before = near.all(|(at, key)| whole.nearest(*at, key).is_some_and(|at| at < edge));
            let mut near = after.iter().take(500).filter(|(_, key)| of_each_cpu(&mut first, key));
            let is_after = near.all(|(at, key)| whole.nearest(*at, key).is_some_and(|at| at > edge));
            (is_before && is_after).then_some(edge)
        });
        found.expect("a time between two events")
    }
}

/// Bounds of a value; `None` if nothing is known.
fn bounds(value: &Value) -> Option<(f64, f64)> {
    let bound = |name: &str| value[name].as_f64();
    value.is_object().then(|| (bound("least").unwrap_or(0.0), bound("most").unwrap_or(f64::INFINITY)))
}

const QUANTITIES: [&str; 20] = [
    "run(ls)",
    "run(sort)",
    "run()",
    "busy",
    "max(wait())",
    "p50(wait())",
    "mean(wait())",
    "sum(wait())",
    "count(wait())",
    "max(wait(sort))",
    "max(preempted())",
    "count(sched:sched_switch)",
    "count(sched:sched_waking)",
    "count(irq())",
    "max(irq())",
    "count(irq(softirq:*))",
    "count(syscall(kill))",
    "sum(syscall(wait4))",
    "errors(syscall(kill))",
    "max(latency(sched:sched_waking, sched:sched_switch, pid=next_pid))",
];

/// Two recordings of the same time.
struct TwoRecordings {
    env: TestEnvironment,
    window: [String; 2],
    /// The limited one's own threads, which are no tasks in it.
    own: Vec<String>,
    skew: f64,
    /// The numbers that were compared, and those that did not agree.
    compared: u64,
    wrong: Vec<String>,
}

impl TwoRecordings {
    fn record(limit: &[&str], filtered: &str, filter: &'static str) -> Self {
        let load = "for i in 1 2 3 4; do ls -R /etc | sort | wc -l; kill -0 $$; sleep 0.01; done";
        let events = |filtered: &str| {
            let mut words = Vec::new();
            for event in ["sched:sched_switch", "sched:sched_waking", "sched:sched_wakeup", "irq", "raw_syscalls"] {
                words.extend(["-e", event]);
                if event == filtered {
                    words.extend(["-f", filter]);
                }
            }
            words
        };
        let env = TestEnvironment::new();
        let program = env!("CARGO_BIN_EXE_rtrace");
        let part = [&["-q", "--journal-dir", "journal", "-o", "part.dat"], limit, &events(filtered)[..]].concat();
        let whole = ["record", "-q", "--journal-dir", "whole", "--self", "-b", "16M", "-o", "whole.dat"];
        let line = [&whole[..], &events(""), &["--", program, "record"], &part, &["--", "sh", "-c", load]].concat();
        env.rtrace(&line).exits(0);
        let (all, some) = (Stamps::read(&env, "whole.dat"), Stamps::read(&env, "part.dat"));
        // Without the ends, where one recording is on and the other is not.
        let (count, end) = (some.all.len(), some.all.len() / 20);
        let window = [some.edge(&all, end / 5..end), some.edge(&all, count - end..count - end / 5)]
            .map(|at| format!("{}.{:09}", at / 1_000_000_000, at % 1_000_000_000));
        let summary = env.rtrace(&["report", "part.dat", "--summary", "--format", "json"]).stdout();
        let summary: Value = serde_json::from_str(&summary).expect("JSON");
        let buffers = summary["coverage"][0]["buffers"].as_array().into_iter().flatten();
        let own: BTreeSet<String> = buffers
            .flat_map(|buffer| buffer["tasks"]["own"].as_array().into_iter().flatten())
            .map(ToString::to_string)
            .collect();
        let (own, skew) = (own.into_iter().collect(), some.skew(&all) as f64);
        TwoRecordings { env, window, own, skew, compared: 0, wrong: Vec::new() }
    }

    /// The values of these, with their units, and the document.
    fn values(&self, file: &str, quantities: &[String], more: &[&str]) -> Vec<(Option<(f64, f64)>, Value)> {
        let [since, until] = self.window.each_ref().map(String::as_str);
        let in_time = |one: &str| ["run", "max", "p50", "mean", "sum"].iter().any(|name| one.starts_with(name));
        let least = |one: &String| format!("{one} >= {}", if in_time(one) { "0ns" } else { "0" });
        let assertions: Vec<String> = quantities.iter().map(least).collect();
        let assertions: Vec<&str> = assertions.iter().flat_map(|one| ["-a", one]).collect();
        let line = ["check", file, "--json", "--since", since, "--until", until];
        let document = self.env.rtrace(&[&line[..], more, &assertions].concat()).stdout();
        let document: Value = serde_json::from_str(&document).expect("JSON");
        let all = document["assertions"].as_array().expect("an array").iter();
        all.map(|one| (bounds(&one["left"]), one.clone())).collect()
    }

    /// The whole's answer, in which the other's own threads are no tasks.
    fn without_own(&self, quantity: &str, (least, most): (f64, f64)) -> Option<(f64, f64)> {
        let (function, of_all) = quantity.split_once('(').unwrap_or((quantity, ""));
        let of_own = |tid: &String| format!("{function}({}", of_all.replace("()", &format!("({tid})")));
        match (function, of_all) {
            _ if self.own.is_empty() => Some((least, most)),
            ("max", "wait())" | "preempted())") => Some((0.0, most)),
            ("sum" | "count", "wait())" | "preempted())") => {
                let of_own: Vec<String> = self.own.iter().map(of_own).collect();
                let own = self.values("whole.dat", &of_own, &["--allow-absent"]);
                let (lesser, more) = own.iter().fold((0.0, 0.0), |(least, most), (own, _)| {
                    let (own_least, own_most) = own.unwrap_or((0.0, f64::INFINITY));
                    (least + own_least, most + own_most)
                });
                Some((least - more, most - lesser))
            }
            (_, "wait())" | "preempted())") => None,
            _ => Some((least, most)),
        }
    }

    /// Values of the limited one hold the whole's.
    fn compare_values(&mut self) {
        let quantities = QUANTITIES.map(str::to_owned);
        let (all, some) = (self.values("whole.dat", &quantities, &[]), self.values("part.dat", &quantities, &[]));
        for (quantity, ((all, whole), (some, part))) in QUANTITIES.iter().zip(all.into_iter().zip(some)) {
            let all = all.and_then(|all| self.without_own(quantity, all));
            let (Some((least, most)), Some((from, to))) = (all, some) else { continue };
            let slack = |value: f64| match whole["left"]["unit"] == "ns" {
                true => value * 0.05 + 50_000.0 + 2.0 * self.skew,
                false if value > 2.0 => 0.0,
                false => 0.02, // a share
            };
            self.compared += 1;
            if from > most + slack(most) || to + slack(to) < least {
                self.wrong
                    .push(format!("{quantity}: {from} to {to}, {least} to {most} of the whole: {part:#} {whole:#}"));
            }
        }
    }

    /// The times that tasks ran for: the same, at least so much, or unknown.
    fn compare_tasks(&mut self) {
        let [since, until] = self.window.each_ref().map(String::as_str);
        let analyzed = |file: &str| -> Value {
            let line = ["analyze", "sched", file, "--json", "--top", "0", "--since", since, "--until", until];
            serde_json::from_str(&self.env.rtrace(&line).stdout()).unwrap_or_default()
        };
        let (all, some) = (analyzed("whole.dat"), analyzed("part.dat"));
        let (all, some) = (&all["buffers"][0], &some["buffers"][0]);
        let is_least = some["at_least"].as_array().is_some_and(|names| names.contains(&"tasks.run".into()));
        for task in some["tasks"].as_array().into_iter().flatten() {
            let same = |other: &&Value| other["pid"] == task["pid"] && other["life"] == task["life"];
            let other = all["tasks"].as_array().into_iter().flatten().find(same);
            let (Some(ran), Some(other)) = (task["run"].as_f64(), other) else { continue };
            // What is not known of the whole's edges may be either; and each begins with the first event that it has.
            let time = |of: &Value| of.as_f64().unwrap_or_default();
            let apart = |edge: &str| (time(&all["window"][edge]) - time(&some["window"][edge])).abs();
            let (least, unknown) = (time(&other["run"]), time(&other["unknown"]));
            let slack = least * 0.05 + 50_000.0 + 2.0 * self.skew + apart("begin") + apart("end");
            self.compared += 1;
            if ran > least + unknown + slack || (!is_least && ran + slack < least) {
                self.wrong.push(format!("{task:#} {other:#}"));
            }
        }
    }
}

/// Values of the limited one hold the other's.
#[test]
fn two_recordings_agree_as_far_as_both_know() {
    let Some((_, _alone)) = kernel() else { return };
    let busy = Busy::start();
    let pid = busy.0.id().to_string();
    let limits: [(&[&str], &str, &str); 11] = [
        (&["--self"], "", ""),
        (&[], "", ""),
        (&["-M", "1"], "", ""),
        (&["-F", "-c"], "", ""),
        (&[], "sched:sched_switch", "next_prio < 50"),
        (&["-F"], "", ""),
        (&["--not-pid", "1"], "", ""),
        (&["-P", &pid], "", ""),
        (&["-b", "64"], "", ""),
        (&["-B", "rtrace-test-part"], "", ""),
        (&[], "irq", "common_pid != 0"),
    ];
    let few = if is_left_out("at_once::two_recordings: each limit") { 3 } else { limits.len() };
    let mut wrong = Vec::new();
    for (limit, filtered, filter) in limits.into_iter().take(few) {
        let mut two = TwoRecordings::record(limit, filtered, filter);
        two.compare_values();
        two.compare_tasks();
        println!("{limit:?} {filter}: {} compared, stamps at most {} ns apart", two.compared, two.skew);
        wrong.extend(two.wrong.iter().map(|wrong| format!("{limit:?} {filter}: {wrong}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
