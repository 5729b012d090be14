//! Arguments of `rtrace baseline`, and which of its commands it is.

use super::{compare, save};
use crate::cli::exit::{Exit, Failure};

/// Save summaries of recordings, and compare with them
///
/// A summary holds what a comparison needs: digest, kernel, clock, CPUs, events enabled and losses of each recording, and
/// statistics over time of each series. It is small enough to be committed beside the code.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace baseline save run?.dat -o baseline.json
  rtrace baseline compare baseline.json new?.dat --metric 'p99(wait(nginx))'
  rtrace baseline compare baseline.json new?.dat --update")]
pub(crate) struct BaselineArgs {
    #[command(subcommand)]
    what: BaselineCommand,
}

#[derive(clap::Subcommand)]
enum BaselineCommand {
    Save(save::BaselineSaveArgs),
    Compare(compare::BaselineCompareArgs),
}

pub(crate) fn run(args: &BaselineArgs) -> Result<Exit, Failure> {
    match &args.what {
        BaselineCommand::Save(args) => save::run(args),
        BaselineCommand::Compare(args) => compare::run(args),
    }
}
