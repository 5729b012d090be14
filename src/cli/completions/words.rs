//! The words of a line that is completed.
//! The place of the word that is completed.
//! A word that may be completed to, and its meaning.

use clap::{Arg, Command};

/// The words before the cursor, without quotes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct CompletionLine {
    /// The whole words, the program's name first.
    pub(super) before: Vec<String>,
    /// The word that is completed, up to the cursor.
    pub(super) current: String,
    /// The bytes of it that the shell keeps: completions are printed without them.
    pub(super) cut: usize,
}

/// The characters after which bash takes a new word to begin, of its COMP_WORDBREAKS, within a word of a command line.
const BREAKS: [char; 2] = [':', '='];

impl CompletionLine {
    /// A line of bash, as typed up to the cursor.
    ///
    /// Bash replaces what follows an open quote, or else what follows the last `:` or `=`.
    pub(super) fn of_bash(text: &str) -> Self {
        let mut line = CompletionLine::default();
        let (mut quote, mut escaped, mut begun) = (None, false, false);
        for c in text.chars() {
            match (quote, c) {
                _ if escaped => {
                    line.current.push(c);
                    escaped = false;
                }
                (None | Some('"'), '\\') => escaped = true,
                (Some(open), _) if open == c => quote = None,
                (None, '\'' | '"') => {
                    quote = Some(c);
                    line.cut = line.current.len();
                }
                (None, ' ' | '\t') => {
                    if begun {
                        line.before.push(std::mem::take(&mut line.current));
                    }
                    begun = false;
                    line.cut = 0;
                    continue;
                }
                _ => line.current.push(c),
            }
            begun = true;
            if quote.is_none() && BREAKS.contains(&c) {
                line.cut = line.current.len();
            }
        }
        line
    }

    /// The words as zsh and fish have split them, the last one perhaps with its open quote.
    pub(super) fn of_words(words: &[String]) -> Self {
        let unquoted = |word: &String| {
            let open = word.chars().next().filter(|c| matches!(c, '\'' | '"'));
            let inner = open.map_or(word.as_str(), |open| word.trim_start_matches(open));
            open.map_or(inner, |open| inner.trim_end_matches(open)).to_owned()
        };
        match words.split_last() {
            Some((current, before)) => {
                CompletionLine { before: before.iter().map(unquoted).collect(), current: unquoted(current), cut: 0 }
            }
            None => CompletionLine::default(),
        }
    }
}

/// A place in the command line, with what was found on the way there.
pub(super) enum CompletionPlace<'a> {
    /// A command or a subcommand of this one, an option of it, or its first argument.
    Word(CompletionContext<'a>),
    /// The value of an option; the bytes of the word before it (`--event=`).
    Value(CompletionContext<'a>, &'a Arg, usize),
    /// A word of the command that is run, which begins at this word of the line.
    Foreign(usize),
}

/// The command, and the values given to it so far.
pub(super) struct CompletionContext<'a> {
    pub(super) command: &'a Command,
    /// Options and their values, in their order.
    pub(super) options: Vec<(&'a Arg, String)>,
    /// Arguments without a dash.
    pub(super) arguments: Vec<String>,
}

impl CompletionContext<'_> {
    /// The last value of an option.
    pub(super) fn last(&self, long: &str) -> Option<&str> {
        self.options.iter().rev().find(|(arg, _)| arg.get_long() == Some(long)).map(|(_, value)| value.as_str())
    }
}

/// The option with this long name, or with it as another name.
fn option<'a>(command: &'a Command, name: &str) -> Option<&'a Arg> {
    command.get_arguments().find(|arg| arg.get_long_and_visible_aliases().is_some_and(|names| names.contains(&name)))
}

/// Finds the place of `current` after the words `before`, of which the first is the program.
pub(super) fn place<'a>(root: &'a Command, before: &[String], current: &str) -> CompletionPlace<'a> {
    let mut context = CompletionContext { command: root, options: Vec::new(), arguments: Vec::new() };
    let mut waiting: Option<&Arg> = None;
    for (number, word) in before.iter().enumerate().skip(1) {
        if let Some(option) = waiting.take() {
            context.options.push((option, word.clone()));
        } else if word == "--" {
            return if has_command(context.command) {
                CompletionPlace::Foreign(number + 1)
            } else {
                CompletionPlace::Word(context)
            };
        } else if let Some(long) = word.strip_prefix("--") {
            let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            let found = option(context.command, name);
            match (found.filter(|arg| takes_value(arg)), value) {
                (Some(option), Some(value)) => context.options.push((option, value.to_owned())),
                (Some(option), None) => waiting = Some(option),
                (None, _) => {}
            }
        } else if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            for (at, letter) in letters.char_indices() {
                let found = context.command.get_arguments().find(|arg| arg.get_short() == Some(letter));
                let Some(option) = found.filter(|arg| takes_value(arg)) else { continue };
                match letters.get(at + letter.len_utf8()..).filter(|rest| !rest.is_empty()) {
                    Some(rest) => context.options.push((option, rest.to_owned())),
                    None => waiting = Some(option),
                }
                break;
            }
        } else if let Some(command) = context.command.find_subcommand(word).filter(|_| context.arguments.is_empty()) {
            context = CompletionContext { command, options: Vec::new(), arguments: Vec::new() };
        } else if runs_first_argument(context.command) {
            return CompletionPlace::Foreign(number);
        } else {
            context.arguments.push(word.clone());
        }
    }
    if let Some(option) = waiting {
        return CompletionPlace::Value(context, option, 0);
    }
    if let Some((name, _)) = current.strip_prefix("--").and_then(|long| long.split_once('=')) {
        let found = option(context.command, name);
        if let Some(option) = found {
            return CompletionPlace::Value(context, option, name.len() + 3);
        }
    }
    if !current.is_empty()
        && !current.starts_with('-')
        && runs_first_argument(context.command)
        && !context.command.has_subcommands()
    {
        return CompletionPlace::Foreign(before.len());
    }
    CompletionPlace::Word(context)
}

/// True if the option has a value that may stand in the next word.
fn takes_value(arg: &Arg) -> bool {
    arg.get_num_args().is_some_and(|count| count.takes_values()) && !arg.is_require_equals_set()
}

/// True if a command may follow after `--`.
fn has_command(command: &Command) -> bool {
    command.get_positionals().any(|arg| arg.is_last_set() || arg.is_trailing_var_arg_set())
}

/// True if the first argument is the command to run: `rtrace record ls`.
pub(super) fn runs_first_argument(command: &Command) -> bool {
    command.get_positionals().next().is_some_and(Arg::is_trailing_var_arg_set)
}

/// A completion.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) word: String,
    pub(super) meaning: String,
}

impl Candidate {
    pub(super) fn new(word: impl Into<String>, meaning: impl Into<String>) -> Self {
        Candidate { word: word.into(), meaning: meaning.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bash_keeps_what_stands_before_a_break_or_a_quote() {
        let line = |text| {
            let line = CompletionLine::of_bash(text);
            (line.before.join("|"), line.current, line.cut)
        };
        assert_eq!(line("rtrace rec"), ("rtrace".into(), "rec".into(), 0));
        assert_eq!(line("rtrace record -e sched:sched_sw"), ("rtrace|record|-e".into(), "sched:sched_sw".into(), 6));
        assert_eq!(line("rtrace record -f 'a == 1 && ne"), ("rtrace|record|-f".into(), "a == 1 && ne".into(), 0));
        assert_eq!(line("rtrace record --event=sch"), ("rtrace|record".into(), "--event=sch".into(), 8));
        assert_eq!(line("rtrace report a\\ b '' "), ("rtrace|report|a b|".into(), String::new(), 0));
    }
}
