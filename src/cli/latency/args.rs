//! The arguments of `rtrace latency`.

use crate::cli::given::Given;
use crate::cli::hist::{HistOutputArgs, HistSetArgs, RecordedArgs, UntilArgs, WhereArgs};
use crate::cli::keywords::{FILTERS, words};

/// Show how the time between two or more events is distributed
///
/// Matches each END with the START that has the same KEY, takes the difference of their times in the kernel, and counts
/// it in powers of two. With events in between the time of each leg is shown, too. All temporary tracing state is removed
/// afterwards. Events for which a table had no room are an error (4) unless --max-lost allows them. With -i FILE the events of
/// a recording are matched instead, in the same way.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace latency sched:sched_waking sched:sched_switch --by pid=next_pid --duration 5s
  rtrace latency sched:sched_waking sched:sched_switch --by pid=next_pid --split next_comm -- make
  rtrace latency raw_syscalls:sys_enter raw_syscalls:sys_exit --by common_pid \\
      --split id.syscall -- ls
  rtrace latency irq:softirq_entry irq:softirq_exit --by vec,common_cpu --split vec --duration 5s
  rtrace latency sched:sched_waking sched:sched_switch syscalls:sys_exit_read \\
      --by pid=next_pid=common_pid --duration 5s
  rtrace latency sched:sched_switch sched:sched_switch --by prev_pid=next_pid \\
      --split start.STACKTRACE --if-start 'prev_state & 0xff' \\
      --folded --weight time --duration 5s | flamegraph.pl
  rtrace latency -i run.dat sched:sched_waking sched:sched_switch --by pid=next_pid")]
pub(crate) struct LatencyArgs {
    #[command(flatten)]
    pub(super) given: Given,
    /// The events in their order: START, any in between, END
    #[arg(value_name = "EVENT", required = true, num_args = 2..)]
    pub(super) events: Vec<String>,
    /// Fields that are equal in all events: `pid=next_pid`, one of each event in their order, or one name for all
    #[arg(long, value_name = "START=END", value_delimiter = ',', required = true)]
    pub(super) by: Vec<String>,
    /// A distribution for each value of these fields of END, or of START: `next_comm`, `id.syscall`, `start.STACKTRACE`
    #[arg(long, value_name = "[start.]FIELD", value_delimiter = ',')]
    pub(super) split: Vec<String>,
    /// Classes of N instead of powers of two
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) buckets: Option<u64>,
    /// Nanoseconds instead of microseconds
    #[arg(long)]
    pub(super) ns: bool,
    /// Only START events that pass this filter
    #[arg(long, value_name = "FILTER", value_parser = words(FILTERS), hide_possible_values = true)]
    pub(super) if_start: Option<String>,
    /// Only END events that pass this filter
    #[arg(long, value_name = "FILTER", value_parser = words(FILTERS), hide_possible_values = true)]
    pub(super) if_end: Option<String>,
    /// Number of entries of each table: STARTs that can wait for their END at once, and classes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(65..=131_072))]
    pub(super) size: Option<u64>,
    #[command(flatten)]
    pub(super) recorded: RecordedArgs,
    #[command(flatten)]
    pub(super) set: HistSetArgs,
    #[command(flatten)]
    pub(super) output: HistOutputArgs,
    #[command(flatten)]
    pub(super) side: WhereArgs,
    #[command(flatten)]
    pub(super) until: UntilArgs,
}
