//! The answer of `rtrace analyze osnoise`, whatever it is printed as.

use crate::cli::analyze::answers;
use rtrace::analysis::OsnoiseReport;

/// One buffer's answer.
pub(in crate::cli::analyze) type OsnoiseAnswer<'a> = answers::AnalysisAnswer<'a, OsnoiseReport>;
