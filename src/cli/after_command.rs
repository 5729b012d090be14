//! Options of rtrace that stand after CMD, where they are arguments of CMD.

use super::command_words::takes_next;
use super::hints::{GivenLine, meant_number, unit_of};
use clap::{Arg, Args, Command};
use std::ffi::OsString;

/// A sentence on the first of the arguments of `words`, CMD, that is one of the options `A`, unless `--` stands before CMD.
pub(crate) fn note<A: Args>(words: &[OsString]) -> Option<String> {
    let line = GivenLine::of_this();
    if line.has("--") && !words.iter().any(|word| word == "--") {
        return None;
    }
    of(&A::augment_args(Command::new("rtrace")), words, &line)
}

/// True if an option is among the arguments of `words`, CMD, that hardly another program has.
pub(crate) fn is_of_ours_alone(words: &[OsString]) -> bool {
    const OURS: [&str; 6] = ["--assert", "--stop-if", "--max-lost", "--ring-time", "--summary-json", "--subbuf-size"];
    let name = |word: &OsString| word.to_string_lossy().split('=').next().unwrap_or_default().to_owned();
    words.iter().skip(1).any(|word| OURS.contains(&name(word).as_str()))
}

fn of(command: &Command, words: &[OsString], line: &GivenLine) -> Option<String> {
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let (program, arguments) = words.split_first()?;
    if let Some((number, unit)) = line.before(program).filter(|word| word.parse::<f64>().is_ok()).zip(unit_of(program))
    {
        return Some(format!("a number and its unit are one word: `{number}{unit}`; `{program}` is the command here."));
    }
    let at = arguments.iter().position(|word| is_option(command, word))?;
    let option = arguments.get(at)?;
    let value = arguments.get(at.saturating_add(1)).filter(|_| takes_next(command, option) == Some(true));
    let option = value.map_or_else(|| option.clone(), |value| format!("{option} {value}"));
    let is_number = program.starts_with(|c: char| c.is_ascii_digit());
    if let Some(flag) = line.flag_at_end(words.len()).filter(|_| is_number) {
        return Some(format!(
            "`{flag}` takes no value, so that `{program}` is the command and `{option}` is given to it.{}",
            meant_number(flag, program)
        ));
    }
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
    use crate::cli::record::RecordArgs;

    #[test]
    fn options_after_the_command_are_named() {
        let command = RecordArgs::augment_args(Command::new("rtrace"));
        let said = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            of(&command, &words, &GivenLine::of_this())
        };
        let says = |line: &str, begin: &str| assert!(said(line).is_some_and(|text| text.starts_with(begin)), "{line}");
        says("sleep 0.3 -o out.dat", "`-o out.dat` stands after the command `sleep`");
        says("sleep 0.2 -e sched_switch", "`-e sched_switch` stands");
        says("sleep 0.2 --duration=3", "`--duration=3` stands");
        assert_eq!(said("ls -a /"), None);
        assert_eq!(said("sleep 1"), None);
    }
}
