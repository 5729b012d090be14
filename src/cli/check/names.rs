//! Names of system calls and handlers.

use crate::cli::analyze::irq::answer::handler_name;
use crate::cli::analyze::symbol;
use crate::cli::machine::RecordingMachine;
use crate::cli::query::QueryInput;
use rtrace::analysis::IrqSource;
use rtrace::internal::assertion::Names;
use rtrace::symbols::{Comms, Kallsyms};
use rtrace::units::Pid;

/// The names of a recording: by its machine and its kernel's symbols.
pub(in crate::cli) struct RecordingNames<'a> {
    machine: Option<RecordingMachine>,
    kallsyms: &'a Kallsyms,
    comms: &'a Comms,
}

impl<'a> RecordingNames<'a> {
    pub(in crate::cli) fn of(input: &'a QueryInput) -> Self {
        RecordingNames {
            machine: RecordingMachine::of_recording(&input.trace),
            kallsyms: &input.symbols.kallsyms,
            comms: &input.symbols.comms,
        }
    }
}

impl Names for RecordingNames<'_> {
    fn syscall(&self, number: i64) -> Option<String> {
        self.machine?.name(number).map(str::to_owned)
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
