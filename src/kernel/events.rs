//! Event names and the language of `-e`: which events are meant, of a kernel or of a recording.

use crate::base::syntax::nearest;
use std::fmt;

/// True if `text` as a whole matches `pattern`: `*` any text, `?` any one character, `[a-z]` and `[!a-z]` a set,
/// `\` takes the next character literally. A `[` that is never closed stands for itself.
pub fn glob_matches(pattern: &str, text: &str) -> bool {
    let (p, t) = (pattern.as_bytes(), text.as_bytes());
    let (mut pi, mut ti) = (0, 0);
    let mut star: Option<(usize, usize)> = None; // where to resume: after the last `*`, and the text it may still eat
    loop {
        let step = match p.get(pi) {
            Some(b'*') => {
                star = Some((pi + 1, ti));
                pi += 1;
                continue;
            }
            Some(_) => t.get(ti).and_then(|&c| one(&p[pi..], c)),
            None if ti == t.len() => return true,
            None => None,
        };
        match (step, star) {
            (Some(used), _) => {
                pi += used;
                ti += 1;
            }
            (None, Some((resume, eaten))) if eaten < t.len() => {
                star = Some((resume, eaten + 1));
                pi = resume;
                ti = eaten + 1;
            }
            _ => return false,
        }
    }
}

/// True if `text` holds anything that makes it a glob rather than a name.
fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// Matches one character; gives how much of the pattern that took.
fn one(p: &[u8], c: u8) -> Option<usize> {
    match *p.first()? {
        b'?' => Some(1),
        b'\\' if p.len() > 1 => (p[1] == c).then_some(2),
        b'[' => match set(p, c) {
            Some((hit, used)) => hit.then_some(used),
            None => (c == b'[').then_some(1),
        },
        literal => (literal == c).then_some(1),
    }
}

/// A `[...]` at the start of `p`: whether `c` is in it, and its length; `None` if it is never closed.
fn set(p: &[u8], c: u8) -> Option<(bool, usize)> {
    let negated = matches!(p.get(1), Some(b'!' | b'^'));
    let first = 1 + usize::from(negated);
    let mut i = first;
    let mut hit = false;
    loop {
        match *p.get(i)? {
            b']' if i > first => return Some((hit != negated, i + 1)),
            low => match (p.get(i + 1), p.get(i + 2)) {
                (Some(b'-'), Some(&high)) if high != b']' => {
                    hit |= (low..=high).contains(&c);
                    i += 3;
                }
                _ => {
                    hit |= low == c;
                    i += 1;
                }
            },
        }
    }
}

/// `sched:sched_switch`. Ordered by system, then by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventName {
    /// The directory under `events/`.
    pub system: String,
    /// The directory below that.
    pub name: String,
}

impl EventName {
    /// A name from its halves.
    pub fn new(system: impl Into<String>, name: impl Into<String>) -> Self {
        EventName { system: system.into(), name: name.into() }
    }

    /// Parses `system:event` (or `system/event`), both halves non-empty.
    pub fn parse(text: &str) -> Option<Self> {
        let (system, name) = text.trim().split_once([':', '/'])?;
        (!system.is_empty() && !name.is_empty()).then(|| EventName::new(system, name))
    }
}

impl fmt::Display for EventName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.system, self.name)
    }
}

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
/// | `sched_switch,irq` | each of these, which must all mean something |
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

    /// Its parts between commas; those in the set of a glob separate nothing.
    fn parts(&self) -> impl Iterator<Item = &str> {
        let mut in_set = false;
        let separates = move |c: char| {
            in_set = c == '[' || in_set && c != ']';
            c == ',' && !in_set
        };
        self.text.split(separates).map(str::trim)
    }

    /// True if it means `event`.
    pub fn selects(&self, event: &EventName) -> bool {
        self.parts().any(|part| Self::part_selects(part, event))
    }

    fn part_selects(text: &str, event: &EventName) -> bool {
        match text.split_once([':', '/']) {
            None if text == "all" => true,
            None => matches(text, &event.system) || matches(text, &event.name),
            Some((system, name)) => {
                (system.is_empty() || matches(system, &event.system)) && (name.is_empty() || matches(name, &event.name))
            }
        }
    }

    /// The events that it names, if all of its parts are whole names: `sched:sched_switch,irq/irq_handler_entry`. No half
    /// has another slash in it or is a directory's `..`, so that each may be looked up as a directory.
    pub(crate) fn whole_names(&self) -> Option<Vec<EventName>> {
        let is_plain = |half: &str| !half.contains('/') && half != "." && half != "..";
        let whole = |part| {
            let event = EventName::parse(part).filter(|_| !is_glob(part))?;
            (is_plain(&event.system) && is_plain(&event.name)).then_some(event)
        };
        self.parts().map(whole).collect()
    }

    /// The selected ones of `events` (sorted), in their order.
    ///
    /// # Errors
    /// [`NoEvent`] with names that resemble it, if one of its parts means none.
    pub fn select(&self, events: &[EventName]) -> Result<Vec<EventName>, NoEvent> {
        let (selected, unknown) = self.select_known(events);
        unknown.into_iter().next().map_or(Ok(selected), Err)
    }

    /// The same, and the parts that mean none.
    pub fn select_known(&self, events: &[EventName]) -> (Vec<EventName>, Vec<NoEvent>) {
        let (mut selected, mut unknown) = (Vec::new(), Vec::new());
        for part in self.parts() {
            let before = selected.len();
            match EventName::parse(part) {
                // The usual case needs no walk over two thousand names.
                Some(event) if !is_glob(part) => selected.extend(events.binary_search(&event).map(|_| event)),
                _ => selected.extend(events.iter().filter(|event| Self::part_selects(part, event)).cloned()),
            }
            if selected.len() == before {
                unknown.push(NoEvent { pattern: part.to_owned(), nearest: suggestions(part, events) });
            }
        }
        selected.sort_unstable();
        selected.dedup();
        (selected, unknown)
    }
}

/// Most names that are suggested.
const LIMIT: usize = 4;

/// Names of events that hold the begin of a glob's longest word, as much of it as any does.
fn with_less(glob: &str, events: &[EventName]) -> Vec<String> {
    const LEAST: usize = 3;
    let (system, name) = glob.split_once([':', '/']).unwrap_or(("*", glob));
    let words = name.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let word = words.max_by_key(|word| word.len()).unwrap_or_default();
    let inside: Vec<&EventName> = events.iter().filter(|event| matches(system, &event.system)).collect();
    let begins = (LEAST..=word.len()).rev().filter_map(|length| word.get(..length));
    let mut found = begins.map(|begin| {
        let having = inside.iter().filter(|event| event.name.contains(begin));
        having.map(|event| event.to_string()).take(LIMIT).collect::<Vec<_>>()
    });
    found.find(|names| !names.is_empty()).unwrap_or_default()
}

/// Names that resemble a part that means no event.
fn suggestions(text: &str, events: &[EventName]) -> Vec<String> {
    if is_glob(text) {
        return with_less(text, events);
    }
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
        let inside: Vec<String> = nearest(name, inside).into_iter().map(|name| format!("{system}:{name}")).collect();
        if !inside.is_empty() {
            return inside;
        }
        return nearest(text, full.iter().map(String::as_str)).into_iter().map(str::to_owned).collect();
    }
    let enter = format!("sys_enter_{text}");
    if events.iter().any(|event| event.name == enter) {
        return vec![enter, format!("sys_exit_{text}")];
    }
    let mut systems: Vec<&str> = events.iter().map(|e| e.system.as_str()).collect();
    systems.dedup();
    let names = events.iter().map(|e| e.name.as_str());
    nearest(text, systems.into_iter().chain(names)).into_iter().map(str::to_owned).collect()
}

fn matches(pattern: &str, name: &str) -> bool {
    if is_glob(pattern) { glob_matches(pattern, name) } else { pattern == name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs() {
        for (pattern, yes, no) in [
            ("sched_*", "sched_switch", "xsched_switch"),
            ("*wak*", "sched_waking", "sched_switch"),
            ("sys_*_open?t", "sys_enter_openat", "sys_enter_openaat"),
            ("[a-c]x", "bx", "dx"),
            ("[!a-c]x", "dx", "bx"),
            ("[]]", "]", "["),
            ("a[", "a[", "a"),
            ("a\\*", "a*", "ab"),
            ("**", "", "\u{0}none"),
        ] {
            assert!(glob_matches(pattern, yes), "{pattern} {yes}");
            assert!(pattern == "**" || !glob_matches(pattern, no), "{pattern} {no}");
        }
        assert!(!glob_matches("", "a"));
        assert!(glob_matches("a*b*c", "a-b-b-c"));
        assert!(!glob_matches("a*b*c", "a-b-b-cd"));
    }

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
        assert_eq!(selected("sched:sched_waking, irq_handler_exit,sched_waking").len(), 2);
        assert_eq!(selected("irq_[h,x]*exit,timer:"), ["irq:irq_handler_exit", "timer:sched"]);
        let (known, unknown) = EventSelection::new("sched:,sched_swich").select_known(&events());
        assert_eq!((known.len(), unknown.len()), (2, 1));
        assert_eq!(unknown[0].pattern, "sched_swich");
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
        assert_eq!(nearest("irq,shced"), ["sched"]);
        assert!(nearest("qqqqqq").is_empty());
    }

    #[test]
    fn whole_names_differ_from_all_else() {
        let names = |text| {
            EventSelection::new(text).whole_names().map(|names| names.iter().map(EventName::to_string).collect())
        };
        let some: Vec<String> = vec!["sched:sched_switch".into(), "irq:irq_handler_exit".into()];
        assert_eq!(names("sched:sched_switch, irq/irq_handler_exit"), Some(some));
        for text in [
            "all",
            "sched",
            "sched:",
            ":sched_switch",
            "sched:*",
            "a:b,sched",
            "a:b,",
            "a:../b",
            "..:b",
            "a:b/c",
            "a:..",
        ] {
            assert_eq!(names(text), None::<Vec<String>>, "{text}");
        }
    }
}
