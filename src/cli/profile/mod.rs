//! `rtrace profile`: where tasks spend their time, and what the kernel's function profiler counts.

mod functions;
pub(crate) mod json;
mod pairs;
pub(crate) mod text;

use super::exit::{Exit, Failure};
pub(crate) use pairs::{AccountArgs, parse_hook};

/// Measure what the kernel does
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(clap::Subcommand)]
enum What {
    Functions(functions::Args),
}

pub(crate) fn run(args: &Args) -> Result<Exit, Failure> {
    let What::Functions(args) = &args.what;
    functions::run(args)
}
