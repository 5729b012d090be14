//! `rtrace synth sql` and `rtrace sqlhist`.
//! The meaning of an SQL statement.

use super::argument::{able_tracefs, builder_failure};
use super::create::{TrackingArgs, create_plan, print_plan};
use super::recorded::{SynthRecordedArgs, answer, find};
use crate::cli::args::TracefsArgs;
use crate::cli::exit::{Exit, Failure};
use crate::cli::hist::{HistSetArgs, LONG_LIVED as HISTS, PlaceArgs, add_trigger, event, read_format, syntax_failure};
use crate::cli::keywords::{SQL, words};
use anyhow::Context;
use rtrace::hist::spec::{CheckContext, Features, HistSpec};
use rtrace::synth::sql::{Find, Lowered, lower, lower_recorded, within_kernel};
use rtrace::tracefs::{EventName, Journal, Tracefs};
use std::io::Read;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(mut_arg("tracefs", |arg| arg.short('t')))] // as sqlhist has it
pub(super) struct SynthSqlArgs {
    /// The statement
    #[arg(value_name = "SQL", required_unless_present = "file", num_args = 1.., value_parser = words(SQL), hide_possible_values = true)]
    statement: Vec<String>,
    /// Read the statement from FILE, `-` for stdin
    #[arg(short, long, value_name = "FILE", conflicts_with = "statement")]
    file: Option<PathBuf>,
    /// Name of the synthetic event, or of the histogram
    #[arg(short, long, value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    tracking: TrackingArgs,
    #[command(flatten)]
    ask: SynthRecordedArgs,
    /// With -i: CSV instead of text
    #[arg(long, requires = "input", conflicts_with_all = ["json", "output"])]
    csv: bool,
    #[command(flatten)]
    set: HistSetArgs,
}

/// Print, and with -e run, the commands that an SQL statement means
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace sqlhist 'select cast(bytes_req as log2) from kmalloc'
  rtrace sqlhist -e -n wakeup 'select end.next_pid as pid, TIMESTAMP_DELTA_USECS as lat
      from sched_waking as start join sched_switch as end on start.pid = end.next_pid'")]
pub(crate) struct SqlhistArgs {
    /// The statement
    #[arg(value_name = "SQL", required_unless_present = "file", num_args = 1.., value_parser = words(SQL), hide_possible_values = true)]
    statement: Vec<String>,
    /// Name of the synthetic event
    #[arg(short = 'n', value_name = "NAME")]
    name: Option<String>,
    /// Run the commands, too
    #[arg(short = 'e')]
    execute: bool,
    /// Read the statement from FILE, `-` for stdin
    #[arg(short = 'f', value_name = "FILE", conflicts_with = "statement")]
    file: Option<PathBuf>,
    /// Tracing directory
    #[arg(short = 't', value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Instance
    #[arg(short = 'B', value_name = "NAME")]
    instance: Option<String>,
    /// Act when VAR exceeds what it was
    #[arg(short = 'm', value_name = "VAR", conflicts_with = "change")]
    max: Option<String>,
    /// Act when VAR is not what it was
    #[arg(short = 'c', value_name = "VAR")]
    change: Option<String>,
    /// Take a snapshot then
    #[arg(short = 's')]
    snapshot: bool,
    /// Keep these fields then
    #[arg(short = 'S', value_name = "FIELDS", value_delimiter = ',')]
    save: Vec<String>,
    /// Fire the event then, too
    #[arg(short = 'T')]
    trace: bool,
    #[command(flatten)]
    tracefs: TracefsArgs,
}

pub(super) fn run(args: &SynthSqlArgs) -> Result<Exit, Failure> {
    let for_the_kernel = [("--dry-run", args.set.dry_run), ("-B or --top", args.set.place.is_any())];
    args.ask.recorded.check(None, &for_the_kernel)?;
    let text = statement(&args.statement, args.file.as_deref())?;
    if args.ask.recorded.file().is_some() {
        return answer(&args.ask, args.csv, |input| {
            let find = |system: Option<&str>, event: &str| find(input, system, event).cloned();
            // Events have a line each, or are rows of CSV.
            meaning_of_recorded(&text, args.name.as_deref(), args.csv, &args.tracking, &find)
        });
    }
    // Before the kernel is asked for features: those of this one do not matter to a statement beyond all.
    within_kernel(&text).map_err(|wrong| syntax_failure("statement", &wrong))?;
    let tracefs = match args.set.dry_run {
        true => args.set.write.open_formats()?,
        false => able_tracefs(args.set.write.open()?).map_err(|lacking| {
            lacking.hint("`rtrace synth sql -i FILE` answers the same statement, of a recording.")
        })?,
    };
    let lowered = understand(&tracefs, &text, args.name.as_deref(), &args.tracking)?;
    if args.set.dry_run {
        return show(&tracefs, &args.set.place, &lowered);
    }
    execute(args.set.write.journal(&tracefs), &args.set.place, &lowered)
}

/// sqlhist: the commands are printed in any case.
pub(crate) fn run_sqlhist(args: &SqlhistArgs) -> Result<Exit, Failure> {
    let tracefs = match &args.dir {
        Some(dir) if args.execute => Tracefs::at(dir)?,
        Some(dir) => Tracefs::formats_at(dir)?,
        None if args.execute => args.tracefs.open()?,
        None => args.tracefs.open_formats()?,
    };
    if args.execute {
        tracefs.require(&rtrace::tracefs::Feature::HistTriggers).map_err(|lacking| {
            let pair = "`rtrace latency FROM TO --by FIELD=FIELD -- CMD` pairs two events without it.";
            Failure::from(lacking).hint(pair)
        })?;
    }
    let text = statement(&args.statement, args.file.as_deref())?;
    let tracking =
        TrackingArgs::new(args.max.clone(), args.change.clone(), args.save.clone(), args.snapshot, args.trace);
    let lowered = understand(&tracefs, &text, args.name.as_deref(), &tracking)?;
    let place = PlaceArgs::of(args.instance.clone());
    show(&tracefs, &place, &lowered)?;
    if args.execute {
        return execute(args.tracefs.journal(&tracefs, false), &place, &lowered);
    }
    Ok(Exit::Success)
}

fn statement(words: &[String], file: Option<&Path>) -> Result<String, Failure> {
    Ok(match file {
        None => words.join(" "),
        Some(path) if path == Path::new("-") => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).context("failed to read stdin")?;
            text
        }
        Some(path) => std::fs::read_to_string(path).with_context(|| format!("failed to read {}", path.display()))?,
    })
}

/// The meaning of the statement in a kernel.
fn understand(tracefs: &Tracefs, text: &str, name: Option<&str>, tracking: &TrackingArgs) -> Result<Lowered, Failure> {
    let top = tracefs.top();
    // A copy of the formats says nothing about the kernel.
    let features = top.read("README").map_or(Features::ALL, |readme| Features::from_readme(&readme));
    let find = |system: Option<&str>, name: &str| {
        let found = match system {
            Some(system) => EventName::new(system, name),
            // Like libtracefs: the first event of that name, in whatever system.
            None => top.events().ok()?.into_iter().find(|e| e.name == name)?,
        };
        let event = event(&top, &found.to_string()).ok()?;
        read_format(&top, &event).ok()
    };
    meaning(text, name, tracking, features, &find)
}

/// Rows are the meaning of a statement to a recording alone.
fn of_recordings() -> Failure {
    Failure::new(Exit::Usage, anyhow::anyhow!("the kernel makes no rows; -i FILE asks a recording"))
}

fn show(tracefs: &Tracefs, place: &PlaceArgs, lowered: &Lowered) -> Result<Exit, Failure> {
    match lowered {
        Lowered::Rows(_) => Err(of_recordings()),
        Lowered::Synth(builder) => print_plan(tracefs, place, &builder.plan().map_err(builder_failure)?),
        Lowered::Hist((system, event), spec) => {
            let root = tracefs.root().display();
            let base = match place.shown_name(HISTS) {
                Some(name) => format!("{root}/instances/{name}"),
                None => root.to_string(),
            };
            let file = format!("{base}/events/{system}/{event}/trigger");
            crate::cli::exit::print(&(rtrace::synth::shell_line(&spec.to_string(), &file) + "\n"))
        }
    }
}

fn execute(mut journal: Journal, place: &PlaceArgs, lowered: &Lowered) -> Result<Exit, Failure> {
    match lowered {
        Lowered::Rows(_) => return Err(of_recordings()),
        Lowered::Synth(builder) => create_plan(journal, place, &builder.plan().map_err(builder_failure)?)?,
        Lowered::Hist((system, event), spec) => {
            let instance = place.make_or(&mut journal, HISTS)?;
            add_trigger(&mut journal, &instance, &EventName::new(system, event), spec)?;
            journal.keep()?;
        }
    }
    Ok(Exit::Success)
}

/// The meaning of the statement to a kernel, of events that `find` finds.
fn meaning(
    text: &str,
    name: Option<&str>,
    tracking: &TrackingArgs,
    features: Features,
    find: Find<'_>,
) -> Result<Lowered, Failure> {
    let lowered = lower(text, name, find).map_err(|e| syntax_failure("statement", &e))?;
    checked(lowered, tracking, features, find)
}

/// The meaning of the statement to a recording.
fn meaning_of_recorded(
    text: &str,
    name: Option<&str>,
    only_rows: bool,
    tracking: &TrackingArgs,
    find: Find<'_>,
) -> Result<Lowered, Failure> {
    let lowered = lower_recorded(text, name, only_rows, find).map_err(|e| syntax_failure("statement", &e))?;
    checked(lowered, tracking, Features::ALL, find)
}

/// The same, with what the options ask for beyond it.
fn checked(
    mut lowered: Lowered,
    tracking: &TrackingArgs,
    features: Features,
    find: Find<'_>,
) -> Result<Lowered, Failure> {
    match &mut lowered {
        Lowered::Synth(builder) => {
            tracking.apply(builder)?;
            builder.plan().map_err(builder_failure)?;
        }
        Lowered::Hist(..) | Lowered::Rows(_) if tracking.any() => {
            let error =
                anyhow::anyhow!("only a statement with JOIN makes an event that can be fired, saved or compared");
            return Err(Failure::new(Exit::Usage, error).hint("this one makes a table, which has no actions"));
        }
        Lowered::Rows(_) => {}
        Lowered::Hist((system, event), spec) => {
            let Some(format) = find(Some(system), event) else { return Ok(lowered) };
            let text = spec.to_string();
            let around = CheckContext { event: &format, features, neighbours: None, lookup: None };
            let checked = HistSpec::parse(&text).map_err(|wrong| vec![wrong]).and_then(|spec| spec.check(&around));
            if let Some(wrong) = checked.err().and_then(|errors| errors.into_iter().next()) {
                return Err(syntax_failure("histogram that the statement means", &wrong.diagnostic(&text)));
            }
        }
    }
    Ok(lowered)
}
