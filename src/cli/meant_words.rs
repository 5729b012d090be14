//! Words for options: those of other programs with the options that do it here, and wishes that something else fulfils.

/// Words by which other programs call what some options do, each list with those options, the likeliest first.
pub(super) const CONCEPTS: &[(&[&str], &[&str])] = &[
    (&["task", "name", "thread", "process-name", "command", "proc"], &["comm", "pid"]),
    (&["process", "p", "tid"], &["pid"]),
    (&["by", "every", "each", "interval", "step", "chunk"], &["seconds"]),
    (&["time", "seconds", "timeout", "for", "secs", "runtime"], &["duration"]),
    (&["warmup", "warm-up", "time"], &["since"]),
    (&["stop-on", "stop-when", "break-on", "until-event"], &["stop-if"]),
    (&["file"], &["spec", "output", "config", "input"]),
    (&["sum", "value", "values", "vals"], &["val"]),
    (&["split-every", "rotate-every", "segment", "switch-output", "rollover"], &["rotate"]),
    (&["start-at", "begin-at", "delay"], &["at"]),
    (&["vmlinux", "symbols", "system-map", "symfs"], &["kallsyms"]),
    (&["container", "pod", "slice"], &["cgroup"]),
    (&["delta", "gap", "gaps", "diff", "time-delta", "ts-delta", "deltas"], &["ts-diff"]),
    (&["from", "begin", "start", "start-time", "after"], &["start", "begin", "since"]),
    (&["to", "end", "stop", "end-time", "before"], &["end", "until"]),
    (&["window", "range", "between", "time-range"], &["since", "until"]),
    (&["max-file-size", "size-limit", "limit-size", "filesize"], &["max-size"]),
    (&["bufsize", "buf-size", "size", "memory"], &["buffer-size", "size"]),
    (&["notrace", "no-trace", "exclude-function", "skip-function"], &["no-function"]),
    (&["label", "tag", "name", "dest", "destination"], &["output"]),
    (&["host", "server", "remote"], &["to"]),
    (
        &["head", "limit", "lines", "count", "num", "number", "max-events", "first-events", "n", "rows", "max"],
        &["first", "top", "limit", "max"],
    ),
    (&["tail", "last-events"], &["last"]),
    (&["threshold", "tolerance", "min-change"], &["min-effect"]),
    (&["threshold", "min", "min-latency", "longer-than", "slower-than"], &["threshold", "min"]),
    (&["format", "output-format", "type"], &["to", "format"]),
    (&["cpus", "core", "cores", "processor"], &["cpu"]),
    (&["events", "select", "only", "include", "grep", "match", "where"], &["select", "event", "filter"]),
    (&["exclude", "ignore", "skip", "except", "not"], &["not-pid", "invert", "no-irq"]),
    (&["longest", "slowest", "largest", "max", "longest-wait"], &["worst", "top"]),
    (&["order", "order-by", "sort-by", "sorted"], &["sort"]),
    (&["rules", "rule", "config", "conf", "assertions", "budget"], &["spec", "config", "input"]),
    (&["expect", "require", "condition", "expr", "if"], &["assert", "filter"]),
    (&["xml", "junit-xml"], &["junit"]),
    (&["out", "output-file", "outfile", "save", "outdir", "output-dir", "out-dir"], &["output"]),
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
    (
        &["absolute", "local-time", "datetime", "timestamps", "wallclock", "clock-time", "human", "date", "iso"],
        &["wall"],
    ),
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

/// Letters of options that another command or program has, with the options that do it here, the likeliest first.
pub(super) const LETTERS: &[(char, &[&str])] = &[
    ('e', &["select", "event"]),
    ('E', &["select"]),
    ('F', &["select", "filter"]),
    ('p', &["pid"]),
    ('P', &["pid"]),
    ('t', &["pid", "tid"]),
    ('c', &["comm"]),
    ('C', &["cpu"]),
    ('B', &["instance", "buffer"]),
    ('n', &["first", "top", "events"]),
    ('o', &["output"]),
    ('f', &["filter", "spec"]),
    ('j', &["json"]),
    ('w', &["wide"]),
    ('d', &["duration"]),
    ('a', &["assert", "all"]),
];

/// Wishes that no option of a command fulfils, and what does.
pub(super) const ADVICE: &[(&[&str], &str)] = &[
    (
        &["format", "output-format", "type", "junit", "junit-xml"],
        "`rtrace convert FILE OUT` writes other formats of a recording, `rtrace check FILE --junit OUT` JUnit XML.",
    ),
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
    (&["html", "web", "browser"], "`rtrace convert FILE OUT.html` writes a page for a browser."),
    (
        &["live", "watch", "refresh", "tail-f", "follow"],
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
        &["unit", "units", "ns", "us", "ms", "nanoseconds", "microseconds", "milliseconds"],
        "times stand with their unit; in JSON their keys end in it, as `_ns`.",
    ),
    (
        &["keep-old", "no-clobber", "backup", "no-overwrite", "force", "overwrite"],
        "a recording that is there already becomes `FILE.old`; other files are overwritten with `--force` alone.",
    ),
    (
        &["retries", "retry", "attempts"],
        "a recording gives the same answer each time; several are compared by `rtrace diff`.",
    ),
    (
        &["host-cpu", "user", "uid"],
        "`rtrace report --filter 'EVENT: FIELD == VALUE'` selects by any field, `--json` has what others select from.",
    ),
    (&["hostname", "host-name"], "the host's name is stored by itself; tables have it as `host`."),
    (&["leak", "leaks"], "`rtrace mem FILE` shows which functions hold memory that was not freed."),
    (
        &["label", "tag", "title", "comment", "note", "description"],
        "the name of the file is what tells recordings apart; `rtrace report --summary` says what each holds.",
    ),
    (
        &["sarif", "tap", "xml", "teamcity", "gitlab"],
        "`--json` is for programs; `rtrace check --junit FILE` writes JUnit XML, `--github` annotations.",
    ),
    (
        &["sort", "order", "sort-by", "order-by"],
        "events come in the order of their times; the tables of `rtrace analyze` and `rtrace hist -i FILE EVENT` are sorted.",
    ),
    (&["stdio", "tty", "text", "no-tui", "plain"], "what is printed is text; `rtrace view FILE` is interactive."),
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

/// The analysis that other programs call so.
pub(crate) fn analysis(word: &str) -> Option<&'static str> {
    Some(match word {
        "timehist" | "runqlat" | "runqlen" | "runqslower" | "schedule" | "scheduler" | "context-switches"
        | "switches" | "csw" => "sched",
        "kwork" | "hardirqs" | "softirqs" | "softirq" | "interrupts" | "interrupt" => "irq",
        "kmem" | "allocations" | "alloc" | "slab" => "memory",
        "lock" | "contention" => "locks",
        "syscount" | "syscall" => "syscalls",
        "block" | "blk" | "disk" | "biolatency" | "biosnoop" | "biotop" | "iostat" => "io",
        "network" | "tcp" | "packets" => "net",
        "page-faults" | "page_faults" | "pagefaults" | "faulttop" => "faults",
        "cstates" | "idlestat" => "idle",
        "cgroup" | "container" | "containers" | "pods" | "throttle" | "throttled" | "throttling" | "quota"
        | "cgtop" => "cgroups",
        _ => return None,
    })
}
