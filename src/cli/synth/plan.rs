//! A plan of synthetic events set in the kernel, or printed as the shell commands that would set it.

use super::argument::able_tracefs;
use crate::cli::exit::{self, Exit, Failure};
use crate::cli::hist::{PlaceArgs, add_triggers, clock_note, lines_in_own};
use crate::cli::terminal::note;
use rtrace::synth::SyntheticPlan;
use rtrace::tracefs::{Journal, Tracefs};

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
