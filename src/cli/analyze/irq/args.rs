//! Arguments of `rtrace analyze irq`, and the rows that they choose.

use super::answer::IrqAnswer;
use crate::cli::analyze::answers::AnswerArgs;
use crate::cli::analyze::words::cut;
use rtrace::analysis::IrqSource;
use std::cmp::Reverse;

/// Interrupts, soft interrupts, timers and work items: how long they ran, and how long they were waited for
///
/// From the events irq:*, irq_vectors:*_entry and *_exit, timer:timer_expire_*, timer:hrtimer_expire_* and
/// workqueue:workqueue_execute_*, as far as they are recorded. `rtrace help analyses` defines each number.
#[derive(clap::Args, Default)]
pub(in crate::cli::analyze) struct AnalyzeIrqArgs {
    #[command(flatten)]
    pub(super) shown: AnswerArgs,
    /// Only handlers of these kinds
    #[arg(long, value_name = "KIND,...", value_delimiter = ',', value_parser = ["irq", "vector", "softirq", "tasklet", "timer", "hrtimer", "work"])]
    pub(super) kind: Vec<String>,
    /// Order of the handlers, the greatest first
    #[arg(long, value_enum, value_name = "BY", default_value_t)]
    sort: IrqSort,
}

/// An order of handlers.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum IrqSort {
    /// Own time
    #[default]
    Own,
    /// Number of runs
    Count,
    /// The longest run
    Max,
    /// The longest delay
    MaxDelay,
}

impl AnalyzeIrqArgs {
    /// The handlers to show, in order, and how many more there are.
    pub(super) fn rows<'r>(&self, found: &'r IrqAnswer<'_>, top: usize) -> (Vec<&'r IrqSource>, usize) {
        let is_shown =
            |source: &&IrqSource| self.kind.is_empty() || self.kind.iter().any(|one| one == source.kind.name());
        let mut rows: Vec<&IrqSource> = found.report.sources.iter().filter(is_shown).collect();
        rows.sort_by_cached_key(|source| {
            Reverse(match self.sort {
                IrqSort::Own => source.own,
                IrqSort::Count => source.times.count(),
                IrqSort::Max => source.times.distribution().greatest,
                IrqSort::MaxDelay => source.delays.distribution().greatest,
            })
        });
        let more = cut(&mut rows, top);
        (rows, more)
    }

    /// All of it, `top` rows to a table.
    pub(in crate::cli::analyze) fn with_top(top: Option<usize>) -> Self {
        AnalyzeIrqArgs { shown: AnswerArgs::with_top(top), ..AnalyzeIrqArgs::default() }
    }
}
