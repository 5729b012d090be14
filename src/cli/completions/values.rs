//! The words that fit a place. Hidden options and commands are none.

use super::words;
use super::words::{Candidate, CompletionContext, CompletionPlace, RecordedNames, runs_first_argument};
use crate::cli::traced::purposes;
use clap::{Arg, Command};
use rtrace::events::EventName;
use rtrace::format::EventFormat;
use rtrace::tracefs::{Instance, Tracefs};

/// The completions of `current`; `None` if files are wanted, of which the shell knows more.
pub(super) fn values(root: &Command, place: &CompletionPlace<'_>, current: &str) -> Option<Vec<Candidate>> {
    match place {
        CompletionPlace::Foreign(_) => None,
        CompletionPlace::Value(context, option, skipped) => {
            let (head, value) = current.split_at(*skipped);
            let mut found = of_value(root, context, option, value)?;
            found.iter_mut().for_each(|candidate| candidate.word.insert_str(0, head));
            Some(found)
        }
        CompletionPlace::Word(context) if current.starts_with('-') => Some(options(context.command)),
        // All commands there are would tell nothing.
        CompletionPlace::Word(context)
            if current.is_empty() && runs_first_argument(context.command) && !context.command.has_subcommands() =>
        {
            Some(options(context.command))
        }
        CompletionPlace::Word(context) => {
            let mut found: Vec<Candidate> = Vec::new();
            if context.arguments.is_empty() {
                let commands = context.command.get_subcommands().filter(|sub| !sub.is_hide_set());
                found.extend(commands.flat_map(|sub| {
                    let names = std::iter::once(sub.get_name()).chain(sub.get_visible_aliases());
                    names.map(|name| Candidate::new(name, about(sub)))
                }));
            }
            let positionals: Vec<&Arg> = context.command.get_positionals().filter(|arg| !arg.is_last_set()).collect();
            let argument = positionals.get(context.arguments.len()).or(positionals.last());
            match argument.map(|arg| of_value(root, context, arg, current)) {
                Some(Some(more)) => found.extend(more),
                Some(None) if found.is_empty() => return None,
                _ => {}
            }
            Some(found)
        }
    }
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

fn options(command: &Command) -> Vec<Candidate> {
    let mut found = Vec::new();
    for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        found.extend(arg.get_long().map(|long| Candidate::new(format!("--{long}"), &*help)));
        found.extend(arg.get_short().map(|short| Candidate::new(format!("-{short}"), &*help)));
    }
    found
}

/// The values of an option or an argument: what lives, and the words of its language.
fn of_value(root: &Command, context: &CompletionContext<'_>, arg: &Arg, current: &str) -> Option<Vec<Candidate>> {
    let mut found = live_value(root, context, arg, current)?;
    let is_event = arg.get_value_names().is_some_and(|names| names.iter().any(|name| name.starts_with("EVENT> <")));
    if arg.is_hide_possible_values_set() && !(is_event && context.arguments.is_empty()) {
        for word in language(arg, current) {
            if !found.iter().any(|known| known.word == word.word) {
                found.push(word);
            }
        }
    }
    Some(found)
}

/// The words of an argument's language after what is typed of it already; modifiers, which begin with a dot, after a name.
fn language(arg: &Arg, current: &str) -> Vec<Candidate> {
    let begin = current.rfind(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))).map_or(0, |at| at + 1);
    let (head, word) = current.split_at(begin);
    let name = word.split_once('.').map(|(name, _)| name).filter(|name| !name.is_empty());
    let known = arg.get_possible_values();
    let words = known.iter().filter_map(|value| match (value.get_name(), name) {
        (modifier, Some(name)) if modifier.starts_with('.') => Some(format!("{head}{name}{modifier}")),
        (modifier, None) if modifier.starts_with('.') => None,
        (word, _) => Some(format!("{head}{word}")),
    });
    words.map(|word| Candidate::new(word, "")).collect()
}

/// The values of an option or an argument, by what its placeholder in the help says.
fn live_value(root: &Command, context: &CompletionContext<'_>, arg: &Arg, current: &str) -> Option<Vec<Candidate>> {
    let known = arg.get_possible_values();
    if !known.is_empty() && !arg.is_hide_possible_values_set() {
        let shown = known.iter().filter(|value| !value.is_hide_set());
        let meaning = |value: &clap::builder::PossibleValue| value.get_help().map(ToString::to_string);
        return Some(shown.map(|value| Candidate::new(value.get_name(), meaning(value).unwrap_or_default())).collect());
    }
    let live = || CompletionTracefs::open(context.last("tracefs"));
    let live_words = |words: &dyn Fn(&CompletionTracefs) -> Vec<Candidate>| {
        Some(live().map(|live| words(&live)).unwrap_or_default())
    };
    let value_name = arg.get_value_names().and_then(|names| names.first()).map_or("", |name| name.as_str());
    let events: Vec<&str> = events_of(context);
    let is_later = arg.is_positional() && !context.arguments.is_empty() && value_name.starts_with("EVENT> <");
    match value_name {
        "EVENT" | "EVENTS" | "START/END" | "MOMENT" => live_words(&|live| live.events(current)),
        _ if value_name.starts_with("EVENT> <") && !is_later => live_words(&|live| live.events(current)),
        "EVENTS[: EXPR]" => match current.split_once(": ") {
            None => live_words(&|live| live.events(current)),
            Some((event, _)) => live_words(&|live| live.fields(&[&event.replace('/', ":")], current)),
        },
        "FILTER" | "FIELD" | "FIELDS" | "KEY" | "[start.]FIELD" | "TRIGGER" => {
            live_words(&|live| live.fields(&events, current))
        }
        _ if is_later => live_words(&|live| live.fields(&events, current)),
        "START=END" | "START=END[:NAME]" => live_words(&|live| {
            let side = if current.contains('=') { events.get(1..) } else { events.get(..1) };
            live.fields(side.unwrap_or_default(), current)
        }),
        "INSTANCE" => live_words(&|live| live.instances()),
        "NAME"
            if arg.get_long() == Some("instance")
                || context.command.get_bin_name().is_some_and(|n| n.contains(" instance ")) =>
        {
            live_words(&|live| live.instances())
        }
        "NAME" if context.command.get_bin_name().is_some_and(|name| name.contains(" synth ")) => {
            live_words(&|live| live.synthetic())
        }
        "NAME" if context.command.get_bin_name().is_some_and(|name| name.contains(" probe ")) => {
            live_words(&|live| live.dynamic())
        }
        "PATTERN" if arg.get_long() == Some("functions") => live_words(&|live| live.functions(current)),
        "PATTERN" => live_words(&|live| live.events(current)),
        "TRACER" => live_words(&|live| live.tracers()),
        "CLOCK" => live_words(&|live| live.clocks()),
        "OPTION" => live_words(&|live| live.options()),
        "FUNC" => live_words(&|live| live.functions(current)),
        "ANALYSIS,..." => {
            let head = current.rfind(',').map_or("", |at| &current[..=at]);
            Some(purposes().map(|word| Candidate::new(format!("{head}{word}"), "")).collect())
        }
        "COMMAND|TOPIC" => {
            let topics = crate::cli::help::TOPICS.iter().map(|topic| Candidate::new(topic.name, topic.about));
            let commands = root.get_subcommands().filter(|sub| !sub.is_hide_set());
            Some(commands.map(|sub| Candidate::new(sub.get_name(), about(sub))).chain(topics).collect())
        }
        "TASK" => {
            // A recording may stand in its place.
            let tasks = RecordedNames::of(context).map(|names| names.tasks()).unwrap_or_default();
            Some(words::recordings().into_iter().chain(tasks).collect())
        }
        "NAME" if arg.get_long() == Some("comm") => Some(RecordedNames::of(context)?.tasks()),
        "PID" => Some(words::running(false)),
        "TID" => Some(words::running(true)),
        "PID,..." | "NAME,..." if value_name == "PID,..." || arg.get_long() == Some("fields") => {
            let (head, names) = (&current[..current.rfind(',').map_or(0, |at| at + 1)], RecordedNames::of(context)?);
            let mut found = if value_name == "PID,..." { names.pids() } else { names.columns() };
            found.iter_mut().for_each(|candidate| candidate.word.insert_str(0, head));
            Some(found)
        }
        "ASSERTION" | "QUANTITY" => Some(words::quantities(context, current)),
        "FILE" | "FILE|START|END" | "FILE | QUERY" | "OUT" | "OUTPUT" | "DIR" => None,
        "BASE" | "NEW" | "HOST.dat" | "GUEST.dat" => None,
        _ => Some(Vec::new()),
    }
}

/// The events that fields are asked for: of the last `-e`, or the arguments.
fn events_of<'a>(context: &'a CompletionContext<'_>) -> Vec<&'a str> {
    let given = ["start", "end"].map(|name| context.last(name));
    let arguments = context.arguments.iter().map(String::as_str);
    match context.last("event") {
        Some(event) => vec![event],
        None => given.into_iter().flatten().chain(arguments).collect(),
    }
}

// Words that the running kernel knows. A tracefs that is not mounted, or closed to this user, has none; it is not
// mounted for a completion.

/// The most functions that are offered at once, of some 60,000.
const FUNCTIONS: usize = 300;

/// The tracing directory to complete from.
struct CompletionTracefs {
    tracefs: Tracefs,
    top: Instance,
}

impl CompletionTracefs {
    /// Opens the directory of `--tracefs`, or the mounted one.
    fn open(named: Option<&str>) -> Option<Self> {
        let tracefs = match named {
            Some(path) => Tracefs::formats_at(path).ok()?,
            None => Tracefs::mounted()?,
        };
        let top = tracefs.top();
        Some(CompletionTracefs { tracefs, top })
    }

    /// Systems, and the events whose name or system and name begin with what `current` has after its last comma.
    fn events(&self, current: &str) -> Vec<Candidate> {
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
    fn fields(&self, events: &[&str], current: &str) -> Vec<Candidate> {
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

    fn instances(&self) -> Vec<Candidate> {
        plain(self.tracefs.instances().unwrap_or_default(), "")
    }

    fn tracers(&self) -> Vec<Candidate> {
        plain(self.top.tracers().unwrap_or_default(), "")
    }

    fn clocks(&self) -> Vec<Candidate> {
        plain(self.top.trace_clock().map(|clock| clock.available).unwrap_or_default(), "")
    }

    /// Options and, with `no` before them, their opposites.
    fn options(&self) -> Vec<Candidate> {
        let names = self.top.options().unwrap_or_default();
        let words = |(name, is_on): (String, bool)| {
            let now = if is_on { "on now" } else { "off now" };
            [Candidate::new(&*name, now), Candidate::new(format!("no{name}"), now)]
        };
        names.into_iter().flat_map(words).collect()
    }

    /// The first functions that begin with `current`.
    fn functions(&self, current: &str) -> Vec<Candidate> {
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
    fn synthetic(&self) -> Vec<Candidate> {
        let text = self.top.read("synthetic_events").unwrap_or_default();
        text.lines().filter_map(|line| line.split_whitespace().next()).map(|name| Candidate::new(name, "")).collect()
    }

    /// Probes, as SYSTEM/EVENT.
    fn dynamic(&self) -> Vec<Candidate> {
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
