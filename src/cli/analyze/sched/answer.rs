//! The answer of `rtrace analyze sched`, whatever it is printed as.

use crate::cli::analyze::answers;
use crate::cli::analyze::words::many;
use rtrace::analysis::{SchedReport, TaskSched};
use rtrace::units::{Pid, grouped};

/// One buffer's answer.
pub(in crate::cli::analyze) type SchedAnswer<'a> = answers::AnalysisAnswer<'a, SchedReport>;

impl SchedAnswer<'_> {
    /// The name of a task; of one that no event names, that of the recording.
    pub(super) fn comm(&self, task: &TaskSched) -> String {
        let known = if task.comm.is_empty() { self.place.comm(task.pid) } else { None };
        known.unwrap_or_else(|| String::from_utf8_lossy(&task.comm).into_owned())
    }

    pub(super) fn waker(&self, pid: Pid) -> String {
        let named = self.report.tasks.iter().rev().find(|task| task.pid == pid && !task.comm.is_empty());
        match (pid.0, named) {
            (0, _) => "idle".to_owned(),
            (_, Some(task)) => String::from_utf8_lossy(&task.comm).into_owned(),
            (_, None) => self.place.comm(pid).unwrap_or_else(|| "?".to_owned()),
        }
    }
}

/// Sentences that the numbers need to be understood.
pub(super) fn notes(report: &SchedReport) -> Vec<String> {
    let mut notes = Vec::new();
    let counts = report.counts;
    if !report.has_wakeups {
        notes.push("no wakeups are recorded: what a task waited for its CPU is unknown time".to_owned());
    }
    if counts.losses > 0 {
        let places = many(counts.losses, "place");
        notes.push(format!(
            "events were lost at {places}: what tasks did there is unknown time, and no duration spans it"
        ));
    }
    if report.has_wakeups && counts.missed_wakeups > 0 {
        let tasks = many(counts.missed_wakeups, "time");
        notes.push(format!("{tasks} a task came to its CPU from sleep without a wakeup: unknown time"));
    }
    if counts.contradictions > 0 {
        let switches = many(counts.contradictions, "event");
        let verb = if counts.contradictions == 1 { "contradicts" } else { "contradict" };
        let most = report.tasks.iter().max_by_key(|task| task.contradictions);
        let most = most.map_or_else(String::new, |task| {
            let comm = String::from_utf8_lossy(&task.comm);
            format!(", {} about {comm} [{}]", grouped(task.contradictions), task.pid.0)
        });
        notes.push(format!("{switches} {verb} what was known{most}: events are missing, or the clocks of CPUs differ"));
    }
    notes
}
