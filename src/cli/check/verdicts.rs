//! The verdicts about a recording.
//! Names of system calls and handlers.
//! Events that the file says it lacks, beside those that the records tell of.

use crate::cli::analyze::irq::handler_name;
use crate::cli::analyze::words;
use crate::cli::exit::Exit;
use crate::cli::machine::RecordingMachine;
use crate::cli::query::{ClockUnit, QueryInput};
use rtrace::analysis::{Extent, IrqSource};
use rtrace::events::glob_matches;
use rtrace::format::EventFormat;
use rtrace::internal::assertion::{AssertionVerdict, Checked, Names};
use rtrace::internal::trace_dat::{OptionId, Trace, UnsavedEvents};
use rtrace::symbols::{Comms, Kallsyms};
use rtrace::units::Pid;
use std::path::Path;

/// An assertion's verdict, its name, and the events around the place that it is about.
pub(super) struct Judged {
    pub(super) name: String,
    pub(super) checked: Checked,
    pub(super) context: Vec<String>,
}

/// All verdicts about a recording.
pub(super) struct Verdicts<'a> {
    pub(super) path: &'a Path,
    pub(super) buffer: &'a str,
    pub(super) clock: &'a str,
    pub(super) unit: ClockUnit,
    /// True if the recording is unfinished.
    pub(super) unfinished: bool,
    pub(super) extent: Extent,
    /// The recorded machine's name, if the file has it.
    pub(super) host: Option<String>,
    /// The wall clock of the first event, in nanoseconds since 1970, if it is known.
    pub(super) began: Option<i64>,
    pub(super) results: Vec<Judged>,
}

impl Verdicts<'_> {
    /// The verdict on all together: as bad as the worst.
    pub(super) fn all(&self) -> AssertionVerdict {
        let has = |verdict| self.results.iter().any(|result| result.checked.verdict == verdict);
        match (has(AssertionVerdict::Fail), has(AssertionVerdict::Indeterminate)) {
            (true, _) => AssertionVerdict::Fail,
            (_, true) => AssertionVerdict::Indeterminate,
            _ => AssertionVerdict::Pass,
        }
    }

    pub(super) fn exit(&self) -> Exit {
        match self.all() {
            AssertionVerdict::Pass => Exit::Success,
            AssertionVerdict::Fail => Exit::Unmet,
            AssertionVerdict::Indeterminate => Exit::Incomplete,
        }
    }

    pub(super) fn count(&self, verdict: AssertionVerdict) -> usize {
        self.results.iter().filter(|result| result.checked.verdict == verdict).count()
    }
}

/// A verdict as JSON and tables have it.
pub(super) fn word(verdict: AssertionVerdict) -> &'static str {
    match verdict {
        AssertionVerdict::Pass => "pass",
        AssertionVerdict::Fail => "fail",
        AssertionVerdict::Indeterminate => "indeterminate",
    }
}

/// The names of a recording: by its machine and its kernel's symbols.
pub(in crate::cli) struct RecordingNames<'a> {
    machine: Option<RecordingMachine>,
    kallsyms: &'a Kallsyms,
    comms: &'a Comms,
    formats: Vec<&'a EventFormat>,
}

impl<'a> RecordingNames<'a> {
    pub(in crate::cli) fn of(input: &'a QueryInput) -> Self {
        RecordingNames {
            machine: RecordingMachine::of_recording(&input.trace),
            kallsyms: &input.symbols.kallsyms,
            comms: &input.symbols.comms,
            formats: input.formats().collect(),
        }
    }
}

impl Names for RecordingNames<'_> {
    fn syscall(&self, number: i64) -> Option<String> {
        self.machine?.name(number).map(str::to_owned)
    }

    fn syscalls(&self) -> Vec<String> {
        let Some(machine) = self.machine else { return Vec::new() };
        let events = self.formats.iter().filter(|format| format.system == "syscalls");
        let of_events = events.filter_map(|event| event.name.strip_prefix("sys_enter_"));
        machine.call_names().chain(of_events.map(str::to_owned)).collect()
    }

    fn tasks(&self) -> Vec<String> {
        self.comms.pids().filter_map(|pid| self.task(pid)).collect()
    }

    fn is_symbol(&self, name: &str) -> bool {
        self.kallsyms.iter().any(|symbol| glob_matches(name, &String::from_utf8_lossy(symbol.name)))
    }

    fn function(&self, address: u64) -> String {
        words::function(self.kallsyms, address)
    }

    fn variable(&self, address: u64) -> String {
        words::variable(self.kallsyms, address)
    }

    fn task(&self, pid: Pid) -> Option<String> {
        self.comms.get(pid).map(|comm| String::from_utf8_lossy(comm).into_owned())
    }

    fn handler(&self, source: &IrqSource) -> String {
        handler_name(source, self.kallsyms)
    }
}

/// The events that the counters of a buffer's rings (`per_cpu/cpuN/stats`, in the file as recording ended) say were
/// overwritten or refused, and those of marks with a number. A ring that was there before has what it dropped before, too.
pub(in crate::cli) fn dropped(trace: &Trace, buffer: &str) -> u64 {
    // Options of other buffers follow one that names the buffer.
    let (mut of, mut sum) = (String::new(), 0u64);
    for option in trace.options(OptionId::CPUSTAT) {
        for line in option.text().lines() {
            let Some((name, value)) = line.split_once(':') else { continue };
            let value = value.trim();
            match name.trim() {
                "Buffer" => value.clone_into(&mut of),
                "overrun" | "commit overrun" | "dropped events" if of == buffer => {
                    sum = sum.saturating_add(value.parse().unwrap_or(0));
                }
                _ => {}
            }
        }
    }
    let marks = trace.options(OptionId::RTRACE_UNSAVED).filter_map(|mark| UnsavedEvents::read(mark, trace.abi).ok());
    marks.filter(|mark| mark.buffer == buffer).filter_map(|mark| mark.events).fold(sum, u64::saturating_add)
}
