//! The place of the word that is completed.

use clap::{Arg, Command};

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
    if !current.starts_with('-') && runs_first_argument(context.command) && !context.command.has_subcommands() {
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
fn runs_first_argument(command: &Command) -> bool {
    command.get_positionals().next().is_some_and(Arg::is_trailing_var_arg_set)
}
