//! Options of `report` at commands that do not have them: why they do not, and what does it there.

use clap::Command;

/// The kinds of option that `report` has for events, by their long names; `F` and `v` are letters of the first.
const SELECTS: [&str; 11] =
    ["select", "invert", "filter", "pid", "tgid", "comm", "cgroup", "cpu", "no-irq", "no-softirq", "F"];
const LIMITS: [&str; 2] = ["first", "last"];
const WINDOW: [&str; 3] = ["since", "until", "around"];
const TIMES: [&str; 6] = ["raw-ts", "nodate", "ts-offset", "ts2secs", "align", "align-ts"];

/// A command without the options, the reason why it has none that selects, and what to do about it.
const WITHOUT: &[(&str, &str, &str)] = &[
    (
        "analyze",
        "an analysis needs all events of its time",
        "`rtrace convert FILE PART.dat OPTION` makes a recording of some events, and `rtrace report` prints them.",
    ),
    (
        "why",
        "all events around TASK's interval count",
        "TASK is a pid, a name or a glob; `--at`, `--worst`, `--since` and `--until` choose the interval.",
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

/// The reason and a hint for `option`, typed at `command` below `root`, if `report` has it.
pub(crate) fn found(option: &str, command: &str, root: &Command) -> Option<(String, String)> {
    let name = option.split('=').next().unwrap_or(option);
    let name = name.strip_prefix("--").or_else(|| name.strip_prefix('-'))?;
    let at = |names: &[&str]| names.contains(&name);
    let (_, reason, hint) = WITHOUT.iter().find(|(without, ..)| *without == command)?;
    if at(&SELECTS) {
        return Some(((*reason).to_owned(), hint.replace("OPTION", &format!("{option} ..."))));
    }
    if at(&LIMITS) {
        let hint = "`rtrace split -e N FILE` makes a recording of the first N events.";
        return Some(("it counts the events of a report".to_owned(), hint.to_owned()));
    }
    let of_report = || root.find_subcommand("report")?.get_arguments().find(|arg| arg.get_long() == Some(name));
    const MOST_NAMED: usize = 6;
    let having = || {
        let commands = root.get_subcommands().filter(|command| !command.is_hide_set());
        let commands = commands.filter(|command| command.get_arguments().any(|arg| arg.get_long() == Some(name)));
        let names: Vec<String> = commands.map(|command| format!("`rtrace {}`", command.get_name())).collect();
        match &names[..] {
            [first @ .., _] if first.len() >= MOST_NAMED => {
                format!("{} and others have it.", first.get(..MOST_NAMED).unwrap_or(first).join(", "))
            }
            [all @ .., last] if !all.is_empty() => format!("{} and {last} have it.", all.join(", ")),
            _ => format!("{} has it.", names.concat()),
        }
    };
    let reason = match () {
        () if at(&WINDOW) => "it chooses a part of a recording's time",
        () if at(&TIMES) => "it changes times as they are shown; here they are as recorded",
        () if of_report().is_some() => "it is about the output of `rtrace report`",
        () => return None,
    };
    Some((reason.to_owned(), having()))
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
    }
}
