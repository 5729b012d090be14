//! Words that the running kernel knows. A tracefs that is not mounted, or closed to this user, has none; it is not
//! mounted for a completion.

use super::words::Candidate;
use rtrace::events::EventName;
use rtrace::format::EventFormat;
use rtrace::tracefs::{Instance, Tracefs};

/// The most functions that are offered at once, of some 60,000.
const FUNCTIONS: usize = 300;

/// The tracing directory to complete from.
pub(super) struct CompletionTracefs {
    tracefs: Tracefs,
    top: Instance,
}

impl CompletionTracefs {
    /// Opens the directory of `--tracefs`, or the mounted one.
    pub(super) fn open(named: Option<&str>) -> Option<Self> {
        let tracefs = match named {
            Some(path) => Tracefs::formats_at(path).ok()?,
            None => Tracefs::mounted()?,
        };
        let top = tracefs.top();
        Some(CompletionTracefs { tracefs, top })
    }

    /// Systems, and the events whose name or system and name begin with what `current` has after its last comma.
    pub(super) fn events(&self, current: &str) -> Vec<Candidate> {
        let text = self.top.read("available_events").unwrap_or_default();
        let names = text.lines().filter_map(|line| line.split_once(':'));
        let mut found = Vec::new();
        let (head, current) = current.split_at(current.rfind(',').map_or(0, |comma| comma.saturating_add(1)));
        match current.split_once(':') {
            Some((system, start)) => {
                let named = names.filter(|(known, name)| *known == system && name.starts_with(start));
                found.extend(named.map(|(system, name)| Candidate::new(format!("{system}:{name}"), "")));
            }
            None => {
                let mut last = "";
                for (system, name) in names {
                    if system != last && system.starts_with(current) {
                        found.push(Candidate::new(system, "all events of the system"));
                        found.push(Candidate::new(format!("{system}:"), "one of them"));
                        last = system;
                    }
                    if !current.is_empty() && name.starts_with(current) {
                        found.push(Candidate::new(name, format!("event of {system}")));
                    }
                }
            }
        }
        found.sort_by(|a, b| a.word.cmp(&b.word));
        found.dedup_by(|a, b| a.word == b.word);
        found.iter_mut().for_each(|candidate| candidate.word.insert_str(0, head));
        found
    }

    /// `current` with its last word completed to fields of these events.
    pub(super) fn fields(&self, events: &[&str], current: &str) -> Vec<Candidate> {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let start =
            current.rfind(|c| !is_part(c)).map_or(0, |at| at + current[at..].chars().next().map_or(0, char::len_utf8));
        let (head, word) = current.split_at(start);
        let mut found: Vec<Candidate> = Vec::new();
        for event in events.iter().flat_map(|events| events.split(',')) {
            let Some(format) = self.format(event) else { continue };
            let all = format.fields.iter().chain(format.common.iter());
            for field in all.filter(|field| field.name.starts_with(word)) {
                let whole = format!("{head}{}", field.name);
                if !found.iter().any(|known| known.word == whole) {
                    found.push(Candidate::new(whole, &*field.type_name));
                }
            }
        }
        found
    }

    /// The format of `SYSTEM:EVENT`, or of the first event called `EVENT`.
    fn format(&self, event: &str) -> Option<EventFormat> {
        let (system, name) = match event.split_once([':', '/']) {
            Some((system, name)) => (system.to_owned(), name.to_owned()),
            None => {
                let text = self.top.read("available_events").ok()?;
                let mut names = text.lines().filter_map(|line| line.split_once(':'));
                let (system, name) = names.find(|(_, name)| *name == event)?;
                (system.to_owned(), name.to_owned())
            }
        };
        let text = self.top.event_format(&EventName::new(system.as_str(), name)).ok()?;
        EventFormat::parse(&system, &text).ok()
    }

    pub(super) fn instances(&self) -> Vec<Candidate> {
        plain(self.tracefs.instances().unwrap_or_default(), "")
    }

    pub(super) fn tracers(&self) -> Vec<Candidate> {
        plain(self.top.tracers().unwrap_or_default(), "")
    }

    pub(super) fn clocks(&self) -> Vec<Candidate> {
        plain(self.top.trace_clock().map(|clock| clock.available).unwrap_or_default(), "")
    }

    /// Options and, with `no` before them, their opposites.
    pub(super) fn options(&self) -> Vec<Candidate> {
        let names = self.top.options().unwrap_or_default();
        let words = |(name, is_on): (String, bool)| {
            let now = if is_on { "on now" } else { "off now" };
            [Candidate::new(&*name, now), Candidate::new(format!("no{name}"), now)]
        };
        names.into_iter().flat_map(words).collect()
    }

    /// The first functions that begin with `current`.
    pub(super) fn functions(&self, current: &str) -> Vec<Candidate> {
        let text = self.tracefs.functions().unwrap_or_default();
        let named = text.lines().filter(|line| line.starts_with(current));
        named
            .take(FUNCTIONS)
            .map(|line| {
                line.split_once(' ').map_or(Candidate::new(line, ""), |(name, module)| Candidate::new(name, module))
            })
            .collect()
    }

    /// The names of the synthetic events.
    pub(super) fn synthetic(&self) -> Vec<Candidate> {
        let text = self.top.read("synthetic_events").unwrap_or_default();
        text.lines().filter_map(|line| line.split_whitespace().next()).map(|name| Candidate::new(name, "")).collect()
    }

    /// Probes, as SYSTEM/EVENT.
    pub(super) fn dynamic(&self) -> Vec<Candidate> {
        let text = self.tracefs.dynamic_events().unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let named = text.lines().filter(|line| !line.starts_with("s:")).filter_map(|line| {
            let name = line.split(' ').next()?.split_once(':')?.1;
            Some(Candidate::new(name, line))
        });
        named.collect()
    }
}

fn plain(words: Vec<String>, meaning: &str) -> Vec<Candidate> {
    words.into_iter().map(|word| Candidate::new(word, meaning)).collect()
}
