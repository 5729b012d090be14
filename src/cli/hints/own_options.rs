//! The options that a command has, and which of them a name is near to.

use clap::builder::PossibleValue;
use clap::{Arg, Command};
use rtrace::syntax::nearest;

/// Most options that a hint names.
const MOST_OPTIONS: usize = 32;

/// Parts of names that turn their meaning round.
const NEGATIONS: [&str; 11] =
    ["no", "not", "non", "without", "exclude", "ignore", "skip", "except", "hide", "invert", "disable"];

/// The option for a format with the one that `value` nearly is.
pub(super) fn format_near(value: &str, command: &Command) -> Option<String> {
    let arg = arg_of_formats(command).next()?;
    let formats = arg.get_possible_values();
    let near = nearest(value, formats.iter().map(PossibleValue::get_name));
    Some(format!("--{} {}", arg.get_long()?, near.first()?))
}

/// The option for a format with the format of that name, as in `--format csv`.
pub(super) fn format_called(name: &str, command: &Command) -> Option<String> {
    let has = |arg: &&Arg| arg.get_possible_values().iter().any(|value| value.get_name() == name);
    Some(format!("--{} {name}", arg_of_formats(command).find(has)?.get_long()?))
}

fn arg_of_formats(command: &Command) -> impl Iterator<Item = &Arg> {
    let named = |long| command.get_arguments().find(move |arg| arg.get_long() == Some(long));
    ["to", "format"].into_iter().filter_map(named)
}

/// True if a part of an option's name turns its meaning round.
pub(super) fn is_negated(name: &str) -> bool {
    let is_no = |part: &str| {
        let rest = part.strip_prefix("no").unwrap_or_default();
        ["trace", "irq", "softirq", "date", "split", "splice", "color", "pager"].contains(&rest)
    };
    name.split('-').any(|part| NEGATIONS.contains(&part) || is_no(part))
}

/// The options that the command's short help shows, in backquotes; `None` if they are too many for a hint.
pub(super) fn options(command: &Command) -> Option<String> {
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set() && !arg.is_hide_short_help_set());
    let names: Vec<String> = shown.filter_map(Arg::get_long).map(|long| format!("--{long}")).collect();
    (1..=MOST_OPTIONS).contains(&names.len()).then(|| names.join(", "))
}

/// Names with a typing mistake, or of which `name` is a part between dashes, or its begin.
pub(super) fn near<'a>(name: &str, longs: &[&'a str]) -> Vec<&'a str> {
    let has = |whole: &str, part: &str| whole.split('-').any(|of| of == part);
    // One letter makes the contrary of `on-cpu`.
    let is_contrary = |long: &str| has(long, "off") != has(name, "off") && (has(name, "on") || has(long, "on"));
    let is_typed = |long: &str| long.len().abs_diff(name.len()) <= (name.len() / 3).max(1) && !is_contrary(long);
    let mut found = nearest(name, longs.iter().copied());
    // Each part is near, so that `keep-old` is not `keep-all`.
    let parts_are_near = |long: &&str| {
        let (own, other): (Vec<&str>, Vec<&str>) = (name.split('-').collect(), long.split('-').collect());
        own.len() != other.len() || own.iter().zip(&other).all(|(a, b)| !nearest(a, [*b]).is_empty())
    };
    found.retain(parts_are_near);
    found.retain(|long| is_typed(long));
    let is_within = |long: &&&str| {
        let begins = long.len() > 2 && name.strip_prefix(**long).is_some_and(|rest| rest.starts_with('-'));
        let ends = long.len() > 3 && name.strip_suffix(**long).is_some_and(|rest| rest.ends_with('-'));
        begins || (ends && !is_contrary(long))
    };
    let goes_on = |long: &&&str| name.split('-').all(|part| has(long, part));
    let last = name.rsplit('-').next().filter(|last| last.len() > 2 && *last != name);
    let ends_alike =
        |long: &&&str| last.is_some_and(|last| long.rsplit('-').next() == Some(last)) && !is_contrary(long);
    let alike = longs.iter().filter(ends_alike);
    let others: Vec<&str> =
        alike.chain(longs.iter().filter(|long| is_within(long) && !ends_alike(long))).copied().collect();
    if found.is_empty() && others.is_empty() {
        found.extend(longs.iter().filter(goes_on).take(3));
    }
    found.extend(others);
    found.dedup();
    found.truncate(3);
    found
}

/// `did you mean `--a` or `--b`?`
pub(super) fn guess(names: &[&str]) -> Option<String> {
    let (last, before) = names.split_last()?;
    let before: Vec<String> = before.iter().map(|name| format!("`--{name}`")).collect();
    let or = if before.is_empty() { "" } else { " or " };
    Some(format!("did you mean {}{or}`--{last}`?", before.join(", ")))
}

/// True of an option for a file.
pub(super) fn takes_file(arg: &Arg) -> bool {
    let names = arg.get_value_names().unwrap_or_default();
    arg.get_long().is_some() && !arg.is_hide_set() && names.iter().any(|name| matches!(name.as_str(), "FILE" | "PATH"))
}

/// True of an option whose values are names that are known.
pub(super) fn is_of_formats(long: &str, command: &Command) -> bool {
    let found = command.get_arguments().find(|arg| arg.get_long() == Some(long));
    found.is_some_and(|arg| !arg.get_possible_values().is_empty())
}

/// True of an option of the command that has a value.
pub(super) fn takes_value(long: &str, command: &Command) -> bool {
    command.get_arguments().any(|arg| arg.get_long() == Some(long) && arg.get_action().takes_values())
}

/// The first line of an option's help, as a sentence.
pub(super) fn help_of(long: &str, command: &Command) -> String {
    let arg = command.get_arguments().find(|arg| arg.get_long() == Some(long));
    arg.and_then(Arg::get_help).map_or_else(String::new, |help| format!(" {help}."))
}
