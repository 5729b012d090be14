//! `rtrace extract`.

use super::args::{InstancesArgs, WriteArgs};
use super::exit::{Exit, Failure};
use super::piped;
use super::record_error::setup_failure;
use super::stored::{Say, StoredRings};
use crate::cli::terminal::note;
use anyhow::anyhow;
use rtrace::record::{Compression, Ring, wall_clock_at_zero};
use rtrace::tracefs::{Feature, Instance, Journal, Tracefs, WriteMode};
use std::path::PathBuf;

/// Save a ring buffer's contents to a trace.dat file
///
/// Of a trace that was started with `rtrace start` and stopped, of a snapshot, or, of a persistent instance, of the
/// boot before. Works on the top level by default. Tracing is stopped and stays so; events are taken out of
/// the ring buffer or the snapshot. Of one instance they become the file's main buffer; several keep their names.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace extract                       the top level's ring buffer to trace.dat
  rtrace extract -s -o crash.dat       its snapshot
  rtrace extract -B boot_map           instance boot_map, which may hold the last boot's events
  rtrace extract -a -t -o all.dat      all instances and the top level, in one file")]
pub(crate) struct ExtractArgs {
    /// Write to FILE; `-` is standard output
    #[arg(short, long, value_name = "FILE", default_value = "trace.dat", value_hint = clap::ValueHint::FilePath)]
    output: PathBuf,
    /// The snapshot instead of the ring buffer
    #[arg(short, long)]
    snapshot: bool,
    #[command(flatten)]
    instances: InstancesArgs,
    /// Taken for trace-cmd's sake: settings are always kept
    #[arg(short, long, hide = true)]
    keep: bool,
    /// Compress with zstd[:LEVEL], or none
    #[arg(long, value_name = "HOW", default_value = "zstd", value_parser = super::record::parse_compression)]
    compression: Compression,
    /// Store the wall clock's time, which reports then show; of what this boot has traced
    #[arg(long)]
    date: bool,
    /// Taken for trace-cmd's sake: the events say what they are, and options do not change what is stored
    #[arg(short = 'p', hide = true, value_name = "TRACER")]
    _tracer: Option<String>,
    /// Taken for trace-cmd's sake
    #[arg(short = 'O', hide = true, value_name = "OPTION")]
    _options: Vec<String>,
    /// Print nothing but errors
    #[arg(short, long, conflicts_with = "json")]
    quiet: bool,
    /// Say what was stored as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    write: WriteArgs,
}

pub(crate) fn run(args: &ExtractArgs) -> Result<Exit, Failure> {
    piped::check(&args.output, args.json)?;
    let tracefs = args.write.open()?;
    let instances = args.instances.open(&tracefs)?;
    if instances.is_empty() {
        return Err(Failure::new(Exit::Usage, anyhow!("there is no instance to extract"))
            .hint("without -a, or with -t, it is the top level."));
    }
    if args.snapshot {
        tracefs.require(&Feature::Snapshot)?;
    }
    let clock = if args.date { Some(common_clock(&instances)?) } else { None };
    let mut journal = args.write.changes(&tracefs);
    let ring = if args.snapshot { Ring::Snapshot } else { Ring::Live };
    let mut stopped = Vec::new();
    if ring == Ring::Live {
        for instance in instances.iter().filter(|instance| !instance.is_read_only()) {
            if instance.is_on()? {
                stopped.push(instance);
            }
            journal.act(instance, "tracing_on", "0", WriteMode::Truncate)?;
        }
    }
    let date = clock.map_or(Ok(None), |clock| date(args, &tracefs, &clock));
    let stored = date.and_then(|date| {
        StoredRings { instances: &instances, ring, cpus: &[], compression: args.compression, date }
            .to(&args.output, Say::of(args.json, args.quiet))
    });
    if stored.as_ref().is_err_and(|failure| !failure.is_of_missing_data()) {
        // Without a file tracing goes on as before.
        stopped.iter().try_for_each(|instance| journal.act(instance, "tracing_on", "1", WriteMode::Truncate))?;
    }
    stored
}

/// The clock of them all: a file has room for one date.
fn common_clock(instances: &[Instance]) -> Result<String, Failure> {
    let mut common: Option<String> = None;
    for instance in instances {
        let clock = instance.trace_clock()?.current;
        let known = common.get_or_insert_with(|| clock.clone());
        if *known != clock {
            let error = anyhow!("--date is about one clock, and the instances have {known} and {clock}");
            return Err(Failure::new(Exit::Usage, error).hint("extract them one by one, each with --date."));
        }
    }
    Ok(common.unwrap_or_default())
}

/// The clock's zero by the wall clock; nothing of it stays.
fn date(args: &ExtractArgs, tracefs: &Tracefs, clock: &str) -> Result<Option<u64>, Failure> {
    let mut journal: Journal = args.write.changes(tracefs);
    let date = wall_clock_at_zero(&mut journal, clock).map_err(setup_failure)?;
    journal.undo()?;
    if date.is_none() {
        note!("rtrace: warning: --date has no effect: the clock {clock} does not count time");
    }
    Ok(date)
}
