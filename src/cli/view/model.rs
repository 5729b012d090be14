//! The picture of a window: pure data, nothing of a terminal.

use super::source::ViewSource;
use rtrace::analysis::{Sched, SpanPlan, StripCell, StripScale, TaskSpan, TimeIn};
use rtrace::filter::EventFilter;
use rtrace::recording::QueryError;
use rtrace::units::Pid;
use std::collections::HashSet;
use std::sync::Arc;

/// The most events, as estimated, of a window that is decoded while the user waits.
pub(super) const AT_ONCE: u64 = 400_000;

/// The picture of a window.
pub(super) struct Model {
    pub(super) scale: StripScale,
    /// One of each CPU of the source, in its order.
    pub(super) strips: Vec<ModelStrip>,
    /// The events that pass the filter, if there is one.
    pub(super) matches: Option<ModelStrip>,
    pub(super) pins: Vec<PinStrip>,
    /// False if the numbers are estimates of the file's index.
    pub(super) is_exact: bool,
}

/// The columns of a CPU.
pub(super) struct ModelStrip {
    pub(super) cells: Vec<StripCell>,
    /// The task that ran longest there, but for the idle task, and its time.
    pub(super) top: Option<(Pid, u64)>,
    /// True if the running task is known wherever [`StripCell::known`] says so.
    pub(super) has_tasks: bool,
}

/// The states of a task.
pub(super) struct PinStrip {
    pub(super) pid: Pid,
    /// In the columns: the state that takes most of it.
    pub(super) states: Vec<TimeIn>,
}

impl ModelStrip {
    /// All columns together.
    pub(super) fn sum(&self) -> StripCell {
        let mut sum = StripCell::default();
        self.cells.iter().for_each(|cell| sum.add(cell));
        sum
    }
}

impl Model {
    /// All CPUs together.
    pub(super) fn sum(&self) -> StripCell {
        let mut sum = StripCell::default();
        self.strips.iter().for_each(|strip| sum.add(&strip.sum()));
        sum
    }

    /// The picture of the columns of `scale`, of the events themselves.
    pub(super) fn exact(source: &ViewSource<'_>, scale: StripScale) -> Result<Self, QueryError> {
        let mut found = source.strips(scale, None)?;
        let strips = source.cpus.iter().map(|cpu| {
            let place = found.iter().position(|strip| strip.source == cpu.source && strip.cpu == cpu.cpu);
            let Some(strip) = place.map(|place| found.swap_remove(place)) else {
                return ModelStrip { cells: vec![StripCell::default(); scale.columns()], top: None, has_tasks: false };
            };
            let busy = strip.tasks.iter().filter(|(pid, _)| pid.0 != 0);
            let top =
                busy.max_by_key(|(pid, time)| (**time, std::cmp::Reverse(pid.0))).map(|(pid, time)| (*pid, *time));
            ModelStrip { top, has_tasks: cpu.tells_tasks && strip.switches > 0, cells: strip.cells }
        });
        Ok(Model { scale, strips: strips.collect(), matches: None, pins: Vec::new(), is_exact: true })
    }

    /// The picture that the file's index gives.
    pub(super) fn estimate(source: &ViewSource<'_>, scale: StripScale) -> Self {
        let strip = |cells| ModelStrip { cells, top: None, has_tasks: false };
        let strips = source.cpus.iter().map(|cpu| strip(source.overview.strip(cpu.source, cpu.cpu, &scale)));
        Model { scale, strips: strips.collect(), matches: None, pins: Vec::new(), is_exact: false }
    }

    /// Adds where the events are that pass the filter.
    pub(super) fn add_matches(&mut self, source: &ViewSource<'_>, filter: &EventFilter) -> Result<(), QueryError> {
        let mut cells = vec![StripCell::default(); self.scale.columns()];
        for strip in source.strips(self.scale, Some(filter))? {
            cells.iter_mut().zip(&strip.cells).for_each(|(sum, cell)| sum.add(cell));
        }
        self.matches = Some(ModelStrip { cells, top: None, has_tasks: false });
        Ok(())
    }

    /// Adds the states of some tasks. Events before and after the window are read too, for states that begin or end there.
    pub(super) fn add_pins(&mut self, source: &ViewSource<'_>, pids: &[Pid]) -> Result<(), QueryError> {
        if pids.is_empty() {
            return Ok(());
        }
        let (from, to) = (self.scale.from(), self.scale.to());
        let only: HashSet<Pid> = pids.iter().copied().collect();
        let around = source.overview.time_of_events(from, AT_ONCE / 4);
        let buffer = source.sched_buffer();
        let query = source.query(from.saturating_sub(around), to.saturating_add(around), None).buffer(&buffer.name);
        let sched = Sched::new(source.input.formats().collect::<Vec<_>>(), source.input.trace.abi)
            .covering(&source.coverage())
            .with_spans(SpanPlan { from, to, only: Some(Arc::new(only)) });
        let (report, _) = query.analyse(sched)?;
        self.pins = pids
            .iter()
            .map(|pid| {
                let tasks = report.tasks.iter().filter(|task| task.pid == *pid);
                let spans: Vec<&TaskSpan> = tasks.flat_map(|task| &task.spans).collect();
                PinStrip { pid: *pid, states: states(&self.scale, &spans) }
            })
            .collect();
        Ok(())
    }
}

/// The state that takes most of each column; unknown where no state is known.
fn states(scale: &StripScale, spans: &[&TaskSpan]) -> Vec<TimeIn> {
    let mut times = vec![[0u64; TimeIn::ALL.len()]; scale.columns()];
    for span in spans {
        let (begin, end) = (span.begin.max(scale.from()), span.end.min(scale.to().saturating_add(1)));
        let Some(state) = TimeIn::ALL.iter().position(|state| *state == span.state).filter(|_| begin < end) else {
            continue;
        };
        for (column, times) in times.iter_mut().enumerate().take(scale.column(end - 1) + 1).skip(scale.column(begin)) {
            times[state] += scale.edge(column + 1).min(end).saturating_sub(scale.edge(column).max(begin));
        }
    }
    let longest = |times: &[u64; TimeIn::ALL.len()]| {
        let (place, time) = times.iter().enumerate().max_by_key(|(place, time)| (**time, std::cmp::Reverse(*place)))?;
        (*time > 0).then(|| TimeIn::ALL[place])
    };
    times.iter().map(|times| longest(times).unwrap_or(TimeIn::Unknown)).collect()
}
