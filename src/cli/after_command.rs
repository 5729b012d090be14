//! Options of rtrace that stand after CMD, where they are arguments of CMD.

use super::command::bare_command_line;
use super::command_words::takes_next;
use clap::{Arg, Command};
use std::ffi::OsString;

/// A sentence on the first of the arguments of `words`, CMD, that is an option of `rtrace NAME`, unless `--` stands before CMD.
pub(crate) fn note(name: &str, words: &[OsString]) -> Option<String> {
    if std::env::args().any(|word| word == "--") {
        return None;
    }
    of(&bare_command_line(), name, words)
}

fn of(root: &Command, name: &str, words: &[OsString]) -> Option<String> {
    let command = root.find_subcommand(name)?;
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let (program, arguments) = words.split_first()?;
    let at = arguments.iter().position(|word| is_option(command, word))?;
    let option = arguments.get(at)?;
    let value = arguments.get(at.saturating_add(1)).filter(|_| takes_next(command, option) == Some(true));
    let option = value.map_or_else(|| option.clone(), |value| format!("{option} {value}"));
    Some(format!(
        "`{option}` stands after the command `{program}` and was given to it; options of rtrace stand before CMD."
    ))
}

/// True of an option of the command with a value, which is hardly meant for another program by chance.
fn is_option(command: &Command, word: &str) -> bool {
    let has_value = |arg: &&Arg| arg.get_action().takes_values();
    let mut options = command.get_arguments().filter(has_value);
    match (word.strip_prefix("--"), word.strip_prefix('-')) {
        (Some(long), _) => {
            let long = long.split('=').next().unwrap_or(long);
            options.any(|arg| arg.get_long() == Some(long))
        }
        (None, Some(letter)) => {
            let mut letters = letter.chars();
            let (first, rest) = (letters.next(), letters.next());
            rest.is_none() && options.any(|arg| arg.get_short().is_some() && arg.get_short() == first)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_after_the_command_are_named() {
        let root = bare_command_line();
        let said = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            of(&root, "record", &words)
        };
        let says = |line: &str, begin: &str| assert!(said(line).is_some_and(|text| text.starts_with(begin)), "{line}");
        says("sleep 0.3 -o out.dat", "`-o out.dat` stands after the command `sleep`");
        says("sleep 0.2 -e sched_switch", "`-e sched_switch` stands");
        says("sleep 0.2 --duration=3", "`--duration=3` stands");
        assert_eq!(said("ls -a /"), None);
        assert_eq!(said("sleep 1"), None);
    }
}
