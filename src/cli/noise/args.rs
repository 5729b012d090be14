//! Arguments of `rtrace osnoise` and `rtrace timerlat`.

use super::reaction::ReactionArgs;
use crate::cli::args::TracefsArgs;
use crate::cli::traced::micros;
use rtrace::filter::{CpuList, CpuListError};
use rtrace::units::parse_duration;
use std::ffi::OsString;
use std::time::Duration;

/// Measure how late timers and the threads that they wake are, and show it while it is measured
///
/// The kernel's tracer timerlat has a timer and a thread on each CPU. The table has the latencies of interrupt, thread and, with
/// --user-threads, user space, and what interfered. Beyond --stop the kernel stops tracing, and the late sample is taken apart;
/// the exit code is 3 then. `rtrace help analyses` defines each number.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace timerlat --duration 10s
  rtrace timerlat --stop 100us --save late.dat   the events before it: rtrace report late.dat
  rtrace timerlat --stop 50us --continue --run 'logger late' -- make -j8
  rtrace timerlat -q --json --duration 1m --stop 200us || exit 1")]
pub(crate) struct TimerlatArgs {
    /// One timer per CPU each TIME, 100 us to 1 s (microseconds, or with us, ms, s)
    #[arg(short, long, value_name = "TIME", value_parser = micros)]
    pub(super) period: Option<u64>,
    /// Stop if a thread is TIME late or later
    #[arg(short, long, value_name = "TIME", value_parser = micros)]
    pub(super) stop: Option<u64>,
    /// Stop if an interrupt is TIME late or later
    #[arg(long, value_name = "TIME", value_parser = micros)]
    pub(super) stop_irq: Option<u64>,
    /// Record the stack at the interrupt if the thread is later than TIME [default: that of --stop]
    #[arg(long, value_name = "TIME", value_parser = micros)]
    pub(super) stack: Option<u64>,
    /// Measure threads of user space instead of the kernel's (since Linux 6.5)
    #[arg(short, long)]
    pub(super) user_threads: bool,
    #[command(flatten)]
    pub(super) run: NoiseRunArgs,
}

/// Measure how much time the operating system takes from a CPU, and show it while it is measured
///
/// The kernel's tracer osnoise has a thread on each CPU that reads the clock all the time. The table has the time available, noises
/// and their causes. Beyond --stop the kernel stops tracing, and the noise is explained; the exit code is 3 then.
/// `rtrace help analyses` defines each number.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace osnoise --duration 10s
  rtrace osnoise --cpus 2-3 --period 1s --runtime 900ms
  rtrace osnoise --stop 50us --save noise.dat   the events before it: rtrace report noise.dat")]
pub(crate) struct OsnoiseArgs {
    /// One period each TIME (microseconds, or with us, ms, s)
    #[arg(short, long, value_name = "TIME", value_parser = micros)]
    pub(super) period: Option<u64>,
    /// Measure for TIME of each period
    #[arg(short, long, value_name = "TIME", value_parser = micros)]
    pub(super) runtime: Option<u64>,
    /// Count gaps between two readings of the clock that are longer than TIME as noise [default: 1us]
    #[arg(long, value_name = "TIME", value_parser = micros)]
    pub(super) threshold: Option<u64>,
    /// Stop if a single noise is longer than TIME
    #[arg(short, long, value_name = "TIME", value_parser = micros)]
    pub(super) stop: Option<u64>,
    /// Stop if the noise of a period is more than TIME
    #[arg(long, value_name = "TIME", value_parser = micros)]
    pub(super) stop_total: Option<u64>,
    #[command(flatten)]
    pub(super) run: NoiseRunArgs,
}

/// Arguments of both.
#[derive(clap::Args)]
pub(super) struct NoiseRunArgs {
    /// Measure these CPUs only, as in 0-3,7
    #[arg(short, long, value_name = "CPUS", value_parser = |text: &str| text.parse::<CpuList>().map_err(|e: CpuListError| e.to_string()))]
    pub(super) cpus: Option<CpuList>,
    /// End after TIME (seconds, or with ms, m, h); CMD goes on
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub(super) duration: Option<Duration>,
    #[command(flatten)]
    pub(super) reaction: ReactionArgs,
    /// Time between two tables on a terminal
    #[arg(long, value_name = "TIME", value_parser = parse_duration, default_value = "1s")]
    pub(super) interval: Duration,
    /// Rows of interferences; 0 for all
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub(super) top: usize,
    /// No tables while it is measured
    #[arg(short, long)]
    pub(super) quiet: bool,
    /// One JSON document at the end instead of text
    #[arg(long)]
    pub(super) json: bool,
    /// Show each write to tracefs as a line of shell
    #[arg(long)]
    pub(super) verbose: bool,
    #[command(flatten)]
    pub(super) tracefs: TracefsArgs,
    /// Command to run meanwhile, and its arguments; without one, until Ctrl-C or --duration
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "CMD")]
    pub(super) command: Vec<OsString>,
}

/// A thread of user space that timerlat measures: asked for by `rtrace timerlat --user-threads`
#[derive(clap::Args)]
pub(crate) struct ReaderArgs {
    /// The CPU
    pub(super) cpu: usize,
    /// Its `timerlat_fd`
    pub(super) file: std::path::PathBuf,
}
