//! The tracing directory of a kernel that has synthetic events.

use crate::cli::exit::Failure;
use crate::cli::hist::HistSetArgs;
use rtrace::tracefs::{Feature, Tracefs};

/// The same directory, if its kernel has synthetic events.
pub(super) fn able(tracefs: Tracefs) -> Result<Tracefs, Failure> {
    tracefs.require(&Feature::SyntheticEvents)?;
    tracefs.require(&Feature::HistTriggers)?;
    Ok(tracefs)
}

/// The tracing directory for a command that makes events, or only prints what would make them: then any directory with
/// the events' formats will do, of whatever kernel.
pub(super) fn open(set: &HistSetArgs) -> Result<Tracefs, Failure> {
    if set.dry_run { set.write.open_formats() } else { able(set.write.open()?) }
}
