//! Names of system calls and handlers.

use crate::cli::analyze::irq::answer::handler_name;
use crate::cli::analyze::symbol;
use crate::cli::machine::RecordingMachine;
use crate::cli::query::QueryInput;
use rtrace::analysis::IrqSource;
use rtrace::events::glob_matches;
use rtrace::format::EventFormat;
use rtrace::internal::assertion::Names;
use rtrace::symbols::{Comms, Kallsyms};
use rtrace::units::Pid;

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
        symbol::function(self.kallsyms, address)
    }

    fn variable(&self, address: u64) -> String {
        symbol::variable(self.kallsyms, address)
    }

    fn task(&self, pid: Pid) -> Option<String> {
        self.comms.get(pid).map(|comm| String::from_utf8_lossy(comm).into_owned())
    }

    fn handler(&self, source: &IrqSource) -> String {
        handler_name(source, self.kallsyms)
    }
}
