//! `--github`: workflow commands, which the web page shows as annotations, and the job's summary.

use super::text::found;
use super::verdicts::{Verdicts, word};
use crate::cli::exit::Failure;
use anyhow::Context;
use rtrace::internal::answers::{TextTable, markdown_text};
use rtrace::internal::assertion::AssertionVerdict;
use std::env;
use std::fs::OpenOptions;
use std::io::Write;

/// The file that GitHub reads the job's summary from.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";

pub(super) fn write(verdicts: &Verdicts<'_>, out: &mut dyn Write) -> Result<(), Failure> {
    for result in &verdicts.results {
        let checked = &result.checked;
        let command = match checked.verdict {
            AssertionVerdict::Pass => continue,
            AssertionVerdict::Fail => "error",
            AssertionVerdict::Indeterminate => "warning",
        };
        let title = property(&format!("{}: {}", word(checked.verdict), result.name));
        let mut lines = vec![format!("{}: {}", checked.text, found(checked))];
        lines.extend(checked.reasons.iter().chain(&result.context).cloned());
        writeln!(out, "::{command} title={title}::{}", data(&lines.join("\n")))?;
    }
    let [pass, fail, unknown] = [AssertionVerdict::Pass, AssertionVerdict::Fail, AssertionVerdict::Indeterminate]
        .map(|one| verdicts.count(one));
    writeln!(out, "{pass} pass, {fail} fail, {unknown} indeterminate")?;
    let Some(path) = env::var_os(SUMMARY) else { return Ok(()) };
    let mut summary =
        OpenOptions::new().append(true).create(true).open(&path).context("cannot write the job's summary")?;
    Ok(summary.write_all(table(verdicts).as_bytes()).context("cannot write the job's summary")?)
}

/// A table in Markdown.
fn table(verdicts: &Verdicts<'_>) -> String {
    let mut table = TextTable::new(3, ["verdict", "assertion", "found"]);
    for result in &verdicts.results {
        table.row([word(result.checked.verdict).to_owned(), result.name.clone(), found(&result.checked)]);
    }
    let title = markdown_text(&verdicts.path.to_string_lossy());
    format!("### rtrace check {title}\n\n{}\n\n", table.markdown(|_| false).join("\n"))
}

/// As GitHub's toolkit escapes a message.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// As GitHub's toolkit escapes a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_another_command() {
        assert_eq!(data("100%\n::error::x"), "100%25%0A::error::x");
        assert_eq!(property("a: b, c"), "a%3A b%2C c");
    }
}
