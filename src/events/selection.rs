//! The language of `-e`: which events are meant.

use super::EventName;
use super::glob::{glob_matches, is_glob};
use crate::syntax::nearest;

/// No event matches a selection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no event matches `{pattern}`")]
pub struct NoEvent {
    /// The selection as given.
    pub pattern: String,
    /// Names that resemble it.
    pub nearest: Vec<String>,
}

/// One `-e` argument, as trace-cmd reads it:
///
/// | text | means |
/// |---|---|
/// | `all` | every event |
/// | `sched` | the system `sched` and every event called `sched`, in whatever system |
/// | `sched:` | the system `sched` |
/// | `sched:sched_switch`, `sched/sched_switch` | that event |
/// | `sched:*wak*`, `*irq*:*exit` | globs in either half: `*`, `?`, `[a-z]` |
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventSelection {
    text: String,
}

impl EventSelection {
    /// A selection; any text is one.
    pub fn new(text: impl Into<String>) -> Self {
        EventSelection { text: text.into() }
    }

    /// The text as given.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// True if it means `event`.
    pub fn selects(&self, event: &EventName) -> bool {
        let text = self.text.trim();
        match text.split_once([':', '/']) {
            None if text == "all" => true,
            None => matches(text, &event.system) || matches(text, &event.name),
            Some((system, name)) => {
                (system.is_empty() || matches(system, &event.system)) && (name.is_empty() || matches(name, &event.name))
            }
        }
    }

    /// Those of `events` (sorted) that it means, in their order.
    ///
    /// # Errors
    /// [`NoEvent`] with names that resemble it, if there are none.
    pub fn select(&self, events: &[EventName]) -> Result<Vec<EventName>, NoEvent> {
        let selected: Vec<EventName> = match EventName::parse(&self.text) {
            // The usual case needs no walk over two thousand names.
            Some(event) if !is_glob(&self.text) => {
                events.binary_search(&event).map(|_| vec![event]).unwrap_or_default()
            }
            _ => events.iter().filter(|event| self.selects(event)).cloned().collect(),
        };
        if selected.is_empty() {
            return Err(NoEvent { pattern: self.text.clone(), nearest: self.suggestions(events) });
        }
        Ok(selected)
    }

    fn suggestions(&self, events: &[EventName]) -> Vec<String> {
        const LIMIT: usize = 4;
        let text = self.text.trim();
        let full: Vec<String> = events.iter().map(EventName::to_string).collect();
        if let Some((system, name)) = text.split_once([':', '/']) {
            // A right event in a wrong system, then a wrong event in a right system, then anything close.
            let elsewhere: Vec<String> = events
                .iter()
                .filter(|e| !name.is_empty() && e.name == name)
                .map(EventName::to_string)
                .take(LIMIT)
                .collect();
            if !elsewhere.is_empty() {
                return elsewhere;
            }
            let inside = events.iter().filter(|e| e.system == system).map(|e| e.name.as_str());
            let inside: Vec<String> =
                nearest(name, inside).into_iter().map(|name| format!("{system}:{name}")).collect();
            if !inside.is_empty() {
                return inside;
            }
            return nearest(text, full.iter().map(String::as_str)).into_iter().map(str::to_owned).collect();
        }
        let mut systems: Vec<&str> = events.iter().map(|e| e.system.as_str()).collect();
        systems.dedup();
        let names = events.iter().map(|e| e.name.as_str());
        nearest(text, systems.into_iter().chain(names)).into_iter().map(str::to_owned).collect()
    }
}

fn matches(pattern: &str, name: &str) -> bool {
    if is_glob(pattern) { glob_matches(pattern, name) } else { pattern == name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events() -> Vec<EventName> {
        ["irq:irq_handler_entry", "irq:irq_handler_exit", "sched:sched_switch", "sched:sched_waking", "timer:sched"]
            .iter()
            .map(|text| EventName::parse(text).unwrap())
            .collect()
    }

    fn selected(text: &str) -> Vec<String> {
        EventSelection::new(text).select(&events()).unwrap().iter().map(EventName::to_string).collect()
    }

    #[test]
    fn selections() {
        assert_eq!(selected("all").len(), 5);
        assert_eq!(selected("*:*").len(), 5);
        assert_eq!(selected("sched"), ["sched:sched_switch", "sched:sched_waking", "timer:sched"]);
        assert_eq!(selected("sched:"), ["sched:sched_switch", "sched:sched_waking"]);
        assert_eq!(selected("sched/sched_switch"), ["sched:sched_switch"]);
        assert_eq!(selected("sched_switch"), ["sched:sched_switch"]);
        assert_eq!(selected("*r*:*sched*"), ["timer:sched"]);
        assert_eq!(selected("irq_*_ex?t"), ["irq:irq_handler_exit"]);
    }

    #[test]
    fn misses_name_what_resembles_them() {
        let nearest = |text: &str| match EventSelection::new(text).select(&events()) {
            Err(NoEvent { nearest, .. }) => nearest,
            other => panic!("{other:?}"),
        };
        assert_eq!(nearest("sched:sched_swich"), ["sched:sched_switch"]);
        assert_eq!(nearest("irq:sched_switch"), ["sched:sched_switch"]);
        assert_eq!(nearest("shced"), ["sched"]);
        assert!(nearest("qqqqqq").is_empty());
    }
}
