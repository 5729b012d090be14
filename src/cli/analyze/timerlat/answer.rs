//! The answer of `rtrace analyze timerlat`, whatever it is printed as.

use crate::cli::analyze::answers;
use rtrace::analysis::TimerlatReport;

/// One buffer's answer.
pub(in crate::cli::analyze) type TimerlatAnswer<'a> = answers::AnalysisAnswer<'a, TimerlatReport>;
