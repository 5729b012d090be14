//! `rtrace why`: the interval that its arguments ask for, taken apart.
//! The tree of one interval, for another screen than `why`'s own text.

use super::args::WhyArgs;
use super::found::{LateInterval, WhyInterval, is_of_tasks};
use super::{interval, json, text};
use crate::cli::analyze::{BufferLimits, FileArgs};
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::{ClockUnit, QueryEvents, QueryInput, QueryMoment, one_buffer};
use crate::cli::terminal::PagerArgs;
use rtrace::analysis::Histories;
use rtrace::internal::trace_dat::{Buffer, Cgroups};
use rtrace::recording::Query;
use rtrace::units::{CpuId, Pid};
use std::num::NonZeroUsize;

/// The deepest chain of wakers that is followed.
const DEEPEST: usize = 32;

pub(crate) fn run(args: &WhyArgs) -> Result<Exit, Failure> {
    let mut args = args.clone();
    args.complete()?;
    let _pager = args.pager.start();
    let args = &args;
    args.file.answer(|events, out| {
        let asked = WhyQuestion::of(args, events)?;
        let mut exit = Exit::Success;
        for (place, interval) in asked.intervals.iter().enumerate() {
            let found = asked.take_apart(interval)?;
            match args.json {
                true => out.write_all(json::text(&found, args.top).as_bytes())?,
                false if args.intervals.get() == 1 => text::write(&found, args.lines(), out)?,
                false => {
                    write!(out, "{}{}. ", if place > 0 { "\n" } else { "" }, place + 1)?;
                    text::write(&found, args.lines(), out)?;
                }
            }
            if !found.is_certain() {
                exit = Exit::Incomplete;
            }
        }
        if asked.intervals.len() < args.intervals.get() && !args.json {
            writeln!(out, "\nThere are no more.")?;
        }
        Ok(exit)
    })
}

/// What is asked of a recording's events: intervals, not taken apart yet.
struct WhyQuestion<'e> {
    input: &'e QueryInput,
    buffer: &'e Buffer,
    unit: ClockUnit,
    query: Query<'e>,
    limits: BufferLimits,
    cgroups: Option<Cgroups>,
    depth: usize,
    /// The longest first; at least one.
    intervals: Vec<WhyInterval>,
}

impl<'e> WhyQuestion<'e> {
    /// Finds the intervals that the arguments ask for.
    fn of(args: &WhyArgs, events: &'e QueryEvents<'_>) -> Result<Self, Failure> {
        let (query, buffer) = one_buffer(args.buffer.as_deref(), events)?;
        let (source, input) = (query.sources().iter().next(), &events.inputs[0]);
        let limits = source.map(|source| BufferLimits::of(&query, input, source)).transpose()?;
        let limits = limits.unwrap_or_default();
        let cgroups = source.and_then(|source| input.trace.cgroups(&source.time));
        let named = |failure| limits.sentences(is_of_tasks).into_iter().fold(failure, Failure::hint);
        let intervals = interval::find(args, events, &query, &limits.coverage).map_err(named)?;
        let unit = events.unit_of(&query);
        Ok(WhyQuestion { input, buffer, unit, query, limits, cgroups, depth: args.depth.min(DEEPEST), intervals })
    }

    /// The longest one.
    fn longest(&self) -> &WhyInterval {
        &self.intervals[0]
    }

    /// Takes one of the intervals apart.
    fn take_apart(&self, interval: &WhyInterval) -> Result<LateInterval<'_>, Failure> {
        let formats: Vec<_> = self.input.formats().collect();
        let ends = (interval.begin, interval.end);
        let abi = self.input.trace.abi;
        let mut histories = Histories::new(formats.iter().copied(), abi, ends);
        if let Some(cgroups) = self.cgroups.as_ref().filter(|cgroups| !cgroups.quotas().is_empty()) {
            let address = |name: &str| self.input.symbols.kallsyms.address_of(name);
            histories = histories.with_quotas(formats, abi, cgroups.clone(), address);
        }
        let histories = histories.covering(&self.limits.coverage);
        let (history, _) = self.query.analyse(histories)?;
        let &WhyQuestion { input, buffer, unit, depth, .. } = self;
        let (limits, cgroups, interval) = (&self.limits, self.cgroups.as_ref(), interval.clone());
        Ok(LateInterval { input, buffer, unit, interval, history, depth, limits, cgroups })
    }
}

/// An interval of a task, taken apart.
pub(crate) struct WhyTree {
    /// The interval.
    pub(crate) title: String,
    /// Notes, then the tree: each line with the moment and the CPU that it leads to.
    pub(crate) lines: Vec<(String, Option<(u64, CpuId)>)>,
}

impl WhyTree {
    /// Of the interval of the task around `at`, in the buffer of this name.
    pub(crate) fn around(events: &QueryEvents<'_>, buffer: &str, pid: Pid, at: u64) -> Result<Self, Failure> {
        let args = WhyArgs {
            task: pid.0.to_string(),
            file: FileArgs::default(),
            at: Some(QueryMoment::at(at)),
            worst: None,
            intervals: NonZeroUsize::MIN,
            call: Vec::new(),
            pair: None,
            depth: 3,
            top: None,
            buffer: Some(buffer.to_owned()),
            json: false,
            pager: PagerArgs::default(),
        };
        let asked = WhyQuestion::of(&args, events)?;
        let found = asked.take_apart(asked.longest())?;
        let notes = found.notes().into_iter().map(|note| (format!("Note: {note}"), None));
        Ok(WhyTree { title: found.headline(), lines: notes.chain(text::table(&found, args.lines())).collect() })
    }
}
