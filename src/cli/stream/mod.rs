//! `rtrace stream`: record's rings and report's words, joined.

mod queue;
mod screen;

use super::args::TracefsArgs;
use super::exit::{Exit, Failure};
use super::record::events::InOrder;
use super::record::tracers::MachineArgs;
use anyhow::anyhow;
use clap::error::ErrorKind;
use rtrace::event::{DecodeOptions, EventTypes};
use rtrace::export::{JsonTypes, Style};
use rtrace::record::{Compression, Place, Plan, RecordError, Stream, Tasks, User};
use rtrace::symbols::{Comms, Kallsyms, PrintkFormats, Symbols};
use rtrace::units::{Pid, parse_duration};
use screen::{Screen, Words};
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// Trace and print the events as they happen, without a file
///
/// Takes record's options for what to trace, and prints what report would: until CMD ends, or without CMD until Ctrl-C. It
/// works in a ring buffer of its own and puts everything back. Events of all CPUs come in the order of time, some tenths
/// of a second late; what is printed too slowly is lost in the kernel, which is told in between.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace stream -e sched:sched_process_exec
  rtrace stream -F -c -e syscalls:sys_enter_openat -- ls /
  rtrace stream -e block --format json | jq .fields
  rtrace stream -p function_graph --max-graph-depth 2 -F --duration 1 -- cat /etc/hostname")]
pub(crate) struct Args {
    #[command(flatten)]
    in_order: InOrder,
    /// Trace only events of these processes; end with the last of them
    #[arg(short = 'P', long = "pid", value_name = "PID", value_delimiter = ',', value_parser = clap::value_parser!(i32).range(1..))]
    pids: Vec<i32>,
    /// Trace only events of CMD
    #[arg(short = 'F', long)]
    follow: bool,
    /// With -F or -P: events of the tasks they fork as well
    #[arg(short = 'c', long)]
    children: bool,
    /// Go on without the events that this kernel does not have
    #[arg(short, long)]
    ignore_unknown: bool,
    /// End after TIME (seconds, or with ms, m, h); CMD goes on and is waited for
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    duration: Option<Duration>,
    /// End CMD after TIME and exit with 124
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    timeout: Option<Duration>,
    /// Trace in the top-level buffer, where trace_printk() writes, instead of one of our own
    #[arg(long)]
    top: bool,
    /// Show events of rtrace itself too
    #[arg(long = "self")]
    own_threads: bool,
    /// What to print the events as
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    format: Format,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// Time stamps in nanoseconds
    #[arg(short = 't')]
    nanoseconds: bool,
    /// The kernel's print formats only, no wording of trace-cmd's plugins
    #[arg(short = 'N')]
    no_plugins: bool,
    /// Print nothing but events and errors
    #[arg(short, long)]
    quiet: bool,
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
    /// Command to trace, and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// What events are printed as.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Format {
    /// Lines as of report
    #[default]
    Text,
    /// Fields by name, as of report -R
    Raw,
    /// One JSON object per line, as of report --format json
    Json,
}

impl Args {
    fn plan(&self) -> Result<Plan, clap::Error> {
        let main = if self.top { Place::Top } else { Place::Private };
        let user = self.user.as_deref().map(User::find).transpose();
        let user = user.map_err(|e| clap::Error::raw(ErrorKind::ValueValidation, format!("{e}\n")))?;
        Ok(Plan {
            buffers: self.in_order.buffers(main)?,
            allow_unknown_events: self.ignore_unknown,
            tasks: Tasks {
                pids: self.pids.iter().map(|&pid| Pid(pid)).collect(),
                command: self.follow,
                children: self.children,
            },
            command: (!self.command.is_empty()).then(|| self.command.clone()),
            search_path: std::env::var_os("PATH"),
            duration: self.duration,
            timeout: self.timeout,
            own_threads: self.own_threads,
            environment: if user.is_some() { std::env::vars_os().collect() } else { Vec::new() },
            user,
            machine: self.machine.machine(),
            ..Plan::of_what_is_there(Path::new(""), Compression::None)
        })
    }
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let plan = match args.plan() {
        Ok(plan) => plan,
        Err(answer) => return super::exit::print_clap(&answer),
    };
    if let Err(error) = plan.check() {
        return super::exit::print_clap(&clap::Error::raw(ErrorKind::MissingRequiredArgument, format!("{error}\n")));
    }
    let with_command = plan.command.is_some();
    let own = |exit: Exit| if with_command && exit != Exit::Usage { Exit::Command(125) } else { exit };
    let tracefs = args.tracefs.open().map_err(|failure| failure.with_exit(own))?;
    let warn = |text: &str| {
        if !args.quiet {
            let _ = writeln!(std::io::stderr(), "rtrace: warning: {text}");
        }
    };
    let refused = |error: RecordError| match super::record::explain(&tracefs, &error) {
        Some(known) => known.with_exit(own),
        None => super::record::failure(error, own),
    };
    let set_up = Stream::set_up(&plan, args.tracefs.journal(&tracefs, args.verbose), warn);
    let (stream, facts) = set_up.map_err(refused)?;
    facts.not_understood.iter().for_each(|error| warn(&error.to_string()));
    let streamed = if args.json || args.format == Format::Json {
        let types = JsonTypes::new(&facts.formats, facts.abi, Style::Json);
        stream.run(&mut Screen::new(&facts, Words::Json(&types), args.quiet)?)
    } else {
        let symbols = Symbols {
            kallsyms: Kallsyms::new(tracefs.kallsyms().unwrap_or_default()),
            printk: PrintkFormats::parse(&facts.printk_formats),
            comms: Comms::parse(b""),
        };
        let decode = DecodeOptions { plugins: !args.no_plugins, ..DecodeOptions::default() };
        let types = EventTypes::new(&facts.formats, facts.abi, &symbols, &decode);
        let texts = screen::texts(&facts, &types, &symbols, args.format == Format::Raw, args.nanoseconds);
        stream.run(&mut Screen::new(&facts, Words::Text(&types, texts), args.quiet)?)
    };
    let streamed = streamed.map_err(refused)?;
    let status = streamed.command.map(|ended| ended.code());
    match (streamed.output, status) {
        (Err(error), _) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::new(own(Exit::Failed), anyhow!("failed to write the events: {error}")))
        }
        _ if streamed.timed_out => Ok(Exit::Command(124)),
        (_, Some(status)) => Ok(Exit::Command(status)),
        (_, None) => Ok(Exit::Success),
    }
}
