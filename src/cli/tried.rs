//! Lines that hints spell out, parsed before they are printed: a message says of a line that would be refused that it would.

use super::command::{Command, RootCommand, bare_command_line};
use super::hints::GivenLine;
use super::lacking::{device, lacking};
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

/// `hint` as it is printed. Where the kernel or a recording lacks what a line of it asks for, that is said; a line that would be refused, for another mistake than the one that it mends, is followed by that mistake.
pub(super) fn checked(hint: &str) -> Vec<String> {
    if let Some(number) = device(hint).filter(|_| is_of_this_machine()) {
        return vec![number];
    }
    let lines: Vec<&str> = quoted(hint).filter(|line| line.starts_with("rtrace ") || line.starts_with('-')).collect();
    let lacks: Vec<(&str, String)> = lines.iter().filter_map(|line| Some((*line, lacking(line)?))).collect();
    let said = match lacks.first() {
        None => hint.to_owned(),
        Some((_, what)) if lacks.len() == lines.len() => format!("{what}, which this needs: {hint}"),
        Some((line, what)) => format!("{} (`{line}` not here: {what}.)", hint.trim_end()),
    };
    let lines = quoted(&said).filter(|line| line.starts_with("rtrace ") && !has_places(line));
    let mistakes: Vec<String> =
        lines.filter_map(|line| Some(format!("that line has another mistake: {}.", mistake(line)?))).collect();
    [vec![said], mistakes].concat()
}

/// The lines in backquotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// True if this process was asked about this machine; recordings may be another's.
fn is_of_this_machine() -> bool {
    let line = GivenLine::of_this();
    let command = line.own().first().map(String::as_str);
    command.is_some_and(|name| ["record", "stream", "start", "set", "filter", "trigger", "profile"].contains(&name))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::hints::sentences;

    /// `line` with words in the places of others.
    fn filled_in(line: &str) -> String {
        let words = [
            ("-O OPTION", "-O parent"),
            ("--cgroup ...", "--cgroup x"),
            ("...", ""),
            ("{analysis}", "sched"),
            ("analyze {word}", "analyze sched"),
            ("< {value}", "< 1ms"),
            ("< {value|10ms}", "< 1ms"),
            ("{option}", "--pid 1"),
            ("{name}", "timerlat"),
            ("{before}", "sched"),
            ("{rest| EVENT TRIGGER}", " EVENT TRIGGER"),
            ("{rest| EVENT 'FILTER'}", " EVENT FILTER"),
            ("{rest| TRIGGER}", " TRIGGER"),
            ("QUANTITY < LIMIT", "lost==0"),
            ("'QUANTITY'", "lost"),
            ("ASSERTION", "lost==0"),
            ("ANALYSIS", "sched"),
            ("SECONDS", "1"),
            ("HOST:PORT", "host:1"),
            ("OPTION", "--pid 1"),
            ("PID", "1"),
            (" N ", " 3 "),
        ];
        let mut text = words.iter().fold(line.to_owned(), |text, (place, word)| text.replace(place, word));
        while let Some((before, after)) = text.split_once('{').and_then(|(a, rest)| Some((a, rest.split_once('}')?.1)))
        {
            let word = if before.ends_with(' ') { "1" } else { "" };
            text = format!("{before}{word}{after}");
        }
        text
    }

    #[test]
    fn lines_of_the_table_are_taken() {
        let lines = sentences().flat_map(quoted).filter(|line| line.starts_with("rtrace "));
        let wrong: Vec<String> =
            lines.map(filled_in).filter_map(|line| Some(format!("{line}: {}", mistake(&line)?))).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}
