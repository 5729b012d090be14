//! `rtrace synth`: arguments, and the subcommand that they name.
//! `rtrace synth list` and `rtrace synth show`.

use super::argument::able_tracefs;
use super::remove::definition;
use super::{create, remove, sql};
use crate::cli::args::{ListArgs, TracefsArgs};
use crate::cli::exit::{self, Exit, Failure};
use crate::cli::hist::{definitions, instances, losses_of, triggers_of};
use rtrace::synth::{SynthDef, SynthField};
use rtrace::tracefs::EventName;
use rtrace::units::{counted, grouped};
use serde_json::{Value, json};

/// Create synthetic events that combine two events
///
/// A synthetic event fires when an END event follows a START event with equal fields. It can hold fields of both, and
/// differences of them.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace synth create wakeup --start sched:sched_waking --end sched:sched_switch \\
      --match pid=next_pid --delta usecs:lat --field start.prio --field end.next_comm=comm
  rtrace synth sql -n waited 'select end.TIMESTAMP_USECS - start.TIMESTAMP_USECS as lat
      from sched_waking as start join sched_switch as end on start.pid = end.next_pid'
  rtrace synth sql -i run.dat 'select end.next_comm as comm, TIMESTAMP_DELTA_USECS as lat
      from sched_waking as start join sched_switch as end on start.pid = end.next_pid'
  rtrace synth create wakeup -i run.dat --start sched:sched_waking --end sched:sched_switch \\
      --match pid=next_pid --delta usecs:lat
  rtrace synth define stall 'u64 lat; pid_t pid; char comm[]'
  rtrace synth list
  rtrace record -e synthetic:wakeup sleep 1
  rtrace synth remove wakeup
`rtrace help synth` explains all of it.")]
pub(crate) struct SynthArgs {
    #[command(subcommand)]
    command: SynthCommand,
}

#[derive(clap::Subcommand)]
enum SynthCommand {
    /// Make a synthetic event
    Create(create::SynthCreateArgs),
    /// Make a synthetic event by its fields alone, for the action `trace()` of histograms to fire
    Define(create::SynthDefineArgs),
    /// List the synthetic events
    List(ListArgs),
    /// Show a synthetic event and the triggers that fire it
    Show(SynthShowArgs),
    /// Remove synthetic events and the triggers that fire them
    Remove(remove::SynthRemoveArgs),
    /// Make a synthetic event or a histogram from an SQL statement
    Sql(sql::SynthSqlArgs),
}

/// Runs the subcommand.
pub(crate) fn run(args: &SynthArgs) -> Result<Exit, Failure> {
    match &args.command {
        SynthCommand::Create(args) => create::run(args),
        SynthCommand::Define(args) => create::run_define(args),
        SynthCommand::List(args) => list(args),
        SynthCommand::Show(args) => show(args),
        SynthCommand::Remove(args) => remove::run(args),
        SynthCommand::Sql(args) => sql::run(args),
    }
}

#[derive(clap::Args)]
struct SynthShowArgs {
    /// The event, without `synthetic:`
    name: String,
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    tracefs: TracefsArgs,
}

fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let tracefs = able_tracefs(args.open()?)?;
    let mut text = String::new();
    let definitions = definitions(&tracefs)?;
    if args.json {
        let events: Vec<_> = definitions.iter().map(definition_json).collect();
        text = format!("{:#}\n", json!({ "schema": "rtrace.synth", "version": 1, "synthetic_events": events }));
    } else {
        for definition in definitions {
            text.push_str(&format!("{definition}\n"));
        }
    }
    exit::print(&text)
}

fn definition_json(of: &SynthDef) -> Value {
    let field = |field: &SynthField| json!({ "name": field.name, "type": field.ty.to_string() });
    json!({ "name": of.name, "fields": of.fields.iter().map(field).collect::<Vec<_>>() })
}

fn show(args: &SynthShowArgs) -> Result<Exit, Failure> {
    let tracefs = able_tracefs(args.tracefs.open()?)?;
    let definition = definition(&definitions(&tracefs)?, &args.name)?;
    let mut text = format!("{definition}\n");
    let (mut triggers, mut enabled, mut losses) = (Vec::new(), Vec::new(), Vec::new());
    for instance in instances(&tracefs)? {
        let name = instance.name();
        let place = name.map_or(String::new(), |name| format!(" in instance {name}"));
        for (event, spec) in triggers_of(&instance, &definition)? {
            text.push_str(&format!("{event}{place}: {spec}\n"));
            triggers.push(json!({"instance": name, "event": event.to_string(), "trigger": spec.to_string()}));
        }
        let event = EventName::new("synthetic", &definition.name);
        if instance.read(&event.file("enable")).is_ok_and(|on| on.starts_with('1')) {
            text.push_str(&format!("enabled{place}\n"));
            enabled.push(json!({"instance": name}));
        }
    }
    for loss in losses_of(&tracefs, &definition.name)? {
        let (place, events) = (&loss.place, loss.hits.saturating_add(loss.dropped));
        let dropped = grouped(loss.dropped);
        text.push_str(&format!("{place}: {}, {dropped} dropped (the table was full)\n", counted(events, "event")));
        losses.push(json!({"place": place.to_string(), "events": events, "dropped": loss.dropped}));
    }
    if args.json {
        let document = json!({
            "schema": "rtrace.synth.show", "version": 1, "event": definition_json(&definition), "triggers": triggers,
            "enabled": enabled, "losses": losses,
        });
        return exit::print(&format!("{document:#}\n"));
    }
    exit::print(&text)
}
