//! Names for the keys of histograms that were not counted in the kernel.

use crate::cli::machine::{RecordingMachine, function_of};
use crate::cli::query::QueryInput;
use rtrace::analysis::HistNames;
use rtrace::symbols::{Comms, Kallsyms, Symbols};
use rtrace::units::Pid;

/// The names of a kernel's functions, a machine's system calls, and tasks.
pub(in crate::cli) struct KeyNames<'a> {
    machine: Option<RecordingMachine>,
    kallsyms: &'a Kallsyms,
    comms: &'a Comms,
}

impl<'a> KeyNames<'a> {
    pub(in crate::cli) fn of(input: &'a QueryInput) -> Self {
        let Symbols { kallsyms, comms, .. } = &input.symbols;
        KeyNames { machine: RecordingMachine::of_recording(&input.trace), kallsyms, comms }
    }

    /// The names of this machine, with these functions and tasks.
    pub(in crate::cli) fn of_this_machine(kallsyms: &'a Kallsyms, comms: &'a Comms) -> Self {
        KeyNames { machine: RecordingMachine::of_this(), kallsyms, comms }
    }

    /// The kernel's functions.
    pub(in crate::cli) fn kallsyms(&self) -> &'a Kallsyms {
        self.kallsyms
    }
}

impl HistNames for KeyNames<'_> {
    fn symbol(&self, address: u64, offset: bool) -> String {
        let Some(symbol) = self.kallsyms.lookup_first(address) else { return format!("0x{address:x}") };
        let mut name = String::from_utf8_lossy(symbol.name).into_owned();
        if offset {
            let size = symbol.size.unwrap_or(0);
            name.push_str(&format!("+0x{:x}/0x{size:x}", address.saturating_sub(symbol.address)));
        }
        if !symbol.module.is_empty() {
            name.push_str(&format!(" [{}]", String::from_utf8_lossy(symbol.module)));
        }
        name
    }

    /// The kernel names them by the functions that implement them.
    fn syscall(&self, number: u64) -> Option<String> {
        let name = self.machine?.name(i64::try_from(number).ok()?)?;
        Some(format!("sys_{}", function_of(name)))
    }

    fn comm(&self, pid: Pid) -> String {
        if pid.0 == 0 {
            return "<idle>".to_owned(); // the kernel's name for it in tables, not its comm
        }
        String::from_utf8_lossy(self.comms.get(pid).unwrap_or(b"<...>")).into_owned()
    }
}
