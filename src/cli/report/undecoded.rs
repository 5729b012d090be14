//! Events that were not shown as they are meant to be: how many, and why.

use crate::cli::query::QueryInput;
use crate::cli::terminal::note;
use rtrace::event::{EventTypes, PrintState};

/// Limit of the event types in the message.
const MOST_LINES: usize = 20;

/// Says on stderr what became of a file's events that have no text.
pub(super) fn tell(input: &QueryInput, types: &EventTypes, state: &PrintState) {
    let path = input.path.display();
    for (id, count) in state.undecoded().take(MOST_LINES) {
        let events = if count == 1 { "event" } else { "events" };
        if let Some(event) = types.get(id) {
            let name = format!("{}:{}", event.format.system, event.format.name);
            let reason = event.failure().map_or_else(String::new, |error| format!(": {error}"));
            note!("rtrace: {path}: {count} {events} of {name} shown as raw fields{reason}");
        }
    }
    let types = state.undecoded().count();
    if types > MOST_LINES {
        note!("rtrace: {path}: events of {} more types shown as raw fields", types - MOST_LINES);
    }
}
