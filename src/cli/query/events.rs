//! The events of a query, and what can be done with them.
//! A command's answer about the events of one recording.

use super::select::{export_failure, failure};
use super::window::{tell_of_step, unknown_wall_clock};
use super::{ClockUnit, QueryInput, WallArgs, WindowArgs};
use crate::cli::damage::DamageReport;
use crate::cli::exit::{Exit, Failure};
use crate::cli::terminal::stdout;
use crate::cli::trace_file::threads_for;
use anyhow::anyhow;
use rtrace::analysis::Analysis;
use rtrace::export::{Exporter, Pseudonyms};
use rtrace::internal::trace_dat::{Buffer, WallClock};
use rtrace::recording::{BufferSource, Notice, Outcome, Query};
use std::hash::RandomState;
use std::io::{BufWriter, Write};
use std::num::NonZero;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The events that are asked for.
#[derive(Clone)]
pub(crate) struct QueryEvents<'a> {
    pub(crate) inputs: &'a [QueryInput],
    pub(crate) query: Query<'a>,
    /// Number of events handed out so far, to any exporter or analysis.
    pub(crate) shown: Arc<AtomicU64>,
    /// True if times are to be shown by the wall clock.
    pub(crate) wall: bool,
    /// The pseudonyms that replace names and texts (`--redact`).
    pub(crate) pseudonyms: Option<Pseudonyms>,
}

impl<'a> QueryEvents<'a> {
    /// The events of `query` on `inputs`. A mistake in a filter is an error here, before anything is written.
    pub(crate) fn new(inputs: &'a [QueryInput], query: Query<'a>) -> Result<Self, Failure> {
        query.resolve().map_err(|error| failure(error, inputs))?;
        Ok(QueryEvents { inputs, query, shown: Arc::default(), wall: false, pseudonyms: None })
    }

    /// Shows pseudonyms in place of names and texts, if that is wanted: the same in all that is written of these events.
    pub(crate) fn redacted(mut self, redact: bool) -> Self {
        self.pseudonyms = redact.then(|| Pseudonyms::new(RandomState::new()));
        self
    }

    /// Shows times as `args` say.
    ///
    /// # Errors
    /// If they are to be by the wall clock, and a recording does not know it.
    pub(crate) fn by_wall_clock(mut self, args: WallArgs) -> Result<Self, Failure> {
        self.wall = args.is_wanted();
        let unknown = |source: &&BufferSource| source.wall_clock(self.query.recordings()).is_none();
        if self.wall {
            let known = self.query.sources().iter().filter_map(|source| self.wall_clock(source));
            known.for_each(|clock| tell_of_step(&clock));
        }
        match self.query.sources().iter().find(unknown).filter(|_| self.wall) {
            Some(source) => Err(unknown_wall_clock(&self.inputs[source.recording].path.to_string_lossy())),
            None => Ok(self),
        }
    }

    /// The wall clock by times of `source`, if that is what times are to be shown by.
    pub(crate) fn wall_clock(&self, source: &BufferSource) -> Option<WallClock> {
        source.wall_clock(self.query.recordings()).filter(|_| self.wall)
    }

    /// The unit of times of a query of these events: ticks if any source has them.
    pub(crate) fn unit_of(&self, query: &Query<'_>) -> ClockUnit {
        let sources = query.sources();
        let one = sources.iter().find(|source| source.in_ticks).or(sources.first());
        one.map_or(ClockUnit::Nanoseconds, |source| self.unit(source))
    }

    /// The unit of times of `source`.
    pub(crate) fn unit(&self, source: &BufferSource) -> ClockUnit {
        match self.wall_clock(source) {
            Some(clock) => ClockUnit::Wall(clock),
            None => ClockUnit::of(source.in_ticks),
        }
    }

    /// Feeds the events to `analysis`; gives what it found.
    pub(crate) fn analyse<A: Analysis>(&self, analysis: A) -> Result<A::Finding, Failure> {
        self.analysed(analysis).map(|(finding, _)| finding)
    }

    /// The same, and what was handed out and lost.
    pub(crate) fn analysed<A: Analysis>(&self, analysis: A) -> Result<(A::Finding, Outcome), Failure> {
        let analysed = self.query.analyse(analysis);
        let (finding, outcome) = analysed.map_err(|error| failure(error, self.inputs))?;
        self.count(outcome.events);
        Ok((finding, outcome))
    }

    /// Writes the events with `exporter`; gives its last state, and what was handed out and lost.
    pub(crate) fn export<E: Exporter>(
        &self,
        exporter: &E,
        out: &mut (impl Write + Send),
    ) -> Result<(E::State, Outcome), Failure> {
        let done = self.query.export(exporter, out).map_err(|error| export_failure(error, self.inputs))?;
        self.count(done.1.events);
        Ok(done)
    }

    /// Adds to the number of events that were handed out.
    pub(crate) fn count(&self, events: u64) {
        self.shown.fetch_add(events, Ordering::Relaxed);
    }
}

/// Opens the recording at `path` and has `answer` write what it makes of the events within the window. Its exit code counts
/// more than that of damage.
pub(crate) fn answer(
    path: &Path,
    window: &WindowArgs,
    threads_wanted: Option<NonZero<usize>>,
    answer: impl FnOnce(&QueryEvents<'_>, &mut dyn Write) -> Result<Exit, Failure>,
) -> Result<Exit, Failure> {
    let inputs = [QueryInput::open(path, None, false)?];
    let damage = DamageReport::of(path, &inputs[0].trace);
    let notice = |notice: Notice<'_>| damage.notice(|_| path, &notice);
    let query = Query::of([&inputs[0].recording]).threads(threads_for(threads_wanted, [&inputs[0].trace]));
    let query = query.on_notice(&notice);
    let window = window.within(&query, path)?;
    let mut out = BufWriter::new(stdout());
    let mut exit = Exit::Success;
    let done = QueryEvents::new(&inputs, query.window(window)).and_then(|events| answer(&events, &mut out));
    let done = done.and_then(|own| {
        exit = own;
        Ok(out.flush()?)
    });
    damage.late(path, &inputs[0].recording);
    damage.outcome(done).map(|of_damage| if exit == Exit::Success { of_damage } else { exit })
}

/// The events of the one buffer to look at: the one called `wanted`, or the only one that holds events.
pub(crate) fn one_buffer<'e>(
    wanted: Option<&str>,
    events: &QueryEvents<'e>,
) -> Result<(Query<'e>, &'e Buffer), Failure> {
    let trace = &events.inputs[0].trace;
    let all = || trace.buffers.iter();
    let found = match wanted {
        Some(name) => all().find(|buffer| buffer.name == name),
        None => {
            let mut full = Vec::new();
            for buffer in all() {
                if events.query.clone().buffer(&buffer.name).span()?.is_some() {
                    full.push(buffer);
                }
            }
            if let [_, _, ..] = full[..] {
                let names: Vec<String> = full.iter().map(|buffer| format!("`--buffer '{}'`", buffer.name)).collect();
                let error = anyhow!("{} holds events of several buffers", events.inputs[0].path.display());
                return Err(Failure::new(Exit::Usage, error).hint(format!("Choose one: {}.", names.join(", "))));
            }
            full.first().copied().or_else(|| all().next())
        }
    };
    let Some(buffer) = found else {
        let path = events.inputs[0].path.display();
        let names: Vec<String> = all().map(|buffer| format!("`{}`", buffer.name)).filter(|name| name != "``").collect();
        if trace.buffers.is_empty() {
            return Err(anyhow!("{path} has no buffer: it holds no events").into());
        }
        return Err(match wanted.filter(|name| !name.is_empty()) {
            None => Failure::new(Exit::Usage, anyhow!("{path} has no top buffer")),
            Some(name) => Failure::new(Exit::Usage, anyhow!("{path} has no buffer `{name}`")),
        }
        .hint(match names.as_slice() {
            [] => "it has the top buffer alone.".to_owned(),
            names => format!("it has {}; the empty name is the top buffer.", names.join(", ")),
        }));
    };
    Ok((events.query.clone().buffer(&buffer.name), buffer))
}
