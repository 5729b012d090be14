//! `--symbols user`: names in the stacks of user space, from the files of this machine.

use crate::cli::damage::DamageReport;
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::QueryInput;
use crate::cli::terminal::note;
use crate::cli::user_symbols;
use anyhow::anyhow;
use std::path::PathBuf;

/// Names that a recording does not hold.
#[derive(clap::Args)]
pub(super) struct NamesArgs {
    /// Name the functions of user-space stacks, by the memory maps of `record --proc-map` and the files mapped then
    #[arg(long, value_enum, value_name = "WHICH")]
    symbols: Option<Which>,
    /// Look for these files below DIR
    #[arg(long, value_name = "DIR", requires = "symbols", value_hint = clap::ValueHint::DirPath)]
    symfs: Option<PathBuf>,
}

/// Whose symbols.
#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq)]
enum Which {
    /// Those of programs and libraries
    User,
}

impl NamesArgs {
    /// Says once that stacks of user space, which the text shows as addresses, can have names.
    pub(super) fn tell_of_addresses(&self, inputs: &[QueryInput]) {
        /// Number of events among which there is such a stack if there are any.
        const FIRST: u64 = 10_000;
        let has_stack = |input: &QueryInput| {
            let mut found = false;
            let _ = input.recording.query().first(FIRST).for_each(|event| {
                found |= (event.system(), event.name()) == ("ftrace", "user_stack");
            });
            found
        };
        let has_maps = |input: &QueryInput| input.trace.process_maps().is_ok_and(|maps| !maps.is_empty());
        if self.symbols.is_none() && inputs.iter().any(|input| has_maps(input) && has_stack(input)) {
            note!("rtrace: stacks of user space are shown as addresses; `--symbols user` names them");
        }
    }

    /// Gives the files' symbols these names.
    pub(super) fn add_to(&self, inputs: &mut [QueryInput], damage: &DamageReport) {
        if self.symbols.is_none() {
            return;
        }
        for input in inputs {
            if !user_symbols::add(input, self.symfs.clone(), damage) {
                let error =
                    anyhow!("{}: no memory maps in it, so user-space stacks have no names", input.path.display());
                let _ = Failure::new(Exit::Success, error).hint("`rtrace record --proc-map` stores them.").tell();
            }
        }
    }
}
