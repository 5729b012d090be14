//! Arguments of `rtrace analyze functions`, and the rows that they choose.

use super::answer::FunctionsAnswer;
use crate::cli::analyze::answers::AnswerArgs;
use crate::cli::analyze::tasks::TaskArgs;
use crate::cli::analyze::words::cut;
use rtrace::analysis::CalledFunction;
use rtrace::events::glob_matches;
use std::cmp::Reverse;

/// Functions of the kernel: how often they were called, and their time, waits and interrupts taken out
///
/// From the tracer function_graph; the time off the CPU from sched_switch. `rtrace help analyses` defines each number.
#[derive(clap::Args, Default)]
pub(in crate::cli::analyze) struct AnalyzeFunctionsArgs {
    #[command(flatten)]
    pub(super) shown: AnswerArgs,
    #[command(flatten)]
    pub(super) tasks: TaskArgs,
    /// Only functions of this name; may be a glob and be given several times
    #[arg(long, value_name = "NAME")]
    function: Vec<String>,
    /// Order of the functions, the greatest first
    #[arg(long, value_enum, value_name = "BY", default_value_t)]
    sort: CalledFunctionSort,
    /// Own times by call stack, for flame graphs, instead of text; in the clock's unit
    #[arg(long, conflicts_with_all = ["json", "csv", "function", "top"])]
    pub(super) folded: bool,
}

/// An order of functions.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum CalledFunctionSort {
    /// Net time in none of the functions that it called
    #[default]
    Own,
    /// Net time of all calls together
    Net,
    /// Whole time of all calls together
    Whole,
    /// Number of calls
    Count,
    /// Mean net time
    Mean,
    /// The net time that 99 of 100 calls do not exceed
    P99,
    /// The longest call
    Max,
}

impl CalledFunctionSort {
    fn key(self, function: &CalledFunction) -> u64 {
        match self {
            CalledFunctionSort::Own => function.own,
            CalledFunctionSort::Net => function.net.total(),
            CalledFunctionSort::Whole => function.whole.total(),
            CalledFunctionSort::Count => function.whole.count(),
            CalledFunctionSort::Mean => function.net.distribution().mean(),
            CalledFunctionSort::P99 => function.net.distribution().p99,
            CalledFunctionSort::Max => function.whole.greatest(),
        }
    }
}

impl AnalyzeFunctionsArgs {
    /// All of it, `top` rows to a table.
    pub(in crate::cli::analyze) fn with_top(top: Option<usize>) -> Self {
        AnalyzeFunctionsArgs { shown: AnswerArgs::with_top(top), ..AnalyzeFunctionsArgs::default() }
    }

    /// The functions to show, in order, and how many more there are.
    pub(super) fn rows<'r>(&self, found: &'r FunctionsAnswer<'_>, top: usize) -> (Vec<&'r CalledFunction>, usize) {
        let named = |function: &CalledFunction| {
            let name = found.name(function);
            self.function.iter().any(|pattern| glob_matches(pattern, &name))
        };
        let is_shown = |function: &&CalledFunction| self.function.is_empty() || named(function);
        let mut rows: Vec<&CalledFunction> = found.report.functions.iter().filter(is_shown).collect();
        rows.sort_by_cached_key(|function| Reverse(self.sort.key(function)));
        let more = cut(&mut rows, top);
        (rows, more)
    }
}
