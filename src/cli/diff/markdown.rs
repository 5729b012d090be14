//! A comparison as Markdown, for a pull request.

use super::numbers::{finds, interval, needs, percent, probability, value, word};
use super::report::Report;
use rtrace::internal::comparison::ChangeVerdict;
use std::io::{self, Write};

pub(super) fn write(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let counts = [ChangeVerdict::Worse, ChangeVerdict::Better, ChangeVerdict::Same, ChangeVerdict::Indeterminate]
        .map(|verdict| format!("{} {}", report.count(verdict), word(verdict)));
    writeln!(out, "### rtrace diff: {}\n", counts.join(", "))?;
    writeln!(
        out,
        "| metric | base | new | change | interval | p | finds | needs | verdict |\n|---|--:|--:|--:|--:|--:|--:|--:|---|"
    )?;
    for ((metric, _), one) in report.metrics.iter().zip(&report.comparison.metrics) {
        let verdict = match one.verdict {
            ChangeVerdict::Worse => "**worse**",
            other => word(other),
        };
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {verdict} |",
            cell(&one.metric),
            value(metric, one.base),
            value(metric, one.new),
            one.change.map_or("-".to_owned(), percent),
            interval(one),
            probability(one.p_holm),
            finds(one),
            needs(one),
        )?;
    }
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
        writeln!(out, "Values of all other metrics are as if {} were the same in all runs.", cell(&metric.text))?;
    }
    let differing = comparability.aspects.iter().filter(|aspect| !aspect.agrees);
    let notes = differing.map(|aspect| format!("{}: {} | {}", aspect.name, aspect.base, aspect.new));
    let aside = report.comparison.set_aside.iter();
    let aside = aside.map(|one| format!("set aside: {} ({}): {}", one.file, one.side, one.reason));
    let reasons = report.comparison.metrics.iter();
    let reasons = reasons.flat_map(|one| one.reasons.iter().map(move |reason| format!("{}: {reason}", one.metric)));
    let notes: Vec<String> = notes.chain(aside).chain(reasons).collect();
    if !notes.is_empty() {
        writeln!(out, "\n<details><summary>Notes</summary>\n")?;
        for note in notes {
            writeln!(out, "- {}", cell(&note))?;
        }
        writeln!(out, "\n</details>")?;
    }
    Ok(())
}

fn cell(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '|' | '*' | '_' | '`' | '[' | ']' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_text_is_markup() {
        assert_eq!(super::cell("a|b <c> *d* `e`\n[f](g)"), "a\\|b &lt;c> \\*d\\* \\`e\\` \\[f\\](g)");
    }
}
