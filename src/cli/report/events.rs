//! The events of all files, merged: arguments to a query.

use super::args::{ReportArgs, ReportFormat, ReportLayout, ReportRun};
use super::{kernel, profile, tally, text};
use crate::cli::damage::DamageReport;
use crate::cli::exit::Failure;
use crate::cli::query::{QueryEvents, QueryInput, formats};
use crate::cli::terminal::StandardOutput;
use rtrace::export::Style;
use rtrace::filter::Sign;
use rtrace::recording::{Notice, OutputDependence};
use serde_json::json;
use std::io::{Stdout, Write};
use std::sync::atomic::Ordering;

impl ReportArgs {
    /// The dependence of lines on events that are not shown.
    fn surroundings(&self) -> OutputDependence {
        let ReportLayout { ts_diff, wakeups, boundary, .. } = self.layout;
        match () {
            () if self.format() == ReportFormat::Kernel => OutputDependence::Records,
            () if self.ts_check || ts_diff || wakeups || boundary => OutputDependence::Chunks,
            () => OutputDependence::Needless,
        }
    }
}

/// Prints what is wanted of them.
pub(super) fn print(
    args: &ReportArgs,
    inputs: &[QueryInput],
    damage: &DamageReport,
    out: &mut StandardOutput<Stdout>,
) -> Result<(), Failure> {
    let notice = |notice: Notice<'_>| damage.notice(|recording| &inputs[recording].path, &notice);
    let query = args.events.query(inputs, args.surroundings(), &notice)?;
    let query = query.check_order(args.ts_check).note_pages(args.layout.boundary);
    let events = QueryEvents::new(inputs, query)?.by_wall_clock(args.wall)?.redacted(args.redact);
    let run = ReportRun { args, events };
    write(&run, out)?;
    match run.shown.load(Ordering::Relaxed) {
        _ if args.wording.show_filters => {}
        0 => args.events.tell_of_nothing(inputs)?,
        _ => args.events.tell_of_absent_cpus(inputs),
    }
    Ok(())
}

fn write(run: &ReportRun<'_>, out: &mut StandardOutput<Stdout>) -> Result<(), Failure> {
    let args = run.args;
    if args.wording.show_filters {
        return print_filters(args, out);
    }
    if args.tally.any() {
        return tally::print(run, out);
    }
    if args.profile.profile {
        return profile::print(run, out);
    }
    match args.format() {
        ReportFormat::Text => text::print(run, out),
        ReportFormat::Kernel => kernel::print(run, out),
        ReportFormat::Json if args.syscalls => formats::json_syscalls(run, out).map(drop),
        ReportFormat::Json => formats::json(run, Style::Json, out).map(drop),
        ReportFormat::Raw => formats::json(run, Style::Raw, out).map(drop),
        ReportFormat::Csv => formats::csv(run, &args.fields, out).map(drop),
    }
}

/// `-T`: the filters of `-F` as they were understood, instead of the events.
fn print_filters(args: &ReportArgs, out: &mut impl Write) -> Result<(), Failure> {
    let filters = args.events.report_filters();
    if args.wants_json() {
        let all: Vec<_> = filters
            .iter()
            .map(|(filter, sign)| json!({"filter": filter.text(), "keeps": *sign == Sign::Keep}))
            .collect();
        return Ok(writeln!(out, "{:#}", json!({"schema": "rtrace.filters", "version": 1, "filters": all}))?);
    }
    for (filter, sign) in filters {
        writeln!(out, "{}'{}'", if *sign == Sign::Keep { " " } else { "!" }, filter.text())?;
    }
    Ok(())
}
