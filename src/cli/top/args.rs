//! The arguments of `rtrace top`.

use crate::cli::args::TracefsArgs;
use rtrace::record::{BufferPlan, Compression, EventPlan, Plan, TargetBuffer};
use rtrace::tracefs::EventSelection;
use rtrace::units::parse_duration;
use std::path::Path;
use std::time::Duration;

/// Show a live table: events a second, tasks by run and wait, CPUs, losses
///
/// Counts the scheduler's events in a ring buffer of its own, which is removed at the end. `s` sorts tasks by run time, by time
/// waited for a CPU, or by the longest wait; `q` quits. With --json it prints and needs no terminal.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace top
  rtrace top -e irq -e 'block:*' --interval 2
  rtrace top --json --duration 10 | jq -c '.tasks[0]'")]
pub(crate) struct TopArgs {
    /// Events to count besides the scheduler's
    #[arg(short, long = "event", value_name = "EVENT")]
    events: Vec<String>,
    /// Time between two tables (seconds, or with ms, m)
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "1")]
    pub(super) interval: Duration,
    /// A JSON document per line and interval instead of the table
    #[arg(long)]
    pub(super) json: bool,
    /// End after TIME
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(super) duration: Option<Duration>,
    /// Show each write to tracefs as a line of shell
    #[arg(long)]
    pub(super) verbose: bool,
    #[command(flatten)]
    pub(super) tracefs: TracefsArgs,
}

/// Events without which there is no table.
const NEEDED: [&str; 1] = ["sched:sched_switch"];
/// Events that some kernels lack.
const WANTED: [&str; 3] = ["sched:sched_waking", "sched:sched_wakeup", "sched:sched_wakeup_new"];

impl TopArgs {
    /// The events to be enabled, with those of `names` that this machine has.
    pub(super) fn plan(&self, has: impl Fn(&str) -> bool) -> Plan {
        let wanted = WANTED.iter().filter(|name| has(name));
        let names = NEEDED.iter().chain(wanted).copied().chain(self.events.iter().map(String::as_str));
        let event = |name: &str| EventPlan {
            selection: EventSelection::new(name),
            filters: Vec::new(),
            triggers: Vec::new(),
            enable: true,
        };
        let events = names.map(event).collect();
        let buffer = BufferPlan { events, ..BufferPlan::new(TargetBuffer::Private) };
        // Its own time counts as that of any task.
        let plan = Plan::empty(Path::new(""), Compression::None);
        Plan { buffers: vec![buffer], duration: self.duration, own_threads: true, ..plan }
    }
}
