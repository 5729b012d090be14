//! Names of a recording's tasks, system calls, handlers and functions, for assertions and metrics; and the events that the
//! file says it lacks, beside those that the records tell of.

use crate::cli::analyze::irq::handler_name;
use crate::cli::analyze::words;
use crate::cli::machine::RecordingMachine;
use crate::cli::query::QueryInput;
use rtrace::analysis::IrqSource;
use rtrace::events::glob_matches;
use rtrace::format::EventFormat;
use rtrace::internal::assertion::Names;
use rtrace::internal::trace_dat::{Cgroups, OptionId, TimeOptions, Trace, UnsavedEvents};
use rtrace::symbols::{Comms, Kallsyms};
use rtrace::units::Pid;
use std::sync::Arc;

/// The names of a recording: by its machine and its kernel's symbols.
pub(crate) struct RecordingNames<'a> {
    machine: Option<RecordingMachine>,
    kallsyms: &'a Kallsyms,
    comms: &'a Comms,
    formats: Vec<&'a EventFormat>,
    cgroups: Option<Arc<Cgroups>>,
}

impl<'a> RecordingNames<'a> {
    pub(crate) fn of(input: &'a QueryInput) -> Self {
        RecordingNames {
            machine: RecordingMachine::of_recording(&input.trace),
            kallsyms: &input.symbols.kallsyms,
            comms: &input.symbols.comms,
            formats: input.formats().collect(),
            cgroups: input.trace.cgroups(&TimeOptions::default()).map(Arc::new),
        }
    }
}

impl<'a> RecordingNames<'a> {
    /// Names of a recording of these events that has yet to be made on this machine.
    pub(crate) fn of_events(formats: &[&'a EventFormat], comms: &'a Comms, kallsyms: &'a Kallsyms) -> Self {
        let (machine, formats) = (RecordingMachine::of_this(), formats.to_vec());
        RecordingNames { machine, kallsyms, comms, formats, cgroups: None }
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

    fn cgroups(&self) -> Option<Arc<Cgroups>> {
        self.cgroups.clone()
    }

    fn handler(&self, source: &IrqSource) -> String {
        handler_name(source, self.kallsyms)
    }
}

/// The events that the counters of a buffer's rings (`per_cpu/cpuN/stats`, in the file as recording ended) say were
/// overwritten or refused, and those of marks with a number. A ring that was there before has what it dropped before, too.
pub(crate) fn dropped(trace: &Trace, buffer: &str) -> u64 {
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
