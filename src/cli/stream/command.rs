//! `rtrace stream`: arguments, and the events of the rings printed as they come.

use super::screen::{self, StreamScreen};
use crate::cli::exit::{Exit, Failure};
use crate::cli::given::{Moot, refuse};
use crate::cli::record_error::{self, explain, failure};
use crate::cli::syscalls::live_decoder;
use crate::cli::terminal::note;
use crate::cli::traced::{SessionArgs, Traced};
use anyhow::anyhow;
use rtrace::event::{DecodeOptions, EventTypes};
use rtrace::export::{JsonSyscalls, JsonTypes, Style, SyscallLines};
use rtrace::record::{LiveStream, RecordError};
use rtrace::symbols::{Comms, Kallsyms, KernelFunctions, PrintkFormats, Symbols};

/// Trace and print the events as they happen, without a file
///
/// Takes record's options for what to trace, and prints what report would: until CMD ends, or without CMD until Ctrl-C. It
/// works in a ring buffer of its own and puts everything back. Events of all CPUs come in the order of time, some tenths
/// of a second late; what is printed too slowly is lost in the kernel, which is reported in between.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace stream -e sched:sched_process_exec
  rtrace stream -F -c -e syscalls:sys_enter_openat -- ls /
  rtrace stream -e block --format json | jq .fields
  rtrace stream --syscalls -F -c -e raw_syscalls -- ls /
  rtrace stream -p function_graph --max-graph-depth 2 -F --duration 1 -- cat /etc/hostname")]
pub(crate) struct StreamArgs {
    #[command(flatten)]
    traced: Traced,
    #[command(flatten)]
    session: SessionArgs,
    /// Output format of the events
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t)]
    format: StreamFormat,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// System calls as strace prints them: a line per call, with names of flags and errors; as of report
    #[arg(long)]
    syscalls: bool,
    /// Time stamps in nanoseconds
    #[arg(short = 't')]
    nanoseconds: bool,
    /// Ignore built-in plugins; use the kernel's print formats
    #[arg(short = 'N')]
    no_plugins: bool,
    /// Print nothing but events and errors
    #[arg(short, long)]
    quiet: bool,
}

/// Output format of events.
#[derive(clap::ValueEnum, Clone, Copy, Debug, Default, PartialEq, Eq)]
enum StreamFormat {
    /// Lines as of report
    #[default]
    Text,
    /// Fields by name, as of report -R
    Raw,
    /// One JSON object per line, as of report --format json
    Json,
}

impl StreamArgs {
    /// The first option that cannot have an effect.
    fn moot(&self) -> Option<Moot<'static>> {
        let given = |id| self.traced.given().has(id);
        let moot = |option, reason, hint| Some(Moot { option, reason, hint });
        let json = self.json || self.format == StreamFormat::Json;
        if self.syscalls && self.format == StreamFormat::Raw {
            return moot("syscalls", "on fields by name", "it goes with `--format text` and `--format json`.");
        }
        if given("nanoseconds") && json {
            return moot("nanoseconds", "on JSON, whose times are in nanoseconds anyway", "leave it out.");
        }
        if given("no_plugins") && (json || self.format == StreamFormat::Raw) {
            return moot("no_plugins", "on fields by name: it is about texts", "it goes with `--format text`.");
        }
        self.traced.moot()
    }
}

pub(crate) fn run(args: &StreamArgs) -> Result<Exit, Failure> {
    let plan = args.session.add_to(args.traced.plan(args.session.place())?);
    if plan.tsc2nsec {
        return Err(Failure::new(Exit::Usage, anyhow!("tsc2nsec is about files: what reads them converts the times"))
            .hint("`-C mono` counts nanoseconds."));
    }
    if let Err(error) = plan.check() {
        return Err(record_error::refused(&error, "stream").into());
    }
    refuse::<StreamArgs>(args.moot())?;
    let with_command = plan.command.is_some();
    let own = |exit: Exit| if with_command && exit != Exit::Usage { Exit::Command(125) } else { exit };
    let tracefs = args.traced.open(args.quiet).map_err(|failure| failure.with_exit(own))?;
    let warn = |text: &str| {
        if !args.quiet {
            note!("rtrace: warning: {text}");
        }
    };
    let refused = |error: RecordError| match explain(&tracefs, &error) {
        Some(known) => known.with_exit(own),
        None => failure(error, own),
    };
    let set_up = LiveStream::set_up(&plan, args.traced.journal(&tracefs), warn);
    let (stream, facts) = set_up.map_err(refused)?;
    facts.not_understood.iter().for_each(|error| warn(&error.to_string()));
    let streamed = if args.json || args.format == StreamFormat::Json {
        let types = JsonTypes::new(&facts.formats, facts.abi, Style::Json);
        let comms = Comms::default();
        let json = screen::json(&facts, &types, &comms);
        if args.syscalls {
            let decoder = live_decoder(&facts.formats, facts.abi).map_err(|failure| failure.with_exit(own))?;
            let json = JsonSyscalls::new(json, vec![decoder], vec![0; facts.buffers.len()]);
            stream.run(&mut StreamScreen::new(&facts, &json, args.quiet)?)
        } else {
            stream.run(&mut StreamScreen::new(&facts, &json, args.quiet)?)
        }
    } else {
        let symbols = Symbols {
            kallsyms: Kallsyms::new(tracefs.kallsyms().unwrap_or_default()),
            printk: PrintkFormats::parse(&facts.printk_formats),
            comms: Comms::default(),
            user: None,
            functions: KernelFunctions::new(facts.btf.clone()),
            enumerators: facts.enumerators.clone(),
        };
        let decode = DecodeOptions { plugins: !args.no_plugins, ..DecodeOptions::default() };
        let types = EventTypes::new(&facts.formats, facts.abi, &symbols, &decode);
        let lines = screen::text_lines(&facts, &types, &symbols, args.format == StreamFormat::Raw, args.nanoseconds);
        if args.syscalls {
            let decoder = live_decoder(&facts.formats, facts.abi).map_err(|failure| failure.with_exit(own))?;
            let lines = SyscallLines::new(lines, vec![decoder]);
            stream.run(&mut StreamScreen::new(&facts, &lines, args.quiet)?)
        } else {
            stream.run(&mut StreamScreen::new(&facts, &lines, args.quiet)?)
        }
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
