//! The end of a command: the one place that knows exit codes and prints errors.

use super::usage;
use crate::cli::terminal::{placed, say, stdout};
use rtrace::internal::trace_dat::{FileError, WriteError};
use rtrace::tracefs;
use std::io::{self, Write};
use std::process::ExitCode;

/// The exit codes, as `rtrace help exit-codes` documents them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// 0: all is well.
    Success,
    /// 1: failed.
    Failed,
    /// 2: the command line asks for something that does not exist or contradicts itself.
    Usage,
    /// 3: an assertion about a recording does not hold, or a metric is worse.
    Unmet,
    /// 4: data is missing or damaged beyond what was allowed.
    Incomplete,
    /// 5: this kernel or this user cannot do it.
    Unable,
    /// The traced command's own status, or 124 to 127 about it, as env(1) and timeout(1) use them.
    Command(u8),
}

impl Exit {
    fn code(self) -> u8 {
        match self {
            Exit::Success => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Unmet => 3,
            Exit::Incomplete => 4,
            Exit::Unable => 5,
            Exit::Command(status) => status,
        }
    }
}

/// A command that did not do what it was asked: why, with which exit code, and what to do about it.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    error: anyhow::Error,
    hints: Vec<String>,
}

impl Failure {
    /// A failure with an exit code of its own.
    pub(crate) fn new(exit: Exit, error: impl Into<anyhow::Error>) -> Self {
        Failure { exit, error: error.into(), hints: Vec::new() }
    }

    /// Prints it on stderr, for a command that goes on all the same, and gives the exit code.
    pub(crate) fn tell(&self) -> Exit {
        let mut text = format!("rtrace: {}\n", chain(&self.error));
        for hint in &self.hints {
            text.push_str(&format!("  Hint: {hint}\n"));
        }
        say(format_args!("{text}"));
        self.exit
    }

    /// Its text without the hints, for somebody on another machine.
    pub(crate) fn text(&self) -> String {
        chain(&self.error)
    }

    /// True if the command did what it was asked as far as there was data.
    pub(crate) fn is_of_missing_data(&self) -> bool {
        self.exit == Exit::Incomplete
    }

    /// The same with another exit code, made from the one it has.
    pub(crate) fn with_exit(mut self, change: impl FnOnce(Exit) -> Exit) -> Self {
        self.exit = change(self.exit);
        self
    }

    /// The same of a command that was to trace CMD, whose statuses are CMD's own: failures of ours become 125.
    pub(crate) fn of_command(mut self) -> Self {
        if matches!(self.exit, Exit::Failed | Exit::Unable) {
            self.exit = Exit::Command(125);
        }
        self
    }

    /// The same of a command that read damaged files: what it did not find there may have been lost, so a request that
    /// came to nothing is [`Exit::Incomplete`]. A file that cannot be written, or read at all, stays a failure.
    pub(crate) fn of_damaged(mut self) -> Self {
        let of_system = self.error.chain().any(|cause| cause.is::<io::Error>());
        if matches!(self.exit, Exit::Failed | Exit::Usage) && !of_system {
            self.exit = Exit::Incomplete;
        }
        // Advice on the next recording is no answer: the events may have been recorded, and be lost.
        let all = self.hints.len();
        let is_on_recording =
            |hint: &String| hint.starts_with("`rtrace record --for ") || hint.starts_with("they were recorded");
        self.hints.retain(|hint| !is_on_recording(hint));
        match self.hints.len() == all {
            true => self,
            false => self.hint("what is missing may have been in the part that is damaged."),
        }
    }

    /// Adds a line `Hint: ...` to the message.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    /// Errors of the library that know better than 1 and have something to suggest say so here; clap's are wrong usage.
    fn from(error: E) -> Self {
        let error = error.into();
        let tracefs = error.chain().find_map(|cause| cause.downcast_ref::<tracefs::Error>());
        let damage = error.chain().any(is_damage);
        let (exit, hints) = match tracefs {
            _ if damage => (Exit::Incomplete, Vec::new()),
            Some(cause) if cause.is_unable() => (Exit::Unable, cause.hints()),
            Some(cause) if cause.is_usage() => (Exit::Usage, cause.hints()),
            Some(cause) => (Exit::Failed, cause.hints()),
            None if error.is::<clap::Error>() => (Exit::Usage, Vec::new()),
            None => (Exit::Failed, Vec::new()),
        };
        Failure { exit, error, hints }
    }
}

/// True if a recording cannot be read further for what it holds.
fn is_damage(cause: &(dyn std::error::Error + 'static)) -> bool {
    let of_file = cause.downcast_ref::<FileError>().is_some_and(|error| !error.is_foreign());
    of_file || matches!(cause.downcast_ref::<WriteError>(), Some(WriteError::Unreadable { .. }))
}

/// Prints `text` as the whole answer.
pub(crate) fn print(text: &str) -> Result<Exit, Failure> {
    stdout().lock().write_all(text.as_bytes())?;
    Ok(Exit::Success)
}

/// Prints clap's answer: a usage error on stderr, the help or the version on stdout. An error must have been made without
/// styles, as it is escaped; the help holds nothing but words of ours, and clap prints it with its styles.
fn print_clap(
    answer: &clap::Error,
    root: &clap::Command,
    checked: &dyn Fn(&str) -> Vec<String>,
) -> Result<Exit, Failure> {
    if answer.use_stderr() {
        say(format_args!("{}", usage::message(answer, root, checked)));
        return Ok(Exit::Usage);
    }
    answer.print().map_err(placed)?;
    Ok(Exit::Success)
}

/// Prints what went wrong, if anything did, and gives the process's exit code. A closed stdout is success. `root` makes the
/// whole command line, in whose words clap's answers are; `checked` makes of a hint what is printed of it.
pub(crate) fn report(
    outcome: Result<Exit, Failure>,
    root: impl Fn() -> clap::Command,
    checked: impl Fn(&str) -> Vec<String>,
) -> ExitCode {
    let outcome = match outcome {
        Err(failure) => match failure.error.downcast_ref::<clap::Error>() {
            Some(answer) => print_clap(answer, &root(), &checked),
            None => Err(failure),
        },
        ok => ok,
    };
    let exit = match outcome {
        Ok(exit) => exit,
        Err(failure) if is_broken_pipe(&failure.error) => Exit::Success,
        Err(mut failure) => {
            failure.hints = failure.hints.iter().flat_map(|hint| checked(hint)).collect();
            failure.tell()
        }
    };
    ExitCode::from(exit.code())
}

/// The error and its causes. Errors that quote their cause in their own words do not get it repeated.
fn chain(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let words = without_numbers(&cause.to_string());
        if text.is_empty() {
            text = words;
        } else if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
    }
    text
}

/// `No such file or directory` rather than `No such file or directory (os error 2)`.
fn without_numbers(words: &str) -> String {
    let mut text = words.to_owned();
    while let Some(at) = text.find(" (os error ") {
        let Some(end) = text[at..].find(')') else { break };
        text.replace_range(at..=at + end, "");
    }
    text
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>()).any(|e| e.kind() == io::ErrorKind::BrokenPipe)
}
