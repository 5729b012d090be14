//! Selection of events.
//! Selected events as a change to a copy of their recording.

use super::QueryInput;
use crate::cli::exit::{Exit, Failure};
use crate::cli::language::of_value;
use anyhow::anyhow;
use rtrace::event::Record;
use rtrace::events::NoEvent;
use rtrace::filter::EventFilter;
use rtrace::internal::trace_dat::write::{Edit, StoredRecord};
use rtrace::recording::{ExportError, Query, QueryError, Resolved, Selection, Window};
use rtrace::syntax::did_you_mean;
use rtrace::units::Pid;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;

/// Selection of events, besides `-F`.
#[derive(clap::Args, Clone, Default)]
pub(crate) struct SelectArgs {
    /// Only the events that pass a filter of the kernel's language
    ///
    /// As in `sched:sched_switch: prev_prio < 100`.
    #[arg(long = "filter", value_name = "EVENTS[: EXPR]", value_parser = kernel_filter)]
    kernel: Vec<EventFilter>,
    /// Only events of these tasks
    #[arg(long, value_name = "PID,...", value_delimiter = ',')]
    pid: Vec<i32>,
    /// Only what the tasks of these processes did, in recordings made with -O record-tgid
    #[arg(long, value_name = "PID,...", value_delimiter = ',')]
    tgid: Vec<i32>,
    /// Only what tasks of this name did
    ///
    /// The name may be a glob; the option may be given several times.
    #[arg(long, value_name = "NAME")]
    comm: Vec<String>,
    /// Only what tasks did while they were in this cgroup or below it, in recordings made with --cgroups or --cgroup
    ///
    /// The path may be a glob, as in `--cgroup '*/docker-4f1c*'`; the option may be given several times.
    #[arg(long, value_name = "PATH", hide_short_help = true)]
    cgroup: Vec<String>,
    /// Hide events in hard-interrupt context
    #[arg(short = 'I', long)]
    no_irq: bool,
    /// Hide events in soft-interrupt context
    #[arg(short = 'S', long)]
    no_softirq: bool,
}

impl SelectArgs {
    /// The events that these arguments select.
    pub(crate) fn selection(&self) -> Selection {
        Selection {
            filters: self.kernel.clone(),
            pids: self.pid.iter().map(|pid| Pid(*pid)).collect(),
            tgids: self.tgid.iter().map(|pid| Pid(*pid)).collect(),
            comms: self.comm.clone(),
            cgroups: self.cgroup.clone(),
            no_irq: self.no_irq,
            no_softirq: self.no_softirq,
            ..Selection::default()
        }
    }

    /// The tasks' names that are wanted.
    pub(crate) fn comms(&self) -> &[String] {
        &self.comm
    }

    /// The tasks that are wanted.
    pub(crate) fn pids(&self) -> &[i32] {
        &self.pid
    }

    /// The same of all tasks.
    pub(super) fn of_all_tasks(self) -> Self {
        SelectArgs { pid: Vec::new(), comm: Vec::new(), ..self }
    }

    /// True if events are chosen by name or content.
    pub(super) fn by_content(&self) -> bool {
        !self.kernel.is_empty()
            || !self.pid.is_empty()
            || !self.tgid.is_empty()
            || !self.comm.is_empty()
            || !self.cgroup.is_empty()
    }
}

fn kernel_filter(text: &str) -> Result<EventFilter, String> {
    EventFilter::parse(text).map_err(|e| of_value(&e))
}

/// The error that a recording does not have the cgroups of its tasks.
pub(crate) fn no_cgroups(path: &Path) -> Failure {
    let error = anyhow!("{} does not say which cgroups its tasks were in", path.display());
    Failure::new(Exit::Failed, error).hint("`rtrace record --for sched --cgroups` stores it.")
}

/// The error that no cgroup of a recording is called so, with the one that was probably meant.
pub(crate) fn no_cgroup(pattern: &str, near: Option<&str>) -> Failure {
    let failure = Failure::new(Exit::Usage, anyhow!("no task was in a cgroup called `{pattern}`"));
    match near {
        Some(near) => failure.hint(format!("did you mean `{near}`?")),
        None => failure.hint("`rtrace analyze cgroups` lists those of the recording."),
    }
}

/// Why a query cannot be run, with what to do about it.
pub(super) fn failure(error: QueryError, inputs: &[QueryInput]) -> Failure {
    let path = |recording: usize| inputs[recording].path.display();
    match error {
        QueryError::Mismatch { recording, event, error } => {
            let what = if event.is_empty() { String::new() } else { format!("invalid filter for `{event}`:\n") };
            let failure = Failure::new(Exit::Usage, anyhow!("{}: {what}{error}", path(recording)));
            error.hints().iter().fold(failure, |failure, hint| failure.hint(hint.clone()))
        }
        QueryError::NoProcesses { recording } => {
            let error = anyhow!("{} does not say which process a task belongs to", path(recording));
            Failure::new(Exit::Failed, error).hint("`rtrace record -O record-tgid` keeps it.".to_owned())
        }
        QueryError::NoCgroups { recording } => no_cgroups(&inputs[recording].path),
        QueryError::NoCgroup { pattern, nearest } => no_cgroup(&pattern, nearest.first().map(String::as_str)),
        // A filter of an event that no file has is a mistake.
        QueryError::NoEvent(NoEvent { pattern, .. }) => {
            let failure = Failure::new(Exit::Usage, anyhow!("no event is called `{pattern}`"));
            let name = pattern.rsplit([':', '/']).next().unwrap_or_default();
            if pattern.contains(['<', '>', '=', '&', '~', '!']) && !pattern.contains(": ") {
                return failure.hint(with_an_event(&pattern, inputs));
            }
            if let Some((event, filter)) = pattern.split_once(" if ") {
                return failure.hint(format!("a filter follows a colon: `{event}: {filter}`."));
            }
            match did_you_mean(name, inputs.iter().flat_map(|i| i.trace.formats()).map(|f| f.name.as_str())) {
                Some(hint) => failure.hint(hint),
                None => failure.hint("`rtrace report --count` lists the events of the recording."),
            }
        }
        QueryError::File(error) => error.into(),
        other => other.into(),
    }
}

/// The hint for an expression without events before it.
fn with_an_event(expr: &str, inputs: &[QueryInput]) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let field = expr.split(|c: char| !is_word(c)).find(|word| !word.is_empty()).unwrap_or_default();
    let value = expr.split(['"', '\'']).nth(1).unwrap_or_default();
    if field == "comm" && expr.contains("==") && !value.is_empty() {
        return format!(
            "`--comm {value}` selects what tasks of that name did; a filter names its event first, as in `sched:sched_waking: {expr}`."
        );
    }
    let mut formats = inputs.iter().flat_map(|input| input.trace.formats());
    match formats.find(|format| format.system != "ftrace" && format.fields.iter().any(|known| known.name == field)) {
        Some(format) => format!(
            "a filter names its event first, as in `{}:{}: {expr}`; `*: ` stands for all that have the field.",
            format.system, format.name
        ),
        None => "a filter names its event first, as in `sched:sched_switch: prev_prio < 100`.".to_owned(),
    }
}

/// Why an export ended early.
pub(super) fn export_failure(error: ExportError, inputs: &[QueryInput]) -> Failure {
    match error {
        ExportError::Query(error) => failure(error, inputs),
        ExportError::Write(error) => error.into(),
        other => other.into(),
    }
}

/// The events that a query of one recording selects, wherever its window lies.
pub(crate) struct Selected<'q> {
    resolved: Resolved<'q>,
    /// By buffer: its source.
    sources: Vec<usize>,
    /// The part of them that is wanted; all without it.
    part: Option<LimitedPart>,
}

/// The first or the last of the selected events in a window. Those of each stream are a run of its selected events there.
pub(crate) struct LimitedPart {
    window: Window,
    /// By source and CPU: how many come before the run, and how many are in it.
    runs: HashMap<(usize, u32), (u64, u64)>,
}

impl LimitedPart {
    /// The `first` or the `last` number of the events of `query`, which has this window.
    pub(crate) fn of(
        query: &Query<'_>,
        window: Window,
        (first, last): (Option<u64>, Option<u64>),
    ) -> Result<Self, Failure> {
        let (mut runs, mut before) = (HashMap::<_, (u64, u64)>::new(), 0);
        let walk = |query: &Query<'_>, see: &mut dyn FnMut((usize, u32))| {
            let walked = query.resolve()?.walk(|current| {
                let record = current.record();
                see((record.buffer, record.cpu.0));
                Ok::<_, Failure>(ControlFlow::Continue(()))
            });
            walked.map(drop)
        };
        let query = match (first, last) {
            (Some(first), _) => query.clone().first(first),
            (None, Some(last)) => {
                let mut count = 0u64;
                walk(query, &mut |_| count += 1)?;
                before = count.saturating_sub(last);
                query.clone()
            }
            (None, None) => query.clone(),
        };
        walk(&query, &mut |stream| {
            let run = runs.entry(stream).or_default();
            if before > 0 {
                (run.0, before) = (run.0 + 1, before - 1);
            } else {
                run.1 += 1;
            }
        })?;
        Ok(LimitedPart { window, runs })
    }

    /// True if the next selected event of a stream is wanted.
    fn wants(&mut self, record: &Record<'_>) -> bool {
        if self.window.is_before(record.timestamp) || self.window.is_over(record.timestamp) {
            return false;
        }
        let Some((before, wanted)) = self.runs.get_mut(&(record.buffer, record.cpu.0)) else { return false };
        match (*before, *wanted) {
            (0, 0) => false,
            (0, left) => {
                *wanted = left - 1;
                true
            }
            (left, _) => {
                *before = left - 1;
                false
            }
        }
    }
}

impl<'q> Selected<'q> {
    /// Of `query`, whose one recording is `inputs`.
    pub(crate) fn of(query: &'q Query<'_>, inputs: &[QueryInput]) -> Result<Self, Failure> {
        let sources = query.sources();
        let last = sources.iter().map(|source| source.buffer).max().unwrap_or(0);
        let place = |buffer| sources.iter().position(|source| source.buffer == buffer).unwrap_or(0);
        let resolved = query.resolve().map_err(|error| failure(error, inputs))?;
        Ok(Selected { resolved, sources: (0..=last).map(place).collect(), part: None })
    }

    /// A part of them.
    pub(crate) fn limited(self, part: LimitedPart) -> Self {
        Selected { part: Some(part), ..self }
    }
}

impl Edit for Selected<'_> {
    fn keeps(&mut self, record: &StoredRecord<'_>) -> bool {
        let StoredRecord { stream, cpu, timestamp, lost, data } = *record;
        let Some(buffer) = self.sources.get(stream.0).copied() else { return false };
        let record = Record { timestamp, cpu, buffer, lost, data };
        self.resolved.selects(&record) && self.part.as_mut().is_none_or(|part| part.wants(&record))
    }
}
