//! Values that stand in the word of their letter, as in `-P1`: a word of its own for each, where CMD may follow.
//! Options that would be taken for values, as in `-g --call-graph`.
//!
//! Of a command whose CMD may begin with a hyphen, clap takes `-P1` for the begin of CMD.

use super::command_words::{before_value, takes_next};
use clap::Command;
use std::ffi::OsString;

/// The command line with `-P1` as `-P 1` before CMD.
pub(crate) fn detached(mut words: Vec<OsString>, root: fn() -> Command) -> Vec<OsString> {
    // Most command lines have no such word, and need no list of options.
    let may_be = |word: &OsString| word.as_encoded_bytes().len() > 2 && is_letters(&word.to_string_lossy());
    if !words.iter().skip(2).any(may_be) {
        return words;
    }
    let root = root();
    let Some(command) = words.get(1).and_then(|name| root.find_subcommand(name)) else { return words };
    if !has_cmd(command) {
        return words;
    }
    let mut at = 2;
    while let Some(word) = words.get(at).map(|word| word.to_string_lossy().into_owned()) {
        let Some(takes_next) = takes_next(command, &word).filter(|_| word != "--") else { break };
        if let Some((letters, value)) = parts(command, &word) {
            let (letters, value) = (OsString::from(letters), OsString::from(value));
            words.splice(at..=at, [letters, value]);
            at += 1;
        }
        at += 1 + usize::from(takes_next);
    }
    words
}

/// The first option before CMD that clap takes for the value of the one before it: none that it knows.
pub(crate) fn eaten(words: &[OsString], root: fn() -> Command) -> Option<String> {
    let is_long = |word: &OsString| word.len() > 2 && word.as_encoded_bytes().starts_with(b"--");
    let may_be = |pair: &[OsString]| matches!(pair, [a, b] if a.as_encoded_bytes().starts_with(b"-") && is_long(b));
    if !words.get(2..)?.windows(2).any(may_be) {
        return None;
    }
    let root = root();
    let command = root.find_subcommand(words.get(1)?).filter(|command| has_cmd(command))?;
    // Filters may begin with a hyphen.
    let takes_any = |word: &str| {
        let mut args = command.get_arguments().filter(|arg| arg.is_allow_hyphen_values_set());
        let long = word.strip_prefix("--");
        args.any(|arg| match long {
            Some(long) => arg.get_long() == Some(long),
            None => arg.get_short().is_some_and(|letter| word.ends_with(letter)),
        })
    };
    let mut at = 2;
    while let Some(word) = words.get(at).map(|word| word.to_string_lossy()).filter(|word| word != "--") {
        let takes_next = takes_next(command, &word)?;
        if let Some(value) = words.get(at + 1).filter(|value| takes_next && is_long(value) && !takes_any(&word)) {
            return Some(value.to_string_lossy().split('=').next().unwrap_or_default().to_owned());
        }
        at += 1 + usize::from(takes_next);
    }
    None
}

/// True of a command whose CMD may begin with a hyphen.
fn has_cmd(command: &Command) -> bool {
    command.get_positionals().any(|arg| arg.is_trailing_var_arg_set() && arg.is_allow_hyphen_values_set())
}

/// True of letters of options, and what may be the value of one.
fn is_letters(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|rest| !rest.is_empty() && !rest.starts_with('-'))
}

/// The letters up to one that takes a value, and that value in the same word.
fn parts<'w>(command: &Command, word: &'w str) -> Option<(&'w str, &'w str)> {
    let letters = word.strip_prefix('-').filter(|_| is_letters(word))?;
    let (letters, value) = word.split_at(1 + before_value(command, letters)?);
    Some((letters, value.strip_prefix('=').unwrap_or(value))).filter(|(_, value)| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_no_value() {
        for (given, expected) in [
            ("rtrace record -g --call-graph -- true", Some("--call-graph")),
            ("rtrace record -e sched -o --foo=1 ls", Some("--foo")),
            ("rtrace record -e sched -f --x ls", None),
            ("rtrace record -F --quiet ls -o --foo", None),
            ("rtrace record -e sched -- -o --foo", None),
            ("rtrace report -i --foo", None),
        ] {
            let words: Vec<OsString> = given.split(' ').map(OsString::from).collect();
            assert_eq!(eaten(&words, crate::cli::command::bare_command_line).as_deref(), expected, "{given}");
        }
    }

    #[test]
    fn values_stand_apart_before_the_command() {
        for (given, expected) in [
            ("rtrace record -P1 sleep -n1", "rtrace record -P 1 sleep -n1"),
            ("rtrace record -b4096 -Fox.dat -e sched ls -l5", "rtrace record -b 4096 -Fo x.dat -e sched ls -l5"),
            ("rtrace record -e -P1 -oa", "rtrace record -e -P1 -o a"),
            ("rtrace record -P=1 -- -P1", "rtrace record -P 1 -- -P1"),
            ("rtrace record -Fc -z1 ls", "rtrace record -Fc -z1 ls"),
            ("rtrace stream -esched:*", "rtrace stream -e sched:*"),
            ("rtrace report -Fsched a.dat", "rtrace report -Fsched a.dat"),
        ] {
            let words = given.split(' ').map(OsString::from).collect();
            let words = detached(words, crate::cli::command::bare_command_line);
            let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
            assert_eq!(words.join(" "), expected);
        }
    }
}
