//! The buffers of all files in their order, and the streams of their CPUs.

use super::Args;
use super::input::Input;
use super::select::Selection;
use super::source::Source;
use super::window::Window;
use crate::cli::exit::Failure;
use anyhow::anyhow;
use rtrace::merge::Merge;
use rtrace::trace_dat::{CpuStream, OptionId, TimeOptions};
use rtrace::units::Timestamp;
use std::borrow::Borrow;

/// All sources in the order that decides between equal time stamps: the top buffers of all files, then the rest.
pub(super) fn sources(args: &Args, inputs: &[Input]) -> Vec<Source> {
    let mut sources = Vec::new();
    for (file, input) in inputs.iter().enumerate() {
        for (number, buffer) in input.trace.buffers.iter().enumerate() {
            let wanted = |cpu: u32| args.cpu.as_ref().is_none_or(|list| list.contains(cpu));
            let cpus = buffer.cpus.iter().enumerate().filter(|(_, c)| wanted(c.cpu.0)).map(|(i, _)| i).collect();
            let in_ticks = args.raw_ts || (args.ts2secs.is_none() && !counts_nanoseconds(input, &buffer.clock));
            sources.push(Source { file, buffer: number, cpus, in_ticks, time: time_options(args) });
        }
    }
    sources.sort_by_key(|s| (!inputs[s.file].trace.buffers[s.buffer].name.is_empty(), s.file));
    sources
}

fn counts_nanoseconds(input: &Input, clock: &str) -> bool {
    matches!(clock, "" | "local" | "global" | "uptime" | "perf" | "tai" | "boot" | "tsc2nsec")
        || clock.starts_with("mono")
        || input.trace.option(OptionId::TSC2NSEC).is_some()
}

pub(super) fn time_options(args: &Args) -> TimeOptions {
    TimeOptions { raw: args.raw_ts, date: !args.nodate, offset: args.ts_offset, frequency: args.ts2secs }
}

/// The records of all sources, of the chunks only that the window needs; those that the selection drops by their event
/// alone may be missing.
pub(super) fn merge(
    inputs: &[Input],
    sources: &[Source],
    window: &Window,
    selection: &Selection<'_>,
) -> Result<Merge, Failure> {
    let mut merge = Merge::default();
    for (stream, source) in streams(inputs, sources, window, selection)? {
        merge.add(stream, source);
    }
    Ok(merge)
}

/// The streams that are merged for it, each with the number of its source.
pub(super) fn streams<S: Borrow<Source>>(
    inputs: &[Input],
    sources: &[S],
    window: &Window,
    selection: &Selection<'_>,
) -> Result<Vec<(CpuStream, usize)>, Failure> {
    let mut streams = Vec::new();
    let sieves: Vec<_> = (0..inputs.len()).map(|file| selection.sieve(file)).collect();
    for (number, source) in sources.iter().enumerate() {
        let source: &Source = source.borrow();
        let trace = &inputs[source.file].trace;
        let buffer = &trace.buffers[source.buffer];
        for &cpu in &source.cpus {
            let stream = if *window == Window::default() {
                trace.stream(buffer, cpu, &source.time)
            } else {
                let range =
                    trace.seek(buffer, cpu, &source.time).map_err(|e| anyhow!(e))?.range(window.since, window.until);
                trace.stream_of_chunks(buffer, cpu, &source.time, range)
            };
            let mut stream = stream.map_err(|e| anyhow!(e))?;
            if let Some(tasks) = selection.tasks(source.file) {
                stream.skip_over(trace.without_tasks(buffer, cpu, &tasks));
            }
            stream.sift(sieves[source.file].clone());
            streams.push((stream, number));
        }
    }
    Ok(streams)
}

/// A time from which on no CPU has more than about `bytes` of stored data; `None` if that is all there is.
pub(super) fn time_near_end(inputs: &[Input], sources: &[Source], bytes: u64) -> Result<Option<Timestamp>, Failure> {
    let mut latest = None;
    for source in sources {
        let trace = &inputs[source.file].trace;
        let buffer = &trace.buffers[source.buffer];
        for &cpu in &source.cpus {
            latest = latest.max(trace.seek(buffer, cpu, &source.time).map_err(|e| anyhow!(e))?.time_near_end(bytes));
        }
    }
    Ok(latest)
}
