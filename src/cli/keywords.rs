//! The words of the little languages, for the shells' completions. Characters that shells obey are left out.

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use std::ffi::OsStr;

/// Actions of triggers, as they begin.
pub(crate) const TRIGGERS: &[&str] = &[
    "traceon",
    "traceoff",
    "snapshot",
    "stacktrace",
    "enable_event:",
    "disable_event:",
    "enable_hist:",
    "disable_hist:",
    "hist:keys=",
];

/// Kinds of probes.
pub(crate) const PROBES: &[&str] =
    &["kprobe", "kretprobe", "uprobe", "uretprobe", "eprobe", "fprobe", "fretprobe", "tprobe", "user"];

/// Keys that every event has for a histogram; and the modifiers that go with them.
pub(crate) const KEYS: &[&str] = &[
    "common_pid",
    "common_pid.execname",
    "common_cpu",
    "common_stacktrace",
    "common_timestamp",
    "common_timestamp.usecs",
    "common_preempt_count",
    ".hex",
    ".sym",
    ".sym-offset",
    ".syscall",
    ".log2",
    ".buckets=",
    ".stacktrace",
];

/// Columns to sort by.
pub(crate) const SORTS: &[&str] = &["hitcount", "hitcount.desc", "hitcount.asc"];

/// Handlers and actions of histograms.
pub(crate) const ACTIONS: &[&str] = &["onmatch", "onmax", "onchange", "trace", "save", "snapshot"];

/// Names that filters know besides an event's fields.
pub(crate) const FILTERS: &[&str] = &["COMM", "CPU", "CPUS", "common_pid", ".ustring", ".function"];

/// Differences of a synthetic event.
pub(crate) const DELTAS: &[&str] = &["usecs:", "ns:"];

/// The words of SQL statements.
pub(crate) const SQL: &[&str] = &[
    "select",
    "from",
    "join",
    "on",
    "where",
    "as",
    "cast",
    "TIMESTAMP",
    "TIMESTAMP_USECS",
    "TIMESTAMP_DELTA",
    "TIMESTAMP_DELTA_USECS",
    "STACKTRACE",
    "COMM",
    "_COUNTER_",
];

/// Takes any text and offers `words`.
pub(crate) fn words(words: &'static [&'static str]) -> KeywordParser {
    KeywordParser(words)
}

/// A parser that takes any text and offers words.
#[derive(Clone)]
pub(crate) struct KeywordParser(&'static [&'static str]);

impl TypedValueParser for KeywordParser {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.0.iter().map(|word| PossibleValue::new(*word))))
    }
}
