//! The tasks whose events count.

use crate::cli::query::QueryInput;
use rtrace::events::glob_matches;
use rtrace::units::Pid;

/// The tasks whose events count in an analysis.
#[derive(clap::Args, Default)]
pub(super) struct TaskArgs {
    /// Only these tasks
    #[arg(long, value_name = "PID,...", value_delimiter = ',')]
    pid: Vec<i32>,
    /// Only tasks of this name; may be a glob and be given several times
    #[arg(long, value_name = "NAME")]
    comm: Vec<String>,
}

impl TaskArgs {
    /// True if all tasks count.
    pub(super) fn is_empty(&self) -> bool {
        self.pid.is_empty() && self.comm.is_empty()
    }

    /// The tasks; `None` for all.
    pub(super) fn chosen(&self, input: &QueryInput) -> Option<Vec<Pid>> {
        if self.is_empty() {
            return None;
        }
        let comms = &input.symbols.comms;
        let name = |pid: Pid| String::from_utf8_lossy(comms.get(pid).unwrap_or_default()).into_owned();
        let named = |pid: Pid| self.comm.iter().any(|pattern| glob_matches(pattern, &name(pid)));
        if self.comm.is_empty() {
            return Some(self.pid.iter().map(|pid| Pid(*pid)).collect());
        }
        let chosen = |pid: &Pid| self.pid.is_empty() || self.pid.contains(&pid.0);
        Some(comms.pids().filter(chosen).filter(|pid| named(*pid)).collect())
    }
}
