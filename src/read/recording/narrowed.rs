//! The coverage of a copy that has the selected events alone.

use super::Selection;
use crate::base::units::{CpuId, Pid};
use crate::file::trace_dat::{Buffer, Coverage, CoveredTasks, Trace};
use crate::kernel::events::EventName;
use crate::kernel::format::EventFormat;

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
