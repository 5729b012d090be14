//! A query of the files to report, and what can be done with it.

use super::input::Input;
use super::{Args, select};
use crate::cli::exit::Failure;
use rtrace::analysis::Analysis;
use rtrace::export::Exporter;
use rtrace::recording::{Query, Source};
use rtrace::trace_dat::TimeOptions;
use std::io::Write;

/// The output for the files.
pub(super) struct Run<'a> {
    pub(super) args: &'a Args,
    pub(super) inputs: &'a [Input],
    pub(super) query: Query<'a>,
}

/// A query for all events of the wanted CPUs.
pub(super) fn query<'a>(args: &Args, inputs: &'a [Input]) -> Query<'a> {
    let query = Query::of(inputs.iter().map(|input| &input.recording));
    let query = query.time(&time_options(args)).threads(args.threads());
    match &args.cpu {
        Some(cpus) => query.cpus(cpus.clone()),
        None => query,
    }
}

pub(super) fn time_options(args: &Args) -> TimeOptions {
    TimeOptions { raw: args.raw_ts, date: !args.nodate, offset: args.ts_offset, frequency: args.ts2secs }
}

/// The source with its time stamps moved.
pub(super) fn shifted(source: &Source, by: i64) -> Source {
    let offset = source.time.offset.wrapping_add(by);
    Source { time: TimeOptions { offset, ..source.time }, ..source.clone() }
}

impl Run<'_> {
    /// Feeds the events to `analysis`; gives what it found.
    pub(super) fn analyse<A: Analysis>(&self, analysis: A) -> Result<A::Finding, Failure> {
        let analysed = self.query.analyse(analysis);
        analysed.map(|done| done.0).map_err(|error| select::failure(error, self.inputs))
    }

    /// Writes the events with `exporter`; gives its last state.
    pub(super) fn export<E: Exporter>(&self, exporter: &E, out: &mut (impl Write + Send)) -> Result<E::State, Failure> {
        let exported = self.query.export(exporter, out);
        exported.map(|done| done.0).map_err(|error| select::export_failure(error, self.inputs))
    }
}
