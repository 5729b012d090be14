//! Options of `report` at commands that do not have them: why they do not, and what does it there.

use clap::Command;

/// The kinds of option that `report` has for events, by their long names; `F` and `v` are letters of the first.
const SELECTS: [&str; 13] = [
    "select",
    "invert",
    "filter",
    "pid",
    "tgid",
    "comm",
    "cgroup",
    "cpu",
    "no-irq",
    "no-softirq",
    "F",
    "events",
    "event",
];
const LIMITS: [&str; 2] = ["first", "last"];
const WINDOW: [&str; 3] = ["since", "until", "around"];
const TIMES: [&str; 6] = ["raw-ts", "nodate", "ts-offset", "ts2secs", "align", "align-ts"];

/// A command without the options, the reason why it has none that selects, and what to do about it.
const WITHOUT: &[(&str, &str, &str)] = &[
    (
        "analyze",
        "it needs all events of its time",
        "some analyses have `--pid` and `--comm` for their rows; `rtrace convert FILE PART.dat OPTION` makes a recording of some events, and `rtrace report` prints them.",
    ),
    (
        "why",
        "all events around TASK's interval count",
        "TASK is an argument before FILE, a pid, a name or a glob: `rtrace why TASK FILE`; `--at`, `--worst`, `--since` and `--until` choose the interval.",
    ),
    (
        "check",
        "assertions are about all events of their time",
        "a quantity names its events and tasks, as in `max(wait(nginx)) < 1ms`, `p99(syscall(read, task=nginx)) < 1ms`: `rtrace help assertions`.",
    ),
    (
        "diff",
        "comparisons are of all events of their time",
        "a metric names its events and tasks, as in `--metric 'p99(wait(nginx))'`: `rtrace help comparisons`.",
    ),
    (
        "baseline",
        "comparisons are of all events of their time",
        "a metric names its events and tasks, as in `--metric 'p99(wait(nginx))'`: `rtrace help comparisons`.",
    ),
    ("hist", "a trigger counts what its filter lets through", "`--if FILTER` is that filter: `rtrace help filter`."),
    (
        "latency",
        "events are chosen by filters of their own",
        "`--if-start FILTER` and `--if-end FILTER` choose them: `rtrace help filter`.",
    ),
    (
        "mem",
        "an account of memory needs all events",
        "`rtrace convert FILE PART.dat OPTION` makes a recording of some events.",
    ),
    (
        "profile",
        "a profile needs all events of its time",
        "`-P PID` and `-F` trace some tasks only; `rtrace convert FILE PART.dat OPTION` makes a recording of some events.",
    ),
    (
        "record",
        "the kernel chooses events while they are recorded",
        "`-e EVENT -f FILTER` chooses by content, `-P PID` and `-F` by task; `rtrace report` selects afterwards.",
    ),
    (
        "stream",
        "the kernel chooses events while they are traced",
        "`-e EVENT -f FILTER` chooses by content, `-P PID` and `-F` by task.",
    ),
    ("dump", "it is about the file, not its events", "`rtrace report` has this option."),
    (
        "split",
        "events are selected by `--filter` and the like",
        "`rtrace convert FILE PART.dat OPTION` has this option.",
    ),
    (
        "sql",
        "rows are selected by the statement",
        "as in `WHERE pid = 1`, `WHERE comm = 'ls'`; `rtrace convert` has this option.",
    ),
];

/// Options of other programs at commands of the same name, which do something else here.
const OTHERS: &[(&str, &[&str], &str)] = &[
    (
        "top",
        &["p", "pid", "P", "H", "u", "U"],
        "it shows the whole machine; `rtrace stream --for sched -P PID` prints a process's events.",
    ),
    (
        "top",
        &["n", "b", "d", "iterations", "batch", "once"],
        "`--interval 1s --duration 3s` is three tables, `rtrace top --json --duration 1` prints one and ends.",
    ),
    (
        "stat",
        &["e", "event", "I", "p", "r", "d"],
        "it shows how tracing is set up; `rtrace hist EVENT --key FIELD -- CMD` counts events, `rtrace report --count FILE` those of a recording.",
    ),
    (
        "extract",
        &["e", "event"],
        "it writes what a buffer holds: `rtrace start -e EVENT` before fills it; `rtrace record -e EVENT` does both.",
    ),
    (
        "stack",
        &["i", "input"],
        "it is about the kernel's stack tracer; `rtrace flame FILE` draws a recording's call stacks.",
    ),
    (
        "report",
        &["s", "sort"],
        "events come in the order of their times; `rtrace report --summary FILE` counts them by task, `rtrace hist -i FILE EVENT --key FIELD` by a field.",
    ),
    (
        "top",
        &["cgroup", "cgroups", "container"],
        "it has no rows by cgroup: `rtrace record --for sched --cgroups --duration 1` records what `rtrace analyze cgroups` shows.",
    ),
    (
        "top",
        &["x", "device", "disk"],
        "it has no rows by device: `rtrace record --for io --duration 1` records what `rtrace analyze io` shows.",
    ),
    (
        "analyze",
        &["failure", "failures", "errors", "failed"],
        "`rtrace analyze syscalls FILE --sort errors` puts calls that failed first, and says with which errors.",
    ),
    (
        "analyze",
        &["irq", "vector", "handler"],
        "the table of `rtrace analyze irq FILE --kind irq` has a row for each handler.",
    ),
    (
        "analyze",
        &["device", "disk", "dev", "d"],
        "the tables of `rtrace analyze io FILE` have a row for each device, by its major and minor number (`lsblk` has them).",
    ),
    (
        "analyze",
        &["percentile", "percentiles", "quantile", "quantiles", "p99", "p95"],
        "p50, p90, p99 and p99.9 are printed always; any other of its times as in `rtrace check FILE --value 'p95(io())'`: io(), irq(), syscall(), wait(), lock().",
    ),
    ("hist", &["by", "per", "group"], "did you mean `--key`? The field whose values are counted."),
    (
        "report",
        &["call", "syscall"],
        "`rtrace analyze syscalls FILE --call NAME` is about one system call, `rtrace report --syscalls FILE` prints all.",
    ),
    (
        "report",
        &["g", "no-children", "children", "percent-limit", "call-graph"],
        "`rtrace flame FILE` draws call stacks, `rtrace profile FILE` sums up by task and event.",
    ),
    (
        "why",
        &["p", "P", "t", "c", "tid", "task"],
        "TASK is an argument before FILE, a pid or a name: `rtrace why TASK FILE`.",
    ),
    (
        "record",
        &["junit", "github", "markdown"],
        "`rtrace check FILE --assert ASSERTION --junit OUT` writes it of the recording.",
    ),
    (
        "diff",
        &["junit", "github", "csv"],
        "a comparison is written with `--json`, `--markdown` or `--html FILE`, and its exit code says what was found.",
    ),
    (
        "baseline",
        &["junit", "github", "csv"],
        "a comparison is written with `--json`, `--markdown` or `--html FILE`, and its exit code says what was found.",
    ),
    (
        "view",
        &["task", "t", "p", "pid", "comm", "tid"],
        "`/` and a filter, as `COMM == \"nginx\"`, finds a task's events; `p` pins the task that runs at the cursor.",
    ),
    (
        "latency",
        &["percentile", "percentiles", "p99", "quantile", "quantiles"],
        "p50, p90, p99 and p99.9 are printed always; of a recording `rtrace check FILE --value 'p95(latency(FROM, TO, KEY))'` has any other.",
    ),
    ("osnoise", &["T", "threshold-us"], "`--threshold 5us` is rtla's `-T 5`."),
    (
        "osnoise",
        &["H", "house-keeping"],
        "`taskset -c 0 rtrace osnoise` keeps this program on CPU 0, `-c 1` is the CPU that is measured.",
    ),
    (
        "timerlat",
        &["H", "house-keeping"],
        "`taskset -c 0 rtrace timerlat` keeps this program on CPU 0, `-c 1` is the CPU that is measured.",
    ),
    ("report", &["latency", "latency-format"], "`-l` prints the kernel's latency format, `-w` how long wakeups took."),
    ("stack", &["on", "enable"], "did you mean `--start`?"),
    ("stack", &["off", "disable"], "did you mean `--stop`?"),
    (
        "flame",
        &["g", "call-graph", "stacks", "stack"],
        "it draws the call stacks that a recording holds: `rtrace flame FILE`; `record --for offcpu` and `record -R stacktrace` store them.",
    ),
    (
        "latency",
        &["by-field", "group-by", "per", "key", "group"],
        "`--split FIELD` makes a table of each value, as `--split id.syscall`.",
    ),
    ("sql", &["f", "file"], "`rtrace sql FILE \"$(cat QUERY.sql)\"` runs a statement of a file."),
    (
        "split",
        &["size", "max-size", "bytes"],
        "it cuts by time, events or pages: `-p 256 -r` makes parts of 256 sub-buffers of each CPU, 1 MiB where these have 4 KiB.",
    ),
    (
        "snapshot",
        &["o", "output"],
        "`rtrace snapshot save FILE` writes the one that was taken, `rtrace extract -s -o FILE` its events; both take `-B NAME`.",
    ),
    (
        "dump",
        &["header", "headers"],
        "`--summary` shows the file's header, `--head-page` and `--head-event` the kernel's.",
    ),
    ("timerlat", &["a", "auto"], "`--stop 50us --save FILE` is rtla's `-a 50`."),
    ("timerlat", &["T", "thread"], "`--stop 50us` ends at the first latency beyond that."),
    (
        "timerlat",
        &["P", "priority"],
        "the kernel's threads are called timerlat/CPU: `chrt -f -p 95 $(pgrep -x timerlat/0)` sets the priority of one.",
    ),
    (
        "probe",
        &["x", "a", "V", "L", "exec"],
        "`rtrace probe add uprobe PROGRAM:FUNCTION` and `rtrace probe add kprobe FUNCTION` make events.",
    ),
    ("list", &["fields", "field", "args", "params"], "`-F EVENT` prints an event's fields."),
    ("list", &["operators", "operator", "ops"], "`rtrace help filter` has the operators of filters."),
    (
        "stat",
        &["per-cpu", "cpus", "rings", "overrun", "lost"],
        "`rtrace show per_cpu/cpu0/stats` prints the counters of a CPU's ring, `rtrace report --stat FILE` those of a recording.",
    ),
    (
        "show",
        &["stats", "stat", "per-cpu", "cpu-stats"],
        "`rtrace show per_cpu/cpu0/stats` prints the counters of a CPU's ring, `rtrace stat` how tracing is set up.",
    ),
    ("analyze", &["S", "c"], "`--sort COLUMN` orders the table, which is printed anyway; `--comm NAME` chooses tasks."),
    (
        "analyze",
        &["e", "trace"],
        "it needs all events of its time; `rtrace analyze syscalls FILE --call NAME` is about one system call.",
    ),
    ("snapshot", &["t", "T"], "`rtrace snapshot take` takes one, `rtrace snapshot show` prints it."),
    ("list", &["k", "K"], "`rtrace list -f PATTERN` lists functions of the kernel, `-e PATTERN` events."),
    ("list", &["kprobes", "uprobes", "probes", "dynamic"], "`rtrace probe list` lists dynamic events."),
    (
        "attach",
        &["p", "pid", "P"],
        "it joins recordings of a guest and its host; `rtrace record -P PID` and `rtrace stream -P PID` trace a process.",
    ),
    (
        "attach",
        &["o", "output"],
        "both recordings are written anew in their places: copy them first; `rtrace report HOST GUEST` shows both.",
    ),
    ("view", &["filter", "F"], "`/` in the viewer filters."),
    (
        "view",
        &["at"],
        "`--around +0.5` shows the time around half a second after the first event; `g` in the viewer jumps.",
    ),
    ("flame", &["i", "input"], "the recording is an argument without an option: `rtrace flame FILE`."),
    ("instance", &["B", "name"], "the name is an argument without an option: `rtrace instance create NAME`."),
    (
        "split",
        &["since", "until", "start", "end", "begin", "from"],
        "the part's begin and end are arguments: `rtrace split FILE +0.1 +0.2`.",
    ),
    (
        "top",
        &["cpu", "cpus", "C"],
        "the table has a row for each CPU; `rtrace stream --cpu 0 -e EVENT` prints events of one.",
    ),
    (
        "stream",
        &["o", "output"],
        "lines go to standard output: `rtrace stream ... > FILE`; `rtrace record -o FILE` makes a recording.",
    ),
    (
        "split",
        &["n", "parts", "N"],
        "parts are as long as `-s SECONDS`, `-e EVENTS` or `-p PAGES` say, with `-r` to the end; none says their number.",
    ),
    (
        "view",
        &["cpu", "pid", "comm", "P", "c"],
        "`rtrace convert FILE PART.dat OPTION ...` makes a recording of some of the events, which can be viewed.",
    ),
    (
        "doctor",
        &["for"],
        "it looks at everything; `rtrace record --for ANALYSIS --dry-run` shows what would be recorded.",
    ),
    ("stream", &["first", "last", "limit"], "`rtrace stream ... | head -n N` ends after N lines."),
];

/// The hint on `option` of another program, typed at `command`.
pub(crate) fn of_another_program(option: &str, command: &str) -> Option<String> {
    let name = option.split('=').next().unwrap_or(option);
    let name = match name.strip_prefix("--") {
        Some(long) => long,
        None => name.strip_prefix('-')?.get(..1)?,
    };
    let (.., hint) = OTHERS.iter().find(|(own, names, _)| *own == command && names.contains(&name))?;
    Some((*hint).to_owned())
}

/// The reason and a hint for `option`, typed at `command` below `root`, if `report` has it.
pub(crate) fn found(option: &str, command: &str, root: &Command) -> Option<(String, String)> {
    let name = option.split('=').next().unwrap_or(option);
    let name = name.strip_prefix("--").or_else(|| name.strip_prefix('-'))?;
    let at = |names: &[&str]| names.contains(&name);
    if command == "analyze"
        && std::env::args().any(|word| word.contains("cgroup") || word.contains("container"))
        && at(&["by", "group-by", "group", "per"])
    {
        let hint = "`rtrace analyze cgroups FILE` has rows by cgroup and container, of what `rtrace record --for sched --cgroups` recorded.";
        return Some(("each analysis has its own rows".to_owned(), hint.to_owned()));
    }
    let (_, reason, hint) = WITHOUT.iter().find(|(without, ..)| *without == command)?;
    if name == "csv" && command == "analyze" {
        let hint = "`rtrace sql FILE --csv 'QUERY'` prints tables, `rtrace convert FILE DIR --to parquet` writes them; `--json` has the answers.";
        return Some(("this answer is more than one table".to_owned(), hint.to_owned()));
    }
    if ["cgroup", "container", "pod", "slice", "unit"].contains(&name) && command == "analyze" {
        let hint = "`rtrace analyze cgroups FILE` has rows by cgroup; `rtrace convert FILE PART.dat --cgroup ...` makes a recording of one.";
        return Some(((*reason).to_owned(), hint.to_owned()));
    }
    if ["format", "output-format", "type"].contains(&name) && command == "analyze" {
        let hint = "`rtrace analyze ANALYSIS FILE --json` prints JSON, `--csv` CSV.";
        return Some(("each analysis has its own forms".to_owned(), hint.to_owned()));
    }
    if at(&SELECTS) {
        let option = if matches!(name, "events" | "event") { "--select" } else { option };
        return Some(((*reason).to_owned(), hint.replace("OPTION", &format!("{option} ..."))));
    }
    if at(&LIMITS) {
        let hint = "`rtrace split -e N FILE` makes a recording of the first N events.";
        return Some(("it counts the events of a report".to_owned(), hint.to_owned()));
    }
    let of_report = || root.find_subcommand("report")?.get_arguments().find(|arg| arg.get_long() == Some(name));
    let reason = match () {
        () if at(&WINDOW) => "it chooses a part of a recording's time",
        () if at(&TIMES) => "it changes times as they are shown; here they are as recorded",
        () if of_report().is_some() => "it is about the output of `rtrace report`",
        () => return None,
    };
    Some((reason.to_owned(), having(name, root)?))
}

/// The commands below `root` that have the long option `name`.
pub(super) fn having(name: &str, root: &Command) -> Option<String> {
    those_with(root, "it", |arg| arg.get_long() == Some(name))
}

/// The commands below `root` that have the option `word`, a letter, and what it is called in full.
pub(super) fn having_letter(word: &str, root: &Command) -> Option<String> {
    let letter = word.strip_prefix('-')?.chars().next()?;
    let is_it = |arg: &clap::Arg| arg.get_short() == Some(letter) && !arg.is_hide_set();
    let mut args = root.get_subcommands().flat_map(Command::get_arguments);
    let long = args.find(|arg| is_it(arg) && arg.get_long().is_some())?.get_long()?;
    those_with(root, &format!("`-{letter}, --{long}`"), |arg| is_it(arg) && arg.get_long() == Some(long))
}

/// `A, B and C have it`, of commands below `root` with an option that is meant.
fn those_with(root: &Command, it: &str, is_it: impl Fn(&clap::Arg) -> bool) -> Option<String> {
    const MOST_NAMED: usize = 6;
    let commands = root.get_subcommands().filter(|command| !command.is_hide_set());
    let commands = commands.filter(|command| command.get_arguments().any(&is_it));
    let names: Vec<String> = commands.map(|command| format!("`rtrace {}`", command.get_name())).collect();
    Some(match &names[..] {
        [] => return None,
        [first @ .., _] if first.len() >= MOST_NAMED => {
            format!("{} and others have {it}.", first.get(..MOST_NAMED).unwrap_or(first).join(", "))
        }
        [all @ .., last] if !all.is_empty() => format!("{} and {last} have {it}.", all.join(", ")),
        _ => format!("{} has {it}.", names.concat()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_and_options_are_there() {
        let root = crate::cli::command::bare_command_line();
        let report = root.find_subcommand("report").expect("a command");
        for name in SELECTS.iter().chain(&LIMITS).chain(&WINDOW).chain(&TIMES) {
            let there = |arg: &clap::Arg| arg.get_long() == Some(name) || arg.get_short() == name.chars().next();
            assert!(report.get_arguments().any(there), "{name}");
        }
        for (command, ..) in WITHOUT {
            assert!(root.find_subcommand(command).is_some(), "{command}");
        }
        for (command, names, _) in OTHERS {
            let command = root.find_subcommand(command).expect("a command");
            let own = |arg: &clap::Arg| {
                let short = arg.get_short().map(String::from);
                names.iter().find(|name| arg.get_long() == Some(name) || short.as_deref() == Some(name)).copied()
            };
            assert_eq!(command.get_arguments().find_map(own), None, "{}", command.get_name());
        }
    }
}
