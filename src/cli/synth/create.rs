//! `rtrace synth create`.
//! A plan of synthetic events set in the kernel, or printed as the shell commands that would set it.
//! `rtrace synth define`.

use super::argument::{SynthArgument, able_tracefs, builder_failure};
use super::recorded::{SynthRecordedArgs, answer};
use crate::cli::args::WriteArgs;
use crate::cli::exit::{self, Exit, Failure};
use crate::cli::hist::{
    HistSetArgs, PlaceArgs, add_triggers, clock_note, definitions, event, find_format, lines_in_own, read_format,
};
use crate::cli::keywords::{DELTAS, FILTERS, words};
use crate::cli::language::invalid;
use crate::cli::terminal::note;
use anyhow::anyhow;
use rtrace::format::EventFormat;
use rtrace::hist::spec::Features;
use rtrace::synth::sql::Lowered;
use rtrace::synth::{
    Arithmetic, Builder, SynthDef, SynthError, SyntheticPlan, TIMESTAMP, TIMESTAMP_USECS, TrackAction, Tracking,
};
use rtrace::tracefs::{Feature, Journal, Tracefs, WriteMode};

#[derive(clap::Args)]
#[command(mut_arg("tracefs", |arg| arg.short('t')))] // as sqlhist has it
pub(super) struct SynthCreateArgs {
    /// Its name
    name: String,
    /// Event that starts it
    #[arg(long, value_name = "EVENT")]
    start: String,
    /// Event that ends it, and fires
    #[arg(long, value_name = "EVENT")]
    end: String,
    /// Fields that are equal in both; `:NAME` makes the value a field: pid=next_pid:pid
    #[arg(long = "match", value_name = "START=END[:NAME]", value_delimiter = ',', required = true)]
    matches: Vec<String>,
    /// Fields to take over: `start.prio`, `end.next_comm=comm`
    #[arg(long, value_name = "SIDE.FIELD[=NAME]", value_delimiter = ',')]
    field: Vec<String>,
    /// Differences, end less start: `usecs:lat`, `ns:lat` (times), `prio=next_prio:less` (fields)
    #[arg(long, value_name = "UNIT|START=END:NAME", value_delimiter = ',', value_parser = words(DELTAS), hide_possible_values = true)]
    delta: Vec<String>,
    /// Differences the other way, start less end: `prio=next_prio:more`
    #[arg(long, value_name = "START=END:NAME", value_delimiter = ',')]
    less: Vec<String>,
    /// Sums of two fields: `prio=next_prio:both`
    #[arg(long, value_name = "START=END:NAME", value_delimiter = ',')]
    sum: Vec<String>,
    /// Only START events that pass this filter
    #[arg(long, value_name = "FILTER", value_parser = words(FILTERS), hide_possible_values = true)]
    if_start: Option<String>,
    /// Only END events that pass this filter
    #[arg(long, value_name = "FILTER", value_parser = words(FILTERS), hide_possible_values = true)]
    if_end: Option<String>,
    /// Number of entries of both tables: matches that can be waited for at once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(65..=131_072))]
    size: Option<u64>,
    #[command(flatten)]
    tracking: TrackingArgs,
    #[command(flatten)]
    ask: SynthRecordedArgs,
    #[command(flatten)]
    set: HistSetArgs,
}

/// Actions when a field grows or changes.
#[derive(clap::Args)]
pub(super) struct TrackingArgs {
    /// Act when this field exceeds what it was, for this match
    #[arg(long, value_name = "FIELD", conflicts_with = "change")]
    max: Option<String>,
    /// Act when this field is not what it was, for this match
    #[arg(long, value_name = "FIELD")]
    change: Option<String>,
    /// Action: keep these fields of END in the histogram
    #[arg(long, value_name = "FIELD", value_delimiter = ',')]
    save: Vec<String>,
    /// Action: take a snapshot
    #[arg(long)]
    snapshot: bool,
    /// Action: fire the event (so it does if no other action is given)
    #[arg(long)]
    trace: bool,
}

impl TrackingArgs {
    /// From sqlhist's options.
    pub(super) fn new(
        max: Option<String>,
        change: Option<String>,
        save: Vec<String>,
        snapshot: bool,
        trace: bool,
    ) -> Self {
        TrackingArgs { max, change, save, snapshot, trace }
    }

    /// True if anything is asked for.
    pub(super) fn any(&self) -> bool {
        self.max.is_some() || self.change.is_some() || !self.save.is_empty() || self.snapshot || self.trace
    }

    /// Adds the actions: save, trace, snapshot, in this order.
    pub(super) fn apply(&self, builder: &mut Builder) -> Result<(), Failure> {
        let (when, field) = match (&self.max, &self.change) {
            (Some(field), _) => (Tracking::Max, field),
            (None, Some(field)) => (Tracking::Change, field),
            (None, None) if self.save.is_empty() && !self.snapshot && !self.trace => return Ok(()),
            (None, None) => {
                let error = anyhow!("--save, --snapshot and --trace need --max or --change");
                return Err(Failure::new(Exit::Usage, error));
            }
        };
        let mut deeds = Vec::new();
        if !self.save.is_empty() {
            deeds.push(TrackAction::Save(self.save.clone()));
        }
        if self.trace || (self.save.is_empty() && !self.snapshot) {
            deeds.push(TrackAction::Trace);
        }
        if self.snapshot {
            deeds.push(TrackAction::Snapshot);
        }
        let option = if when == Tracking::Max { "--max" } else { "--change" };
        let end = builder.end().clone();
        for deed in deeds {
            let saved = matches!(deed, TrackAction::Save(_));
            builder.track(when, field, deed).map_err(|error| match &error {
                SynthError::NoField { field: wrong, .. } if saved => {
                    SynthArgument::new("--save", wrong, [(wrong.as_str(), Some(&end))]).failure(error.clone())
                }
                _ => SynthArgument::new(option, field, [(field.as_str(), None)]).failure(error),
            })?;
        }
        Ok(())
    }
}

pub(super) fn run(args: &SynthCreateArgs) -> Result<Exit, Failure> {
    let for_the_kernel = [("--dry-run", args.set.dry_run), ("-B or --top", args.set.place.is_any())];
    args.ask.recorded.check(args.size, &for_the_kernel)?;
    if args.ask.recorded.file().is_some() {
        return answer(&args.ask, false, |input| {
            let format = |event: &str| find_format(input, event).cloned();
            Ok(Lowered::Synth(build(args, format(&args.start)?, format(&args.end)?, false)?))
        });
    }
    let write = &args.set.write;
    let tracefs = if args.set.dry_run { write.open_formats() } else { write.open() }?;
    let top = tracefs.top();
    // A copy of the formats says nothing about the kernel that will get the lines: a new one, then.
    let old_stack_name = match top.read("README") {
        Ok(readme) => !Features::from_readme(&readme).common_stacktrace,
        Err(_) if args.set.dry_run => false,
        Err(error) => return Err(error.into()),
    };
    let format = |name: &str| read_format(&top, &event(&top, name)?);
    let builder = build(args, format(&args.start)?, format(&args.end)?, old_stack_name)?;
    let plan = builder.plan().map_err(builder_failure)?;
    if args.set.dry_run {
        return print_plan(&tracefs, &args.set.place, &plan);
    }
    // Last: what the kernel lacks does not matter to arguments that are wrong.
    let tracefs = able_tracefs(tracefs)
        .map_err(|lacking| lacking.hint("`rtrace synth create ... -i FILE` makes the same events of a recording."))?;
    create_plan(args.set.write.journal(&tracefs), &args.set.place, &plan)?;
    Ok(Exit::Success)
}

/// The event of the arguments, of a START and an END with these formats.
fn build(
    args: &SynthCreateArgs,
    start: EventFormat,
    end: EventFormat,
    old_stack_name: bool,
) -> Result<Builder, Failure> {
    let mut builder: Option<Builder> = None;
    for text in &args.matches {
        let (pair, name) = text.split_once(':').map_or((text.as_str(), None), |(pair, name)| (pair, Some(name)));
        let (left, right) = pair.split_once('=').unwrap_or((pair, pair));
        let done = match &mut builder {
            Some(builder) => builder.match_fields(left, right, name).map(drop),
            None => {
                Builder::new(&args.name, start.clone(), end.clone(), left, right, name).map(|new| builder = Some(new))
            }
        };
        let names = [(left, Some(&start)), (right, Some(&end))].into_iter().chain(name.map(|name| (name, None)));
        done.map_err(|error| match error {
            SynthError::Name(wrong) if wrong == args.name => {
                SynthArgument::new("NAME", &args.name, []).failure(SynthError::Name(wrong))
            }
            error => SynthArgument::new("--match", text, names).failure(error),
        })?;
    }
    let Some(mut builder) = builder else {
        return Err(Failure::new(Exit::Usage, anyhow!("--match needs a field")));
    };
    builder.old_stack_name(old_stack_name).size(args.size);
    for text in &args.field {
        let (field, name) = text.split_once('=').map_or((text.as_str(), None), |(field, name)| (field, Some(name)));
        let names = |field, event| {
            SynthArgument::new("--field", text, [(field, Some(event))].into_iter().chain(name.map(|n| (n, None))))
        };
        match field.split_once('.') {
            Some(("start", field)) => {
                builder.start_field(field, name).map(drop).map_err(|e| names(field, &start).failure(e))?;
            }
            Some(("end", field)) => {
                builder.end_field(field, name).map(drop).map_err(|e| names(field, &end).failure(e))?
            }
            _ => {
                return Err(SynthArgument::new("--field", text, []).wrong("expected start.FIELD or end.FIELD", None));
            }
        }
    }
    let calculated = [
        ("--delta", &args.delta, Arithmetic::DeltaEnd),
        ("--less", &args.less, Arithmetic::DeltaStart),
        ("--sum", &args.sum, Arithmetic::Add),
    ];
    for (option, texts, calc) in calculated {
        for text in texts {
            let usage = || {
                SynthArgument::new(option, text, [])
                    .wrong("expected usecs:NAME, ns:NAME or START=END:NAME", meant_unit(text))
            };
            let (what, name) = text.split_once(':').ok_or_else(usage)?;
            let (left, right) = match what {
                "usecs" => (TIMESTAMP_USECS, TIMESTAMP_USECS),
                "ns" => (TIMESTAMP, TIMESTAMP),
                pair => pair.split_once('=').ok_or_else(usage)?,
            };
            // The two times are constants, and no part of the argument.
            let names = match what {
                "usecs" | "ns" => vec![(name, None)],
                _ => vec![(left, Some(&start)), (right, Some(&end)), (name, None)],
            };
            builder.compare(left, right, calc, name).map_err(|e| SynthArgument::new(option, text, names).failure(e))?;
        }
    }
    if let Some(filter) = &args.if_start {
        builder.start_filter(filter).map_err(builder_failure)?;
    }
    if let Some(filter) = &args.if_end {
        builder.end_filter(filter).map_err(builder_failure)?;
    }
    args.tracking.apply(&mut builder)?;
    Ok(builder)
}

/// The unit that was meant in `UNIT:NAME`.
fn meant_unit(text: &str) -> Option<String> {
    let (unit, name) = text.split_once(':')?;
    let meant = match unit.to_ascii_lowercase().as_str() {
        "us" | "usec" | "micros" | "microseconds" => "usecs",
        "nsec" | "nsecs" | "nanoseconds" => "ns",
        _ => return None,
    };
    Some(format!("did you mean `{meant}:{name}`?"))
}

/// The instance of the triggers of synthetic events, if no other is named.
pub(super) const LONG_LIVED: &str = "rtrace-synth";

/// Makes everything a plan needs, or nothing; it stays.
pub(super) fn create_plan(mut journal: Journal, place: &PlaceArgs, plan: &SyntheticPlan) -> Result<(), Failure> {
    let top = journal.tracefs().top();
    let name = &plan.definition.name;
    journal.append(&top, "synthetic_events", &plan.definition.to_string(), &format!("!{name}"))?;
    // The event is there for all, wherever its triggers are; an instance of their own spares the others the clock that
    // they set.
    let instance = place.make_or(&mut journal, LONG_LIVED)?;
    let note = if journal.created(&instance) { None } else { clock_note(&instance, &[&plan.start.1, &plan.end.1]) };
    let both = [&plan.start, &plan.end].map(|((system, event), spec)| ((system.as_str(), event.as_str()), spec));
    add_triggers(&mut journal, &instance, both)?;
    journal.keep()?;
    note.filter(|_| instance.name() != Some(LONG_LIVED)).iter().for_each(|note| note!("{note}"));
    Ok(())
}

/// The shell commands of a plan.
pub(super) fn print_plan(tracefs: &Tracefs, place: &PlaceArgs, plan: &SyntheticPlan) -> Result<Exit, Failure> {
    // A copy of the formats is of no kernel here.
    let lacking = able_tracefs(tracefs.clone()).err().filter(|_| tracefs.top().has("README"));
    lacking.iter().for_each(|failure| note!("rtrace: warning: {}: it would refuse these lines", failure.text()));
    let root = tracefs.root().display().to_string();
    let instance = place.shown_name(LONG_LIVED);
    let lines = plan.shell(&root, instance);
    match instance.filter(|name| tracefs.instance(name).is_err()) {
        Some(name) => exit::print(&lines_in_own(&root, name, lines)),
        None => exit::print(&(lines.join("\n") + "\n")),
    }
}

#[derive(clap::Args)]
pub(super) struct SynthDefineArgs {
    /// Its name
    name: String,
    /// Its fields: 'u64 lat; pid_t pid; char comm[]'
    #[arg(value_name = "FIELDS", required = true)]
    fields: Vec<String>,
    /// Only print the line that would be written
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    write: WriteArgs,
}

pub(super) fn run_define(args: &SynthDefineArgs) -> Result<Exit, Failure> {
    // Each in quotes of its own, they need no semicolons.
    let separator = if args.fields.iter().all(|field| field.trim().contains(' ')) { "; " } else { " " };
    let text = format!("{} {}", args.name, args.fields.join(separator));
    define(&args.write.open()?, &args.write, &text, args.dry_run)
}

/// Makes the synthetic event that `text` defines, as `NAME TYPE FIELD; ...` or with `s:` before it. Nothing fires it yet.
pub(crate) fn define(tracefs: &Tracefs, write: &WriteArgs, text: &str, dry_run: bool) -> Result<Exit, Failure> {
    let definition = SynthDef::parse(text).map_err(|e| invalid("synthetic event", e))?;
    if dry_run {
        return crate::cli::exit::print(&format!("s:{definition}\n"));
    }
    tracefs.require(&Feature::SyntheticEvents)?;
    if definitions(tracefs)?.iter().any(|other| other.name == definition.name) {
        let error = anyhow!("there is a synthetic event {} already", definition.name);
        let hint = format!("`rtrace synth remove {}` removes it", definition.name);
        return Err(Failure::new(Exit::Usage, error).hint(hint));
    }
    let mut journal = write.changes(tracefs);
    journal.act(&tracefs.top(), "synthetic_events", &definition.to_string(), WriteMode::Append)?;
    crate::cli::exit::print(&format!("synthetic:{}\n", definition.name))
}
