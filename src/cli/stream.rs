//! `rtrace stream`: record's rings and report's words, joined.

use super::exit::{Exit, Failure};
use super::given::{Moot, refuse};
use super::live::{live_merge, warn_of_damage};
use super::record::empty;
use super::record_error::{explain, failure};
use super::syscalls::live_decoder;
use super::terminal::{note, say, stdout};
use super::traced::{SessionArgs, Traced};
use super::{command_words, record_error};
use anyhow::anyhow;
use rtrace::event::{DecodeOptions, EventTypes};
use rtrace::export::{
    Exporter, Json, JsonBuffer, JsonBufferInfo, JsonHeader, JsonSource, JsonSyscalls, JsonTypes, Style, SyscallLines,
    Text, TextLines, TextOptions, TimeColumn,
};
use rtrace::record::{Audience, LiveBuffer, LiveFacts, LiveStream, RecordError};
use rtrace::recording::LiveMerge;
use rtrace::symbols::{Comms, Kallsyms, KernelFunctions, PrintkFormats, Symbols};
use rtrace::syntax::widest;
use rtrace::units::RecordedClock;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::io;
use std::io::Write;

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
        let given = plan.command.as_deref().and_then(command_words::note::<StreamArgs>);
        return Err(record_error::refused(&error, "stream", given).into());
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
    let count = Cell::new(0);
    let streamed = if args.json || args.format == StreamFormat::Json {
        let types = JsonTypes::new(&facts.formats, facts.abi, Style::Json);
        let comms = Comms::default();
        let json = json(&facts, &types, &comms);
        if args.syscalls {
            let decoder = live_decoder(&facts.formats, facts.abi).map_err(|failure| failure.with_exit(own))?;
            let json = JsonSyscalls::new(json, vec![decoder], vec![0; facts.buffers.len()]);
            stream.run(&mut StreamScreen::new(&facts, &json, args.quiet, &count)?)
        } else {
            stream.run(&mut StreamScreen::new(&facts, &json, args.quiet, &count)?)
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
        let lines = text_lines(&facts, &types, &symbols, args.format == StreamFormat::Raw, args.nanoseconds);
        if args.syscalls {
            let decoder = live_decoder(&facts.formats, facts.abi).map_err(|failure| failure.with_exit(own))?;
            let lines = SyscallLines::new(lines, vec![decoder]);
            stream.run(&mut StreamScreen::new(&facts, &lines, args.quiet, &count)?)
        } else {
            stream.run(&mut StreamScreen::new(&facts, &lines, args.quiet, &count)?)
        }
    };
    let streamed = streamed.map_err(refused)?;
    let status = streamed.command.map(|ended| ended.code());
    if count.get() == 0 && !args.quiet && streamed.output.is_ok() {
        say(format_args!("{}", empty::reason(&plan)));
    }
    match (streamed.output, status) {
        (Err(error), _) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::new(own(Exit::Failed), anyhow!("failed to write the events: {error}")))
        }
        _ if streamed.timed_out => Ok(Exit::Command(124)),
        (_, Some(status)) => Ok(Exit::Command(status)),
        (_, None) => Ok(Exit::Success),
    }
}

/// Prints the events of running rings with an exporter, in the order of time.
struct StreamScreen<'e, E: Exporter> {
    exporter: &'e E,
    state: E::State,
    events: LiveMerge,
    quiet: bool,
    /// Number of events so far.
    count: &'e Cell<u64>,
    /// The latest name of each task.
    names: BTreeMap<i32, Vec<u8>>,
    /// The text that `names` were read from last.
    saved: Vec<u8>,
}

impl<'e, E: Exporter> StreamScreen<'e, E> {
    /// A screen for the buffers of `facts`. Writes the exporter's first lines.
    fn new(facts: &LiveFacts, exporter: &'e E, quiet: bool, count: &'e Cell<u64>) -> io::Result<Self> {
        let (mut state, mut first) = (exporter.state(), Vec::new());
        exporter.begin(&mut state, &mut first);
        stdout().lock().write_all(&first)?;
        let (names, saved) = (BTreeMap::new(), Vec::new());
        Ok(StreamScreen { exporter, state, events: live_merge(facts), quiet, count, names, saved })
    }

    /// Takes over the names of tasks, if the kernel has new ones.
    fn learn(&mut self, saved: Vec<u8>) {
        if saved == self.saved {
            return;
        }
        for line in saved.split(|b| *b == b'\n') {
            let Some(blank) = line.iter().position(|b| *b == b' ') else { continue };
            let pid = std::str::from_utf8(&line[..blank]).ok().and_then(|pid| pid.parse().ok());
            if let Some(pid) = pid {
                self.names.insert(pid, line[blank + 1..].to_vec());
            }
        }
        self.saved = saved;
        let mut text = Vec::new();
        for (pid, name) in &self.names {
            text.extend_from_slice(format!("{pid} ").as_bytes());
            text.extend_from_slice(name);
            text.push(b'\n');
        }
        self.exporter.set_comms(&mut self.state, &Comms::parse(&text));
    }

    /// The output of all complete events.
    fn print(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        while self.events.advance() {
            let Some(record) = self.events.record() else { break };
            let mut following = None;
            if self.exporter.needs_next(&record) {
                following = self.events.following();
                if following.is_none() && !self.events.is_last() {
                    break; // a later round may bring the record that it depends on
                }
            }
            let consumed = self.exporter.event(&record, || following, &mut self.state, &mut out);
            self.events.take(consumed);
            self.count.set(self.count.get().saturating_add(1));
        }
        out
    }
}

impl<E: Exporter> Audience for StreamScreen<'_, E> {
    fn page(&mut self, buffer: usize, cpu: usize, page: &[u8]) {
        warn_of_damage(self.events.page(buffer, cpu, page), self.quiet);
    }

    fn unfinished(&mut self, buffer: usize, cpu: usize) {
        self.events.unfinished(buffer, cpu);
    }

    fn round(&mut self, saved_cmdlines: &dyn Fn() -> Vec<u8>, last: bool) -> io::Result<()> {
        self.events.end_round(last);
        let mut out = Vec::new();
        if self.events.advance() {
            self.learn(saved_cmdlines());
            out = self.print();
        }
        if last {
            self.exporter.end(&mut self.state, &mut out);
        }
        if out.is_empty() {
            return Ok(());
        }
        let mut stdout = stdout().lock();
        stdout.write_all(&out)?;
        stdout.flush()
    }
}

/// Lines as of report: a layout for each buffer.
fn text_lines<'a>(
    facts: &LiveFacts,
    types: &'a EventTypes<'a>,
    symbols: &'a Symbols,
    raw: bool,
    nanoseconds: bool,
) -> TextLines<'a> {
    let width = widest(facts.buffers.iter().map(|b| b.name.len()));
    let label = |name: &str| format!("{name:>width$}{}", if name.is_empty() { "  " } else { ": " }).into_bytes();
    let labels: Vec<Vec<u8>> =
        if width == 0 { Vec::new() } else { facts.buffers.iter().map(|b| label(&b.name)).collect() };
    let text = |clock: &str| {
        let time = match () {
            () if !RecordedClock::of(clock).shown_as_seconds => TimeColumn::Ticks,
            () if nanoseconds => TimeColumn::Nanos,
            () => TimeColumn::Micros,
        };
        Text::new(types, symbols, TextOptions { time, raw, labels: labels.clone(), ..TextOptions::default() })
    };
    let buffers = facts.buffers.iter().map(|buffer| (0, text(&buffer.clock))).collect();
    TextLines::new(Vec::new(), buffers, vec![&symbols.comms])
}

/// JSON lines, as of report.
fn json<'a>(facts: &'a LiveFacts, types: &'a JsonTypes, comms: &'a Comms) -> Json<'a> {
    let buffer = |buffer: &'a LiveBuffer| {
        let name = (!buffer.name.is_empty()).then_some(buffer.name.as_str());
        JsonBuffer { types, comms, source: None, buffer: name }
    };
    Json::new(facts.buffers.iter().map(buffer)).with_header(header(facts))
}

/// The first line of JSON: as report's, of a file that there is not.
fn header(facts: &LiveFacts) -> JsonHeader {
    let buffer = |buffer: &LiveBuffer| JsonBufferInfo {
        name: (!buffer.name.is_empty()).then(|| buffer.name.clone()),
        clock: Some(buffer.clock.clone()),
        unit: if RecordedClock::of(&buffer.clock).counts_nanoseconds() { "ns" } else { "ticks" },
        wall: None,
        cpus: buffer.cpus.iter().map(|cpu| cpu.0).collect(),
    };
    let cpus = facts.buffers.iter().map(|b| b.cpus.len() as u32).max().unwrap_or(0);
    let buffers = facts.buffers.iter().map(buffer).collect();
    JsonHeader {
        sources: vec![JsonSource {
            file: "live".to_owned(),
            label: None,
            uname: None,
            cpus,
            unfinished: false,
            buffers,
        }],
    }
}
