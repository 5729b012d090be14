//! A comparison, made and printed.
//! `--json`: the outcome, and all that repeats it.
//! A comparison as Markdown, for a pull request.

use super::args;
use super::args::{CompareArgs, FailOn};
use super::report::{Report, percent, text_table, word, write_text};
use crate::cli::exit::{Exit, Failure};
use crate::cli::terminal::{Color, Painted, table_width};
use anyhow::anyhow;
use rtrace::internal::answers::markdown_text;
use rtrace::internal::comparison::{ChangeVerdict, SavedRun, SavedRuns, compare};
use serde_json::{Value, json};
use std::io::{self, Write};

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
        (true, _) => writeln!(out, "{:#}", json_document(report))?,
        (_, true) => write_markdown(report, &mut out)?,
        _ => write_text(report, table_width(args.wide), &mut out)?,
    }
    // Of a document no word has a colour, and none of it is changed.
    out.print(if args.json || args.markdown { Color::Never } else { args.color })?;
    match report.exit() {
        Exit::Incomplete if args.allow_indeterminate => Ok(Exit::Success),
        exit => Ok(exit),
    }
}

fn json_document(report: &Report<'_>) -> Value {
    json!({
        "schema": "rtrace.diff",
        "version": 1,
        "rtrace": env!("CARGO_PKG_VERSION"),
        "verdict": word(report.verdict()),
        "fail_on": report.fail_on.name(),
        "options": report.options,
        "adjust_for": report.adjust_for.map(|metric| metric.text.as_str()),
        "base": side(report.base),
        "new": side(report.new),
        "comparability": report.comparison.comparability,
        "set_aside": report.comparison.set_aside,
        "metrics": report.comparison.metrics,
        "left_out": report.left_out,
    })
}

fn side(summary: &SavedRuns) -> Vec<Value> {
    summary.runs.iter().map(run).collect()
}

/// Facts of a run without its series.
fn run(run: &SavedRun) -> Value {
    json!({
        "file": run.file,
        "sha256": run.sha256,
        "system": run.system,
        "buffer": run.buffer,
        "clock": run.clock,
        "cpus": run.cpus,
        "enabled": run.enabled,
        "options": run.options,
        "duration": run.duration,
        "events": run.events,
        "lost": run.lost,
        "gaps": run.gaps,
        "dropped": run.dropped,
        "damaged": run.damaged,
        "cells": run.cells,
    })
}

fn write_markdown(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let counts = [ChangeVerdict::Worse, ChangeVerdict::Better, ChangeVerdict::Same, ChangeVerdict::Indeterminate]
        .map(|verdict| format!("{} {}", report.count(verdict), word(verdict)));
    writeln!(out, "### rtrace diff: {}\n", counts.join(", "))?;
    let is_worse = |cell: &str| cell == word(ChangeVerdict::Worse);
    text_table(report).markdown(is_worse).iter().try_for_each(|line| writeln!(out, "{line}"))?;
    let comparability = &report.comparison.comparability;
    let (base, new) = (report.base.runs.len(), report.new.runs.len());
    let runs = |count: usize| if count == 1 { "1 run".to_owned() } else { format!("{count} runs") };
    writeln!(
        out,
        "\nBase: {}, new: {}; comparability {} %; least effect {}, confidence {} %, seed {}.",
        runs(base),
        runs(new),
        comparability.score,
        percent(report.options.min_effect).trim_start_matches('+'),
        report.options.confidence * 100.0,
        report.options.seed
    )?;
    if let Some(metric) = report.adjust_for {
        writeln!(
            out,
            "Values of all other metrics are as if {} were the same in all runs.",
            markdown_text(&metric.text)
        )?;
    }
    let differing = comparability.aspects.iter().filter(|aspect| !aspect.agrees);
    let notes = differing.map(|aspect| format!("{}: {} | {}{}", aspect.name, aspect.base, aspect.new, aspect.why()));
    let aside = report.comparison.set_aside.iter();
    let aside = aside.map(|one| format!("set aside: {} ({}): {}", one.file, one.side, one.reason));
    let reasons = report.comparison.metrics.iter();
    let reasons = reasons.flat_map(|one| one.reasons.iter().map(move |reason| format!("{}: {reason}", one.metric)));
    let notes: Vec<String> = notes.chain(aside).chain(reasons).collect();
    if !notes.is_empty() {
        writeln!(out, "\n<details><summary>Notes</summary>\n")?;
        for note in notes {
            writeln!(out, "- {}", markdown_text(&note))?;
        }
        writeln!(out, "\n</details>")?;
    }
    Ok(())
}
