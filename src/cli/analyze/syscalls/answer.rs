//! The answer of `rtrace analyze syscalls`, whatever it is printed as.

use crate::cli::analyze::answers;
use crate::cli::analyze::words::many;
use crate::cli::machine::RecordingMachine;
use rtrace::analysis::{DescriptorTimes, SyscallReport, SyscallTimes};
use rtrace::units::Pid;

/// One buffer's answer.
pub(in crate::cli::analyze) type SyscallsAnswer<'a> = answers::AnalysisAnswer<'a, SyscallReport>;

impl SyscallsAnswer<'_> {
    /// The call's name; its number if it has none.
    pub(super) fn name(&self, call: &SyscallTimes) -> String {
        let known = || RecordingMachine::of_recording(&self.input.trace)?.name(call.number);
        match (&call.name, known()) {
            (Some(name), _) => name.clone(),
            (None, Some(name)) => name.to_owned(),
            (None, None) => format!("number {}", call.number),
        }
    }

    /// The file that a descriptor was opened with.
    pub(super) fn file(&self, descriptor: &DescriptorTimes) -> Option<String> {
        Some(String::from_utf8_lossy(descriptor.file.as_deref()?).into_owned())
    }

    pub(super) fn comm(&self, pid: Pid) -> String {
        self.place.comm(pid).unwrap_or_else(|| "?".to_owned())
    }
}

/// Sentences that the numbers need to be understood.
pub(super) fn notes(report: &SyscallReport) -> Vec<String> {
    let counts = report.counts;
    let mut notes = Vec::new();
    if counts.losses > 0 {
        let (places, calls) = (many(counts.losses, "place"), many(counts.censored, "call"));
        notes.push(format!("events were lost at {places}: {calls} that went on there are not counted"));
    }
    if counts.unfinished > 0 {
        notes.push(format!("{} without an exit", entries(counts.unfinished)));
    }
    if counts.without_entry > 0 {
        notes.push(format!("{} without an entry", many(counts.without_entry, "exit")));
    }
    if !report.has_switches {
        notes.push("no sched_switch is recorded: the time off the CPU is unknown".to_owned());
    }
    notes
}

fn entries(count: u64) -> String {
    if count == 1 { "1 entry".to_owned() } else { format!("{count} entries") }
}
