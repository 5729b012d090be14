//! The command line: one file per subcommand, each an `Args` struct (whose doc comments are the help text) and a `run`.

mod exit;

use clap::{Parser, Subcommand};
use exit::{Exit, Failure};
use std::process::ExitCode;

/// Trace the Linux kernel: record, report, list
#[derive(Parser)]
#[command(name = "rtrace", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

// One line per subcommand here and one in `run`; nothing else.
#[derive(Subcommand)]
enum Command {}

fn run(command: Command) -> Result<Exit, Failure> {
    match command {}
}

/// Parses the command line, runs the subcommand and turns its outcome into an exit code.
pub(crate) fn main() -> ExitCode {
    let Some(command) = Cli::parse().command else {
        return ExitCode::SUCCESS;
    };
    exit::report(run(command))
}
