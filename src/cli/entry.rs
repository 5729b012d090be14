//! The program: a command line parsed, its command run, an exit code.

use super::command::{Command, RootCommand, bare_command_line, command_line, run};
use super::{attached, exit, help, helper_programs, tried, usage};
use clap::builder::Styles;
use clap::{CommandFactory, FromArgMatches, Subcommand};
use nix::sys::signal::{SigSet, Signal};
use std::process::ExitCode;

/// Parses the command line, runs the subcommand and turns its outcome into an exit code.
///
/// A command line that clap refuses ends with 2, `--help` and `--version` with 0; no subcommand at all is a question
/// ("what can you do?"), which is answered with the first steps, and 0.
pub(crate) fn main() -> ExitCode {
    rtrace::record::notice_children();
    // A write beyond `ulimit -f` is an error like a full disk, in every command. Children get a mask of their own.
    let _ = SigSet::from_iter([Signal::SIGXFSZ]).thread_block();
    let words = tried::as_parsed(std::env::args_os().collect());
    let parse = |root: clap::Command| {
        let matches = root.try_get_matches_from(&words)?;
        matches.subcommand_name().map(|_| Command::from_arg_matches(&matches)).transpose()
    };
    let whole = || {
        let command_line = || command_line().bin_name(helper_programs::name());
        match parse(command_line().styles(Styles::plain())) {
            // The help holds nothing but words of ours, so it may have colours. Errors quote arguments.
            Err(answer) if !answer.use_stderr() => parse(command_line()),
            parsed => parsed,
        }
    };
    let parsed = match parse(Command::augment_subcommands(RootCommand::command())) {
        // Errors and pages of help are made of the whole command line.
        Err(_) | Ok(Some(Command::Help(_))) => whole(),
        parsed => parsed,
    };
    let eaten = parsed.is_ok().then(|| attached::eaten(&words, bare_command_line)).flatten();
    let parsed = eaten.map_or(parsed, |option| Err(usage::unknown_option(&option)));
    let outcome = match parsed {
        Ok(Some(command)) => run(command),
        Ok(None) => exit::print(help::FIRST_STEPS),
        Err(answer) => Err(answer.into()),
    };
    exit::report(outcome, command_line, tried::checked)
}
