//! Lines in full, where the command below `filter`, `trigger`, `synth`, `probe` or `instance` was left out.

use super::line::{GivenLine, quoted};
use super::table::Misplaced;
use rtrace::filter::with_numbered_states;

/// The line in full where `-B NAME` stands before the command below the one at `path`.
pub(super) fn with_instance(path: &str, line: &GivenLine) -> Option<String> {
    let (name, after) = line.rest("-B").split_first()?;
    let first = after.first().filter(|first| !first.starts_with('-'))?;
    let moved = [&["rtrace".to_owned(), path.to_owned()], after, &["-B".to_owned(), name.clone()]].concat();
    in_full(first, path, &GivenLine::of(moved))
}

/// The command in full of which the one below `name` was left out: what `word` and the words after it were meant for.
pub(super) fn in_full(word: &str, name: &str, line: &GivenLine) -> Option<String> {
    let listed = || Misplaced { command: name, place: "whole", word, line }.hint();
    let set = || trigger(word, line).filter(|_| name == "trigger");
    event(word, line).filter(|_| name == "synth").or_else(set).or_else(listed)
}

/// The line that sets a trigger on the event `word`, with an action before `if`, and numbers for letters of states.
fn trigger(word: &str, line: &GivenLine) -> Option<String> {
    let text = line.rest(word).first().filter(|text| text.contains("_state "))?;
    let action = if text.starts_with("if ") { "stacktrace " } else { "" };
    let trigger = quoted(&format!("{action}{}", with_numbered_states(text)));
    Some(format!("`rtrace trigger add {} {trigger}` sets a trigger, `rtrace trigger list` shows them.", quoted(word)))
}

/// The line for a synthetic event of which name and fields, or its two events, are one word.
fn event(word: &str, line: &GivenLine) -> Option<String> {
    let (event, fields) = word.split_once(' ').filter(|(event, _)| !event.eq_ignore_ascii_case("select"))?;
    Some(match line.rest(word) {
        [first, second, ..] if !first.starts_with('-') && !second.starts_with('-') => {
            format!(
                "`rtrace synth create {event} --start {first} --end {second} --match FIELD=FIELD` makes one of two events."
            )
        }
        _ => format!("`rtrace synth define {event} {}` makes a synthetic event.", quoted(fields)),
    })
}
