//! The command line: one file per subcommand, each an `Args` struct (whose doc comments are the help text) and a `run`.

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Trace the Linux kernel: record, report, list
#[derive(Parser)]
#[command(name = "rtrace", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {}

/// Parses the command line, runs the subcommand and turns its outcome into an exit code.
pub(crate) fn main() -> ExitCode {
    match Cli::parse().command {}
}
