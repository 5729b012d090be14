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
    (&["format", "output-format", "type"], &["to", "format"]),
    (&["cpus", "core", "cores", "processor"], &["cpu"]),
    (&["events", "select", "only", "include", "grep", "match", "where", "query"], &["select", "event", "filter"]),
    (&["exclude", "ignore", "skip", "except", "not"], &["not-pid", "invert", "no-irq"]),
    (&["longest", "slowest", "largest", "max", "longest-wait"], &["worst", "top"]),
    (&["order", "order-by", "sort-by", "sorted"], &["sort"]),
    (&["rules", "rule", "config", "conf", "assertions", "file", "budget"], &["spec", "config", "input"]),
    (&["expect", "require", "condition", "expr", "if"], &["assert", "filter"]),
    (&["xml", "junit-xml"], &["junit"]),
    (&["out", "output-file", "outfile", "save"], &["output"]),
    (&["markdown", "md"], &["markdown", "github"]),
    (&["fail", "fail-if", "exit-code", "strict", "fail-on", "error-on"], &["fail-on", "allow-indeterminate"]),
    (&["folded", "svg", "collapsed", "speedscope"], &["output"]),
    (&["stack", "stacks", "backtrace"], &["stacktrace"]),
    (&["affinity", "cpu-list", "cpus", "cpu", "core", "cores", "mask"], &["cpu", "cpumask"]),
    (&["syscall", "call", "function"], &["call", "function"]),
    (&["match", "pair"], &["by", "match"]),
    (&["alpha", "significance", "p-value", "p"], &["confidence"]),
    (&["size", "bytes", "max-size", "chunk-size"], &["max-size", "pages"]),
    (&["compress", "gzip", "zip", "level", "codec"], &["compression"]),
    (
        &["key", "keys", "field", "group-by", "columns", "on", "join", "pair-by"],
        &["key", "by", "match", "fields", "field"],
    ),
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

/// Wishes that no option of a command fulfils, and what does.
const ADVICE: &[(&[&str], &str)] = &[
    (
        &["percentile", "percentiles", "quantile", "quantiles", "p99", "p95", "p50", "median"],
        "any percentile is measured as in `rtrace check FILE --assert 'p95(wait()) < 1ms'`: `rtrace help assertions`.",
    ),
    (
        &[
            "by",
            "group",
            "group-by",
            "groupby",
            "key",
            "per",
            "aggregate",
            "log2",
            "buckets",
            "histogram",
            "bins",
            "linear",
        ],
        "`rtrace hist -i FILE EVENT --key FIELD` counts by any field, `FIELD.log2` and `FIELD.buckets=N` in ranges of it.",
    ),
    (
        &[
            "exit-zero",
            "exit-code",
            "no-fail",
            "warn-only",
            "soft-fail",
            "fail-on",
            "fail-on-loss",
            "fail",
            "strict",
            "status",
        ],
        "the exit code says what was found: `rtrace help exit-codes`.",
    ),
    (
        &["threshold", "limit", "max", "min", "budget", "greater", "less"],
        "a limit is part of an assertion: `rtrace check FILE --assert 'max(wait()) < 1ms'`.",
    ),
    (
        &["tui", "interactive", "gui", "timeline", "plot", "chart", "graph", "ui"],
        "`rtrace view FILE` is interactive, `rtrace convert FILE OUT.html` writes a page for a browser.",
    ),
    (
        &["live", "watch", "refresh", "tail-f"],
        "`rtrace stream` prints events as they happen, `rtrace view FILE` follows a recording.",
    ),
    (
        &["freq", "frequency", "sample", "sampling", "sample-rate", "rate", "period", "hz"],
        "events are traced, none are sampled: `rtrace record -e EVENT`, `--for ANALYSIS`.",
    ),
    (
        &["stack", "stacks", "stacktrace", "callgraph", "call-graph", "backtrace", "callstack"],
        "`rtrace record -e EVENT -R stacktrace` records call stacks, `rtrace flame FILE` draws them.",
    ),
    (
        &["append", "merge", "join", "combine", "concat"],
        "a recording is a file of its own; `rtrace report A.dat B.dat` reads several together.",
    ),
    (
        &["keep-old", "no-clobber", "backup", "no-overwrite"],
        "a recording that is there already becomes `FILE.old`; other files are overwritten with `--force` alone.",
    ),
    (&["leak", "leaks"], "`rtrace mem FILE` shows which functions hold memory that was not freed."),
    (
        &["label", "tag", "title", "comment", "note", "description"],
        "the name of the file is what tells recordings apart; `rtrace report --summary` says what each holds.",
    ),
    (
        &["sarif", "tap", "xml", "teamcity", "gitlab"],
        "`--json` is for programs; `rtrace check --junit FILE` writes JUnit XML, `--github` annotations.",
    ),
    (&["pretty", "indent", "compact"], "`| jq .` lays JSON out."),
    (
        &["header", "no-header", "noheader", "no-headers"],
        "`--csv` and `--json` are for programs, where a command has them.",
    ),
    (
        &["host", "ssh", "remote", "target"],
        "`rtrace record --to HOST:PORT` sends a recording, `rtrace record -A HOST` records there.",
    ),
    (
        &["compare", "baseline", "against", "base", "reference", "old", "before"],
        "`rtrace diff BASE NEW` compares recordings, `rtrace baseline compare BASE.json NEW` with a saved summary.",
    ),
    (
        &["plugin", "plugins", "script", "python"],
        "`--json` prints events for scripts; `rtrace help skill` is about programs that drive rtrace.",
    ),
];

/// Parts of names that turn their meaning round.
const NEGATIONS: [&str; 11] =
    ["no", "not", "non", "without", "exclude", "ignore", "skip", "except", "hide", "invert", "disable"];

/// The options of the command that are meant by `word`, which is a long one; else those that it has. `words` are those of the
/// command line.
pub(super) fn option(word: &str, command: &Command, words: &str) -> Option<String> {
    let name = word.split('=').next()?.strip_prefix("--")?;
    let negated = is_negated(name);
    let longs = command.get_arguments().filter(|arg| !arg.is_hide_set()).filter_map(Arg::get_long);
    let longs: Vec<&str> = longs.chain(["help", "version"]).filter(|own| is_negated(own) == negated).collect();
    let has = |own: &&str| longs.contains(own);
    // As a flag it is the buffer at the top.
    let is_meant = |own: &&str| has(own) && (*own != "top" || takes_value(own, command));
    let meant = |name: &str| {
        CONCEPTS.iter().filter(|(others, _)| others.contains(&name)).flat_map(|(_, own)| *own).copied().find(is_meant)
    };
    if let Some(own) = meant(name) {
        return Some(format!("did you mean `--{own}`?{}", help_of(own, command)));
    }
    if let Some(hint) = guess(&near(name, &longs)) {
        return Some(hint);
    }
    if let Some(own) = name.split('-').next().filter(|part| part.len() < name.len()).and_then(meant) {
        return Some(format!("did you mean `--{own}`?{}", help_of(own, command)));
    }
    let of_place = command.get_positionals().filter(|arg| !arg.is_hide_set()).find(|arg| is_called(arg, name));
    if let Some(place) = of_place {
        return Some(format!("it is an argument without an option, as `{place}` in `{words} ...`."));
    }
    if matches!(name, "output" | "out" | "output-file" | "save") {
        if command.get_arguments().any(|arg| arg.get_long() == Some("instance")) {
            return Some(
                "`rtrace record -o FILE` writes a recording, `rtrace extract -o FILE` one of what a buffer holds."
                    .to_owned(),
            );
        }
        let own = |(option, what)| has(&option).then(|| format!(" `--{option} FILE` writes {what}."));
        let files = [("junit", "JUnit XML"), ("html", "a page for a browser")];
        let files: String = files.into_iter().filter_map(own).collect();
        return Some(format!("what is printed goes into a file with `> FILE`.{files}"));
    }
    const ORDERS: [&str; 7] = ["order", "order-by", "sort", "sort-by", "desc", "asc", "sorted"];
    let has_rows = has(&"csv") || matches!(command.get_name(), "mem" | "profile" | "top" | "stack");
    if ORDERS.contains(&name) && has_rows && has(&"json") {
        return Some("rows come in one order; `--json` prints them for `jq` and the like.".to_owned());
    }
    if let Some((_, advice)) = ADVICE.iter().find(|(others, _)| others.contains(&name)) {
        return Some((*advice).to_owned());
    }
    Some(format!("`{words}` has {}.", options(command)?))
}

/// The hint on an unknown option for a format, if an option is called as the format is.
pub(super) fn format_as_option(word: &str, command: &Command) -> Option<String> {
    let name = word.split('=').next()?;
    let has = |long| command.get_arguments().any(|arg| arg.get_long() == Some(long));
    let of_format =
        !has("to") && !has("format") && ["--format", "--output-format", "--type", "--to", "--style"].contains(&name);
    let inside = word.split_once('=').map(|(_, value)| value.to_owned());
    let value = inside.or_else(|| std::env::args().skip_while(|given| given != word).nth(1)).filter(|_| of_format)?;
    let is_there = command.get_arguments().any(|arg| arg.get_long() == Some(value.as_str()) && !arg.is_hide_set());
    is_there.then(|| format!("did you mean `--{value}`?{}", help_of(&value, command)))
}

/// True if a part of an option's name turns its meaning round.
fn is_negated(name: &str) -> bool {
    name.split('-').any(|part| NEGATIONS.contains(&part))
}

/// The flag before `word` on the command line, where `word` is taken for something else than its value.
pub(super) fn flag_before(word: &str) -> Option<String> {
    let words: Vec<String> = std::env::args().collect();
    let before = words.windows(2).find(|pair| pair.get(1).is_some_and(|one| one == word))?.first()?.clone();
    (before.starts_with('-') && before != "--").then_some(before)
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

/// Names with a typing mistake, or of which `name` is a part between dashes, or its begin.
fn near<'a>(name: &str, longs: &[&'a str]) -> Vec<&'a str> {
    let has = |whole: &str, part: &str| whole.split('-').any(|of| of == part);
    // One letter makes the contrary of `on-cpu`.
    let is_contrary = |long: &str| has(long, "off") != has(name, "off") && (has(name, "on") || has(long, "on"));
    let is_typed = |long: &str| long.len().abs_diff(name.len()) <= (name.len() / 3).max(1) && !is_contrary(long);
    let mut found = nearest(name, longs.iter().copied());
    // Each part is near, so that `keep-old` is not `keep-all`.
    let parts_are_near = |long: &&str| {
        let (own, other): (Vec<&str>, Vec<&str>) = (name.split('-').collect(), long.split('-').collect());
        own.len() != other.len() || own.iter().zip(&other).all(|(a, b)| !nearest(a, [*b]).is_empty())
    };
    found.retain(parts_are_near);
    found.retain(|long| is_typed(long));
    if found.is_empty() {
        let begins = |long: &str| long.len() > 2 && name.strip_prefix(long).is_some_and(|rest| rest.starts_with('-'));
        let goes_on = |long: &str| name.split('-').all(|part| has(long, part));
        found.extend(longs.iter().filter(|long| goes_on(long) || begins(long)).take(3));
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
