//! Verdicts in the forms that other programs read: JSON, JUnit's, GitHub's, and numbers for a shell.

use super::verdicts::{Judged, Verdicts, found, word};
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::{ClockUnit, window_json};
use crate::cli::unfinished::write_file;
use anyhow::{Context, anyhow};
use rtrace::internal::answers::{TextTable, markdown_text};
use rtrace::internal::assertion::{AssertionVerdict, Checked, Dimension, Interval};
use rtrace::internal::trace_dat::WallClock;
use rtrace::internal::wall_time::utc_second;
use rtrace::symbols::Comms;
use serde_json::{Value, json};
use std::env;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

/// The document: quantities in nanoseconds, places in the unit of the clock.
pub(super) fn json_document(verdicts: &Verdicts<'_>, comms: &Comms) -> Value {
    let extent = &verdicts.extent;
    let mut document = json!({
        "schema": "rtrace.check",
        "version": 1,
        "file": verdicts.path.to_string_lossy(),
        "buffer": verdicts.buffer,
        "clock": verdicts.clock,
        "unit": verdicts.unit.name(),
        "window": extent.window.map(|(begin, end)| window_json(begin.0, end.0, verdicts.wall)),
        "events": extent.events,
        "lost": extent.lost,
        "gaps": extent.gaps,
        "verdict": word(verdicts.all()),
        "assertions": verdicts.results.iter().map(|result| assertion(result, comms, verdicts.wall)).collect::<Vec<_>>(),
    });
    if verdicts.unfinished {
        document["unfinished"] = true.into();
    }
    document
}

fn assertion(result: &Judged, comms: &Comms, clock: Option<WallClock>) -> Value {
    let checked = &result.checked;
    let [left, right] = checked.values.map(|value| value.map(interval));
    let spot = checked.spot.map(|spot| {
        let comm = spot.pid.and_then(|pid| comms.get(pid)).map(String::from_utf8_lossy);
        let pid = spot.pid.map(|pid| pid.0);
        let mut place = window_json(spot.begin, spot.at, clock);
        place["cpu"] = json!(spot.cpu.0);
        place["pid"] = json!(pid);
        place["comm"] = json!(comm);
        place
    });
    json!({
        "name": result.name,
        "assertion": checked.text,
        "verdict": word(checked.verdict),
        "left": left,
        "right": right,
        "samples": checked.samples,
        "reasons": checked.reasons,
        "spot": spot,
        "context": result.context,
    })
}

fn interval(value: Interval) -> Value {
    let unit = match value.dimension {
        Dimension::Number => Value::Null,
        Dimension::Time => json!("ns"),
        Dimension::Rate => json!("/s"),
    };
    // An unbounded end is null.
    json!({"observed": value.observed, "least": value.least, "most": value.most, "unit": unit})
}

pub(super) fn write_junit(verdicts: &Verdicts<'_>, path: &Path) -> Result<(), Failure> {
    write_file(path, &junit_document(verdicts), 0o644)
}

/// A test case for each assertion: one that fails has a `failure`, one that is indeterminate an `error`.
fn junit_document(verdicts: &Verdicts<'_>) -> String {
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

/// The file that GitHub reads the job's summary from.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";

pub(super) fn write_github(verdicts: &Verdicts<'_>, out: &mut dyn Write) -> Result<(), Failure> {
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

/// The number that stands for a quantity of which bounds are known.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// The least that it can be
    Least,
    /// The most that it can be
    Most,
    /// That of the recorded events alone, as if nothing were missing
    Observed,
}

/// Writes the number of each quantity in its base unit, up to the first that is not known.
pub(super) fn write_value(verdicts: &Verdicts<'_>, bound: Option<Bound>, out: &mut dyn Write) -> Result<Exit, Failure> {
    for result in &verdicts.results {
        let value = result.checked.values[0];
        match value.and_then(|value| number(value, bound)) {
            Some(number) => writeln!(out, "{number}")?,
            None => return Err(unknown(&result.name, value, bound, &result.checked)),
        }
    }
    Ok(Exit::Success)
}

fn number(value: Interval, bound: Option<Bound>) -> Option<f64> {
    let number = match bound {
        None => Some(value.observed).filter(|_| value.is_exact()),
        Some(Bound::Least) => Some(value.least),
        Some(Bound::Most) => Some(value.most),
        Some(Bound::Observed) => Some(value.observed),
    };
    number.filter(|number| number.is_finite())
}

fn unknown(name: &str, value: Option<Interval>, bound: Option<Bound>, checked: &Checked) -> Failure {
    let of = match (value, bound) {
        (None, _) => format!("{name} is unknown"),
        (Some(_), Some(_)) => format!("nothing bounds {name}"),
        (Some(value), None) if value.most.is_infinite() => format!("{name} is {} or more", value.least),
        (Some(value), None) => format!("{name} is between {} and {}", value.least, value.most),
    };
    let why = match checked.reasons.as_slice() {
        [] => String::new(),
        reasons => format!(": {}", reasons.join("; ")),
    };
    let failure = Failure::new(Exit::Incomplete, anyhow!("{of}{why}"));
    match (value, bound) {
        (Some(_), None) => failure
            .hint("`--bound least` and `most` print these; `--bound observed` what the recorded events alone give."),
        _ => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_xml() {
        assert_eq!(super::escaped("a<b> & \"c\"\u{1b}\u{0}é\n"), "a&lt;b&gt; &amp; &quot;c&quot;??é\n");
    }

    #[test]
    fn no_text_is_another_command() {
        assert_eq!(data("100%\n::error::x"), "100%25%0A::error::x");
        assert_eq!(property("a: b, c"), "a%3A b%2C c");
    }
}
