//! A comparison as Markdown, for a pull request.

use super::numbers::{percent, word};
use super::report::Report;
use super::text::table;
use rtrace::internal::answers::markdown_text;
use rtrace::internal::comparison::ChangeVerdict;
use std::io::{self, Write};

pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let counts = [ChangeVerdict::Worse, ChangeVerdict::Better, ChangeVerdict::Same, ChangeVerdict::Indeterminate]
        .map(|verdict| format!("{} {}", report.count(verdict), word(verdict)));
    writeln!(out, "### rtrace diff: {}\n", counts.join(", "))?;
    let is_worse = |cell: &str| cell == word(ChangeVerdict::Worse);
    table(report).markdown(is_worse).iter().try_for_each(|line| writeln!(out, "{line}"))?;
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
