//! `--junit`: what CI systems read test results from.

use super::text::found;
use super::verdicts::{Verdicts, word};
use crate::cli::exit::Failure;
use crate::cli::named_files::write_file;
use crate::cli::query::ClockUnit;
use rtrace::internal::assertion::AssertionVerdict;
use rtrace::internal::wall_time::utc_second;
use std::path::Path;

pub(super) fn write(verdicts: &Verdicts<'_>, path: &Path) -> Result<(), Failure> {
    write_file(path, &document(verdicts), 0o644)
}

/// A test case for each assertion: one that fails has a `failure`, one that is indeterminate an `error`.
fn document(verdicts: &Verdicts<'_>) -> String {
    let suite = escaped(&format!("rtrace check {}", verdicts.path.display()));
    let (tests, failures) = (verdicts.results.len(), verdicts.count(AssertionVerdict::Fail));
    let errors = verdicts.count(AssertionVerdict::Indeterminate);
    let about = recorded(verdicts);
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n\
         <testsuite name=\"{suite}\" tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"0\"{about}>\n"
    );
    for result in &verdicts.results {
        let checked = &result.checked;
        text += &format!("<testcase classname=\"{suite}\" name=\"{}\"", escaped(&result.name));
        let element = match checked.verdict {
            AssertionVerdict::Pass => {
                text += "/>\n";
                continue;
            }
            AssertionVerdict::Fail => "failure",
            AssertionVerdict::Indeterminate => "error",
        };
        let (message, kind) = (escaped(&found(checked)), word(checked.verdict));
        let mut lines = vec![checked.text.clone()];
        lines.extend(checked.reasons.iter().cloned());
        lines.extend(result.context.iter().cloned());
        let lines = escaped(&lines.join("\n"));
        text += &format!(">\n<{element} message=\"{message}\" type=\"{kind}\">{lines}</{element}>\n</testcase>\n");
    }
    text + "</testsuite>\n</testsuites>\n"
}

/// The attributes about the recording: the time from its first event to its last in seconds, when that first one was (UTC), and
/// the machine; those that are known.
fn recorded(verdicts: &Verdicts<'_>) -> String {
    let window = verdicts.extent.window.filter(|_| verdicts.unit != ClockUnit::Ticks);
    let time = window.map(|(first, last)| {
        let micros = last.0.saturating_sub(first.0) / 1_000;
        format!(" time=\"{}.{:06}\"", micros / 1_000_000, micros % 1_000_000)
    });
    let timestamp = verdicts.began.map(|wall| format!(" timestamp=\"{}\"", utc_second(wall)));
    let hostname = verdicts.host.as_ref().map(|host| format!(" hostname=\"{}\"", escaped(host)));
    [time, timestamp, hostname].into_iter().flatten().collect()
}

/// Text of an XML document, which has no place for control characters.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('?'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    #[test]
    fn text_of_xml() {
        assert_eq!(super::escaped("a<b> & \"c\"\u{1b}\u{0}é\n"), "a&lt;b&gt; &amp; &quot;c&quot;??é\n");
    }
}
