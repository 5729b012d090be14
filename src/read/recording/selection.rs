//! The events that a query selects, as the caller describes them.

use crate::base::units::Pid;
use crate::language::filter::{EventFilter, ReportFilter, Sign};

/// The events that a query selects: those that pass each of its non-empty lists.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Filters of the kernel's language: an event passes if one of them lets it.
    pub filters: Vec<EventFilter>,
    /// Filters of trace-cmd's language, in the order of the command line.
    pub report_filters: Vec<(ReportFilter, Sign)>,
    /// The tasks.
    pub pids: Vec<Pid>,
    /// The processes, of recordings that hold the tasks' processes (trace option `record-tgid`).
    pub tgids: Vec<Pid>,
    /// The tasks' names, as globs.
    pub comms: Vec<String>,
    /// The cgroups, with all below them, of recordings that hold them (`record --cgroups`): globs of their paths.
    pub cgroups: Vec<String>,
    /// Drops events in hard interrupts.
    pub no_irq: bool,
    /// Drops events in soft interrupts.
    pub no_softirq: bool,
}

impl Selection {
    /// True if it drops nothing.
    pub fn is_everything(&self) -> bool {
        let filters = self.filters.is_empty() && self.report_filters.is_empty();
        filters && !self.by_task() && !self.no_irq && !self.no_softirq
    }

    pub(super) fn by_task(&self) -> bool {
        !self.pids.is_empty() || !self.tgids.is_empty() || !self.comms.is_empty() || !self.cgroups.is_empty()
    }
}

/// Dependence of an event's output on events that the selection drops: these are read for its sake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum OutputDependence {
    /// None. Chunks without events of the selected tasks are skipped, and records of other event types.
    #[default]
    Needless,
    /// On records around it: all chunks are read.
    Chunks,
    /// On losses: records before which the kernel dropped events are handed out, selected or not.
    Losses,
    /// On all other events: records of all types are merged.
    Records,
}
