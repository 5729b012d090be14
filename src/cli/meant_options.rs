//! Options that a command does not have, and those of it that do what was meant.

use clap::{Arg, Command};
use rtrace::syntax::nearest;

/// Most options that a hint names.
const MOST_OPTIONS: usize = 32;

/// Words by which other programs call what some options do, each list with those options, the likeliest first.
const CONCEPTS: &[(&[&str], &[&str])] = &[
    (&["task", "name", "thread", "process-name", "command", "proc"], &["comm", "pid"]),
    (&["process", "p", "tid"], &["pid"]),
    (&["time", "seconds", "timeout", "for", "secs", "runtime"], &["duration", "since"]),
    (&["from", "begin", "start", "start-time", "after"], &["start", "since"]),
    (&["to", "end", "stop", "end-time", "before"], &["end", "until"]),
    (&["window", "range", "between", "time-range"], &["since", "until"]),
    (&["max-file-size", "size-limit", "limit-size", "filesize"], &["max-size"]),
    (&["buffer", "bufsize", "buf-size", "size", "memory"], &["buffer-size", "size"]),
    (&["host", "server", "remote"], &["to"]),
    (
        &["head", "limit", "lines", "count", "num", "number", "max-events", "n", "rows", "max"],
        &["first", "top", "limit", "max"],
    ),
    (&["tail"], &["last"]),
    (&["threshold", "tolerance", "min-change"], &["min-effect"]),
    (&["threshold", "min", "min-latency", "longer-than", "slower-than"], &["threshold", "min"]),
    (&["format", "output-format", "type"], &["to", "format", "json"]),
    (&["cpus", "core", "cores", "processor"], &["cpu"]),
    (&["events", "select", "only", "include", "grep", "match", "where", "query"], &["select", "event", "filter"]),
    (&["exclude", "ignore", "skip", "except", "not"], &["invert", "filter"]),
    (&["longest", "slowest", "largest", "max", "longest-wait"], &["worst", "top"]),
    (&["order", "order-by", "sort-by", "sorted", "by"], &["sort"]),
    (&["rules", "rule", "config", "conf", "assertions", "file", "budget"], &["spec", "config", "input"]),
    (&["expect", "require", "condition", "expr", "if"], &["assert", "filter"]),
    (&["xml", "junit-xml"], &["junit"]),
    (&["out", "output-file", "outfile", "save"], &["output"]),
    (&["markdown", "md"], &["markdown", "github"]),
    (&["fail", "fail-if", "exit-code", "strict", "fail-on", "error-on"], &["fail-on", "allow-indeterminate"]),
    (&["folded", "svg", "collapsed", "speedscope"], &["output"]),
    (
        &["stack", "stacks", "stacktrace", "callgraph", "call-graph", "backtrace", "g"],
        &["stacktrace", "trigger", "for"],
    ),
    (&["compress", "gzip", "zip", "level", "codec"], &["compression"]),
    (&["key", "keys", "field", "group-by", "columns"], &["key", "by", "fields", "field"]),
    (&["absolute", "local-time", "datetime", "timestamps", "wallclock", "clock-time", "human"], &["wall"]),
    (&["silent", "no-output", "no-progress"], &["quiet"]),
    (&["debug", "v"], &["verbose"]),
    (&["no-truncate", "full", "width", "no-cut"], &["wide"]),
    (&["circular", "flight-recorder", "snapshot", "ring-buffer", "overwrite"], &["ring"]),
    (&["overwrite", "yes", "y", "clobber"], &["force"]),
    (&["background", "daemon", "detach", "bg"], &["daemonize"]),
    (&["metrics", "measure"], &["metric"]),
    (&["samples", "runs", "repeat", "iterations"], &["min-samples", "run-spread", "repeat"]),
    (&["offcpu", "blocked", "sleep"], &["off-cpu"]),
    (&["dry", "simulate", "test", "noop", "what-if"], &["dry-run", "check"]),
];

/// The options of the command that are meant by `word`, which is a long one; else those that it has. `words` are those of the
/// command line.
pub(super) fn option(word: &str, command: &Command, words: &str) -> Option<String> {
    let name = word.split('=').next()?.strip_prefix("--")?;
    let longs: Vec<&str> = command.get_arguments().filter(|arg| !arg.is_hide_set()).filter_map(Arg::get_long).collect();
    let has = |own: &&str| longs.contains(own);
    // As a flag it is the buffer at the top.
    let is_meant = |own: &&str| has(own) && (*own != "top" || takes_value(own, command));
    let meant = || {
        CONCEPTS.iter().filter(|(others, _)| others.contains(&name)).flat_map(|(_, own)| *own).copied().find(is_meant)
    };
    if let Some(own) = meant() {
        return Some(format!("did you mean `--{own}`?{}", help_of(own, command)));
    }
    if let Some(hint) = guess(&near(name, &longs)) {
        return Some(hint);
    }
    let of_place = command.get_positionals().filter(|arg| !arg.is_hide_set()).find(|arg| is_called(arg, name));
    if let Some(place) = of_place {
        return Some(format!("it is an argument without an option, as `{place}` in `{words} ...`."));
    }
    if matches!(name, "output" | "out" | "output-file" | "save") {
        let own = |(option, what)| has(&option).then(|| format!(" `--{option} FILE` writes {what}."));
        let files = [("junit", "JUnit XML"), ("html", "a page for a browser")];
        let files: String = files.into_iter().filter_map(own).collect();
        return Some(format!("what is printed goes into a file with `> FILE`.{files}"));
    }
    Some(match about(name, command).as_slice() {
        [] => format!("`{words}` has {}.", options(command)?),
        found => format!("it may be {}.", found.join(" or ")),
    })
}

/// The hint on a word after an option that takes none, which clap took as the argument `place`.
pub(super) fn value_of_flag(place: &str, command: &Command) -> Option<String> {
    let words: Vec<String> = std::env::args().collect();
    let flags = || command.get_arguments().filter(|arg| !arg.get_action().takes_values());
    words.windows(2).find_map(|pair| {
        let [option, word] = pair else { return None };
        let name = option.strip_prefix("--").filter(|_| !word.starts_with('-'))?;
        flags().find(|arg| arg.get_long() == Some(name))?;
        let rows = CONCEPTS.iter().filter(|(_, own)| own.contains(&name)).flat_map(|(_, own)| *own);
        let other = rows
            .filter(|own| **own != name)
            .find(|own| takes_value(own, command))
            .map_or_else(String::new, |own| format!(" `--{own}` takes a value:{}", help_of(own, command)));
        Some(format!("`--{name}` takes no value, and `{word}` is taken as `{place}`.{other}"))
    })
}

/// The options that the command's short help shows, in backquotes; `None` if they are too many for a hint.
pub(super) fn options(command: &Command) -> Option<String> {
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set() && !arg.is_hide_short_help_set());
    let names: Vec<String> = shown.filter_map(Arg::get_long).map(|long| format!("--{long}")).collect();
    (1..=MOST_OPTIONS).contains(&names.len()).then(|| names.join(", "))
}

/// Names with a typing mistake, or of which `name` is a part between dashes.
fn near<'a>(name: &str, longs: &[&'a str]) -> Vec<&'a str> {
    let is_part = |whole: &str, part: &str| whole.split('-').any(|of| of == part);
    let short = |near: &&&str| near.len().abs_diff(name.len()) <= (name.len() / 3).max(1);
    let typed = nearest(name, longs.iter().copied().chain(["help", "version"]));
    let mut found: Vec<&str> = typed.iter().filter(short).copied().collect();
    if found.is_empty() {
        found
            .extend(longs.iter().filter(|long| is_part(long, name) || (long.len() > 2 && is_part(name, long))).take(3));
    }
    found
}

/// `did you mean `--a` or `--b`?`
fn guess(names: &[&str]) -> Option<String> {
    let (last, before) = names.split_last()?;
    let before: Vec<String> = before.iter().map(|name| format!("`--{name}`")).collect();
    let or = if before.is_empty() { "" } else { " or " };
    Some(format!("did you mean {}{or}`--{last}`?", before.join(", ")))
}

/// True of an option of the command that has a value.
fn takes_value(long: &str, command: &Command) -> bool {
    command.get_arguments().any(|arg| arg.get_long() == Some(long) && arg.get_action().takes_values())
}

/// The first line of an option's help, as a sentence.
fn help_of(long: &str, command: &Command) -> String {
    let arg = command.get_arguments().find(|arg| arg.get_long() == Some(long));
    arg.and_then(Arg::get_help).map_or_else(String::new, |help| format!(" {help}."))
}

/// True if the argument's name on a usage line is `name`.
fn is_called(arg: &Arg, name: &str) -> bool {
    let names = arg.get_value_names().unwrap_or_default();
    names.iter().flat_map(|names| names.split(['|', ' '])).any(|one| one.eq_ignore_ascii_case(name))
}

/// Options whose help speaks of a part of `name`, two at most, each with its help.
fn about(name: &str, command: &Command) -> Vec<String> {
    let parts: Vec<&str> = name.split('-').filter(|part| part.len() >= 4).map(stem).collect();
    let says = |arg: &&Arg| {
        let help = arg.get_help().map(|help| help.to_string().to_lowercase()).unwrap_or_default();
        !parts.is_empty() && help.split(|c: char| !c.is_alphanumeric()).any(|word| parts.contains(&stem(word)))
    };
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set() && arg.get_long().is_some()).filter(says);
    let line = |arg: &Arg| Some(format!("`--{}` ({})", arg.get_long()?, arg.get_help()?));
    shown.filter_map(line).take(2).collect()
}

/// A word without the ending of its plural.
fn stem(word: &str) -> &str {
    word.strip_suffix('s').unwrap_or(word)
}
