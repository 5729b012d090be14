//! The choice of `/`: events in the kernel's language of filters, or those of the tasks of a cgroup.

use rtrace::filter::EventFilter;
use rtrace::recording::Selection;
use rtrace::syntax::Diagnostic;

/// The beginning of a text that names a cgroup.
const CGROUP: &str = "cgroup:";

/// Events that are searched for.
#[derive(Clone)]
pub(super) enum ChosenEvents {
    /// Those that match.
    Matching(EventFilter),
    /// Those of tasks while they are in a cgroup, by a glob of its path, or below it.
    OfCgroup(String),
}

impl ChosenEvents {
    /// Reads `sched_switch: prev_prio < 100`, `prev_prio < 100` of all events that have the field, or `cgroup:/a/b`; gives it with the
    /// text in full.
    pub(super) fn parse(text: &str) -> Result<(String, Self), Diagnostic> {
        if let Some(glob) = text.strip_prefix(CGROUP) {
            return Ok((text.to_owned(), ChosenEvents::OfCgroup(glob.trim().to_owned())));
        }
        let is_bare = !text.contains(": ") && text.contains(['=', '<', '>', '~', '&']);
        let text = if is_bare { format!("*:*: {text}") } else { text.to_owned() };
        let filter = EventFilter::parse(&text)?;
        Ok((text, ChosenEvents::Matching(filter)))
    }

    /// The option of `report` that chooses what `text` does, and its value.
    pub(super) fn option(text: &str) -> (&'static str, &str) {
        match text.strip_prefix(CGROUP) {
            Some(glob) => ("--cgroup", glob.trim()),
            None => ("--filter", text),
        }
    }

    pub(super) fn selection(&self) -> Selection {
        match self {
            ChosenEvents::Matching(filter) => Selection { filters: vec![filter.clone()], ..Selection::default() },
            ChosenEvents::OfCgroup(glob) => Selection { cgroups: vec![glob.clone()], ..Selection::default() },
        }
    }
}
