//! The coverage of a buffer in a query's window.
//! The coverage of a copy that has the selected events alone.

use super::{BufferSource, Query, Selection};
use crate::base::units::{CpuId, Pid};
use crate::file::trace_dat::{Buffer, Coverage, CoveredTasks, FileError, LossCause, OptionId, Trace, UnsavedEvents};
use crate::kernel::events::EventName;
use crate::kernel::format::EventFormat;

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
        let correction = trace.correction(CpuId(0), &source.time);
        coverage.since.iter_mut().for_each(|(_, time)| *time = correction.apply(*time));
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

impl Selection {
    /// The coverage of a copy of `buffer` that has the selected events on the CPUs for which `on` is true.
    pub fn coverage_of_copy(&self, trace: &Trace, buffer: &Buffer, on: impl Fn(CpuId) -> bool) -> Coverage {
        let mut coverage = trace.coverage(buffer);
        let cpus: Vec<CpuId> = match coverage.cpus.take() {
            Some(covered) => covered,
            None => buffer.cpus.iter().map(|data| data.cpu).collect(),
        };
        let kept: Vec<CpuId> = cpus.iter().copied().filter(|cpu| on(*cpu)).collect();
        let was_limited = trace.coverage(buffer).cpus.is_some();
        coverage.cpus = (was_limited || kept.len() < cpus.len()).then_some(kept);
        for format in trace.formats().filter(|format| format.system != "ftrace") {
            let event = EventName::new(&format.system, &format.name);
            let recorded = coverage.events.as_ref().map(|enabled| enabled.events.iter().any(|(one, _)| *one == event));
            if recorded == Some(false) {
                continue;
            }
            match self.conditions(format) {
                Some(conditions) if conditions.is_empty() => {}
                Some(conditions) => coverage.copied.push((event, Some(conditions.join(" && ")))),
                None => coverage.copied.push((event, None)),
            }
        }
        if !self.pids.is_empty() {
            let was = |pid: &Pid| match &coverage.tasks {
                Some(CoveredTasks::Only { pids, .. }) => pids.contains(pid),
                _ => true,
            };
            let pids = self.pids.iter().copied().filter(was).collect();
            coverage.tasks = Some(CoveredTasks::Only { pids, children: false });
        }
        coverage
    }

    /// The conditions that events of a type meet to be selected, beside that of their task; `None` if none is selected.
    fn conditions(&self, format: &EventFormat) -> Option<Vec<String>> {
        let any = |texts: Vec<String>| match &texts[..] {
            [text] => text.clone(),
            _ => format!("({})", texts.join(" || ")),
        };
        let mut all = Vec::new();
        if !self.filters.is_empty() {
            let named: Vec<_> = self.filters.iter().filter(|filter| filter.names(format)).collect();
            if named.is_empty() {
                return None;
            }
            let texts: Option<Vec<String>> =
                named.iter().map(|filter| filter.filter().map(|filter| filter.text().to_owned())).collect();
            all.extend(texts.map(any));
        }
        if !self.report_filters.is_empty() {
            all.push("report -F".to_owned());
        }
        if !self.comms.is_empty() {
            all.push(any(self.comms.iter().map(|name| format!("COMM ~ \"{name}\"")).collect()));
        }
        if !self.cgroups.is_empty() {
            all.push(any(self.cgroups.iter().map(|path| format!("cgroup ~ \"{path}\"")).collect()));
        }
        if !self.tgids.is_empty() {
            all.push(any(self.tgids.iter().map(|process| format!("process == {process}")).collect()));
        }
        // Events of other tasks tell of a task, too: switches to it, and its wakeups.
        if !self.pids.is_empty() && format.system == "sched" {
            all.push(any(self.pids.iter().map(|pid| format!("common_pid == {pid}")).collect()));
        }
        let contexts = [(self.no_irq, "hard"), (self.no_softirq, "soft")];
        all.extend(contexts.into_iter().filter(|one| one.0).map(|(_, kind)| format!("not in {kind} interrupts")));
        Some(all)
    }
}
