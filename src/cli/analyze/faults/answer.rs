//! The answer of `rtrace analyze faults`, whatever it is printed as.

use crate::cli::analyze::answers;
use crate::cli::analyze::symbol;
use crate::cli::analyze::words::many;
use rtrace::analysis::{FaultCount, FaultReport};

/// One buffer's answer.
pub(in crate::cli::analyze) type FaultsAnswer<'a> = answers::AnalysisAnswer<'a, FaultReport>;

impl FaultsAnswer<'_> {
    /// The kernel's function, where the kernel faulted.
    pub(super) fn place_name(&self, ip: u64, count: FaultCount) -> Option<String> {
        (count.kernel > 0).then(|| symbol::place(&self.input.symbols.kallsyms, ip))
    }
}

pub(super) fn notes(report: &FaultReport) -> Vec<String> {
    let places = many(report.losses, "place");
    (report.losses > 0).then(|| format!("events were lost at {places}: there were more faults")).into_iter().collect()
}
