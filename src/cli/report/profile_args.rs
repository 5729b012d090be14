//! Options that ask for a profile of tasks.

use crate::cli::profile::layout::ProfileLayout;
use crate::cli::profile::{AccountArgs, parse_hook};
use rtrace::analysis::Hook;

/// Options of a profile.
#[derive(clap::Args, Clone)]
pub(crate) struct ReportProfileArgs {
    /// Print where tasks spent their time
    ///
    /// Blocked, waiting for a CPU, in the kernel; from what `record --profile` recorded.
    #[arg(long, conflicts_with_all = ["count", "summary", "wakeups"])]
    pub(super) profile: bool,
    #[command(flatten)]
    pub(super) account: AccountArgs,
    /// With --profile: a table, the longest times first, or all as trace-cmd has it
    #[arg(long, value_enum, value_name = "LAYOUT", requires = "profile", default_value_t = ProfileLayout::TraceCmd)]
    layout: ProfileLayout,
    /// With --profile --layout table: number of rows; 0 for all
    #[arg(long, value_name = "N", requires = "profile", default_value_t = 30)]
    pub(super) limit: usize,
    /// With --profile: the time between two events, as in `irq_handler_entry,irq/irq_handler_exit,irq,p`
    #[arg(short = 'H', long = "hook", value_name = "START/END", value_parser = parse_hook)]
    pub(super) hooks: Vec<Hook>,
}

impl ReportProfileArgs {
    pub(super) fn layout(&self) -> ProfileLayout {
        self.layout
    }
}
