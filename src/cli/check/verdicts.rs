//! The verdicts about a recording.
//! Verdicts as text.

use crate::cli::exit::{Exit, Failure};
use crate::cli::query::ClockUnit;
use crate::cli::terminal::{Painted, Sequence};
use rtrace::analysis::{Extent, Spot};
use rtrace::internal::assertion::{AssertionVerdict, Checked};
use rtrace::internal::trace_dat::WallClock;
use rtrace::symbols::Comms;
use std::io::Write;
use std::path::Path;

/// An assertion's verdict, its name, and the events around the place that it is about.
pub(super) struct Judged {
    pub(super) name: String,
    pub(super) checked: Checked,
    pub(super) context: Vec<String>,
}

/// All verdicts about a recording.
pub(super) struct Verdicts<'a> {
    pub(super) path: &'a Path,
    /// The options that chose a part of its time.
    pub(super) window: String,
    pub(super) buffer: &'a str,
    pub(super) clock: &'a str,
    pub(super) unit: ClockUnit,
    /// True if the recording is unfinished.
    pub(super) unfinished: bool,
    pub(super) extent: Extent,
    /// The recorded machine's name, if the file has it.
    pub(super) host: Option<String>,
    /// The wall clock of the first event, in nanoseconds since 1970, if it is known.
    pub(super) began: Option<i64>,
    /// Local time by the buffer's clock, if the recording knows it.
    pub(super) wall: Option<WallClock>,
    pub(super) results: Vec<Judged>,
}

impl Verdicts<'_> {
    /// The verdict on all together: as bad as the worst.
    pub(super) fn all(&self) -> AssertionVerdict {
        let has = |verdict| self.results.iter().any(|result| result.checked.verdict == verdict);
        match (has(AssertionVerdict::Fail), has(AssertionVerdict::Indeterminate)) {
            (true, _) => AssertionVerdict::Fail,
            (_, true) => AssertionVerdict::Indeterminate,
            _ => AssertionVerdict::Pass,
        }
    }

    pub(super) fn exit(&self) -> Exit {
        match self.all() {
            AssertionVerdict::Pass => Exit::Success,
            AssertionVerdict::Fail => Exit::Unmet,
            AssertionVerdict::Indeterminate => Exit::Incomplete,
        }
    }

    pub(super) fn count(&self, verdict: AssertionVerdict) -> usize {
        self.results.iter().filter(|result| result.checked.verdict == verdict).count()
    }
}

/// A verdict as JSON and tables have it.
pub(super) fn word(verdict: AssertionVerdict) -> &'static str {
    match verdict {
        AssertionVerdict::Pass => "pass",
        AssertionVerdict::Fail => "fail",
        AssertionVerdict::Indeterminate => "indeterminate",
    }
}

pub(super) fn write_text(verdicts: &Verdicts<'_>, comms: &Comms, out: &mut Painted) -> Result<(), Failure> {
    for result in &verdicts.results {
        let checked = &result.checked;
        let verdict = match checked.verdict {
            AssertionVerdict::Fail => "FAIL",
            other => word(other),
        };
        out.word(color(checked.verdict), verdict);
        writeln!(out, "{:width$} {}", "", result.name, width = WIDEST.saturating_sub(verdict.len()))?;
        if result.name != checked.text {
            writeln!(out, "  {}", checked.text)?;
        }
        writeln!(out, "  {}", found(checked))?;
        for reason in &checked.reasons {
            writeln!(out, "  {reason}")?;
        }
        if checked.reasons.iter().any(|reason| reason.starts_with("only events of these tasks")) {
            writeln!(
                out,
                "  Record without -F, -P and -c, or assert about one of them by its id, as in max(wait(1234))."
            )?;
        }
        if let Some(spot) = checked.spot.filter(|_| checked.verdict != AssertionVerdict::Pass) {
            writeln!(out, "  {}", place(&spot, verdicts.unit, comms))?;
            for line in &result.context {
                writeln!(out, "    {line}")?;
            }
            let at = verdicts.unit.point(spot.at);
            let file = verdicts.path.display();
            let why = spot.pid.filter(|_| spot.time() > 0 && checked.text.contains("wait("));
            // The longest that was measured is that task's longest.
            let why = why.map(|pid| {
                let window = format!(" {}", verdicts.window);
                format!("`rtrace why {} {file} --worst wakeup{}`, ", pid.0, window.trim_end())
            });
            writeln!(out, "  See {}`rtrace report {file} --around {at}`.", why.unwrap_or_default())?;
        }
    }
    let [pass, fail, unknown] = [AssertionVerdict::Pass, AssertionVerdict::Fail, AssertionVerdict::Indeterminate]
        .map(|one| verdicts.count(one));
    let all = verdicts.results.len();
    let plural = if all == 1 { "" } else { "s" };
    write!(out, "{all} assertion{plural}: ")?;
    let counts = [
        (pass, "pass", AssertionVerdict::Pass, ", "),
        (fail, "fail", AssertionVerdict::Fail, ", "),
        (unknown, "indeterminate", AssertionVerdict::Indeterminate, "\n"),
    ];
    for (count, word, verdict, end) in counts {
        match count {
            0 => write!(out, "{count} {word}")?,
            _ => out.word(color(verdict), &format!("{count} {word}")),
        }
        write!(out, "{end}")?;
    }
    Ok(())
}

/// Characters of the longest verdict, and one more.
const WIDEST: usize = 14;

fn color(verdict: AssertionVerdict) -> Sequence {
    match verdict {
        AssertionVerdict::Pass => Sequence::Good,
        AssertionVerdict::Fail => Sequence::Bad,
        AssertionVerdict::Indeterminate => Sequence::Open,
    }
}

/// `found 1.204 ms in 1204 intervals, wanted < 500 us`.
pub(super) fn found(checked: &Checked) -> String {
    let [found, wanted] = checked.values.map(|value| value.map_or("unknown".to_owned(), |value| value.to_string()));
    let of = checked.samples.map(|samples| match samples {
        1 => " in 1 interval".to_owned(),
        _ => format!(" in {samples} intervals"),
    });
    format!("found {found}{}, wanted {} {wanted}", of.unwrap_or_default(), checked.op)
}

/// `1.9 ms from 123.456 to 123.458 on CPU 1, task ls [123]`.
fn place(spot: &Spot, unit: ClockUnit, comms: &Comms) -> String {
    let task = spot.pid.map(|pid| {
        let comm = comms.get(pid).map(String::from_utf8_lossy);
        format!(", task {} [{}]", comm.as_deref().unwrap_or("<...>"), pid.0)
    });
    let time = match spot.time() {
        0 => format!("at {}", unit.point(spot.at)),
        time => format!(
            "{} {} from {} to {}",
            unit.short(time),
            unit.short_name(),
            unit.point(spot.begin),
            unit.point(spot.at)
        ),
    };
    format!("{time} on CPU {}{}", spot.cpu.0, task.unwrap_or_default())
}
