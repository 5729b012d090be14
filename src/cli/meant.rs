//! Words that others use for commands, options and arguments, and what they are called here.

use super::line_in_full::in_full;
use super::meant_options::{MAKES_ONE, options, word_before};
use super::meant_settings::of_setting;
use super::{meant_words, pair_fields};
use clap::Command;
use rtrace::internal::assertion::Assertion;
use rtrace::internal::trace_dat::is_recording;
use rtrace::syntax::did_you_mean;
use std::path::Path;

/// Most commands below a command that a hint names.
const MOST_COMMANDS: usize = 24;

/// Commands that change what is traced: none is ever a guess.
const CHANGING: [&str; 6] = ["start", "set", "stop", "restart", "clear", "reset"];

/// Words of other programs for `remove`.
const REMOVE: [&str; 5] = ["delete", "del", "rm", "rmdir", "destroy"];

/// Words of other programs for commands, with those of rtrace.
const MEANT: &[(&[&str], &str)] = &[
    (
        &["compare", "cmp", "regress", "regression", "regressions", "benchstat"],
        "`rtrace diff BASE NEW` compares recordings.",
    ),
    (
        &["assert", "test", "verify", "validate", "ci", "junit", "gate", "expect"],
        "`rtrace check FILE --assert 'lost == 0'` holds a recording against assertions.",
    ),
    (
        &["export", "transform", "to"],
        "`rtrace convert FILE -o OUT` writes other formats: Perfetto, CSV, Parquet, CTF and more.",
    ),
    (&["cyclictest"], "`rtrace timerlat` measures that: a timer and a thread on each CPU."),
    (
        &["hwnoise", "hwlat"],
        "`rtrace record -p hwlat` looks for what the hardware takes; `rtrace osnoise` counts interrupts and threads, too.",
    ),
    (&["rtla"], "`rtrace timerlat` and `rtrace osnoise` do what rtla does."),
    (
        &["grep", "search", "find"],
        "`rtrace report FILE --filter 'EVENT: FIELD == VALUE'` prints some events, `--comm NAME` those of a task.",
    ),
    (
        &["count", "histogram", "funccount", "argdist", "tplist"],
        "`rtrace hist EVENT --key FIELD -- CMD` counts events, `rtrace hist -i FILE EVENT --key FIELD` those of a recording.",
    ),
    (
        &["events", "event", "tracers", "clocks", "format", "formats", "functions"],
        "`rtrace list -e PATTERN` lists events, `-F EVENT` their fields, `-f PATTERN` functions, `-t` tracers, `-C` clocks.",
    ),
    (
        &["kprobe", "kprobes", "kretprobe", "uprobe", "uprobes", "uretprobe", "ltrace", "fprobe"],
        "`rtrace probe add kprobe FUNCTION` and `rtrace probe add uprobe PROGRAM:FUNCTION` make events.",
    ),
    (
        &["strace", "truss"],
        "`rtrace stream --for syscalls -- CMD` prints system calls as they happen, `rtrace analyze syscalls FILE` sums up.",
    ),
    (
        &["offcputime", "offwaketime"],
        "`rtrace record --for offcpu`, then `rtrace flame --off-cpu FILE`, shows where tasks wait.",
    ),
    (
        &["funcgraph", "functrace", "funcslower", "funclatency"],
        "`rtrace record -p function_graph -g FUNCTION -- CMD` records the functions below one.",
    ),
    (
        &["perf", "trace-cmd", "bpftrace", "ftrace", "uftrace", "lttng"],
        "a command of rtrace comes first, as in `rtrace record -e EVENT -- CMD`.",
    ),
    (
        &["top", "watch"],
        "`rtrace stream` prints events as they happen, `rtrace top` and `profile` what tasks do meanwhile.",
    ),
    (
        &["view", "timeline", "tui", "gui", "kernelshark", "shark"],
        "`rtrace view FILE` shows a recording in the terminal, `rtrace convert FILE OUT.pftrace` is for a browser.",
    ),
    (
        &["script", "print", "cat", "dump-trace"],
        "`rtrace report FILE` prints a recording, `rtrace show` what the kernel's buffer holds or a file of tracefs, `rtrace stream` events as they happen.",
    ),
    (
        &["stats", "status"],
        "`rtrace stat` shows how tracing is set up, `rtrace report --summary FILE` what a recording holds.",
    ),
    (
        &["enable", "disable"],
        "`rtrace set -e EVENT` enables an event and leaves all else, `rtrace set -v -e EVENT` disables it.",
    ),
    (
        &["mkdir", "rmdir"],
        "`rtrace instance create NAME` makes an instance, `rtrace instance remove NAME` takes it away.",
    ),
    (&["merge", "join"], "`rtrace report A.dat B.dat` reads several recordings together, in the order of time."),
    (&["info", "summary"], "`rtrace report --summary FILE` says what a recording holds."),
    (
        &["trace"],
        "`rtrace stream --for syscalls -P PID` prints a process's system calls, `rtrace stream -e EVENT -- CMD` events as they happen.",
    ),
    (&["flamegraph", "flamegraphs"], "did you mean `flame`?"),
];

/// The same below `rtrace analyze`.
const MEANT_BY_ANALYSIS: &[(&[&str], &str)] = &[
    (
        &["wakeup", "wakeups"],
        "did you mean `wakers`? `rtrace analyze sched` says how long tasks waited for a CPU after a wakeup.",
    ),
    (
        &["offcpu", "off-cpu"],
        "`rtrace analyze sched` says how long tasks were off a CPU and waited for one, `rtrace flame --off-cpu` where.",
    ),
    (
        &["top", "cpu", "cpus", "tasks", "task", "summary"],
        "`rtrace analyze sched --sort run` says which tasks ran most, `rtrace report --summary` which had most events.",
    ),
    (
        &["wait", "waits", "latency", "late"],
        "`rtrace analyze sched` has waits for a CPU, `rtrace why` takes one apart.",
    ),
];

/// The hint on `word`, another program's for a command.
pub(super) fn topic(word: &str) -> Option<String> {
    MEANT.iter().find(|(words, _)| words.contains(&word)).map(|(_, hint)| (*hint).to_owned())
}

/// The hint on the unknown command `word` below `command`; `name` is that of the command below `root`.
pub(super) fn command(word: &str, command: &Command, (name, root): (&str, &Command)) -> Option<String> {
    let below = || command.get_subcommands().filter(|c| !c.is_hide_set());
    let meant = match name {
        "analyze" => MEANT_BY_ANALYSIS.iter().find(|(words, _)| words.contains(&word)),
        _ => MEANT.iter().find(|(words, _)| words.contains(&word)).filter(|_| std::ptr::eq(command, root)),
    };
    if let Some((_, hint)) = meant {
        return Some((*hint).to_owned());
    }
    if word.contains('{') && std::ptr::eq(command, root) {
        return Some(
            "programs are bpftrace's; `rtrace hist EVENT --key FIELD -- CMD` counts as `@[FIELD] = count()` does."
                .to_owned(),
        );
    }
    if let Some(analysis) = analysis(word, root).filter(|_| name == "analyze" && !std::ptr::eq(command, root)) {
        return Some(format!("did you mean `{analysis}`?"));
    }
    if let Some(analysis) = analysis(word, root).filter(|_| std::ptr::eq(command, root)) {
        return Some(format!(
            "`rtrace analyze {analysis} FILE` says that of a recording, `rtrace record --for {analysis}` makes one."
        ));
    }
    if name == "baseline" && ["create", "add", "new", "make", "record"].contains(&word) {
        return Some("`rtrace baseline save FILE -o OUT.json` makes one.".to_owned());
    }
    if name == "analyze" && word.contains(',') {
        return Some(
            "one analysis at a time; `rtrace analyze all FILE` is all that the recording has events for.".to_owned(),
        );
    }
    if name == "baseline" && ["update", "set", "accept", "refresh", "promote"].contains(&word) {
        return Some("`rtrace baseline compare BASE.json NEW --update` puts NEW in its place.".to_owned());
    }
    if REMOVE.contains(&word) && command.find_subcommand("remove").is_some() {
        return Some("did you mean `remove`?".to_owned());
    }
    let names = below().flat_map(Command::get_name_and_visible_aliases).filter(|name| !CHANGING.contains(name));
    let near = did_you_mean(word, names);
    let of_file = || is_recording(Path::new(word)).then(|| of_recording(name, word));
    let after: Vec<String> = std::env::args().skip_while(|given| given != word).skip(1).collect();
    let whole = || in_full(word, &after, name).filter(|_| !std::ptr::eq(command, root));
    let begun = || {
        let mut names = below().map(Command::get_name).filter(|name| name.len() > 3 && !CHANGING.contains(name));
        names.find(|name| word.starts_with(name)).map(|name| format!("did you mean `{name}`?"))
    };
    near.or_else(begun).or_else(of_file).or_else(whole).or_else(|| {
        let names: Vec<&str> = below().map(Command::get_name).filter(|name| *name != "help").collect();
        (names.len() <= MOST_COMMANDS).then(|| format!("`rtrace {name}` has {}.", names.join(", ")))
    })
}

/// The analysis that another program has as a command of its own.
fn analysis<'r>(word: &str, root: &'r Command) -> Option<&'r str> {
    let word = meant_words::analysis(word).unwrap_or(word);
    root.find_subcommand("analyze")?.find_subcommand(word).map(Command::get_name)
}

/// The hint after a recording in the place of a command: `name` is that of the command before it.
fn of_recording(name: &str, file: &str) -> String {
    match name {
        "synth" => format!("`rtrace synth sql -i {file} 'SELECT ...'` asks a recording."),
        "baseline" => {
            let words: Vec<String> = std::env::args().skip_while(|word| word != file).skip(1).collect();
            let names = |words: &[String]| words.iter().any(|word| word == "-o" || word == "--output");
            let output = if names(&words) { "" } else { " -o baseline.json" };
            let words: String = words.iter().map(|word| format!(" {word}")).collect();
            format!("`rtrace baseline save {file}{words}{output}` makes a summary of recordings.")
        }
        _ => format!(
            "it is a recording: `rtrace report {file}` prints it, `rtrace analyze all {file}` says what is in it."
        ),
    }
}

/// The hint on the argument `word` for which the command called `name` has no place; `words` are those of the command line.
pub(super) fn argument(word: &str, (name, command): (&str, &Command), words: &str) -> Option<String> {
    let has = |option: &str| command.get_arguments().any(|arg| arg.get_long() == Some(option));
    if word.starts_with('-') {
        return None;
    }
    match name {
        "check" if ["<", "<=", ">", ">=", "==", "!=", "/", "+", "-", "*"].contains(&word) => {
            let before = word_before(word).unwrap_or_default();
            let after = std::env::args().skip_while(|given| given != word).nth(1).unwrap_or_default();
            return Some(format!("quotes make one word of an assertion: `--assert '{before} {word} {after}'`."));
        }
        "check" if word.contains(['<', '>', '=']) => {
            return Some(match Assertion::parse(word) {
                Ok(_) => format!("`--assert '{word}'` asserts that."),
                Err(wrong) => {
                    let (at, hints) = (wrong.span.of(word), wrong.hints().join(" "));
                    let at = if at.is_empty() { String::new() } else { format!(" at `{at}`") };
                    format!("`--assert ASSERTION` takes it, and as one it is wrong{at}: {}. {hints}", wrong.message)
                }
            });
        }
        "stat" if !is_recording(Path::new(word)) => {
            return Some(
                "it shows how tracing is set up; `rtrace hist EVENT --key FIELD -- CMD` and `rtrace profile -- CMD` count what a command does."
                    .to_owned(),
            );
        }
        "options" => {
            return Some(format!(
                "these are options of `report`; `rtrace set -O {word}` sets one of the kernel's, `rtrace list -o` lists those."
            ));
        }
        "stop" if is_recording(Path::new(word)) => {
            return Some(format!("`rtrace record --stop {word}` ends the recorder of a file."));
        }
        "dump" if std::env::args().filter(|word| is_recording(Path::new(word))).count() > 1 => {
            return Some(
                "one file at a time: `for f in A.dat B.dat; do rtrace dump --validate \"$f\" || exit; done`."
                    .to_owned(),
            );
        }
        "list" if matches!(word, "format" | "fields" | "formats") => {
            let event = word_before(word).filter(|before| before != "list").unwrap_or_else(|| "EVENT".to_owned());
            return Some(format!("`rtrace list -F {event}` prints an event's fields."));
        }
        "list" if word == "events" => return Some("`rtrace list -e` lists all events.".to_owned()),
        "list" => {
            return Some("`-e PATTERN` lists events, `-f PATTERN` functions, `-t` tracers, `-C` clocks.".to_owned());
        }
        "listen" if word.parse::<u16>().is_ok() => return Some(format!("`--port {word}` is where to listen.")),
        "extract" => return Some(format!("`-o {word}` names the file that is written.")),
        "check-events" => return Some("`rtrace report --check-events FILE` checks those of a recording.".to_owned()),
        _ => {}
    }
    let is_assertion = |given: String| {
        let is_of_option = word_before(&given).is_some_and(|word| word.starts_with('-'));
        !is_of_option && given.contains(['<', '>', '=']) && Assertion::parse(&given).is_ok()
    };
    if name == "check" && (std::env::args().any(|given| given == "--") || std::env::args().any(is_assertion)) {
        return Some(MAKES_ONE.to_owned());
    }
    if name == "hist" && std::env::args().any(|given| given == "if") {
        return Some("`--if 'FILTER'` is a filter, in one word.".to_owned());
    }
    if name == "synth" && command.get_name() == "create" {
        return Some("`rtrace synth define NAME 'FIELDS'` makes an event of fields, `rtrace synth create NAME` one that is built by options.".to_owned());
    }
    if let Some(hint) = after_flag(command) {
        return Some(hint);
    }
    let reads = has("input") || name == "dump";
    if name == "compact" && is_recording(Path::new(word)) {
        return Some("it joins tables of a directory; `rtrace convert A.dat B.dat DIR --to parquet` writes those of several recordings.".to_owned());
    }
    if name == "doctor" && is_recording(Path::new(word)) {
        return Some(format!("it looks at this machine; `rtrace dump --validate {word}` checks a recording."));
    }
    if !reads && is_recording(Path::new(word)) {
        return Some(format!(
            "it is a recording: `rtrace report --summary {word}` says what is in it; `rtrace {name}` reads no recordings."
        ));
    }
    if has(word) {
        return Some(format!("did you mean `--{word}`?"));
    }
    if has("filter") && name != "check" && word.contains(['<', '>', '=', '~', '&']) {
        return Some(format!("`--filter '{word}'` is the condition."));
    }
    if let Some(hint) = of_setting(word).filter(|_| name == "instance") {
        return Some(hint);
    }
    if Path::new(word).exists() && std::env::args().filter(|given| Path::new(given).exists()).count() > 3 {
        return Some(format!("`{word}` is a file here; quotes keep the shell from making files of a `*`: `'*'`."));
    }
    Some(match places(command) {
        places if places.is_empty() && has("instance") => {
            format!("`-B {word}` names an instance; `{words}` takes options alone.")
        }
        places if places.is_empty() => format!("`{words}` takes options alone: {}.", options(command)?),
        places => format!("its arguments are `{words} {}`.", places.join(" ")),
    })
}

/// The hint on a word behind a flag that takes none, so that it was taken for an argument.
fn after_flag(command: &Command) -> Option<String> {
    let words: Vec<String> = std::env::args().take_while(|word| word != "--").collect();
    words.windows(2).find_map(|pair| {
        let [flag, value] = pair else { return None };
        let long = flag.strip_prefix("--")?;
        let arg = command.get_arguments().find(|arg| arg.get_long() == Some(long))?;
        let is_value = !value.starts_with('-') && !is_recording(Path::new(value)) && !arg.get_action().takes_values();
        let into = matches!(long, "json" | "csv" | "markdown").then(|| format!(" `> {value}` writes what is printed."));
        is_value.then(|| format!("`{flag}` takes no value: `{value}` stands alone.{}", into.unwrap_or_default()))
    })
}

/// The places of the command's arguments as its usage shows them.
fn places(command: &Command) -> Vec<String> {
    command.get_positionals().filter(|arg| !arg.is_hide_set()).map(|arg| arg.to_string()).collect()
}

/// The hint on a name where a process id is wanted.
pub(super) fn task(word: &str, command: &Command) -> String {
    match word {
        "all" | "any" | "*" => return "without it, tasks of any id.".to_owned(),
        "self" | "me" | "$$" => return "`$$` is the id of the shell.".to_owned(),
        _ => {}
    }
    let has = |option: &str| command.get_arguments().any(|arg| arg.get_long() == Some(option));
    match has("comm") {
        true => format!("`--comm {word}` takes tasks by name."),
        false if has("event") && has("filter") => format!(
            "`-e EVENT -f 'COMM == \"{word}\"'` are events of all tasks of that name, `-P $(pgrep -xo '{word}')` is the eldest of them."
        ),
        false => format!("`$(pgrep -xo '{word}')` is the id of the eldest process of that name."),
    }
}

/// The hint on what is missing for an option that means something else.
pub(super) fn missing(missing: &[String], name: &str) -> Option<String> {
    if name == "analyze" && missing.iter().any(|one| ["--begin", "--end", "--by"].iter().any(|own| one.contains(own))) {
        return Some(
            "all three are needed, as in `--begin raw_syscalls:sys_enter --end raw_syscalls:sys_exit --by common_pid`."
                .to_owned(),
        );
    }
    let of_profile = name == "report" && missing.iter().any(|one| one.starts_with("--profile"));
    let is_lost = |word: &String| word.ends_with(".dat") && !Path::new(word).exists();
    if let Some(file) = std::env::args().skip(2).find(is_lost).filter(|_| name == "latency") {
        return Some(format!("there is no file `{file}`; what stands after two events is CMD."));
    }
    if name == "latency" && missing.iter().any(|one| one.starts_with("--by")) {
        return Some(pair_fields::hint());
    }
    if name == "filter" && missing.iter().any(|one| one.starts_with("<FILTER>")) {
        let filter = std::env::args().skip(2).find(|word| word.contains(['=', '<', '>', '&', '~']))?;
        let verb = std::env::args().nth(2)?;
        return Some(format!("the event stands first: `rtrace filter {verb} EVENT '{filter}'`."));
    }
    let line = || std::env::args().skip(3).find(|word| word.contains([' ', ';']) && !word.starts_with('-'));
    if name == "synth"
        && std::env::args().nth(2).is_some_and(|verb| verb == "create")
        && let Some(line) = line()
    {
        let (event, fields) = line.split_once(' ').unwrap_or((&line, "FIELDS"));
        return Some(format!("`rtrace synth define {event} '{fields}'` makes an event of those fields."));
    }
    if name == "hist" && std::env::args().any(|word| word.contains('{')) {
        return Some(of_bpftrace());
    }
    if name == "baseline" && missing.iter().any(|one| one.starts_with("<NEW>")) {
        return Some(
            "BASE is what `rtrace baseline save` wrote; `rtrace diff BASE NEW` compares recordings.".to_owned(),
        );
    }
    let is_trigger = |word: &String| word.starts_with("hist:");
    if name == "hist" && std::env::args().skip_while(|word| !is_trigger(word)).nth(1).is_some_and(|word| word != "--") {
        let trigger = std::env::args().find(is_trigger)?;
        return Some(format!("the event stands first: `rtrace hist EVENT '{trigger}'`."));
    }
    if name == "hist" && missing.iter().any(|one| one.starts_with("--key")) {
        let words: Vec<String> = std::env::args().skip(2).take_while(|word| word != "--").collect();
        let is_field = |word: &str| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_' || byte == b'.');
        // An event, and behind it a field in the place of a trigger.
        return Some(match words.as_slice() {
            [event, field, ..] if !event.starts_with('-') && is_field(field) => {
                let rest: String =
                    words.iter().skip(2).filter(|word| *word != "--key").map(|word| format!(" {word}")).collect();
                format!(
                    "`{field}` is taken for a trigger: `rtrace hist {event} --key {field}{rest}` counts by that field."
                )
            }
            _ => key(),
        });
    }
    let rows = std::env::args().any(|word| word == "--limit" || word.starts_with("--limit="));
    (of_profile && rows).then(|| "`--first N` prints the first N events; `--limit` is about `--profile`.".to_owned())
}

/// The hint on a histogram without a key, by what stands in its place.
fn key() -> String {
    let of = |begin: &str| std::env::args().find_map(|word| word.strip_prefix(begin).map(str::to_owned));
    if let Some(keys) = of("keys=").or_else(|| of("key=")) {
        return format!(
            "`'hist:keys={keys}'` is a trigger; of fields alone, `--key {}`.",
            keys.split(':').next().unwrap_or_default()
        );
    }
    let event = std::env::args().skip(2).find(|word| word.matches(':').count() == 2 && !word.starts_with('-'));
    if let Some((event, field)) = event.as_deref().and_then(|word| word.rsplit_once(':')) {
        return format!("a field stands apart: `rtrace hist {event} --key {field}`.");
    }
    match std::env::args().any(|word| word.contains("hist(") || word.contains('@')) {
        true => "`--key FIELD` counts by a field, `--key FIELD.log2` and `--key FIELD.buckets=N` in ranges of it."
            .to_owned(),
        false => "a field of the event, or as in `--key common_pid.execname`.".to_owned(),
    }
}

/// The hint on a program of bpftrace in the place of an event.
fn of_bpftrace() -> String {
    let program = std::env::args().find(|word| word.contains('{')).unwrap_or_default();
    let (probe, body) = program.split_once('{').unwrap_or_default();
    let event = probe.trim().strip_prefix("tracepoint:").filter(|event| event.matches(':').count() == 1);
    let event = event.unwrap_or("EVENT");
    let field = |of: &str| {
        let name = body
            .split_once(of)?
            .1
            .split(')')
            .next()?
            .trim()
            .trim_start_matches("args")
            .trim_start_matches(['.', '-', '>']);
        let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        is_name.then(|| name.to_owned())
    };
    let task = if body.contains("@[comm]") || body.contains("@[pid]") { "common_pid.execname" } else { "" };
    let ranges = ["lhist(", "hist("].iter().find_map(|of| field(of)).map(|field| format!("{field}.log2"));
    let keys: Vec<String> = ranges.into_iter().chain((!task.is_empty()).then(|| task.to_owned())).collect();
    let keys = if keys.is_empty() { "common_pid.execname".to_owned() } else { keys.join(",") };
    let value = field("sum(").map_or_else(String::new, |field| format!(" --val {field}"));
    format!("programs are bpftrace's; `rtrace hist {event} --key {keys}{value} -- CMD` counts so.")
}
