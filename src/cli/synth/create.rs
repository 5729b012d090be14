//! `rtrace synth create`.

use super::{create_plan, open, print_plan};
use crate::cli::exit::{Exit, Failure};
use crate::cli::hist::{SetArgs, event, read_format};
use crate::cli::keywords::{DELTAS, FILTERS, words};
use crate::cli::language::invalid;
use anyhow::anyhow;
use rtrace::hist::spec::Features;
use rtrace::synth::{Arithmetic, Builder, SynthError, TIMESTAMP, TIMESTAMP_USECS, TrackAction, Tracking};

#[derive(clap::Args)]
pub(super) struct Args {
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
    /// Sums of two fields: `prio=next_prio:both`
    #[arg(long, value_name = "START=END:NAME", value_delimiter = ',')]
    sum: Vec<String>,
    /// Only START events that pass this filter
    #[arg(long, value_name = "FILTER", value_parser = words(FILTERS), hide_possible_values = true)]
    if_start: Option<String>,
    /// Only END events that pass this filter
    #[arg(long, value_name = "FILTER", value_parser = words(FILTERS), hide_possible_values = true)]
    if_end: Option<String>,
    #[command(flatten)]
    tracking: TrackingArgs,
    #[command(flatten)]
    set: SetArgs,
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
        for deed in deeds {
            builder.track(when, field, deed).map_err(builder_failure)?;
        }
        Ok(())
    }
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let tracefs = open(&args.set)?;
    let top = tracefs.top();
    // A copy of the formats says nothing about the kernel that will get the lines: a new one, then.
    let old_stack_name = match top.read("README") {
        Ok(readme) => !Features::from_readme(&readme).common_stacktrace,
        Err(_) if args.set.dry_run => false,
        Err(error) => return Err(error.into()),
    };
    let start = read_format(&top, &event(&top, &args.start)?)?;
    let end = read_format(&top, &event(&top, &args.end)?)?;
    let mut matches = args.matches.iter().map(|text| {
        let (pair, name) = text.split_once(':').map_or((text.as_str(), None), |(pair, name)| (pair, Some(name)));
        let (start, end) = pair.split_once('=').unwrap_or((pair, pair));
        (start, end, name)
    });
    let Some((start_field, end_field, name)) = matches.next() else {
        return Err(Failure::new(Exit::Usage, anyhow!("--match needs a field")));
    };
    let mut builder = Builder::new(&args.name, start, end, start_field, end_field, name).map_err(builder_failure)?;
    builder.old_stack_name(old_stack_name);
    for (start, end, name) in matches {
        builder.match_fields(start, end, name).map_err(builder_failure)?;
    }
    for text in &args.field {
        let (field, name) = text.split_once('=').map_or((text.as_str(), None), |(field, name)| (field, Some(name)));
        match field.split_once('.') {
            Some(("start", field)) => builder.start_field(field, name).map_err(builder_failure)?,
            Some(("end", field)) => builder.end_field(field, name).map_err(builder_failure)?,
            _ => {
                let error = anyhow!("failed to understand --field {text}: expected start.FIELD or end.FIELD");
                return Err(Failure::new(Exit::Usage, error));
            }
        };
    }
    for (texts, calc) in [(&args.delta, Arithmetic::DeltaEnd), (&args.sum, Arithmetic::Add)] {
        for text in texts {
            let usage = || {
                let error = anyhow!("failed to understand `{text}`: expected usecs:NAME, ns:NAME or START=END:NAME");
                Failure::new(Exit::Usage, error)
            };
            let (what, name) = text.split_once(':').ok_or_else(usage)?;
            let (start, end) = match what {
                "usecs" => (TIMESTAMP_USECS, TIMESTAMP_USECS),
                "ns" => (TIMESTAMP, TIMESTAMP),
                pair => pair.split_once('=').ok_or_else(usage)?,
            };
            builder.compare(start, end, calc, name).map_err(builder_failure)?;
        }
    }
    if let Some(filter) = &args.if_start {
        builder.start_filter(filter).map_err(builder_failure)?;
    }
    if let Some(filter) = &args.if_end {
        builder.end_filter(filter).map_err(builder_failure)?;
    }
    args.tracking.apply(&mut builder)?;
    let plan = builder.plan().map_err(builder_failure)?;
    if args.set.dry_run {
        return print_plan(&tracefs, &args.set.place, &plan);
    }
    create_plan(args.set.write.journal(&tracefs), &args.set.place, &plan)?;
    Ok(Exit::Success)
}

/// The builder's error, as a usage error with its hint.
pub(crate) fn builder_failure(error: SynthError) -> Failure {
    let hint = match &error {
        SynthError::Filter(wrong) => return invalid("filter", *wrong.clone()),
        SynthError::NoField { hint, .. } => Some(hint.clone()),
        _ => None,
    };
    let failure = Failure::new(Exit::Usage, anyhow!("failed to build the event: {error}"));
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}
