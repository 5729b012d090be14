//! `rtrace synth list` and `rtrace synth show`.

use super::argument::able_tracefs;
use super::remove::definition;
use crate::cli::args::{ListArgs, TracefsArgs};
use crate::cli::exit::{self, Exit, Failure};
use crate::cli::hist::{definitions, instances, losses_of, triggers_of};
use rtrace::synth::{SynthDef, SynthField};
use rtrace::tracefs::EventName;
use rtrace::units::{counted, grouped};
use serde_json::{Value, json};

#[derive(clap::Args)]
pub(super) struct SynthShowArgs {
    /// The event, without `synthetic:`
    name: String,
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    tracefs: TracefsArgs,
}

pub(super) fn list(args: &ListArgs) -> Result<Exit, Failure> {
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

pub(super) fn show(args: &SynthShowArgs) -> Result<Exit, Failure> {
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
