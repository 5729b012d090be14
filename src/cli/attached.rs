//! Values that stand in the word of their letter, as in `-P1`: a word of its own for each, where CMD may follow.
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
    if !command.get_positionals().any(|arg| arg.is_trailing_var_arg_set() && arg.is_allow_hyphen_values_set()) {
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
