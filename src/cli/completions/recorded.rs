//! Words that a recording knows: its tasks and fields. Nothing is said of one that cannot be read.

use super::words::{Candidate, CompletionContext};
use rtrace::export::CsvColumn;
use rtrace::internal::safe_file::open_seekable;
use rtrace::internal::trace_dat::Trace;
use rtrace::symbols::Comms;
use rtrace::units::Pid;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The recording that a command line is about: opened without what only decoding needs.
pub(super) struct RecordedNames {
    trace: Trace,
}

impl RecordedNames {
    /// The file of `--input`, the last argument that is a file, or trace.dat.
    pub(super) fn of(context: &CompletionContext<'_>) -> Option<Self> {
        let named = context.last("input").into_iter().chain(context.arguments.iter().rev().map(String::as_str));
        let path = named.map(Path::new).find(|path| path.is_file()).unwrap_or(Path::new("trace.dat"));
        Some(RecordedNames { trace: Trace::open_lazily(open_seekable(path).ok()?, false).ok()? })
    }

    /// The tasks that the recorder stored, thousands at times: a table by pid costs more than the list.
    fn named(&self) -> impl Iterator<Item = (Pid, &[u8])> {
        Comms::lines(&self.trace.saved_cmdlines).filter(|(pid, _)| pid.0 != 0)
    }

    /// The names of its tasks, each once, with the pids of that name.
    pub(super) fn tasks(&self) -> Vec<Candidate> {
        let mut pids: BTreeMap<&[u8], Vec<Pid>> = BTreeMap::new();
        for (pid, name) in self.named() {
            pids.entry(name).or_default().push(pid);
        }
        let meaning = |mut pids: Vec<Pid>| {
            pids.sort_unstable();
            match pids.len() {
                0..=4 => format!("pid {}", pids.iter().map(Pid::to_string).collect::<Vec<_>>().join(", ")),
                count => format!("{count} tasks"),
            }
        };
        pids.into_iter().map(|(name, pids)| Candidate::new(String::from_utf8_lossy(name), meaning(pids))).collect()
    }

    /// The pids of its tasks, with the first name of each.
    pub(super) fn pids(&self) -> Vec<Candidate> {
        let mut named: Vec<(Pid, &[u8])> = self.named().collect();
        named.sort_by_key(|(pid, _)| *pid);
        named.dedup_by_key(|(pid, _)| *pid);
        named.into_iter().map(|(pid, name)| Candidate::new(pid.to_string(), String::from_utf8_lossy(name))).collect()
    }

    /// The columns of CSV: those that all events have, and the fields of its events.
    pub(super) fn columns(&self) -> Vec<Candidate> {
        let fixed = CsvColumn::FIXED.iter().map(|(name, _)| Candidate::new(*name, "of every event"));
        let fields = self.trace.formats().flat_map(|format| &format.fields);
        let names: BTreeSet<&str> = fields.map(|field| field.name.as_str()).collect();
        fixed.chain(names.into_iter().map(|name| Candidate::new(name, "field"))).collect()
    }
}

/// The recordings in the current folder: files whose names end in `.dat`.
pub(super) fn recordings() -> Vec<Candidate> {
    let entries = std::fs::read_dir(".").into_iter().flatten().flatten();
    let names = entries.filter(|entry| entry.path().extension().is_some_and(|end| end == "dat"));
    let mut names: Vec<String> = names.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names.into_iter().map(|name| Candidate::new(name, "recording")).collect()
}

/// The processes that run now, with their names; with `threads`, all their threads.
pub(super) fn running(threads: bool) -> Vec<Candidate> {
    let numbers = |dir: PathBuf| {
        let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut numbers: Vec<u32> = names.filter_map(|name| name.parse().ok()).collect();
        numbers.sort_unstable();
        numbers
    };
    let named = |dir: PathBuf, id: u32| {
        let name = std::fs::read(dir.join(id.to_string()).join("comm")).unwrap_or_default();
        Candidate::new(id.to_string(), String::from_utf8_lossy(name.trim_ascii_end()))
    };
    let processes = numbers(PathBuf::from("/proc"));
    let tasks = |pid: u32| PathBuf::from(format!("/proc/{pid}/task"));
    match threads {
        false => processes.into_iter().map(|pid| named(PathBuf::from("/proc"), pid)).collect(),
        true => {
            let all = processes.into_iter().map(tasks);
            all.flat_map(|dir| numbers(dir.clone()).into_iter().map(move |tid| named(dir.clone(), tid))).collect()
        }
    }
}

/// `current` with its last word completed to one of the quantities of assertions: functions at its begin, then what they are of,
/// and tasks where one belongs.
pub(super) fn quantities(context: &CompletionContext<'_>, current: &str) -> Vec<Candidate> {
    use rtrace::internal::assertion::{DURATIONS, QUANTITIES};
    let begin = current.rfind(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))).map_or(0, |at| at + 1);
    let head = &current[..begin];
    let within = head.trim_end().strip_suffix('(').map(|outer| {
        let name = outer.rfind(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))).map_or(0, |at| at + 1);
        &outer[name..]
    });
    let calls = |names: &[&str]| names.iter().map(|name| Candidate::new(format!("{head}{name}("), "")).collect();
    match within {
        Some("wait" | "preempted" | "run" | "life" | "live" | "busy") => {
            let tasks = RecordedNames::of(context).map(|names| names.tasks()).unwrap_or_default();
            tasks.into_iter().map(|task| Candidate::new(format!("{head}{}", task.word), task.meaning)).collect()
        }
        Some("count" | "min" | "max" | "mean" | "trimmed" | "sum" | "p50" | "p90" | "p99" | "p99.9" | "errors") => {
            calls(&DURATIONS)
        }
        Some(_) => Vec::new(),
        None => {
            let plain = ["lost", "duration"].map(|name| Candidate::new(format!("{head}{name}"), ""));
            let functions =
                QUANTITIES.iter().filter(|name| !["lost", "duration"].contains(name) && !DURATIONS.contains(name));
            plain.into_iter().chain(functions.map(|name| Candidate::new(format!("{head}{name}("), ""))).collect()
        }
    }
}
