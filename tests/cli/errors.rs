//! Mistakes at each command, provoked once: the message begins with the program's name, says what is wrong and where, and
//! ends with what to type next.

use crate::common::environment::TestEnvironment;

mod answers;
mod languages;
mod reading;
mod tracing;

/// Arguments; exit code; what the message must say.
type Mistake = (&'static str, i32, &'static [&'static str]);

/// Words that are no command, and commands that explain.
const MISTAKES: &[Mistake] = &[
    ("tcpdump -i any", 2, &["`rtrace analyze net FILE`"]),
    ("opensnoop", 2, &["sys_enter_open"]),
    ("-l sched:*", 2, &["`rtrace list -e PATTERN`"]),
    ("--color never report FILE", 2, &["options stand after the command: `rtrace report ... --color`"]),
    ("--versoin", 2, &["unknown option `--versoin`", "did you mean `--version`?"]),
    (
        "-e openat ls",
        2,
        &["unknown option `-e`", "a command comes first", "`rtrace record --for syscalls -F -c -- CMD`"],
    ),
    ("FILE", 2, &["unknown command", "it is a recording: `rtrace report ", "`rtrace analyze all "]),
    ("assert FILE", 2, &["unknown command `assert`", "`rtrace check FILE --assert 'lost == 0'`"]),
    ("cat trace", 2, &["unknown command `cat`", "`rtrace show` what the kernel's buffer holds"]),
    ("check-events FILE", 2, &["unexpected argument", "`rtrace report --check-events FILE`"]),
    ("compare FILE FILE", 2, &["unknown command `compare`", "`rtrace diff BASE NEW` compares"]),
    ("completions tcsh", 2, &["invalid value `tcsh`", "bash, zsh or fish"]),
    ("cyclictest -m", 2, &["`rtrace timerlat` measures that"]),
    ("dumpfile FILE", 2, &["unknown command `dumpfile`", "did you mean `dump`?"]),
    ("enable sched_switch", 2, &["unknown command `enable`", "`rtrace set -e EVENT`"]),
    ("export FILE -o a.parquet", 2, &["`rtrace convert FILE -o OUT`"]),
    ("grep sleep FILE", 2, &["unknown command `grep`", "`rtrace report FILE --filter"]),
    ("help sched_switch", 2, &["`rtrace list -F sched_switch` shows an event"]),
    ("help nosuch", 2, &["`nosuch`", "`rtrace help` lists the commands and topics"]),
    ("help exit-code", 2, &["did you mean `exit-codes`?"]),
    ("hwnoise -d 1", 2, &["`rtrace record -p hwlat`"]),
    ("kernelshark FILE", 2, &["`rtrace view FILE`"]),
    ("kprobe vfs_read", 2, &["unknown command `kprobe`", "`rtrace probe add kprobe FUNCTION`"]),
    ("list tracepoints", 2, &["`rtrace list -e` shows all events"]),
    ("list -k vfs_*", 2, &["`rtrace list -f PATTERN`"]),
    ("list sched_switch format", 2, &["`rtrace list -F sched_switch`"]),
    ("list -e sched --operators", 2, &["`rtrace help filter` has the operators"]),
    ("list -e sched_switch --fields", 2, &["unknown option `--fields`", "`-F EVENT` prints an event's fields"]),
    ("list clocks", 2, &["taken for a pattern of events", "`rtrace list --clocks`"]),
    ("list -e sched_switch format", 2, &["two patterns", "`rtrace list -e sched_switch -F` prints its fields"]),
    ("list available_tracers", 2, &["taken for a pattern of events", "`rtrace list --tracers`"]),
    ("list events sched", 2, &["unexpected argument `sched`", "`-e PATTERN` lists events"]),
    ("list -e sched irq", 2, &["two patterns", "`-e 'sched,irq'`"]),
    ("list -x", 2, &["unknown option `-x`"]),
    ("lock report", 2, &["unknown command `lock`", "`rtrace analyze locks FILE`"]),
    ("merge FILE FILE", 2, &["unknown command `merge`", "`rtrace report A.dat B.dat`"]),
    ("mkdir instances/foo", 2, &["unknown command `mkdir`", "`rtrace instance create NAME`"]),
    ("options stacktrace", 2, &["`rtrace set -O stacktrace`"]),
    ("options --jsn", 2, &["did you mean `--json`?"]),
    ("perf script", 2, &["unknown command `perf`", "a command of rtrace comes first"]),
    ("recrod", 2, &["unknown command `recrod`", "did you mean `record`?"]),
    ("rtla timerlat", 2, &["`rtrace timerlat`"]),
    ("sched latency", 2, &["unknown command `sched`", "`rtrace analyze sched FILE`"]),
    ("schema junit", 2, &["`rtrace schema check`"]),
    ("schema chek.json", 2, &["did you mean `check`?"]),
    ("stats FILE", 2, &["unknown command `stats`", "`rtrace report --summary FILE`"]),
    ("stopp", 2, &["unknown command `stopp`", "`rtrace --help` shows all"]),
    ("strace ls", 2, &["unknown command `strace`", "`rtrace record --for syscalls -F -c -- CMD`"]),
    ("timeline FILE", 2, &["unknown command `timeline`", "`rtrace view FILE`", "OUT.pftrace"]),
    ("trace -p 1", 2, &["`rtrace stream --for syscalls -P PID`"]),
    ("trace ls", 2, &["unknown command `trace`", "`rtrace stream -e EVENT -- CMD`"]),
    ("watch", 2, &["unknown command `watch`", "`rtrace stream` prints events"]),
];

#[test]
fn every_mistake_is_named_with_what_to_type_next() {
    are_named(MISTAKES);
}

/// Fails with each mistake whose message is not as it must be.
fn are_named(mistakes: &[Mistake]) {
    let env = TestEnvironment::new();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/traces/vm-6.1/trig.dat");
    let mut wrong = Vec::new();
    for (line, status, words) in mistakes {
        let args: Vec<&str> = line.split(' ').map(|word| if word == "FILE" { file } else { word }).collect();
        let printed = env.rtrace(&args);
        let text = printed.stderr();
        let first = text.lines().next().unwrap_or_default();
        let mut faults = Vec::new();
        if printed.status() != Some(*status) {
            faults.push(format!("status {:?}, not {status}", printed.status()));
        }
        if !first.starts_with("rtrace: ")
            || first.ends_with('.')
            || text.contains("error: ")
            || text.contains("(os error")
        {
            faults.push("is not worded as the others are".to_owned());
        }
        if text.contains("that line has another mistake") && !words.iter().any(|word| word.contains("another mistake"))
        {
            faults.push("names a line that is refused".to_owned());
        }
        faults.extend(words.iter().filter(|word| !text.contains(**word)).map(|word| format!("does not say {word}")));
        if *status == 2 && !text.contains("Hint: ") && !text.contains("rtrace ") {
            faults.push("does not say what to type".to_owned());
        }
        if !faults.is_empty() {
            wrong.push(format!("rtrace {line}: {}\n{text}", faults.join("; ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A recording as the first word is the input, as after -i.
#[test]
fn a_recording_is_the_input_of_each_command() {
    let env = TestEnvironment::new();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/traces/vm-6.1/trig.dat");
    for (given, meant) in [
        ("hist FILE sched:sched_switch -k next_comm", "hist -i FILE sched:sched_switch -k next_comm"),
        (
            "latency FILE sched_switch sched_switch --by next_pid=prev_pid",
            "latency -i FILE sched_switch sched_switch --by next_pid=prev_pid",
        ),
        ("profile FILE --limit 3", "profile --input FILE --limit 3"),
        ("analyze FILE --top 3", "analyze all FILE --top 3"),
        ("hist -q FILE sched:sched_switch -k next_comm", "hist -i FILE sched:sched_switch -k next_comm"),
        ("analyze -q FILE --top 3", "analyze all FILE --top 3"),
    ] {
        let print = |line: &str| {
            let args: Vec<&str> = line.split(' ').map(|word| if word == "FILE" { file } else { word }).collect();
            let printed = env.rtrace(&args);
            (printed.status(), printed.stdout())
        };
        let (status, text) = print(meant);
        assert!(status == Some(0) && text.lines().count() > 2, "{meant}: {status:?} {text}");
        assert_eq!(print(given), (status, text), "{given}");
    }
}

/// A query without a result says what there is.
#[test]
fn nothing_found_is_said_with_what_there_is() {
    let env = TestEnvironment::new();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/traces/vm-6.1/trig.dat");
    for (args, words) in [
        (&["--comm", "nosuch"][..], "no task is called `nosuch`"),
        (&["--cpu", "99"], "none of these CPUs was recorded, but 0-1"),
        (&["--since", "99999999"], "the events lie between "),
        (&["--pid", "999999"], "no task with the pid 999999 is known"),
        (&["--filter", "sched:sched_switch: next_pid == 999999"], "no event matches\n  Hint: `rtrace report --summary"),
    ] {
        for format in [&["--format", "text"][..], &["--json"], &["--format", "csv"], &["--count"]] {
            env.rtrace(&[&["report", file][..], args, format].concat()).exits(0).complains_with(words);
        }
        for format in ["csv", "json", "perfetto"] {
            env.rtrace(&[&["convert", file, "--to", format, "-o", "empty", "--force"][..], args].concat())
                .exits(0)
                .complains_with(words);
        }
    }
    env.rtrace(&["report", file, "--first", "0"]).exits(0).complains("");
}

/// `-` is standard input, of a file as of a pipe.
#[test]
fn a_recording_comes_through_a_pipe() {
    let env = TestEnvironment::new();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/traces/vm-6.1/trig.dat");
    let whole = env.rtrace(&["report", file]).exits(0).stdout();
    for how in ["cat \"$0\" | \"$1\" report -", "\"$1\" report - < \"$0\"", "\"$1\" report <(cat \"$0\")"] {
        let piped = env.run("bash", &["-c", how, file, env!("CARGO_BIN_EXE_rtrace")]);
        assert_eq!(piped.exits(0).complains("").stdout(), whole, "{how}");
    }
    let dumped = "cat \"$0\" | \"$1\" dump - --validate";
    env.run("bash", &["-c", dumped, file, env!("CARGO_BIN_EXE_rtrace")]).exits(0);
}

#[test]
fn a_mistake_far_to_the_right_is_shown_with_some_characters_around_it() {
    let env = TestEnvironment::new();
    let file = crate::common::corpus::own().join("s390x/inst.dat").display().to_string();
    let far = " ".repeat(70_000);
    std::fs::write(env.path().join("far.toml"), format!("[assert]\nx = 'lost == 0{far} ?'\n")).expect("a file");
    let (assertion, filter) = (format!("lost == 0{far} ?"), format!("sched:sched_switch: pid{far} ?"));
    let (sql, trigger) = (format!("select{far} ?"), format!("hist:keys=pid{far} ?"));
    for words in [
        &["check", &file, "--spec", "far.toml"][..],
        &["check", &file, "--assert", &assertion],
        &["report", &file, "--filter", &filter],
        &["synth", "sql", "--buffer", "", "-i", &file, &sql],
        &["hist", "-i", &file, "sched_switch", &trigger],
    ] {
        let done = env.rtrace(words);
        let (status, said) = (done.status(), done.stderr());
        let caret = said.lines().find(|line| line.trim_start().starts_with('^'));
        assert!(
            status == Some(2) && caret.is_some_and(|line| line.len() < 500),
            "{}: {status:?} {said:.500}",
            words[0]
        );
    }
}
