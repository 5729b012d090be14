//! Lines in full, where the command below `filter`, `trigger`, `synth`, `probe` or `instance` was left out.

use super::line::{GivenLine, quoted};
use super::table::Misplaced;
use rtrace::filter::with_numbers;
use rtrace::trigger::TriggerAction;

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
    let filtered = || filter(word, line).filter(|_| name == "filter");
    event(word, line).filter(|_| name == "synth").or_else(set).or_else(filtered).or_else(listed)
}

/// The line that sets a trigger, if what was given is none in that order: with the event first, an action before `if`, a blank
/// before it, and numbers for states and sizes.
fn trigger(word: &str, line: &GivenLine) -> Option<String> {
    let is_action = |text: &str| TriggerAction::NAMES.contains(&text.split([':', ' ']).next().unwrap_or_default());
    let next = line.rest(word).first().filter(|next| !next.starts_with('-'))?;
    let (event, given) =
        if is_action(word) && !is_action(next) { (next.as_str(), word) } else { (word, next.as_str()) };
    let action = if given.starts_with("if ") { "stacktrace " } else { "" };
    let text = format!("{action}{}", with_numbers(&given.replace(":if ", " if ")));
    if event == word && text == given {
        return None;
    }
    let (event, trigger) = (quoted(event), quoted(&text));
    Some(format!("`rtrace trigger add {event} {trigger}` sets a trigger, `rtrace trigger list` shows them."))
}

/// The line that sets a filter of the event `word`, with numbers for states and sizes.
fn filter(word: &str, line: &GivenLine) -> Option<String> {
    let given = line.rest(word).first()?;
    let text = Some(with_numbers(given)).filter(|text| text != given)?;
    let (event, filter) = (quoted(word), quoted(&text));
    Some(format!("`rtrace filter set {event} {filter}` sets a filter, `rtrace filter show` shows them."))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_mended_before_they_are_proposed() {
        let words = |words: &[&str]| GivenLine::of(words.iter().map(|word| (*word).to_owned()).collect());
        let hint = |name: &str, word: &str, next: &str| in_full(word, name, &words(&["rtrace", name, word, next]));
        for (name, word, next, line) in [
            ("trigger", "traceoff if bytes_req > 4K", "kmem:kmalloc", "kmem:kmalloc 'traceoff if bytes_req > 4096'"),
            (
                "trigger",
                "sched:sched_switch",
                "stacktrace:if prev_state==2",
                "sched:sched_switch 'stacktrace if prev_state==2'",
            ),
            ("trigger", "sched_switch", "if prev_state == D", "sched_switch 'stacktrace if prev_state == 2'"),
            ("filter", "sched_switch", "prev_state == R", "sched_switch 'prev_state == 0'"),
            ("filter", "kmalloc", "bytes_req > 1M", "kmalloc 'bytes_req > 1048576'"),
        ] {
            let verb = if name == "filter" { "set" } else { "add" };
            assert!(
                hint(name, word, next).is_some_and(|hint| hint.contains(&format!("`rtrace {name} {verb} {line}`"))),
                "{word}"
            );
        }
    }
}
