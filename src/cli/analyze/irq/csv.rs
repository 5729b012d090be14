//! `rtrace analyze irq --csv`.

use super::answer::IrqAnswer;
use crate::cli::analyze::distribution;
use rtrace::analysis::IrqSource;

/// A handler as [`Question::COLUMNS`](crate::cli::analyze::answers::Question::COLUMNS) has it.
pub(super) fn row(found: &IrqAnswer<'_>, source: &IrqSource) -> Vec<String> {
    let (times, delays) = (source.times.distribution(), source.delays.distribution());
    let mut cells = vec![source.kind.name().to_owned(), found.name(source), format!("{:#x}", source.id)];
    cells.extend([times.count, times.total, source.own].map(|number| number.to_string()));
    cells.extend(distribution::csv(&times));
    let longest = source.longest.map(|longest| [longest.at.to_string(), longest.cpu.0.to_string()]);
    cells.extend(longest.unwrap_or_default());
    cells.push(delays.count.to_string());
    cells.extend(distribution::csv(&delays));
    cells
}
