//! `rtrace snapshot`.

use super::args::called;
use super::exit::{Exit, Failure};
use super::keywords::{FILTERS, words};
use super::language::{TargetArgs, format, invalid, select, warn};
use super::piped;
use super::show::shown;
use super::stored::{Say, StoredRings};
use crate::cli::terminal::note;
use crate::cli::terminal::stdout;
use rtrace::record::{Compression, Ring};
use rtrace::tracefs::{Error, EventName, Feature, Instance, Journal, Tracefs, WriteMode};
use rtrace::trigger::Trigger;
use rtrace::units::CpuId;
use std::io::Write;
use std::path::PathBuf;

/// Take, show and clear snapshots of the ring buffer
///
/// A snapshot swaps the ring buffer with a spare one of the same size, while tracing goes on. Without a subcommand it
/// is shown, as in trace-cmd, and -s, -r and -f take, clear and free it.
#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
EXAMPLES:
  rtrace snapshot take
  rtrace snapshot take --on sched:sched_process_exit --if 'prio < 100' --count 1
  rtrace snapshot show
  rtrace snapshot save before.dat; rtrace report -i before.dat
  rtrace snapshot status
  rtrace snapshot free"
)]
pub(crate) struct SnapshotCommandArgs {
    #[command(subcommand)]
    command: Option<SnapshotCommand>,
    /// Take one (trace-cmd's option)
    #[arg(short = 's')]
    take: bool,
    /// Clear it (trace-cmd's option)
    #[arg(short = 'r', conflicts_with_all = ["take", "free"])]
    clear: bool,
    /// Free its buffer (trace-cmd's option)
    #[arg(short = 'f', conflicts_with = "take")]
    free: bool,
    #[command(flatten)]
    plain: PlainArgs,
}

#[derive(clap::Subcommand)]
enum SnapshotCommand {
    Take(TakeArgs),
    Show(SnapshotShowArgs),
    Save(SnapshotSaveArgs),
    /// Empty the snapshot's buffer, without freeing it
    Clear(PlainArgs),
    /// Free the snapshot's buffer
    Free(PlainArgs),
    Status(StatusArgs),
}

/// Show the snapshot as text
#[derive(clap::Args)]
struct SnapshotShowArgs {
    /// One JSON document that holds the text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    plain: PlainArgs,
}

/// Save the snapshot as a trace.dat, which `rtrace report` and trace-cmd decode
///
/// Its events move: the snapshot's buffer is empty afterwards.
#[derive(clap::Args)]
struct SnapshotSaveArgs {
    /// File to write; `-` is standard output
    #[arg(value_hint = clap::ValueHint::FilePath)]
    file: PathBuf,
    /// Say what was stored as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    plain: PlainArgs,
}

/// Say whether there is a snapshot, and what is in it
#[derive(clap::Args)]
struct StatusArgs {
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    plain: PlainArgs,
}

/// Take a snapshot, now or when an event happens
#[derive(clap::Args)]
struct TakeArgs {
    /// Take it when this event happens (a trigger, which stays)
    #[arg(long, value_name = "EVENT")]
    on: Option<String>,
    /// Only if the event passes this filter
    #[arg(long = "filter", visible_alias = "if", value_name = "FILTER", requires = "on", value_parser = words(FILTERS), hide_possible_values = true)]
    filter: Option<String>,
    /// This many times, then no more
    #[arg(short = 'n', long, value_name = "N", requires = "on")]
    count: Option<u64>,
    #[command(flatten)]
    plain: PlainArgs,
}

/// The snapshot of an instance, or of one of its CPUs
#[derive(clap::Args)]
struct PlainArgs {
    /// Only this CPU's buffer
    #[arg(short = 'c', long, value_name = "CPU")]
    cpu: Option<u32>,
    #[command(flatten)]
    place: TargetArgs,
}

/// Runs the subcommand.
pub(crate) fn run(args: &SnapshotCommandArgs) -> Result<Exit, Failure> {
    match &args.command {
        Some(SnapshotCommand::Take(TakeArgs { on: Some(event), filter, count, plain })) => {
            take_on(plain, event, filter.as_deref(), *count)
        }
        Some(SnapshotCommand::Take(args)) => write(&args.plain, TAKE),
        Some(SnapshotCommand::Show(args)) => show(&args.plain, args.json),
        Some(SnapshotCommand::Save(args)) => save(args),
        Some(SnapshotCommand::Clear(args)) => write(args, CLEAR),
        Some(SnapshotCommand::Free(args)) => write(args, FREE),
        Some(SnapshotCommand::Status(args)) => status(args),
        None if args.take => write(&args.plain, TAKE),
        None if args.clear => write(&args.plain, CLEAR),
        None if args.free => write(&args.plain, FREE),
        None => show(&args.plain, false),
    }
}

/// Values for `snapshot` (`Documentation/trace/ftrace.rst`): `0` frees, `1` allocates if need be and swaps, anything
/// else clears.
const FREE: &str = "0";
const TAKE: &str = "1";
const CLEAR: &str = "2";

/// Tracers that use the spare buffer themselves.
const LATENCY: [&str; 6] = ["irqsoff", "preemptoff", "preemptirqsoff", "wakeup", "wakeup_rt", "wakeup_dl"];

fn file(args: &PlainArgs) -> String {
    match args.cpu {
        Some(cpu) => Instance::cpu_file(CpuId(cpu), "snapshot"),
        None => "snapshot".to_owned(),
    }
}

fn open(args: &PlainArgs) -> Result<(Tracefs, Instance), Failure> {
    let (tracefs, instance) = args.place.open()?;
    tracefs.require(&Feature::Snapshot)?;
    if let Some(cpu) = args.cpu
        && !instance.cpus()?.contains(&CpuId(cpu))
    {
        return Err(Failure::new(Exit::Usage, anyhow::anyhow!("there is no CPU {cpu}")));
    }
    Ok((tracefs, instance))
}

fn write(args: &PlainArgs, what: &str) -> Result<Exit, Failure> {
    let (tracefs, instance) = open(args)?;
    let mut journal: Journal = args.place.journal(&tracefs);
    journal.act(&instance, &file(args), what, WriteMode::Truncate).map_err(|e| explain(&instance, args, e))?;
    journal.keep()?;
    Ok(Exit::Success)
}

/// The kernel says EBUSY and EINVAL; this says why.
fn explain(instance: &Instance, args: &PlainArgs, error: Error) -> Failure {
    let errno = error.errno();
    let failure = Failure::from(error);
    let tracer = instance.current_tracer().unwrap_or_default();
    match errno {
        Some(nix::errno::Errno::EBUSY) if LATENCY.contains(&tracer.as_str()) => failure.hint(format!(
            "tracer `{tracer}` uses the spare buffer itself; its `trace` file is the snapshot of the longest latency"
        )),
        Some(nix::errno::Errno::EBUSY) => {
            failure.hint("a `snapshot()` action of a hist trigger, or a reader, holds the spare buffer".to_owned())
        }
        Some(nix::errno::Errno::EINVAL) if args.cpu.is_some() => failure.with_exit(|_| Exit::Unable).hint(
            "one CPU's snapshot needs CONFIG_RING_BUFFER_ALLOW_SWAP, and is not freed but with all of them".to_owned(),
        ),
        _ => failure,
    }
}

fn take_on(args: &PlainArgs, event: &str, filter: Option<&str>, count: Option<u64>) -> Result<Exit, Failure> {
    let (tracefs, instance) = open(args)?;
    if args.cpu.is_some() {
        return Err(Failure::new(Exit::Usage, anyhow::anyhow!("a trigger takes the snapshot of all CPUs")));
    }
    let mut text = "snapshot".to_owned();
    if let Some(count) = count {
        text.push_str(&format!(":{count}"));
    }
    if let Some(filter) = filter {
        text.push_str(&format!(" if {filter}"));
    }
    let trigger: Trigger = text.parse().map_err(|e| invalid("trigger", e))?;
    let known: Vec<String> = instance.events()?.iter().map(EventName::to_string).collect();
    let events = select(&instance, event)?;
    for event in &events {
        let warnings = trigger
            .check(&text, &format(&instance, event)?, &known)
            .map_err(|e| invalid(&format!("trigger for {event}"), e))?;
        warn(&warnings);
    }
    let mut journal = args.place.journal(&tracefs);
    for event in &events {
        journal.add_trigger(&instance, event, &trigger.to_string())?;
    }
    journal.keep()?;
    Ok(Exit::Success)
}

fn show(args: &PlainArgs, json: bool) -> Result<Exit, Failure> {
    let (_, instance) = open(args)?;
    let file = file(args);
    let text = instance.read_bytes(&file).map_err(|e| explain(&instance, args, e))?;
    let mut out = stdout().lock();
    if json {
        writeln!(out, "{:#}", shown(&instance, [(file, String::from_utf8_lossy(&text).into_owned())]))?;
    } else {
        out.write_all(&text)?;
    }
    Ok(Exit::Success)
}

fn save(args: &SnapshotSaveArgs) -> Result<Exit, Failure> {
    piped::check(&args.file, args.json)?;
    let (_, instance) = open(&args.plain)?;
    let text = instance.read(&file(&args.plain)).map_err(|e| explain(&instance, &args.plain, e))?;
    if text.contains("* Snapshot is freed *") {
        let error = anyhow::anyhow!("failed to save the snapshot of {}: there is none", called(&instance));
        return Err(Failure::from(error).hint("`rtrace snapshot take` takes one"));
    }
    if text.contains("* Snapshot is allocated *") {
        note!("rtrace: the snapshot of {} is empty: {} has no events", called(&instance), args.file.display());
    }
    let cpu = args.plain.cpu.map(CpuId);
    let instances = std::slice::from_ref(&instance);
    let (ring, compression) = (Ring::Snapshot, Compression::default());
    StoredRings { instances, ring, cpus: cpu.as_slice(), compression, date: None }
        .to(&args.file, Say::of(args.json, false))
}

/// The status in the header of the snapshot's file.
fn status(args: &StatusArgs) -> Result<Exit, Failure> {
    let (json, args) = (args.json, &args.plain);
    let (_, instance) = open(args)?;
    let mut out = stdout().lock();
    let tracer = instance.current_tracer()?;
    let mut say = |state: &str, lines: usize, text: &str| -> Result<Exit, Failure> {
        if json {
            let document = serde_json::json!({
                "schema": "rtrace.snapshot", "version": 1, "state": state, "lines": lines, "tracer": tracer,
            });
            writeln!(out, "{document:#}")?;
        } else {
            writeln!(out, "{text}")?;
        }
        Ok(Exit::Success)
    };
    let text = match instance.read(&file(args)) {
        Err(_) if LATENCY.contains(&tracer.as_str()) => {
            let text = format!("in use: tracer `{tracer}` keeps its longest latency there; a snapshot cannot be taken");
            return say("in use", 0, &text);
        }
        other => other.map_err(|e| explain(&instance, args, e))?,
    };
    if text.contains("* Snapshot is freed *") {
        return say("free", 0, "free: no buffer is allocated");
    }
    if text.contains("* Snapshot is allocated *") {
        return say("allocated", 0, "allocated, empty");
    }
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).count();
    say("allocated", lines, &format!("allocated, {lines} lines"))
}
