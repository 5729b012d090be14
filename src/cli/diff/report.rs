//! A comparison, with all that is printed about it.
//! Numbers of comparisons as text.
//! A comparison as text.

use super::args::FailOn;
use crate::cli::exit::Exit;
use crate::cli::terminal::{Painted, Sequence};
use rtrace::internal::answers::{ALL_COLUMNS, TextTable};
use rtrace::internal::assertion::Metric;
use rtrace::internal::comparison::{ChangeVerdict, CompareOptions, Compared, Comparison, SavedRuns, SetAside};
use rtrace::units::{counted, grouped};
use std::io::{self, Write};
use std::iter;

/// All that is printed about a comparison.
pub(in crate::cli) struct Report<'a> {
    pub(super) base: &'a SavedRuns,
    pub(super) new: &'a SavedRuns,
    pub(super) metrics: Vec<(Metric, bool)>,
    pub(super) adjust_for: Option<&'a Metric>,
    pub(super) options: CompareOptions,
    pub(super) comparison: Comparison,
    pub(super) fail_on: FailOn,
    /// Metrics of the default choice that have too few samples on both sides.
    pub(super) left_out: Vec<String>,
}

impl Report<'_> {
    pub(super) fn count(&self, verdict: ChangeVerdict) -> usize {
        self.comparison.metrics.iter().filter(|one| one.verdict == verdict).count()
    }

    /// The verdict on all together.
    pub(super) fn verdict(&self) -> ChangeVerdict {
        let has = |verdict| self.count(verdict) > 0;
        match (has(ChangeVerdict::Worse), has(ChangeVerdict::Indeterminate), has(ChangeVerdict::Better)) {
            (true, ..) => ChangeVerdict::Worse,
            (_, true, _) => ChangeVerdict::Indeterminate,
            (_, _, true) => ChangeVerdict::Better,
            _ => ChangeVerdict::Same,
        }
    }

    pub(super) fn exit(&self) -> Exit {
        let all = self.comparison.metrics.len();
        let (worse, better, unknown) = (
            self.count(ChangeVerdict::Worse),
            self.count(ChangeVerdict::Better),
            self.count(ChangeVerdict::Indeterminate),
        );
        match self.fail_on {
            FailOn::Worse if worse > 0 => Exit::Unmet,
            FailOn::Change if worse + better > 0 => Exit::Unmet,
            FailOn::Worse | FailOn::Change if unknown > 0 => Exit::Incomplete,
            // Nothing is known at all.
            _ if unknown == all => Exit::Incomplete,
            _ => Exit::Success,
        }
    }
}

/// `+3.2 %`.
pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent.abs() >= 1000.0 { format!("{percent:+.0} %") } else { format!("{percent:+.1} %") }
}

/// `-1.0 % to +7.6 %`.
fn interval(compared: &Compared) -> String {
    compared.interval.map_or("-".to_owned(), |(low, high)| format!("{} to {}", percent(low), percent(high)))
}

/// A value with its unit.
fn value(metric: &Metric, value: Option<f64>) -> String {
    value.map_or("-".to_owned(), |value| metric.shown(value))
}

/// The smallest change that is found: `12.3 %`.
fn finds(compared: &Compared) -> String {
    compared.reach.map_or("-".to_owned(), |reach| percent(reach.finds).trim_start_matches('+').to_owned())
}

/// The runs that it takes to tell, if there were fewer.
fn needs(compared: &Compared) -> String {
    let indeterminate = compared.verdict == ChangeVerdict::Indeterminate;
    let needed = compared.reach.filter(|_| indeterminate).and_then(|reach| reach.runs);
    let had = compared.difference.map_or(0.0, |difference| difference.runs);
    needed.filter(|needed| *needed as f64 > had).map_or("-".to_owned(), grouped)
}

pub(super) fn word(verdict: ChangeVerdict) -> &'static str {
    match verdict {
        ChangeVerdict::Better => "better",
        ChangeVerdict::Worse => "worse",
        ChangeVerdict::Same => "same",
        ChangeVerdict::Indeterminate => "indeterminate",
    }
}

/// `0.031`, `<0.001`.
fn probability(p: Option<f64>) -> String {
    match p {
        None => "-".to_owned(),
        Some(p) if p < 0.001 => "<0.001".to_owned(),
        Some(p) => format!("{p:.3}"),
    }
}

/// Writes it; `width`: characters of a line that the table is to fit in.
pub(super) fn write_text(report: &Report<'_>, width: Option<usize>, out: &mut Painted) -> io::Result<()> {
    writeln!(out, "base: {}", side(report.base))?;
    writeln!(out, "new:  {}", side(report.new))?;
    let comparability = &report.comparison.comparability;
    let word_of = if comparability.possible { "" } else { ": nothing can be compared" };
    writeln!(out, "Comparability {} %{word_of}", comparability.score)?;
    for aspect in comparability.aspects.iter().filter(|aspect| !aspect.agrees) {
        let (name, base, new) = (aspect.name, clipped(&aspect.base), clipped(&aspect.new));
        writeln!(out, "  not the same, or unknown: {name}: {base} | {new}{}", aspect.why())?;
    }
    for SetAside { side, file, reason } in &report.comparison.set_aside {
        writeln!(out, "  set aside: {file} ({side}): {reason}")?;
    }
    writeln!(out)?;
    let mut table = text_table(report);
    let left_out = table.fit(width, ALL_COLUMNS);
    let mut lines = table.lines().into_iter();
    lines.by_ref().take(1).try_for_each(|heading| writeln!(out, "{heading}"))?;
    // The rows, which end with their verdicts unless the table has none.
    let verdicts = report.comparison.metrics.iter().map(|one| Some(one.verdict));
    for (line, verdict) in lines.zip(verdicts.chain(iter::repeat(None))) {
        match verdict.and_then(|verdict| Some((line.strip_suffix(word(verdict))?, verdict))) {
            Some((front, verdict)) => {
                write!(out, "{front}")?;
                colored(verdict, word(verdict), out)?;
                writeln!(out)?;
            }
            None => writeln!(out, "{line}")?,
        }
    }
    left_out.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    writeln!(out)?;
    // A reason that several metrics share is said once.
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for one in &report.comparison.metrics {
        for reason in &one.reasons {
            match reasons.iter_mut().find(|(known, _)| known == reason) {
                Some((_, metrics)) => metrics.push(&one.metric),
                None => reasons.push((reason, vec![&one.metric])),
            }
        }
    }
    for (reason, metrics) in reasons {
        writeln!(out, "{}: {reason}", metrics.join(", "))?;
    }
    writeln!(out, "{}", legend(report))?;
    if let Some(metric) = report.adjust_for {
        writeln!(out, "BASE, NEW and CHANGE of all other metrics are as if {metric} were the same in all runs")?;
    }
    if let Some(first) = report.left_out.first() {
        let metrics = counted(report.left_out.len() as u64, "metric");
        writeln!(
            out,
            "Left out, as both sides have less than 1000 samples: {metrics}, as {first}; `--metric '{first}'` compares it"
        )?;
    }
    let (all, plural) = match report.comparison.metrics.len() {
        1 => (1, ""),
        all => (all, "s"),
    };
    write!(out, "{all} metric{plural}")?;
    let verdicts = [ChangeVerdict::Worse, ChangeVerdict::Better, ChangeVerdict::Same, ChangeVerdict::Indeterminate];
    for (separator, verdict) in [": ", ", ", ", ", ", "].into_iter().zip(verdicts) {
        let count = report.count(verdict);
        let text = format!("{count} {}", word(verdict));
        write!(out, "{separator}")?;
        if count == 0 { write!(out, "{text}")? } else { colored(verdict, &text, out)? }
    }
    writeln!(out)
}

/// Writes a text about a verdict in its colour.
fn colored(verdict: ChangeVerdict, text: &str, out: &mut Painted) -> io::Result<()> {
    let sequence = match verdict {
        ChangeVerdict::Better => Sequence::Good,
        ChangeVerdict::Worse => Sequence::Bad,
        ChangeVerdict::Indeterminate => Sequence::Open,
        ChangeVerdict::Same => return write!(out, "{text}"),
    };
    out.word(sequence, text);
    Ok(())
}

/// A row for each metric.
pub(super) fn text_table(report: &Report<'_>) -> TextTable {
    let heading = ["METRIC", "BASE", "NEW", "CHANGE", "INTERVAL", "P", "FINDS", "NEEDS", "VERDICT"];
    let mut table = TextTable::new(1, heading).minor([0, 0, 0, 0, 1, 4, 3, 2, 0]);
    for ((metric, _), one) in report.metrics.iter().zip(&report.comparison.metrics) {
        table.row([
            one.metric.clone(),
            value(metric, one.base),
            value(metric, one.new),
            one.change.map_or("-".to_owned(), percent),
            interval(one),
            probability(one.p_holm),
            finds(one),
            needs(one),
            word(one.verdict).to_owned(),
        ]);
    }
    table
}

/// The columns that say what to do next.
fn legend(report: &Report<'_>) -> String {
    let (paired, effect) = (report.options.paired, percent(report.options.min_effect));
    let (these, needed) = if paired { ("these pairs find", "pairs") } else { ("these runs find", "runs a side") };
    let effect = effect.trim_start_matches('+');
    format!("FINDS: the smallest change that {these} in 9 of 10; NEEDS: {needed} that tell {effect} from none as often")
}

/// The files of a side.
fn side(summary: &SavedRuns) -> String {
    let files: Vec<&str> = summary.runs.iter().map(|run| run.file.as_str()).collect();
    match files[..] {
        [one] => one.to_owned(),
        [first, .., last] => format!("{first} … {last} ({} runs)", files.len()),
        [] => "nothing".to_owned(),
    }
}

fn clipped(text: &str) -> String {
    match text.char_indices().nth(120) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
