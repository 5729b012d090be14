//! Options that ask for numbers of events.

/// Numbers instead of events.
#[derive(clap::Args, Clone, Copy)]
pub(crate) struct TallyArgs {
    /// Print the number of each event, instead of the events
    #[arg(long, conflicts_with = "summary")]
    pub(super) count: bool,
    /// Print the numbers of events by kind, CPU and task, instead of the events
    #[arg(long)]
    summary: bool,
    /// Number of the busiest tasks that --summary shows [default: 20]
    #[arg(long, value_name = "N", requires = "summary")]
    pub(super) top_tasks: Option<usize>,
    /// JSON instead of text
    ///
    /// Of --count, --summary and --profile one object; of events what --format json prints.
    #[arg(long)]
    pub(super) json: bool,
}

impl TallyArgs {
    pub(super) fn any(self) -> bool {
        self.count || self.summary
    }
}
