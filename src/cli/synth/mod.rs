//! `rtrace synth`, and sqlhist's options under its name.

mod argument;
mod create;
mod define;
mod inserted;
mod recorded;
mod remove;
mod rows;
mod sql;
mod statement;

pub(super) use super::hist::instances;
pub(super) use argument::Argument;
pub(in crate::cli) use argument::builder_failure;
pub(crate) use define::define;
pub(super) use remove::users_of;
pub(super) use sql::{SqlhistArgs, run_sqlhist};

use super::args::{ListArgs, TracefsArgs};
use super::exit::{Exit, Failure};
use super::hist::{PlaceArgs, SetArgs, add_triggers, clock_note, definitions, lines_in_own, losses_of, triggers_of};
use crate::cli::terminal::note;
use rtrace::synth::{SynthDef, SynthField, SyntheticPlan};
use rtrace::tracefs::{EventName, Feature, Journal, Tracefs};
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
pub(crate) struct Args {
    #[command(subcommand)]
    command: Sub,
}

#[derive(clap::Subcommand)]
enum Sub {
    /// Make a synthetic event
    Create(create::Args),
    /// Make a synthetic event by its fields alone, for the action `trace()` of histograms to fire
    Define(define::Args),
    /// List the synthetic events
    List(ListArgs),
    /// Show a synthetic event and the triggers that fire it
    Show(ShowArgs),
    /// Remove synthetic events and the triggers that fire them
    Remove(remove::Args),
    /// Make a synthetic event or a histogram from an SQL statement
    Sql(sql::Args),
}

#[derive(clap::Args)]
struct ShowArgs {
    /// The event, without `synthetic:`
    name: String,
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    tracefs: TracefsArgs,
}

/// Runs the subcommand.
pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    match &args.command {
        Sub::Create(args) => create::run(args),
        Sub::Define(args) => define::run(args),
        Sub::List(args) => list(args),
        Sub::Show(args) => show(args),
        Sub::Remove(args) => remove::run(args),
        Sub::Sql(args) => sql::run(args),
    }
}

/// The same directory, if its kernel has synthetic events.
fn able(tracefs: Tracefs) -> Result<Tracefs, Failure> {
    tracefs.require(&Feature::SyntheticEvents)?;
    tracefs.require(&Feature::HistTriggers)?;
    Ok(tracefs)
}

/// The tracing directory for a command that makes events, or only prints what would make them: then any directory with
/// the events' formats will do, of whatever kernel.
fn open(set: &SetArgs) -> Result<Tracefs, Failure> {
    if set.dry_run { set.write.open_formats() } else { able(set.write.open()?) }
}

fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let tracefs = able(args.open()?)?;
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
    super::exit::print(&text)
}

fn definition_json(of: &SynthDef) -> Value {
    let field = |field: &SynthField| json!({ "name": field.name, "type": field.ty.to_string() });
    json!({ "name": of.name, "fields": of.fields.iter().map(field).collect::<Vec<_>>() })
}

fn show(args: &ShowArgs) -> Result<Exit, Failure> {
    let tracefs = able(args.tracefs.open()?)?;
    let definition = remove::definition(&definitions(&tracefs)?, &args.name)?;
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
        return super::exit::print(&format!("{document:#}\n"));
    }
    super::exit::print(&text)
}

/// The instance of the triggers of synthetic events, if no other is named.
const LONG_LIVED: &str = "rtrace-synth";

/// Makes everything a plan needs, or nothing; it stays.
fn create_plan(mut journal: Journal, place: &PlaceArgs, plan: &SyntheticPlan) -> Result<(), Failure> {
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
fn print_plan(tracefs: &Tracefs, place: &PlaceArgs, plan: &SyntheticPlan) -> Result<Exit, Failure> {
    let root = tracefs.root().display().to_string();
    let instance = place.shown_name(LONG_LIVED);
    let lines = plan.shell(&root, instance);
    match instance.filter(|name| tracefs.instance(name).is_err()) {
        Some(name) => super::exit::print(&lines_in_own(&root, name, lines)),
        None => super::exit::print(&(lines.join("\n") + "\n")),
    }
}
