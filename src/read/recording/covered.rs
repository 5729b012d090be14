//! The coverage of a buffer in a query's window.

use super::{BufferSource, Query};
use crate::base::units::CpuId;
use crate::file::trace_dat::{Coverage, FileError, LossCause, OptionId, UnsavedEvents};

/// A CPU of which events are missing at one end, or at unknown places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartialCpu {
    /// A flight recorder gave up its older events: it begins so much later than the window, in clock units.
    Late(CpuId, u64),
    /// Events of it are not in the file.
    Unsaved(UnsavedEvents),
}

impl PartialCpu {
    /// The CPU of which something is missing.
    pub fn cpu(&self) -> CpuId {
        match self {
            PartialCpu::Late(cpu, _) => *cpu,
            PartialCpu::Unsaved(unsaved) => unsaved.cpu,
        }
    }

    /// True if a record tells of the loss: the first one that was still in the ring buffer of a killed recorder.
    pub fn is_told(&self) -> bool {
        matches!(self, PartialCpu::Unsaved(unsaved) if unsaved.cause == LossCause::KILLED && unsaved.events.is_some())
    }
}

impl Query<'_> {
    /// The coverage of a source in the query's window, as one of those CPUs alone of which nothing is missing at unknown places;
    /// and the others.
    ///
    /// # Errors
    /// As [`Query::span`].
    pub fn coverage(&self, source: &BufferSource) -> Result<(Coverage, Vec<PartialCpu>), FileError> {
        let trace = &self.recordings[source.recording].trace;
        let buffer = &trace.buffers[source.buffer];
        let mut coverage = trace.coverage(buffer);
        let of_buffer = self.clone().buffer(&buffer.name);
        let late = if coverage.shortened.is_empty() { Vec::new() } else { of_buffer.late_begins()? };
        let mut partial: Vec<PartialCpu> = late.into_iter().map(|(cpu, time)| PartialCpu::Late(cpu, time)).collect();
        coverage.shortened = partial.iter().map(PartialCpu::cpu).collect();
        let marks = trace.options(OptionId::RTRACE_UNSAVED);
        let marks = marks.filter_map(|mark| UnsavedEvents::read(mark, trace.abi).ok());
        let marks = marks.filter(|mark| mark.buffer == buffer.name && mark.events != Some(0));
        partial.extend(marks.map(PartialCpu::Unsaved));
        coverage.cut =
            partial.iter().filter(|one| matches!(one, PartialCpu::Unsaved(_))).map(PartialCpu::cpu).collect();
        if partial.iter().any(|one| !one.is_told()) {
            let is_whole = |cpu: &CpuId| !partial.iter().any(|one| one.cpu() == *cpu && !one.is_told());
            let cpus = coverage.cpus.take().unwrap_or_else(|| buffer.cpus.iter().map(|data| data.cpu).collect());
            coverage.cpus = Some(cpus.into_iter().filter(is_whole).collect());
        }
        Ok((coverage, partial))
    }

    /// The window that was chosen.
    pub fn chosen_window(&self) -> super::Window {
        self.window
    }
}
