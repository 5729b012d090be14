//! `rtrace why`: the interval that its arguments ask for, taken apart.

use super::args::WhyArgs;
use super::found::{LateInterval, WhyInterval, is_of_tasks};
use super::{interval, json, text};
use crate::cli::analyze::BufferLimits;
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::{QueryEvents, one_buffer};
use rtrace::analysis::Histories;
use rtrace::internal::trace_dat::{Buffer, Cgroups};
use rtrace::recording::Query;

/// The deepest chain of wakers that is followed.
const DEEPEST: usize = 32;

pub(crate) fn run(args: &WhyArgs) -> Result<Exit, Failure> {
    let mut args = args.clone();
    args.complete()?;
    let _pager = args.pager.start();
    let args = &args;
    args.file.answer(|events, out| {
        let found = take_apart(args, events)?;
        match args.json {
            true => out.write_all(json::text(&found, args.top).as_bytes())?,
            false => text::write(&found, args.lines(), out)?,
        }
        Ok(if found.is_certain() { Exit::Success } else { Exit::Incomplete })
    })
}

/// Finds the interval that the arguments ask for, and takes it apart.
pub(super) fn take_apart<'e>(args: &WhyArgs, events: &'e QueryEvents<'_>) -> Result<LateInterval<'e>, Failure> {
    let (query, buffer) = one_buffer(args.buffer.as_deref(), events)?;
    let source = query.sources().iter().next();
    let limits = source.map(|source| BufferLimits::of(&query, &events.inputs[0], source)).transpose()?;
    let limits = limits.unwrap_or_default();
    let cgroups = source.and_then(|source| events.inputs[0].trace.cgroups(&source.time));
    let named = |failure| limits.sentences(is_of_tasks).into_iter().fold(failure, Failure::hint);
    let interval = interval::find(args, events, &query, &limits.coverage).map_err(named)?;
    explain(args, events, (&query, limits, cgroups), buffer, interval)
}

fn explain<'e>(
    args: &WhyArgs,
    events: &'e QueryEvents<'_>,
    (query, limits, cgroups): (&Query<'_>, BufferLimits, Option<Cgroups>),
    buffer: &'e Buffer,
    interval: WhyInterval,
) -> Result<LateInterval<'e>, Failure> {
    let input = &events.inputs[0];
    let formats: Vec<_> = input.formats().collect();
    let ends = (interval.begin, interval.end);
    let (history, _) = query.analyse(Histories::new(formats, input.trace.abi, ends).covering(&limits.coverage))?;
    let unit = events.unit_of(query);
    Ok(LateInterval { input, buffer, unit, interval, history, depth: args.depth.min(DEEPEST), limits, cgroups })
}
