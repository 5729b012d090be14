//! The options of the large commands by heading, in the order of the help. `-h` shows the common ones, `--help` all.
//!
//! An option stands here by its long name, or by its letter if it has no other. Names that a command lacks are passed
//! over, so that commands that share options share sections. A test names the options of these commands that stand
//! nowhere, and those that stand in no command.

/// Options under a heading.
pub(super) struct HelpSection {
    pub(super) heading: &'static str,
    /// Shown by `-h` and `--help`.
    pub(super) common: &'static [&'static str],
    /// Shown by `--help` alone.
    pub(super) rare: &'static [&'static str],
}

const fn section(heading: &'static str, common: &'static [&'static str], rare: &'static [&'static str]) -> HelpSection {
    HelpSection { heading, common, rare }
}

/// Options that choose what is traced: record, stream, profile, start, set.
const TRACED: &[HelpSection] = &[
    section("Events", &["event", "for", "filter", "trigger"], &["v", "ignore-unknown"]),
    section("Tasks", &["pid", "follow", "children"], &["thread", "not-pid", "cgroup", "cgroups", "user"]),
    section(
        "Tracers",
        &["tracer", "function"],
        &[
            "graph-function",
            "stack-trace",
            "max-graph-depth",
            "option",
            "no-function",
            "module",
            "func-stack",
            "threshold",
            "hwlat-width",
            "hwlat-window",
            "hwlat-mode",
            "osnoise-runtime",
            "osnoise-period",
            "osnoise-cpus",
            "osnoise-option",
            "stop-tracing",
            "stop-tracing-total",
            "timerlat-period",
            "timerlat-align",
            "print-stack",
            "max-latency",
            "no-function-trace",
            "no-ftrace",
            "ftrace",
            "cmdlines-size",
            "device",
            "monitor",
        ],
    ),
    section(
        "Ring buffer",
        &["instance", "buffer-size", "clock"],
        &["top", "cpumask", "cpu", "subbuf-size", "syscall-bytes", "self"],
    ),
    section("Profile", &[], &["profile", "layout", "limit", "wide", "only-named", "hook", "global-irqs", "by-comm"]),
    section("A recording", &["input"], &["since", "until", "around", "wall"]),
    section(
        "Output",
        &["output", "format", "json", "ring", "ring-time", "t", "quiet"],
        &[
            "force",
            "max-size",
            "to",
            "to-vsock",
            "udp",
            "proxy",
            "A",
            "name",
            "tsync-interval",
            "no-fifos",
            "min-free",
            "max-per-cpu",
            "compression",
            "file-version",
            "all-formats",
            "proc-map",
            "date",
            "ts-offset",
            "tsc2nsec",
            "N",
            "stderr",
            "syscalls",
        ],
    ),
    section(
        "Run",
        &["duration", "assert", "stop-if", "dry-run", "daemonize"],
        &[
            "at",
            "as",
            "max-lost",
            "snapshot",
            "keep-going",
            "after",
            "rotate",
            "last",
            "keep-saves",
            "config",
            "check",
            "metrics",
            "timeout",
            "stop",
            "summary-json",
            "pid-file",
            "keep",
            "keep-all",
            "priority",
            "poll",
            "sleep",
            "nosplice",
            "fork",
        ],
    ),
    section("General", &["verbose", "help"], &["tracefs", "no-pager"]),
];

/// Options that choose events of recordings: report, convert.
const READ: &[HelpSection] = &[
    section(
        "Files",
        &["input", "output", "to", "force"],
        &[
            "split",
            "pair",
            "counter",
            "hist",
            "begin",
            "end",
            "carry",
            "by",
            "marker-events",
            "file-version",
            "compression",
        ],
    ),
    section(
        "Events",
        &["select", "filter", "cpu", "pid", "comm", "first", "last"],
        &["invert", "tgid", "cgroup", "no-irq", "no-softirq", "filter-test"],
    ),
    section(
        "Time",
        &["since", "until", "around", "wall", "t"],
        &["ts-diff", "align", "align-ts", "ts-offset", "raw-ts", "nodate", "ts2secs"],
    ),
    section(
        "Layout",
        &["format", "json", "fields", "l"],
        &[
            "R",
            "color",
            "no-pager",
            "N",
            "L",
            "raw-events",
            "syscalls",
            "no-handler",
            "option",
            "symbols",
            "symfs",
            "kallsyms",
            "boundary",
            "redact",
            "json-schema",
        ],
    ),
    section(
        "Instead of the events",
        &["summary", "count", "wakeups", "profile"],
        &["top-tasks", "layout", "limit", "global-irqs", "by-comm", "hook", "ts-check"],
    ),
    section(
        "Facts of the file",
        &["stat", "event-names"],
        &[
            "uname",
            "version",
            "cpus",
            "events",
            "event",
            "first-event",
            "last-event",
            "check-events",
            "endian",
            "page-size",
            "functions",
            "printk",
        ],
    ),
    section("General", &["help"], &["threads", "quiet"]),
];

/// Options of tables that events are counted into: hist, latency.
const COUNTED: &[HelpSection] = &[
    section(
        "Events",
        &["by", "split", "key", "val", "sort", "filter", "if-start", "if-end", "limit"],
        &["name", "var", "action", "nohitcount", "with", "synthetic", "size", "buckets", "ns"],
    ),
    section("Run", &["duration", "follow"], &["max-lost", "dry-run", "diff", "in-kernel", "in-user"]),
    section(
        "A recording",
        &["input", "since"],
        &[
            "until",
            "around",
            "all-tasks",
            "buffer",
            "kernel-map",
            "every",
            "wall",
            "against",
            "heaviest",
            "only-held",
            "snapshot-to",
            "snapshot-span",
            "threads",
        ],
    ),
    section("Ring buffer", &["instance"], &["top"]),
    section("Output", &["json", "csv"], &["folded", "raw", "weight", "no-pager"]),
    section("General", &["verbose", "help"], &["tracefs", "quiet"]),
];

/// Options of show.
const SHOW: &[HelpSection] = &[
    section("Buffer", &["instance", "pipe", "snapshot", "cpu"], &[]),
    section("Event", &["hist", "trigger", "filter"], &[]),
    section(
        "Knobs",
        &[
            "tracing-on",
            "current-tracer",
            "buffer-size",
            "buffer-total-size",
            "buffer-subbuf-size",
            "buffer-percent",
            "ftrace-filter",
            "ftrace-notrace",
            "ftrace-pid",
            "graph-function",
            "graph-notrace",
            "cpumask",
            "max-latency",
        ],
        &[],
    ),
    section("Output", &["path", "json"], &[]),
    section("General", &["help", "tracefs"], &["quiet"]),
];

/// The layout of a command's options; `None` if it has few, or one of its own.
pub(super) fn of(command: &str) -> Option<&'static [HelpSection]> {
    match command {
        "record" | "stream" | "profile" | "start" | "set" => Some(TRACED),
        "report" | "convert" => Some(READ),
        "hist" | "latency" => Some(COUNTED),
        "show" => Some(SHOW),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::help::groups::{complete, named};
    use std::collections::BTreeSet;

    #[test]
    fn each_option_stands_once() {
        let root = complete(crate::cli::command::bare_command_line());
        for (commands, sections) in [
            (&["record", "stream", "profile", "start", "set"][..], TRACED),
            (&["report", "convert"], READ),
            (&["hist", "latency"], COUNTED),
            (&["show"], SHOW),
        ] {
            let listed: Vec<&str> = sections.iter().flat_map(|s| s.common.iter().chain(s.rare)).copied().collect();
            let mut unused: BTreeSet<&str> = listed.iter().copied().collect();
            assert_eq!(unused.len(), listed.len(), "an option stands twice: {listed:?}");
            for name in commands {
                let command = root.find_subcommand(name).expect("a command");
                for arg in command.get_arguments().filter(|arg| !arg.is_positional()) {
                    let found = listed.iter().find(|key| named(arg, key));
                    assert!(
                        found.is_some() || arg.is_hide_set(),
                        "{name}: {} stands in no section of help/layout.rs",
                        arg.get_id()
                    );
                    found.map(|key| unused.remove(key));
                }
            }
            assert!(unused.is_empty(), "no command has {unused:?}");
        }
    }
}
