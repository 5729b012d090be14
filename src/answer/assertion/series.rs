//! Quantities over time: the durations, counts and times of each cell of the window.

use super::ast::{DurationSource, Quantity};
use super::conditions::{Conditions, Names};
use super::measure::{Finding, Measure};
use super::metric::{LABEL, Metric};
use super::plan::{Named, Need, Planner};
use super::quantity::{many, tasks};
use crate::answer::analysis::{CellPlan, Cells, Extent, Missing, Several};
use crate::base::abi::Abi;
use crate::base::syntax::Diagnostic;
use crate::file::trace_dat::Coverage;
use crate::kernel::format::EventFormat;
use crate::kernel::symbols::Comms;

/// Quantities of a recording that are measured over time.
pub struct Measurements<'a> {
    quantities: Vec<(Quantity, Need)>,
    measures: Vec<Measure<'a>>,
    plan: CellPlan,
}

/// The series of a quantity.
#[derive(Clone, Debug)]
pub struct FoundSeries {
    /// Durations, events or times by cell.
    pub cells: Cells,
    /// Durations of which one end is missing although nothing was lost.
    pub missing: Missing,
    /// Durations, until there, of those that go on at the window's end.
    pub going_on: Vec<u64>,
}

impl<'a> Measurements<'a> {
    /// Of the quantities of `metrics`, in a recording with these formats; `comms` has the names of its tasks, `names` all others.
    ///
    /// # Errors
    /// A filter or a key that does not fit the fields of its events, a system call that its architecture does not have.
    pub fn new(
        metrics: &[Metric],
        formats: &[&EventFormat],
        abi: Abi,
        comms: &'a Comms,
        plan: CellPlan,
        names: &dyn Names,
    ) -> Result<Self, Diagnostic> {
        let mut planner = Planner::new(formats, abi, comms, Some(plan)).with_names(names);
        let mut quantities: Vec<(Quantity, Need)> = Vec::new();
        for metric in metrics {
            for quantity in metric.expr.quantities() {
                let known = quantities.iter().any(|(one, _)| one.series() == quantity.value.series());
                if quantity.value.series().is_some() && !known {
                    let need = planner.need(quantity, Named { label: LABEL, text: &metric.text }, u64::MAX)?;
                    quantities.push((quantity.value.clone(), need));
                }
            }
        }
        Ok(Measurements { quantities, measures: planner.measures, plan })
    }

    /// The analysis of a buffer that [`Measurements::series`] needs the finding of.
    pub fn measures(&self, coverage: &Coverage) -> Several<Measure<'a>> {
        Several(self.measures.iter().map(|measure| measure.clone().covering(coverage)).collect())
    }

    /// Each series by its name, or why there is none.
    pub fn series(
        &self,
        findings: &[Finding],
        extent: &Extent,
        conditions: &Conditions<'_>,
    ) -> Vec<(String, Result<FoundSeries, String>)> {
        let series = |(quantity, need): &(Quantity, Need)| {
            let found = match (&need.missing, need.measure.and_then(|measure| findings.get(measure))) {
                (Some(missing), _) => Err(missing.clone()),
                (None, Some(finding)) => {
                    let (seen, found) = found(quantity, finding, self.plan, conditions.names)?;
                    let unseen = need.unseen(extent, conditions).filter(|_| !seen);
                    let names = conditions.names;
                    let absent = || quantity.absent(finding, names).or_else(|| quantity.nameless(finding, names));
                    match unseen.or_else(absent) {
                        Some(why) => Err(why),
                        None => found,
                    }
                }
                (None, None) => return None,
            };
            Some((quantity.series()?, found))
        };
        self.quantities.iter().filter_map(series).collect()
    }

    /// The series of another quantity by the same findings, such as one of the system calls among all.
    pub fn another(
        &self,
        source: DurationSource,
        findings: &[Finding],
        names: &dyn Names,
    ) -> Option<(String, FoundSeries)> {
        let quantity = Quantity::Reduced(super::ast::Reducer::Mean, source);
        let found = findings.iter().find_map(|finding| found(&quantity, finding, self.plan, names)?.1.ok());
        Some((quantity.series()?, found?))
    }
}

/// True if such events were seen at all, and the series; `None` if the finding is of something else.
fn found(
    quantity: &Quantity,
    finding: &Finding,
    plan: CellPlan,
    names: &dyn Names,
) -> Option<(bool, Result<FoundSeries, String>)> {
    let mut cells = Cells::new(plan);
    let (mut missing, mut going_on) = (Missing::default(), Vec::new());
    let seen = match (quantity, finding) {
        (Quantity::Count(_) | Quantity::Rate(_), Finding::Count(counts)) => {
            counts.cells.iter().for_each(|found| cells.merge(found));
            counts.count > 0
        }
        (Quantity::Busy, Finding::Sched(report)) => {
            report.cpus.iter().filter_map(|cpu| cpu.busy_cells.as_ref()).for_each(|found| cells.merge(found));
            report.counts.switches > 0
        }
        (Quantity::Run(task), Finding::Sched(report)) => {
            tasks(report, task, names).filter_map(|task| task.run_cells.as_ref()).for_each(|found| cells.merge(found));
            report.counts.switches > 0
        }
        (Quantity::Errors(source), finding) if is_of(source, finding) => {
            let many = many(source, finding, names);
            many.failures.cells().into_iter().for_each(|found| cells.merge_counts(found));
            many.seen
        }
        (Quantity::Reduced(_, DurationSource::Wait(_)), Finding::Sched(report)) if !report.has_wakeups => {
            return Some((
                true,
                Err("neither sched_waking nor sched_wakeup was recorded: `rtrace record --for sched` does".to_owned()),
            ));
        }
        (Quantity::Reduced(_, source), finding) if is_of(source, finding) => {
            let many = many(source, finding, names);
            many.durations.cells().into_iter().for_each(|found| cells.merge(found));
            (missing, going_on) = (many.missing, many.going_on);
            many.seen
        }
        _ => return None,
    };
    Some((seen, Ok(FoundSeries { cells, missing, going_on })))
}

fn is_of(source: &DurationSource, finding: &Finding) -> bool {
    matches!(
        (source.parts().0, finding),
        (DurationSource::Latency(_), Finding::Pairs(_))
            | (DurationSource::Wait(_) | DurationSource::Preempted(_), Finding::Sched(_))
            | (DurationSource::Syscall(_), Finding::Syscalls(_))
            | (DurationSource::Irq(_), Finding::Irqs(_))
            | (DurationSource::Io(_), Finding::Io(_))
    )
}
