//! The folded lines of a flame graph, and what is said of them.

use crate::cli::analyze::words;
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::{QueryEvents, stack_buffers};
use anyhow::anyhow;
use rtrace::export::{FlameUnit, Folded, OffCpu};

/// Folded lines.
pub(super) struct FoldedLines {
    pub(super) text: Vec<u8>,
    pub(super) unit: FlameUnit,
    /// The subject of their numbers, as `time`.
    pub(super) subject: &'static str,
    pub(super) left_out: Vec<String>,
    off_cpu: bool,
}

impl FoldedLines {
    /// The time of functions; without function_graph, the number of stack traces.
    pub(super) fn folded(events: &QueryEvents<'_>) -> Result<Self, Failure> {
        let mut text = Vec::new();
        let (state, _) = events.export(&Folded::new(stack_buffers(events)), &mut text)?;
        let unfolded = state.unfolded();
        let left_out = words::left_out(&[
            (unfolded.others, "event", "that say nothing of call stacks"),
            (unfolded.stacks, "stack trace", "beside function_graph's times"),
            (unfolded.returns, "return", "from functions that were entered before"),
        ]);
        let (unit, subject) = match state.is_time() {
            true => (FlameUnit::Time, "time in functions"),
            false => (FlameUnit::Count("stacks"), "stack traces"),
        };
        Ok(FoldedLines { text, unit, subject, left_out, off_cpu: false })
    }

    /// The time off the CPU.
    pub(super) fn off_cpu(events: &QueryEvents<'_>) -> Result<Self, Failure> {
        let mut text = Vec::new();
        let (state, _) = events.export(&OffCpu::new(stack_buffers(events)), &mut text)?;
        let uncounted = state.uncounted();
        let left_out = words::left_out(&[
            (uncounted.others, "event", "that are neither switches nor their stacks"),
            (uncounted.across_losses, "time", "off the CPU across lost events"),
            (uncounted.unended, "time", "off the CPU that had not ended"),
        ]);
        Ok(FoldedLines { text, unit: FlameUnit::Time, subject: "time off the CPU", left_out, off_cpu: true })
    }

    /// Number of lines.
    pub(super) fn count(&self) -> u64 {
        self.text.iter().filter(|byte| **byte == b'\n').count() as u64
    }

    /// True if no event was selected at all.
    pub(super) fn are_of_nothing(&self) -> bool {
        self.text.is_empty() && self.left_out.is_empty()
    }

    /// The failure if there are none.
    pub(super) fn nothing(&self) -> Failure {
        if self.off_cpu {
            let failure = Failure::new(Exit::Failed, anyhow!("no task leaves its CPU and comes back in these events"));
            return failure
                .hint("`rtrace record -e sched:sched_switch -R stacktrace` records switches with their stacks.");
        }
        Failure::new(Exit::Failed, anyhow!("these events hold no call stacks"))
            .hint(
                "`rtrace record --for offcpu`, then `rtrace flame --off-cpu`, shows where tasks wait, on every kernel.",
            )
            .hint("`rtrace record -p function_graph` records the time of functions.")
            .hint("`rtrace record -e EVENT -R stacktrace` records a stack at each EVENT.")
    }
}
