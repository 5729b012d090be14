//! Lines that hints spell out, parsed before they are printed: a message says of a line that would be refused that it would.

use super::command::{Command, RootCommand, bare_command_line};
use super::{attached, command_words, record};
use clap::error::ErrorKind::{DisplayHelpOnMissingArgumentOrSubcommand, MissingRequiredArgument, MissingSubcommand};
use clap::{CommandFactory, Subcommand};
use std::ffi::OsString;

/// The words of a command line as clap takes them.
pub(super) fn as_parsed(words: Vec<OsString>) -> Vec<OsString> {
    let words = attached::detached(words, bare_command_line);
    let words = command_words::separated(words, bare_command_line);
    record::gathered(words, bare_command_line)
}

/// A hint on each line in backquotes of `text` that would be refused: a mistake of the line as it was typed, beside the one
/// that the hint mends.
pub(super) fn refused(text: &str) -> Vec<String> {
    let quoted = text.split('`').skip(1).step_by(2);
    let lines = quoted.filter(|line| line.starts_with("rtrace ") && !has_places(line));
    lines.filter_map(|line| Some(format!("that line has another mistake: {}.", mistake(line)?))).collect()
}

/// True of a line with words to be filled in.
fn has_places(line: &str) -> bool {
    let mut names = line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    line.contains('…')
        || line.contains("...")
        || names.any(|name| {
            name == "N" || name.len() > 2 && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
        })
}

/// Why clap refuses a line; `None` if it does not, or if it is the name of a command alone.
fn mistake(line: &str) -> Option<String> {
    let words = shlex::split(line)?;
    // What follows is another program's, or the shell's.
    let is_of_shell =
        |word: &String| ["|", ";", ">", "<", "&", "&&", "||"].contains(&word.as_str()) || word.contains("$(");
    let end = words.iter().position(is_of_shell).unwrap_or(words.len());
    let words = words.into_iter().take(end).map(OsString::from).collect();
    let root = Command::augment_subcommands(RootCommand::command()).styles(clap::builder::Styles::plain());
    let answer = root.try_get_matches_from(as_parsed(words)).err()?;
    let is_name =
        matches!(answer.kind(), MissingRequiredArgument | MissingSubcommand | DisplayHelpOnMissingArgumentOrSubcommand);
    if is_name || !answer.use_stderr() {
        return None;
    }
    let text = answer.render().to_string();
    let what = text.lines().next()?.trim_start_matches("error: ");
    Some(what.trim_end_matches(" found").replace('\'', "`"))
}
