//! The words that fit a place. Hidden options and commands are none.

use super::live::CompletionTracefs;
use super::recorded::{self, RecordedNames};
use super::words::{Candidate, CompletionContext, CompletionPlace, runs_first_argument};
use crate::cli::traced::purposes;
use clap::{Arg, Command};

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
            Some(recorded::recordings().into_iter().chain(tasks).collect())
        }
        "NAME" if arg.get_long() == Some("comm") => Some(RecordedNames::of(context)?.tasks()),
        "PID" => Some(recorded::running(false)),
        "TID" => Some(recorded::running(true)),
        "PID,..." | "NAME,..." if value_name == "PID,..." || arg.get_long() == Some("fields") => {
            let (head, names) = (&current[..current.rfind(',').map_or(0, |at| at + 1)], RecordedNames::of(context)?);
            let mut found = if value_name == "PID,..." { names.pids() } else { names.columns() };
            found.iter_mut().for_each(|candidate| candidate.word.insert_str(0, head));
            Some(found)
        }
        "ASSERTION" | "QUANTITY" => Some(recorded::quantities(context, current)),
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
