//! `rtrace reset`.

mod targets;

use super::args::{TracefsArgs, called, to_stderr};
use super::exit::{Exit, Failure};
use super::holders::{kept_since_boot, unremoved};
use crate::cli::terminal::stdout;
use crate::cli::terminal::{note, remark};
use anyhow::Context;
use clap::ValueEnum;
use rtrace::record::left_unfinished;
use rtrace::tracefs::{Error, Instance, Journal, ResetPlan, find_orphans_within};
use serde_json::json;
use std::io::Write;
use std::time::Duration;
use targets::{InstanceReset, Targets};

/// Reset tracing to boot defaults, or undo what a killed recording left behind
///
/// Without `--stale`: no tracer, no events, filters or triggers, no pid or function lists, clock, options and buffer size
/// as after boot, no probes or synthetic events, empty ring buffers, tracing on. Works on the top level unless -B or -a
/// says otherwise, regardless of who changed it. -b and -d are about the -B, -a or -t before them; before the first of these,
/// about all.
///
/// With `--stale`: a recording that was killed (kill -9) cannot clean up. It leaves a journal under /run/rtrace, which
/// says how each file of tracefs was before; `--stale` puts them back and removes the instances that were made for the
/// recording. Recordings that are still running are left alone. Events in the ring buffers of a killed recording are dropped;
/// `rtrace recover` instead moves it into the file, and puts tracing back as well.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace reset --stale      put back what killed recordings left behind
  rtrace reset              put the top level into the state after boot
  rtrace reset -B web -d    remove instance web
  rtrace reset -t -a -d     reset the top level and remove all instances
  rtrace reset -a -t -v     reset everything, and show how")]
pub(crate) struct ResetArgs {
    /// Undo what killed recordings left behind, and nothing else
    #[arg(long, conflicts_with_all = Targets::IDS, conflicts_with = "keep")]
    stale: bool,
    #[command(flatten)]
    targets: Targets,
    /// Dynamic events to keep; may be given more than once
    #[arg(short, long, value_name = "KIND")]
    keep: Vec<DynamicKind>,
    /// With --stale: JSON instead of text
    #[arg(long, requires = "stale")]
    json: bool,
    /// Show each write to tracefs as a shell line
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    tracefs: TracefsArgs,
}

#[derive(Clone, Copy, ValueEnum)]
enum DynamicKind {
    Kprobe,
    Kretprobe,
    Uprobe,
    Uretprobe,
    Eprobe,
    Fprobe,
    Tprobe,
    Synth,
    All,
}

impl DynamicKind {
    /// First letters of the lines of `dynamic_events`, as [`ResetPlan`] wants them.
    fn letters(self) -> &'static [char] {
        match self {
            DynamicKind::Kprobe => &['p'],
            DynamicKind::Kretprobe => &['r'],
            DynamicKind::Uprobe => &['P'],
            DynamicKind::Uretprobe => &['R'],
            DynamicKind::Eprobe => &['e'],
            DynamicKind::Fprobe => &['f'],
            DynamicKind::Tprobe => &['t'],
            DynamicKind::Synth => &['s'],
            DynamicKind::All => &['p', 'r', 'P', 'R', 'e', 'f', 't', 's'],
        }
    }
}

pub(crate) fn run(args: &ResetArgs) -> Result<Exit, Failure> {
    if args.stale {
        return stale(args);
    }
    let tracefs = args.tracefs.open()?;
    let mut journal = args.tracefs.changes(&tracefs, args.verbose);
    let keep: Vec<char> = args.keep.iter().flat_map(|kind| kind.letters()).copied().collect();
    let targets = args.targets.open(&tracefs)?;
    let mut exit = Exit::Success;
    // The top level last: a synthetic event goes only when no instance uses it.
    for (instance, reset) in targets.iter().rev() {
        if let Err(failure) = one(&mut journal, instance, *reset, &keep) {
            exit = failure.tell();
        }
    }
    Ok(exit)
}

fn one(journal: &mut Journal, instance: &Instance, reset: InstanceReset, keep: &[char]) -> Result<(), Failure> {
    if let Some(name) = instance.name().filter(|_| reset.delete) {
        match journal.remove_instance(name) {
            Ok(()) => return Ok(()),
            Err(error) => match kept_since_boot(&error, instance).filter(|_| !reset.is_named) {
                // One of all: nobody can remove it, so it is as little in use as it can be.
                Some(parameter) => {
                    note!("rtrace: {} stays: the kernel keeps what `{parameter}` made; it is reset", called(instance));
                }
                None => return Err(unremoved(error, instance)),
            },
        }
    }
    let plan = ResetPlan { buffer_kib: reset.buffer_kib, keep: keep.to_vec() };
    let refused = journal.reset(instance, &plan).with_context(|| called(instance))?;
    for refused in refused {
        if reset.is_named && matches!(refused, Error::FixedBuffer { .. }) {
            return Err(refused.into());
        }
        note!("rtrace: warning: {refused}; it stays as it is");
    }
    let removable = instance.name().filter(|_| !reset.delete);
    let stays = removable.map_or(String::new(), |name| format!("; it stays: `rtrace reset -B {name} -d` removes it"));
    remark(&format!("{} is as after boot{stays}", called(instance)));
    Ok(())
}

/// Undoes every orphan, the newest first; each that fails is reported, and the others are still undone.
fn stale(args: &ResetArgs) -> Result<Exit, Failure> {
    let mut out = stdout().lock();
    let tracefs = args.tracefs.open_quietly()?;
    let found = find_orphans_within(&args.tracefs.journal_dir(), Duration::from_secs(5));
    let mut exit = Exit::Success;
    for error in &found.unusable {
        note!("rtrace: {error}");
        exit = Exit::Failed;
    }
    if found.orphans.is_empty() && found.unusable.is_empty() && !args.json {
        writeln!(out, "nothing is left behind")?;
    }
    let mut left_behind = Vec::new();
    for orphan in found.orphans.into_iter().rev() {
        let instances = orphan.instances();
        let removed = match instances.as_slice() {
            [] => String::new(),
            names => format!(", instance {} removed", names.join(", ")),
        };
        let dropped = left_unfinished(&orphan).map(|recording| recording.path.clone());
        let done = format!("put back what `{}` (process {}) left behind{removed}", orphan.command(), orphan.pid());
        let mut facts = json!({"command": orphan.command(), "pid": orphan.pid(), "instances": instances});
        let undone = orphan.undo(&tracefs, args.verbose.then(to_stderr));
        facts["error"] = undone.as_ref().err().map(ToString::to_string).into();
        left_behind.push(facts);
        match undone {
            Ok(()) => {
                if !args.json {
                    writeln!(out, "{done}")?;
                }
                if let Some(path) = dropped {
                    note!(
                        "rtrace: what its ring buffers held is dropped; `rtrace recover {path}` instead of this keeps it"
                    );
                }
            }
            Err(error) => {
                note!("rtrace: {error}");
                exit = Exit::Failed;
            }
        }
    }
    if args.json {
        writeln!(out, "{:#}", json!({"schema": "rtrace.reset.stale", "version": 1, "left_behind": left_behind}))?;
    }
    Ok(exit)
}
