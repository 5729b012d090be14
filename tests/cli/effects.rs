//! An option that cannot change the output is refused: every option of `report` beside every output.

use crate::cgroups::divided;
use crate::common::corpus::{corpus, own};
use crate::common::environment::TestEnvironment;
use crate::common::synthetic::Synthetic;
use rtrace::internal::trace_dat::write::Version;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The options that ask for each output.
const OUTPUTS: &[&str] = &[
    "",
    "--format kernel",
    "--format json",
    "--format csv",
    "--format raw",
    "--count",
    "--summary",
    "--profile",
    "-T",
    "--first-event",
    "--last-event",
    "--cpus",
    "--stat",
    "--uname",
    "--version",
    "--event-names",
    "--events",
    "--event sched_switch",
    "--endian",
    "--page-size",
    "--functions",
    "--printk",
    "--check-events",
    "--json-schema",
];

/// An option with a value that shows in each output that it can change, the options that it needs beside it, and the
/// recordings to show it on: of the project, of the corpus (`~`), or made here (`+`).
const OPTIONS: &[(&str, &str, &[&str])] = &[
    ("--select sched_switch", "", &["vm-6.1/trig.dat"]),
    ("--invert", "--select sched_switch", &["vm-6.1/trig.dat"]),
    ("--filter sched:sched_switch", "", &["vm-6.1/trig.dat"]),
    ("--pid 1", "", &["vm-6.1/trig.dat"]),
    ("--tgid 1", "", &["vm-6.1/trig.dat"]),
    ("--comm sh", "", &["vm-6.1/trig.dat"]),
    ("--cgroup /a", "", &["+cgroups.dat"]),
    ("--no-irq", "", &["host/small-zlib.dat", "s390x/inst.dat", "vm-6.1/trig.dat"]),
    ("--no-softirq", "", &["host/small-zlib.dat", "s390x/inst.dat", "vm-6.1/trig.dat"]),
    ("--cpu 1", "", &["vm-6.1/trig.dat"]),
    ("--since -1ms", "", &["vm-6.1/trig.dat"]),
    ("--until +1ms", "", &["vm-6.1/trig.dat"]),
    ("--around +1ms", "", &["vm-6.1/trig.dat"]),
    ("--first 2", "", &["vm-6.1/trig.dat"]),
    ("--last 2", "", &["vm-6.1/trig.dat"]),
    ("--raw-ts", "", &["~host/tsoffset.dat"]),
    ("--nodate", "", &["~host/date.dat"]),
    ("--wall", "", &["~host/date.dat"]),
    ("--ts-offset 1000", "", &["vm-6.1/trig.dat"]),
    ("--ts2secs 1000", "", &["vm-6.1/trig.dat"]),
    ("--align end", "", &["vm-6.1/trig.dat host/small-zlib.dat"]),
    ("--align-ts", "", &["vm-6.1/trig.dat"]),
    ("--ts-check", "", &["+backwards.dat"]),
    ("-t", "", &["vm-6.1/trig.dat"]),
    ("-l", "", &["vm-6.1/trig.dat"]),
    ("-R", "", &["vm-6.1/trig.dat"]),
    ("-N", "", &["vm-6.1/trig.dat"]),
    ("--ts-diff", "", &["vm-6.1/trig.dat"]),
    ("--wakeups", "", &["host/small-zlib.dat"]),
    ("--boundary", "", &["vm-6.1/trig.dat"]),
    ("--raw-events sched_switch", "", &["vm-6.1/trig.dat"]),
    ("--no-handler sched_switch", "", &["vm-6.1/trig.dat"]),
    ("--option fgraph:tailprint", "", &["~arm64/graph.dat"]),
    ("--kallsyms no-symbols", "", &["i386/kprobe.dat", "~host/stack.dat", "~arm64/function.dat"]),
    ("--symbols user", "", &["vm-6.1/trig.dat"]),
    ("--fields ts", "", &["vm-6.1/trig.dat"]),
    ("--redact", "", &["vm-6.1/trig.dat"]),
    ("--syscalls", "", &["host/small-zlib.dat", "i386/events-v6.dat"]),
    ("--top-tasks 1", "--summary", &["vm-6.1/trig.dat"]),
    ("--global-irqs", "", &["host/small-zlib.dat", "s390x/inst.dat", "~host/allevents.dat"]),
    ("--by-comm", "", &["vm-6.1/trig.dat"]),
    ("--hook sched_wakeup,pid/sched_switch,next_pid", "", &["vm-6.1/trig.dat"]),
    ("--layout table", "", &["vm-6.1/trig.dat"]),
    ("--limit 1", "", &["vm-6.1/trig.dat"]),
    ("--limit 1", "--layout table", &["vm-6.1/trig.dat"]),
    ("--color always", "", &["vm-6.1/trig.dat"]),
    ("--json", "", &["vm-6.1/trig.dat"]),
    ("--format json", "", &["vm-6.1/trig.dat"]),
];

/// Pairs of options beside which each other may stand in vain: what is printed is the same by definition.
const SAME: &[(&str, &str, &str)] = &[("--json", "--format json", "says the same")];

/// Options that change no output by what they mean.
const NEVER_CHANGE: &[(&str, &str)] = &[
    ("input", "the file itself, held to FILE by tests/cli/files.rs"),
    ("threads", "the output is the same for any number: tests/cli/threads.rs"),
    ("no-pager", "of a terminal alone: tests/cli/hostile"),
    ("symfs", "needs --symbols, says where its files are"),
    ("quiet", "trace-cmd's, taken without effect and hidden"),
    ("verbose", "trace-cmd's, taken without effect and hidden"),
    ("help", "prints the help"),
];

/// A recording in which a sub-buffer is older than the one before it.
fn backwards(path: &Path) {
    const SECOND: u64 = 1_000_000_000;
    let mut made = Synthetic::new(1, "1 init\n");
    made.event(0, 5 * SECOND, "sched_switch", 1, &[]);
    made.event(0, 7 * SECOND, "sched_switch", 1, &[]);
    made.write(path, Version::V6);
    let mut bytes = std::fs::read(path).expect("a file");
    let stamp = (7 * SECOND).to_le_bytes();
    let at = bytes.windows(8).rposition(|window| window == stamp).expect("the second sub-buffer's time");
    bytes[at..at + 8].copy_from_slice(&(3 * SECOND).to_le_bytes());
    std::fs::write(path, bytes).expect("a file");
}

/// The end of `rtrace report ARGS`.
type Answered = (Option<i32>, String, String);

#[test]
fn options_change_what_is_printed_or_are_refused() {
    let env = TestEnvironment::new();
    std::fs::write(env.path().join("no-symbols"), "").expect("a file");
    backwards(&env.path().join("backwards.dat"));
    divided(&env, &env.path().join("cgroups.dat"));
    let place = |name: &str| match (name.strip_prefix('~'), name.strip_prefix('+')) {
        (Some(name), _) => corpus().map(|corpus| corpus.join(name)),
        (None, Some(name)) => Some(env.path().join(name)),
        (None, None) => Some(own().join(name)),
    };
    let mut known: BTreeMap<String, Answered> = BTreeMap::new();
    let mut seen = |words: &[&str]| {
        let line = words.join(" ");
        let args: Vec<&str> = line.split_whitespace().collect();
        let run = || {
            let ended = env.rtrace(&[&["report"], &args[..]].concat());
            (ended.status(), ended.stdout(), ended.stderr())
        };
        known.entry(line.clone()).or_insert_with(run).clone()
    };
    let (mut wrong, mut of_use) = (Vec::new(), BTreeSet::new());
    for &(option, needs, recordings) in OPTIONS {
        let partial = recordings.iter().any(|name| name.starts_with('~'));
        for output in OUTPUTS {
            let (mut same, mut refused, mut changed) = (false, None, false);
            for files in recordings {
                let files: Option<Vec<_>> = files.split(' ').map(place).collect();
                let Some(files) = files else { continue };
                let files: Vec<&str> = files.iter().map(|file| file.to_str().expect("a plain path")).collect();
                let files = files.join(" ");
                // `-v` is about the filters after it.
                let with = seen(&[output, option, needs, &files]);
                match with == seen(&[output, needs, &files]) {
                    _ if with.0 == Some(2) => refused = Some(with.2),
                    true => same = true,
                    false => changed = true,
                }
            }
            if changed {
                of_use.insert(option);
            } else if same
                && !(partial && corpus().is_none())
                && !SAME.iter().any(|(one, other, _)| (one, other) == (&option, output))
            {
                wrong.push(format!("report {output} {option} {needs}: taken, and nothing changes"));
            } else if let Some(message) = refused
                && (!message.starts_with("rtrace: `-") || !message.contains("\n  Hint: "))
            {
                wrong.push(format!("report {output} {option} {needs}: {message}"));
            }
        }
        let shown = of_use.contains(option) || (partial && corpus().is_none());
        if !shown && (option, needs) != ("--limit 1", "") {
            wrong.push(format!("report {option}: changes no output"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// An option that is new stands in the table above.
#[test]
fn every_option_is_held_beside_every_output() {
    let help = TestEnvironment::new().rtrace(&["report", "--help"]).exits(0).stdout();
    let listed: BTreeSet<&str> = OPTIONS
        .iter()
        .map(|(option, ..)| *option)
        .chain(OUTPUTS.iter().copied())
        .filter_map(|o| o.split(' ').next())
        .collect();
    // An option's help stands further to the right.
    let is_option = |line: &&str| line.trim_start().starts_with('-') && line.len() - line.trim_start().len() < 10;
    let before_examples = help.lines().take_while(|line| *line != "EXAMPLES:");
    let options = before_examples.filter(is_option).map(str::trim_start);
    for line in options {
        let names: Vec<&str> = line.split([' ', ',', '=', '[', '.']).filter(|word| word.starts_with('-')).collect();
        let exempt = |name: &&str| NEVER_CHANGE.iter().any(|(never, _)| name.trim_start_matches('-') == *never);
        let held = names.iter().any(|name| listed.contains(name) || exempt(name));
        assert!(held || names.contains(&"-L"), "not in OPTIONS, OUTPUTS or NEVER_CHANGE: {line}");
    }
}

/// An option that needs another one says so.
#[test]
fn options_that_miss_another_are_refused() {
    let env = TestEnvironment::new();
    let file = own().join("vm-6.1/trig.dat");
    let file = file.to_str().expect("a plain path");
    for (args, words) in [
        ("-v", "`--invert` has no effect without a `-F` after it"),
        ("-F sched_switch -v", "`--invert` has no effect without a `-F` after it"),
        ("-T", "`--filter-test` has no effect without `-F`"),
        ("--align end", "`--align` has no effect on one file"),
        ("-R -N", "`-N` has no effect beside `-R`"),
        ("-R -r sched_switch", "`--raw-events` has no effect beside `-R`"),
        ("--count --stat", "`--count` and `--stat` print different things"),
        ("--uname --check-events", "`--uname` and `--check-events` print different things"),
        ("--profile --limit 3", "`--limit` has no effect on trace-cmd's layout"),
        ("--json --format csv", "`--json` contradicts `--format`"),
        ("--pid 1 --stat", "`--pid` has no effect on `--stat`: it selects events"),
        ("-t --format kernel", "`-t` has no effect on `--format kernel`: it changes how time stamps are printed"),
    ] {
        let args: Vec<&str> = ["report", file].into_iter().chain(args.split(' ')).collect();
        env.rtrace(&args).exits(2).prints("").complains_with(words).complains_with("\n  Hint: ");
    }
    // A window makes times count; facts go together; words of trace-cmd stay.
    for args in
        ["--count --align-ts --until 0.001", "--stat --uname --cpus", "-q -V -L --stat", "--color never --count"]
    {
        let args: Vec<&str> = ["report", file].into_iter().chain(args.split(' ')).collect();
        env.rtrace(&args).exits(0).complains("");
    }
}

/// Other commands than report: a line, and the words of its refusal.
const REFUSED: &[(&str, &str)] = &[
    ("show --tracing-on -c 1", "`--cpu` has no effect on settings"),
    ("show -s trace_clock", "`--snapshot` has no effect on settings"),
    ("show -p --buffer-size", "`--pipe` has no effect on settings"),
    ("dump --validate --options FILE", "`--options` has no effect beside `--validate`"),
    ("dump --validate --summary FILE", "`--summary` has no effect beside `--validate`"),
    ("dump --json --events FILE", "`--events` has no effect beside `--json`"),
    ("record -e sched --threshold 5 ls", "`--threshold` has no effect on events"),
    ("record -p hwlat --timerlat-period 1ms ls", "`--timerlat-period` has no effect without the tracer"),
    ("record -e sched --max-graph-depth 5 ls", "`--max-graph-depth` has no effect without the tracer"),
    ("record -e sched -d ls", "`--no-function-trace` has no effect without a latency tracer"),
    ("record -e sched -S ls", "`--only-named` has no effect without `--profile`"),
    ("record -e sched -v ls", "`-v` has no effect without a `-e` after it"),
    ("record -e sched -v -B one -e irq ls", "`-v` has no effect without a `-e` after it"),
    ("record -p function -i ls", "`--ignore-unknown` has no effect without events"),
    ("record -e sched --name x ls", "`--name` has no effect without a `-A` before it"),
    ("record -e sched --dry-run --pid-file x ls", "`--pid-file` has no effect without `--daemonize`"),
    ("start -e sched:sched_switch -v", "`-v` has no effect without a `-e` after it"),
    ("start -p nop -i", "`--ignore-unknown` has no effect without events"),
    ("set -b 8M -v", "`-v` has no effect without a `-e` after it"),
    ("set -b 8M -i", "`--ignore-unknown` has no effect without events"),
    ("stream -e sched -t --json ls", "`-t` has no effect on JSON"),
    ("stream -e sched -N --format raw ls", "`-N` has no effect on fields by name"),
    ("stream -e raw_syscalls --syscalls --format raw ls", "`--syscalls` has no effect on fields by name"),
    ("stream -e sched --threshold 5 ls", "`--threshold` has no effect on events"),
    ("profile --since 1 ls", "`--since` has no effect on what happens now"),
    ("profile --input FILE -b 10", "`--buffer-size` has no effect on a recording"),
    ("profile --input FILE --duration 1", "`--duration` has no effect on a recording"),
    ("profile --input FILE ls", "`CMD` has no effect on a recording"),
    ("profile --input FILE --layout trace-cmd --top 2", "`--limit` has no effect on trace-cmd's layout"),
    ("profile --input FILE --layout trace-cmd --wide", "`--wide` has no effect on trace-cmd's layout"),
    ("hist -i FILE -k next_comm", "`--key` has no effect without EVENT"),
    ("hist -i FILE --csv", "`--csv` has no effect without EVENT"),
    ("hist -i FILE sched:sched_switch -k next_comm --raw --limit 2", "`--limit` has no effect on `--raw`"),
    ("hist -i FILE sched:sched_switch -k next_comm --json --weight time", "`--weight` has no effect without"),
    ("hist -i FILE sched:sched_switch -k next_comm --verbose", "`--verbose` has no effect on a recording"),
    ("hist sched:sched_switch -k next_comm --csv --weight time ls", "`--weight` has no effect without"),
    ("latency -i FILE a:b c:d --by e --raw --top 2", "`--limit` has no effect on `--raw`"),
];

#[test]
fn other_commands_refuse_what_has_no_effect() {
    let env = TestEnvironment::new();
    let file = own().join("vm-6.1/trig.dat");
    let file = file.to_str().expect("a plain path");
    for (line, words) in REFUSED {
        let args: Vec<&str> = line.split(' ').map(|word| if word == "FILE" { file } else { word }).collect();
        env.rtrace(&args).exits(2).prints("").complains_with(words).complains_with("\n  Hint: ");
    }
}

/// An option of report at another command that reads recordings: there are reasons.
#[test]
fn options_of_report_are_explained_elsewhere() {
    let env = TestEnvironment::new();
    for (line, reason, hint) in [
        ("analyze sched --cpu 1", "needs all events of its time", "have rows by CPU"),
        ("analyze irq -F sched_switch", "needs all events of its time", "`rtrace convert FILE PART.dat -F ...`"),
        ("why ls --worst wakeup --comm x", "all events around TASK's interval count", "`--worst`"),
        ("check --pid=3", "assertions are about all events", "`rtrace help assertions`"),
        ("diff a b --pid 3", "comparisons are of all events", "`rtrace help comparisons`"),
        ("analyze sched --first 3", "counts the events of a report", "`rtrace split -e N FILE`"),
        ("hist -i a sched:sched_switch -k next_comm --pid 3", "its filter lets through", "`--if FILTER`"),
        ("latency -i a b:c d:e --by f --cpu 0", "filters of their own", "`--if-start FILTER`"),
        ("profile --input a --comm x", "a profile needs all events", "`rtrace convert FILE PART.dat --comm ...`"),
        ("record -e sched --since 1 ls", "a part of a recording's time", "`rtrace report`, `rtrace convert`"),
        ("mem --raw-ts", "changes times as they are shown", "`rtrace report`, `rtrace convert`"),
        (
            "dump --color always",
            "about the output of `rtrace report`",
            "`rtrace report`, `rtrace check` and `rtrace diff` have it",
        ),
    ] {
        let args: Vec<&str> = line.split(' ').collect();
        let seen = env.rtrace(&args);
        seen.exits(2).prints("").complains_with("unknown option `-").complains_with(reason).complains_with(hint);
    }
}

/// `--top N` and `--limit N` are one thing.
#[test]
fn a_number_of_rows_has_two_names() {
    let env = TestEnvironment::new();
    let file = own().join("vm-6.1/trig.dat");
    let file = file.to_str().expect("a plain path");
    for line in ["hist -i FILE sched:sched_switch -k next_comm", "profile --input FILE", "analyze sched FILE"] {
        let seen = |option: &str| {
            let line = format!("{line}{option}");
            let args: Vec<&str> = line.split(' ').map(|word| if word == "FILE" { file } else { word }).collect();
            env.rtrace(&args).exits(0).stdout()
        };
        let (top, all) = (seen(" --top 2"), seen(""));
        assert_eq!(top, seen(" --limit 2"), "{line}");
        assert!(top.len() < all.len(), "{line}: {top}");
    }
}

/// A window beside the recording is no quiet time: nothing is judged by it.
#[test]
fn a_window_without_events_is_no_answer() {
    let env = TestEnvironment::new();
    let file = own().join("vm-6.1/trig.dat");
    let file = file.to_str().expect("a plain path");
    for line in [
        "analyze sched FILE",
        "check FILE --assert lost==0",
        "hist -i FILE",
        "hist -i FILE sched:sched_switch -k next_comm",
        "latency -i FILE sched:sched_waking sched:sched_switch --by pid=next_pid",
        "profile --input FILE",
        "baseline save FILE -o new.json",
    ] {
        let line = format!("{line} --since +1h");
        let args: Vec<&str> = line.split(' ').map(|word| if word == "FILE" { file } else { word }).collect();
        env.rtrace(&args).exits(1).prints("").complains_with("holds nothing in this window: the events lie between");
    }
}

/// A part of the time of the commands that count: two parts add up to the whole.
#[test]
fn profiles_and_call_chains_of_a_part() {
    let env = TestEnvironment::new();
    let file = own().join("vm-6.1/trig.dat");
    let file = file.to_str().expect("a plain path");
    let events = |args: &[&str]| -> u64 {
        let text = env.rtrace(&[&["hist", "-i", file, "--json"], args].concat()).exits(0).stdout();
        let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        document["buffers"].as_array().expect("buffers").iter().filter_map(|buffer| buffer["total"].as_u64()).sum()
    };
    let (whole, early, late) = (events(&[]), events(&["--until", "+100ms"]), events(&["--since", "+100000001ns"]));
    assert!(early > 0 && late > 0 && early + late == whole, "{early} + {late} = {whole}");
    let rows = |args: &[&str]| {
        let text = env.rtrace(&[&["profile", "--input", file, "--json"], args].concat()).exits(0).stdout();
        text.len()
    };
    assert!(rows(&["--until", "+50ms"]) < rows(&[]));
}

/// Facts of a file are JSON, each what its text says.
#[test]
fn facts_are_json() {
    let env = TestEnvironment::new();
    let file = own().join("vm-6.1/trig.dat");
    let file = file.to_str().expect("a plain path");
    let text =
        env.rtrace(&["report", file, "-E", "--uname", "--cpus", "--stat", "-e", "-p", "--json"]).exits(0).stdout();
    let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let facts = &document["files"][0];
    let names = env.rtrace(&["report", file, "-E"]).exits(0).stdout();
    let listed: Vec<&str> = names.lines().collect();
    let found = facts["event_names"].as_array().expect("names").iter().filter_map(|name| name.as_str());
    assert_eq!(found.collect::<Vec<_>>(), listed);
    let uname = env.rtrace(&["report", file, "--uname"]).exits(0).stdout();
    assert!(uname.contains(facts["uname"].as_str().expect("a text")), "{uname}");
    assert_eq!(facts["endian"]["file"], "little");
    assert_eq!(facts["page_size"]["file"], 4096);
    let cpus = env.rtrace(&["report", file, "--cpus"]).exits(0).stdout();
    assert_eq!(facts["cpus"].as_array().map(Vec::len), Some(cpus.lines().count() - 1));
    let checked = env.rtrace(&["report", file, "--check-events", "--json"]).exits(0).stdout();
    let checked: serde_json::Value = serde_json::from_str(&checked).expect("JSON");
    assert!(checked["checked"].as_u64() > Some(0) && checked["not_understood"] == serde_json::json!({}), "{checked}");
}
