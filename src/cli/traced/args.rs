//! The events and tasks that are traced, and the command that is run meanwhile.
//! Options about the events and tracers that need another one.

use super::in_order::TracedOptions;
use super::tracers::{MachineArgs, OF_TRACERS};
use crate::cli::args::TracefsArgs;
use crate::cli::exit::Failure;
use crate::cli::given::{Given, Moot};
use clap::error::ErrorKind;
use rtrace::record::{BufferPlan, Compression, MachineSettings, Plan, TargetBuffer, Tasks, User, UserError};
use rtrace::tracefs::{Journal, Tracefs};
use rtrace::units::{Pid, parse_duration};
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// The events, tasks and buffers to trace.
#[derive(clap::Args, Clone)]
pub(crate) struct Traced {
    #[command(flatten)]
    given: Given,
    #[command(flatten)]
    in_order: TracedOptions,
    /// Only events of these processes, all their threads; end with the last of them
    ///
    /// Threads that come later are recorded some milliseconds after their start; with -c from their first event on.
    #[arg(short = 'P', long = "pid", value_name = "PID", value_delimiter = ',', value_parser = clap::value_parser!(i32).range(1..))]
    pids: Vec<i32>,
    /// Only events of these threads, none of the others of their processes
    #[arg(long = "thread", value_name = "TID", value_delimiter = ',', value_parser = clap::value_parser!(i32).range(1..))]
    threads: Vec<i32>,
    /// Neither events nor functions of these processes
    #[arg(long = "not-pid", value_name = "PID", value_delimiter = ',', value_parser = clap::value_parser!(i32).range(1..))]
    not_pids: Vec<i32>,
    /// Only events of CMD, all its threads
    #[arg(short = 'F', long)]
    follow: bool,
    /// With -F, -P or --thread: events of the tasks they fork as well
    #[arg(short = 'c', long)]
    children: bool,
    /// Go on without the events that this kernel does not have
    #[arg(short, long)]
    ignore_unknown: bool,
    /// Run CMD as this user, with its groups, HOME, USER and LOGNAME
    #[arg(long, value_name = "NAME", requires = "command")]
    user: Option<String>,
    /// Show each write to tracefs as a line of shell
    #[arg(long)]
    verbose: bool,
    #[command(flatten)]
    machine: MachineArgs,
    #[command(flatten)]
    tracefs: TracefsArgs,
    /// Command to run meanwhile, and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "CMD")]
    command: Vec<OsString>,
}

impl Traced {
    /// The ring buffers that are asked for; the main one, which lies at `main`, comes first.
    pub(crate) fn buffers(&self, main: TargetBuffer) -> Result<Vec<BufferPlan>, clap::Error> {
        self.check_command()?;
        self.in_order.buffers(main)
    }

    /// The same for a command that changes settings of tracing as it is.
    pub(crate) fn settings(&self, main: TargetBuffer) -> Result<Vec<BufferPlan>, clap::Error> {
        self.check_command()?;
        self.in_order.settings(main)
    }

    /// An unknown option looks like a command to clap, since a command's own options are left to it.
    pub(crate) fn check_command(&self) -> Result<(), clap::Error> {
        match self.command.first().map(|word| word.to_string_lossy()) {
            Some(word) if word.starts_with('-') => Err(crate::cli::usage::unknown_option(&word)),
            _ => Ok(()),
        }
    }

    /// All that is said here, as a plan that ends by itself only with its tasks.
    pub(crate) fn plan(&self, main: TargetBuffer) -> Result<Plan, clap::Error> {
        self.check_command()?;
        let (buffers, tsc2nsec) = self.in_order.buffers_and_tsc(main)?;
        let user = self.user().map_err(|e| clap::Error::raw(ErrorKind::ValueValidation, format!("{e}\n")))?;
        Ok(Plan {
            buffers,
            tsc2nsec,
            allow_unknown_events: self.ignore_unknown,
            all_formats: false,
            tasks: Tasks { command: self.follow, ..self.tasks() },
            command: (!self.command.is_empty()).then(|| self.command.clone()),
            search_path: std::env::var_os("PATH"),
            environment: if user.is_some() { std::env::vars_os().collect() } else { Vec::new() },
            user,
            machine: self.machine.machine(),
            hooks: self.in_order.hooks(),
            ..Plan::empty(Path::new(""), Compression::None)
        })
    }

    /// The options of the whole command line.
    pub(crate) fn given(&self) -> &Given {
        &self.given
    }

    /// The first option about the events and tracers that nothing here is for.
    pub(crate) fn moot(&self) -> Option<Moot<'static>> {
        moot_option(&self.given, &self.in_order)
    }

    /// The same for a command whose settings stay: a limit of tracers is for the next one, too.
    pub(crate) fn moot_in_settings(&self) -> Option<Moot<'static>> {
        moot_without_events(&self.given, &self.in_order)
    }

    /// As if `--profile` were said of each buffer.
    pub(crate) fn profile_all(&self) -> Self {
        Traced { in_order: self.in_order.clone().profile_all(), ..self.clone() }
    }

    /// Indices of the buffers of `--profile`.
    pub(crate) fn profiled(&self) -> Vec<usize> {
        self.in_order.profiled()
    }

    /// `-P`.
    pub(crate) fn pids(&self) -> Vec<Pid> {
        self.pids.iter().map(|&pid| Pid(pid)).collect()
    }

    /// `-P`, `--thread`, `-c` and `--not-pid`.
    pub(crate) fn tasks(&self) -> Tasks {
        let left_out = self.not_pids.iter().map(|&pid| Pid(pid)).collect();
        let threads = self.threads.iter().map(|&tid| Pid(tid)).collect();
        Tasks { pids: self.pids(), threads, children: self.children, left_out, ..Tasks::default() }
    }

    /// `-F`.
    pub(crate) fn follows(&self) -> bool {
        self.follow
    }

    /// `-i`.
    pub(crate) fn ignores_unknown(&self) -> bool {
        self.ignore_unknown
    }

    /// Settings of the whole machine.
    pub(crate) fn machine(&self) -> MachineSettings {
        self.machine.machine()
    }

    /// Whom the command runs as.
    pub(crate) fn user(&self) -> Result<Option<User>, UserError> {
        self.user.as_deref().map(User::find).transpose()
    }

    /// The command and its arguments; empty if there is none.
    pub(crate) fn command(&self) -> &[OsString] {
        &self.command
    }

    /// Opens the tracing directory; unless `quiet`, says so if a killed rtrace left something changed.
    pub(crate) fn open(&self, quiet: bool) -> Result<Tracefs, Failure> {
        if quiet { self.tracefs.open_quietly() } else { self.tracefs.open() }
    }

    /// The tracing directory and the journals.
    pub(crate) fn tracefs(&self) -> &TracefsArgs {
        &self.tracefs
    }

    /// A journal for what this command changes.
    pub(crate) fn journal(&self, tracefs: &Tracefs) -> Journal {
        self.tracefs.journal(tracefs, self.verbose)
    }
}

/// Duration and target buffer, for commands that restore tracefs on exit.
#[derive(clap::Args)]
pub(crate) struct SessionArgs {
    /// End after TIME (seconds, or with ms, m, h)
    ///
    /// CMD goes on and is waited for.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    duration: Option<Duration>,
    /// End CMD after TIME and exit with 124
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    timeout: Option<Duration>,
    /// Trace in the top-level buffer, where trace_printk() writes, instead of one of our own
    #[arg(long)]
    top: bool,
    /// Events of rtrace's own threads too
    #[arg(long = "self", alias = "no-filter")]
    own_threads: bool,
}

impl SessionArgs {
    /// The main ring buffer.
    pub(crate) fn place(&self) -> TargetBuffer {
        if self.top { TargetBuffer::Top } else { TargetBuffer::Private }
    }

    /// Adds it to a plan.
    pub(crate) fn add_to(&self, plan: Plan) -> Plan {
        Plan { duration: self.duration, timeout: self.timeout, own_threads: self.own_threads, ..plan }
    }
}

/// Tracers that look at the threshold, besides those of latencies.
const WITH_THRESHOLD: [&str; 4] = ["function_graph", "hwlat", "osnoise", "timerlat"];

/// The first option about events that nothing on the command line is for.
fn moot_without_events(given: &Given, in_order: &TracedOptions) -> Option<Moot<'static>> {
    let moot = |option, reason, hint| Some(Moot { option, reason, hint });
    if in_order.inverts_nothing() {
        return moot(
            "invert",
            "without a `-e` after it",
            "as in `-e sched -v -e sched:sched_switch`, all but sched_switch.",
        );
    }
    let names_events = given.first_of(&["event", "for", "hook"]).is_some();
    if given.has("ignore_unknown") && !names_events && in_order.profiled().is_empty() {
        return moot("ignore_unknown", "without events", "`-e EVENT` names some.");
    }
    None
}

/// The same, of events and tracers, for a command that leaves nothing set that a later one could use: record, stream,
/// profile.
fn moot_option(given: &Given, in_order: &TracedOptions) -> Option<Moot<'static>> {
    let moot = |option, reason, hint| Some(Moot { option, reason, hint });
    if let Some(moot) = moot_without_events(given, in_order) {
        return Some(moot);
    }
    let buffers = in_order.settings(TargetBuffer::Top).unwrap_or_default(); // an error there is reported before
    let runs =
        |names: &[&str]| buffers.iter().filter_map(|buffer| buffer.tracer.as_deref()).any(|t| names.contains(&t));
    let runs_latency_tracer = buffers.iter().any(BufferPlan::is_of_latency_tracer);
    // A profile brings its events and its tracer along.
    let profiled = !in_order.profiled().is_empty();
    if given.has("threshold") && !profiled && !runs_latency_tracer && !runs(&WITH_THRESHOLD) {
        return moot(
            "threshold",
            "on events: it is the least duration that some tracers take",
            "`-p function_graph`, `-p irqsoff`, ... run one; `--assert` and `--stop-if` judge times between events.",
        );
    }
    if let Some((option, _)) = OF_TRACERS.iter().find(|(option, tracers)| given.has(option) && !runs(tracers)) {
        return moot(option, "without the tracer that it is about", "`-p hwlat`, `-p osnoise`, `-p timerlat` run one.");
    }
    if given.has("max_graph_depth") && !profiled && !runs(&["function_graph"]) {
        return moot("max_graph_depth", "without the tracer whose calls it limits", "`-p function_graph` runs it.");
    }
    if given.has("max_latency") && !runs_latency_tracer {
        return moot(
            "max_latency",
            "without a latency tracer, whose longest latency it is",
            "`-p irqsoff`, `-p wakeup`, ... run one; `--threshold` is for function_graph, hwlat, osnoise and timerlat.",
        );
    }
    if given.has("no_functions") && !runs_latency_tracer {
        return moot(
            "no_functions",
            "without a latency tracer, whose functions it leaves out",
            "`--duration TIME` is how long to record; latency tracers are `-p irqsoff`, `-p wakeup`, ..., and `rtrace list -t` shows those of this kernel.",
        );
    }
    None
}
