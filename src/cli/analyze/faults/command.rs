//! Arguments of `rtrace analyze faults`, and its question to the events.

use super::answer::{FaultsAnswer, notes};
use super::{json, text};
use crate::cli::analyze::answers::{self, AnswerArgs, Question};
use crate::cli::analyze::tasks::TaskArgs;
use crate::cli::analyze::words::{cut, many};
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::QueryInput;
use rtrace::analysis::{FAULT_NEEDS, FaultCount, FaultReport, Faults, Needs};
use rtrace::units::Pid;
use serde_json::Value;
use std::io::Write;

/// Page faults: by task, by the instruction that faulted and by page
///
/// From exceptions:page_fault_user and page_fault_kernel (x86 and RISC-V). `rtrace help analyses` defines each number.
#[derive(clap::Args, Default)]
pub(in crate::cli::analyze) struct AnalyzeFaultsArgs {
    #[command(flatten)]
    shown: AnswerArgs,
    #[command(flatten)]
    tasks: TaskArgs,
}

impl AnalyzeFaultsArgs {
    /// All of it, `top` rows to a table.
    pub(in crate::cli::analyze) fn with_top(top: Option<usize>) -> Self {
        AnalyzeFaultsArgs { shown: AnswerArgs::with_top(top), ..AnalyzeFaultsArgs::default() }
    }
}

pub(in crate::cli::analyze) fn run(args: &AnalyzeFaultsArgs) -> Result<Exit, Failure> {
    answers::run(args)
}

impl Question for AnalyzeFaultsArgs {
    type Analysis = Faults;
    const PURPOSE: &'static str = "faults";
    const LACKING: &'static str = "page faults";
    const COLUMNS: &'static str = "task,pid,user,kernel";
    const NEEDS: &'static [Needs] = FAULT_NEEDS;
    const NUMBERS: &'static [&'static str] = &["", "", "tasks.user", "tasks.kernel"];

    fn analysis(&self, input: &QueryInput) -> Option<Faults> {
        let formats = input.trace.formats().collect::<Vec<_>>();
        let faults = Faults::new(formats, input.trace.abi, self.tasks.chosen(input));
        faults.has_events().then_some(faults)
    }

    fn lost(report: &FaultReport) -> bool {
        report.losses > 0
    }

    fn shown(&self) -> &AnswerArgs {
        &self.shown
    }

    fn tasks(&self) -> Option<&TaskArgs> {
        Some(&self.tasks)
    }

    fn is_answer(report: &FaultReport) -> bool {
        !report.tasks.is_empty()
    }

    fn window(report: &FaultReport) -> Option<(u64, u64)> {
        report.window
    }

    fn extent(report: &FaultReport) -> Vec<String> {
        let all: u64 = report.codes.values().map(|count| count.all()).sum();
        vec![many(all, "fault"), many(report.tasks.len() as u64, "task")]
    }

    fn notes(report: &FaultReport) -> Vec<String> {
        notes(report)
    }

    fn json(&self, found: &FaultsAnswer<'_>, top: usize) -> Value {
        json::answer(found, top)
    }

    fn csv(&self, found: &FaultsAnswer<'_>, top: usize) -> Vec<Vec<String>> {
        let mut rows: Vec<_> = found.report.tasks.iter().collect();
        cut(&mut rows, top);
        let name = |pid| found.place.comm(pid).unwrap_or_default();
        let row = |(pid, count): &(Pid, FaultCount)| {
            vec![name(*pid), pid.0.to_string(), count.user.to_string(), count.kernel.to_string()]
        };
        rows.into_iter().map(row).collect()
    }

    fn text(&self, found: &FaultsAnswer<'_>, top: usize, out: &mut dyn Write) -> Result<(), Failure> {
        text::write(found, top, out)
    }
}
