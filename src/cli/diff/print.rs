//! A comparison, printed.

use super::args::{CompareArgs, FailOn};
use super::report::Report;
use super::{args, json, markdown, text};
use crate::cli::exit::{Exit, Failure};
use crate::cli::terminal::{stdout, table_width};
use anyhow::anyhow;
use rtrace::internal::comparison::{SavedRuns, compare};
use std::io::{BufWriter, Write};

/// Compares, prints, and gives the exit code.
pub(in crate::cli) fn print(
    base: &SavedRuns,
    new: &SavedRuns,
    args: &CompareArgs,
    fail_on: FailOn,
) -> Result<Exit, Failure> {
    let (metrics, left_out) = args::chosen(&args.metrics(), base, new)?;
    if metrics.is_empty() {
        let error = anyhow!("there is nothing to compare: neither side has enough of any event");
        return Err(Failure::new(Exit::Incomplete, error).hint("Name a metric: `--metric 'mean(wait())'`."));
    }
    let options = args.options();
    let comparison = compare(base, new, &metrics, args.adjust_for(), &options);
    let adjust_for = args.adjust_for();
    let width = table_width(args.wide);
    let report = Report { base, new, metrics, adjust_for, options, comparison, fail_on, width, left_out };
    let mut out = BufWriter::new(stdout());
    match (args.json, args.markdown) {
        (true, _) => writeln!(out, "{:#}", json::document(&report))?,
        (_, true) => markdown::write(&report, &mut out)?,
        _ => text::write(&report, &mut out)?,
    }
    out.flush()?;
    match report.exit() {
        Exit::Incomplete if args.allow_indeterminate => Ok(Exit::Success),
        exit => Ok(exit),
    }
}
