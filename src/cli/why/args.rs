//! The arguments of `rtrace why`.

use crate::cli::analyze::FileArgs;
use crate::cli::exit::{Exit, Failure};
use crate::cli::language::of_value;
use crate::cli::query::QueryMoment;
use crate::cli::terminal::PagerArgs;
use anyhow::anyhow;
use rtrace::internal::assertion::Pair;
use rtrace::internal::trace_dat::is_recording;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Say why a task was late: who ran, who was waited for, and in which interrupt
///
/// Takes one interval of a task apart: the wait around a time, or the longest one. The parts follow each other without a gap
/// and add up to it exactly; what no event tells is unknown. `rtrace help why` defines them.
#[derive(clap::Args, Clone)]
#[command(group = clap::ArgGroup::new("interval").args(["at", "worst"]))]
#[command(after_help = "\
EXAMPLES:
  rtrace record --for sched,irq -- make; rtrace why trace.dat
  rtrace why 1234 run.dat --at 2128.9931
  rtrace why nginx --worst off-cpu --intervals 3
  rtrace record --for sched,irq,syscalls -- ls; rtrace why ls --worst syscall
  rtrace why nginx --worst pair --pair 'latency(sched:sched_waking, sched:sched_switch, pid=next_pid)'")]
pub(crate) struct WhyArgs {
    /// The task: its pid, or its name, which may be a glob; a recording in its place stands for '*' FILE
    #[arg(value_name = "TASK")]
    pub(super) task: String,
    #[command(flatten)]
    pub(super) file: FileArgs,
    /// The time off its CPU around this time; or, if it ran then, the time on it (as printed; +TIME, -TIME: of start, end)
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = QueryMoment::parse)]
    pub(super) at: Option<QueryMoment>,
    /// The longest such interval [default: syscall with --call, pair with --pair, else wakeup]
    #[arg(long, value_name = "KIND", value_enum)]
    pub(super) worst: Option<Worst>,
    /// Number of the longest such intervals, each taken apart by itself
    #[arg(long, value_name = "N", default_value = "1", conflicts_with = "at")]
    pub(super) intervals: NonZeroUsize,
    /// With --worst syscall: only calls of this name; may be a glob and be given several times
    #[arg(long, value_name = "NAME")]
    pub(super) call: Vec<String>,
    /// With --worst pair: the events, as assertions have them
    #[arg(long, value_name = "latency(FROM, TO, KEY)", value_parser = pair, required_if_eq("worst", "pair"))]
    pub(super) pair: Option<Pair>,
    /// Number of wakers that are followed, each from the one it woke
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub(super) depth: usize,
    /// Number of each part's parts to show, the longest; 0 for all [default: 8; with --json as many as 24 KB hold]
    #[arg(short = 'n', long, alias = "limit", value_name = "N")]
    pub(super) top: Option<usize>,
    /// Buffer to look at, if several hold events; the empty name for the top buffer
    #[arg(long, value_name = "NAME")]
    pub(super) buffer: Option<String>,
    /// One JSON document instead of text
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) pager: PagerArgs,
}

/// The interval of which the longest is searched.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Worst {
    /// From its wakeup to its CPU
    Wakeup,
    /// From the switch that took its CPU to the next one to it
    Preempted,
    /// From any switch from it to the next one to it: sleep and wait
    #[value(alias = "offcpu", alias = "off_cpu")]
    OffCpu,
    /// A system call
    Syscall,
    /// From one event to another (--pair)
    Pair,
}

fn pair(text: &str) -> Result<Pair, String> {
    const EXAMPLE: &str = "as in `--pair 'latency(sched:sched_waking, sched:sched_switch, pid=next_pid)'`";
    Pair::parse(text).map_err(|error| match text.starts_with("latency(") {
        true => of_value(&error),
        false => format!("two events and their key are wanted; {EXAMPLE}"),
    })
}

/// The hint where a window has too little.
pub(super) const WINDOW: &str =
    "a wider window may have some: `--since` and `--until`, or `--around TIME±50ms`; alone it is 1 ms to each side.";

impl WhyArgs {
    /// True if the whole of the recording is looked at.
    pub(super) fn is_whole(&self) -> bool {
        self.file.is_whole()
    }

    /// Words on a part of it, for what is not there.
    pub(super) fn within(&self) -> &'static str {
        if self.is_whole() { "" } else { " in this window" }
    }

    /// The hint on a task that is not there.
    pub(super) fn remedy(&self) -> &'static str {
        if self.is_whole() { "`rtrace analyze sched FILE` lists the tasks." } else { WINDOW }
    }

    /// Puts in what was left out: TASK, if FILE stands in its place, and the interval.
    pub(super) fn complete(&mut self) -> Result<(), Failure> {
        let first = PathBuf::from(&self.task);
        if is_recording(&first) {
            match self.file.named() {
                None => {
                    self.file.name(first);
                    self.task = "*".to_owned();
                }
                // The task may be called as a recording is, as long as the other one is there.
                Some(file) if !is_recording(file) => {
                    let error = anyhow!("{} is a recording, and TASK comes before FILE", self.task);
                    let hint = format!(
                        "`rtrace why '{0}' {1}` asks for the task of that name, `'{0}*'` for all whose names begin so.",
                        file.display(),
                        self.task
                    );
                    return Err(Failure::new(Exit::Usage, error).hint(hint));
                }
                Some(_) => {}
            }
        }
        self.complete_interval();
        Ok(())
    }

    /// Number of each part's parts that text shows.
    pub(super) fn lines(&self) -> usize {
        self.top.unwrap_or(8)
    }

    fn complete_interval(&mut self) {
        if self.at.is_none() && self.worst.is_none() {
            self.worst = Some(match (&self.pair, self.call.is_empty()) {
                (Some(_), _) => Worst::Pair,
                (None, false) => Worst::Syscall,
                (None, true) => Worst::Wakeup,
            });
        }
    }
}
