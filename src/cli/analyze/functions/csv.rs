//! `rtrace analyze functions --csv`.

use super::answer::FunctionsAnswer;
use crate::cli::analyze::distribution;
use rtrace::analysis::CalledFunction;

/// A function as [`Question::COLUMNS`](crate::cli::analyze::answers::Question::COLUMNS) has it.
pub(super) fn row(found: &FunctionsAnswer<'_>, function: &CalledFunction) -> Vec<String> {
    let off_cpu = |time: u64| if found.report.has_switches { time.to_string() } else { String::new() };
    let mut cells = vec![found.name(function), format!("{:#x}", function.address)];
    cells.extend([function.whole.count(), function.whole.total()].map(|number| number.to_string()));
    cells.extend([off_cpu(function.asleep), off_cpu(function.preempted)]);
    cells.extend([function.interrupted, function.net.total(), function.own].map(|number| number.to_string()));
    cells.extend(distribution::csv(&function.net.distribution()));
    cells.extend(distribution::csv(&function.whole.distribution()));
    let longest = function.longest.into_iter();
    cells.extend(longest.flat_map(|one| [one.at.to_string(), one.pid.0.to_string(), one.cpu.0.to_string()]));
    cells
}
