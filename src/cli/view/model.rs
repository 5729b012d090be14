//! The picture of a window: pure data, nothing of a terminal.

use super::chosen_events::ChosenEvents;
use super::pyramid::{ModelStrip, longest};
use super::pyramid::{Pyramid, PyramidView};
use super::source::{AT_ONCE, ViewSource};
use rtrace::analysis::{Sched, SpanPlan, StripCell, StripScale, TaskSpan, TimeIn};
use rtrace::recording::QueryError;
use rtrace::units::Pid;
use std::collections::HashSet;
use std::sync::Arc;

/// The picture of a window.
pub(super) struct Model {
    pub(super) scale: StripScale,
    /// One of each CPU of the source, in its order.
    pub(super) strips: Vec<ModelStrip>,
    /// The events that pass the filter, if there is one.
    pub(super) matches: Option<ModelStrip>,
    pub(super) pins: Vec<PinStrip>,
    pub(super) quality: Quality,
}

/// The degree to which a picture is of the events themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quality {
    /// All numbers are exact.
    Exact,
    /// So many hundredths of the columns are decoded, the others are the index's; the window's ends are rounded to columns of
    /// the whole recording.
    Decoded(usize),
    /// Numbers are estimates of the file's index.
    Index,
}

/// The states of a task.
pub(super) struct PinStrip {
    pub(super) pid: Pid,
    /// In the columns: the state that takes most of it.
    pub(super) states: Vec<TimeIn>,
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
            let top = longest(strip.tasks.iter().copied());
            ModelStrip { top, has_tasks: cpu.tells_tasks && strip.switches > 0, cells: strip.cells }
        });
        Ok(Model { scale, strips: strips.collect(), matches: None, pins: Vec::new(), quality: Quality::Exact })
    }

    /// The picture that the file's index gives.
    pub(super) fn estimate(source: &ViewSource<'_>, scale: StripScale) -> Self {
        let strip = |cells| ModelStrip { cells, top: None, has_tasks: false };
        let strips = source.cpus.iter().map(|cpu| strip(source.overview.strip(cpu.source, cpu.cpu, &scale)));
        Model { scale, strips: strips.collect(), matches: None, pins: Vec::new(), quality: Quality::Index }
    }

    /// The picture of what is decoded so far, and where nothing is, of the index.
    pub(super) fn of_pyramid(source: &ViewSource<'_>, scale: StripScale, pyramid: &Pyramid) -> Self {
        let PyramidView { mut strips, decoded } = pyramid.view(source, &scale);
        let is_all = decoded.iter().all(|decoded| *decoded);
        for (cpu, strip) in source.cpus.iter().zip(&mut strips).filter(|_| !is_all) {
            let index = source.overview.strip(cpu.source, cpu.cpu, &scale);
            for (number, cell) in strip.cells.iter_mut().enumerate().filter(|(number, _)| !decoded[*number]) {
                *cell = StripCell { known: 0, busy: 0, ..index[number] };
            }
        }
        let percent = decoded.iter().filter(|decoded| **decoded).count() * 100 / decoded.len();
        let is_whole = (scale.from(), scale.to()) == (source.begin, source.end);
        let quality = if is_whole && percent == 100 { Quality::Exact } else { Quality::Decoded(percent) };
        Model { scale, strips, matches: None, pins: Vec::new(), quality }
    }

    /// Adds matches and states.
    pub(super) fn add_all(
        &mut self,
        source: &ViewSource<'_>,
        filter: Option<&ChosenEvents>,
        pins: &[Pid],
    ) -> Result<(), QueryError> {
        if let Some(filter) = filter {
            self.add_matches(source, filter)?;
        }
        self.add_pins(source, pins)
    }

    /// Adds where the events are that pass the filter, as far as they are found.
    pub(super) fn add_found(&mut self, source: &ViewSource<'_>, matches: &Pyramid) {
        let mut cells = vec![StripCell::default(); self.scale.columns()];
        for strip in matches.view(source, &self.scale).strips {
            cells.iter_mut().zip(&strip.cells).for_each(|(sum, cell)| sum.add(cell));
        }
        self.matches = Some(ModelStrip { cells, top: None, has_tasks: false });
    }

    /// Adds where the events are that pass the filter.
    pub(super) fn add_matches(&mut self, source: &ViewSource<'_>, filter: &ChosenEvents) -> Result<(), QueryError> {
        let mut cells = vec![StripCell::default(); self.scale.columns()];
        for strip in source.strips(self.scale, Some(filter))? {
            cells.iter_mut().zip(&strip.cells).for_each(|(sum, cell)| sum.add(cell));
        }
        self.matches = Some(ModelStrip { cells, top: None, has_tasks: false });
        Ok(())
    }

    /// Adds the states of some tasks. Events before and after the window are read too, for states that begin or end there.
    fn add_pins(&mut self, source: &ViewSource<'_>, pids: &[Pid]) -> Result<(), QueryError> {
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
                let spans: Vec<TaskSpan> = tasks.flat_map(|task| task.spans.iter()).collect();
                PinStrip { pid: *pid, states: states(&self.scale, &spans) }
            })
            .collect();
        Ok(())
    }
}

/// The state that takes most of each column; unknown where no state is known.
fn states(scale: &StripScale, spans: &[TaskSpan]) -> Vec<TimeIn> {
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
