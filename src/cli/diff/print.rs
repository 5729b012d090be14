//! A comparison, made and printed.

use super::args::{CompareArgs, FailOn};
use super::report::Report;
use super::{args, json, markdown, text};
use crate::cli::exit::{Exit, Failure};
use crate::cli::terminal::{Color, Painted, table_width};
use anyhow::anyhow;
use rtrace::internal::comparison::{SavedRuns, compare};
use std::io::Write;

/// Compares.
pub(in crate::cli) fn report<'a>(
    base: &'a SavedRuns,
    new: &'a SavedRuns,
    args: &'a CompareArgs,
    fail_on: FailOn,
) -> Result<Report<'a>, Failure> {
    let (metrics, left_out) = args::chosen(&args.metrics(), base, new)?;
    if metrics.is_empty() {
        let error = anyhow!("there is nothing to compare: neither side has enough of any event");
        return Err(Failure::new(Exit::Incomplete, error).hint("Name a metric: `--metric 'mean(wait())'`."));
    }
    let options = args.options();
    let comparison = compare(base, new, &metrics, args.adjust_for(), &options);
    let adjust_for = args.adjust_for();
    Ok(Report { base, new, metrics, adjust_for, options, comparison, fail_on, left_out })
}

/// Prints, and gives the exit code.
pub(in crate::cli) fn print(report: &Report<'_>, args: &CompareArgs) -> Result<Exit, Failure> {
    let _pager = args.pager.start();
    let mut out = Painted::default();
    match (args.json, args.markdown) {
        (true, _) => writeln!(out, "{:#}", json::document(report))?,
        (_, true) => markdown::write(report, &mut out)?,
        _ => text::write(report, table_width(args.wide), &mut out)?,
    }
    // Of a document no word has a colour, and none of it is changed.
    out.print(if args.json || args.markdown { Color::Never } else { args.color })?;
    match report.exit() {
        Exit::Incomplete if args.allow_indeterminate => Ok(Exit::Success),
        exit => Ok(exit),
    }
}
