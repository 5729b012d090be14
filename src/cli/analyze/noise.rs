//! Interferences as `analyze osnoise` and `analyze timerlat` show them.

use super::answers::AnalysisAnswer;
use super::distribution;
use super::irq::answer::softirq_name;
use super::limits::AnswerLimits;
use super::table::TextTable;
use super::words::{cut, not_shown};
use crate::cli::exit::Failure;
use crate::cli::query::ClockUnit;
use rtrace::analysis::{Durations, Noise, NoiseSource, RowSubject};
use rtrace::symbols::Kallsyms;
use serde_json::{Value, json};
use std::io::Write;
use std::time::Duration;

/// An answer of osnoise or timerlat, of a recording or of what happens now.
pub(in crate::cli) struct NoiseView<'a, R> {
    pub(in crate::cli) report: &'a R,
    /// The trace clock.
    pub(in crate::cli) clock: &'a str,
    pub(in crate::cli) unit: ClockUnit,
    pub(in crate::cli) kallsyms: &'a Kallsyms,
    /// Limits of the recording.
    pub(in crate::cli) limits: Option<&'a AnswerLimits>,
}

impl<'a, R> NoiseView<'a, R> {
    /// Of a recording.
    pub(super) fn of(found: &'a AnalysisAnswer<'_, R>) -> Self {
        let AnalysisAnswer { place, input, report, limits } = found;
        let (clock, unit, limits) = (place.clock, place.unit, Some(limits));
        NoiseView { report, clock, unit, kallsyms: &input.symbols.kallsyms, limits }
    }
}

impl<R> NoiseView<'_, R> {
    /// A row of a table, as far as its numbers are known.
    pub(super) fn row(&self, subject: RowSubject, numbers: &[impl AsRef<str>], cells: Vec<String>) -> Vec<String> {
        match self.limits {
            Some(limits) => limits.row(subject, numbers, cells),
            None => cells,
        }
    }
}

/// Kinds of interferences, in the order of their priority.
pub(super) const KINDS: [&str; 4] = ["nmi", "irq", "softirq", "thread"];

/// The kind of a cause, one of [`KINDS`].
pub(super) fn kind(source: &NoiseSource) -> &'static str {
    match source {
        NoiseSource::Nmi => "nmi",
        NoiseSource::Irq { .. } => "irq",
        NoiseSource::SoftIrq { .. } => "softirq",
        NoiseSource::Thread { .. } => "thread",
    }
}

/// `local_timer:236`, `SCHED`, `cat [86]`; empty for what has no name.
pub(super) fn name(source: &NoiseSource) -> String {
    match source {
        NoiseSource::Nmi => String::new(),
        NoiseSource::Irq { vector, name } => format!("{}:{vector}", String::from_utf8_lossy(name)),
        NoiseSource::SoftIrq { vector } => {
            u64::try_from(*vector).map_or_else(|_| format!("vector {vector}"), softirq_name)
        }
        NoiseSource::Thread { pid, comm } => format!("{} [{pid}]", String::from_utf8_lossy(comm)),
    }
}

/// A limit in microseconds.
pub(super) fn short(limit: Duration) -> String {
    ClockUnit::Nanoseconds.short(nanoseconds(limit))
}

/// A limit in nanoseconds.
pub(super) fn nanoseconds(limit: Duration) -> u64 {
    u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX)
}

/// Nanoseconds as microseconds with their sign.
pub(super) fn signed(time: i64) -> String {
    let sign = if time < 0 { "-" } else { "" };
    format!("{sign}{}", ClockUnit::Nanoseconds.short(time.unsigned_abs()))
}

/// Interferences by cause.
pub(super) fn table<R>(
    found: &NoiseView<'_, R>,
    sources: &[(NoiseSource, Durations)],
    top: usize,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    if sources.is_empty() {
        return Ok(());
    }
    writeln!(out, "\nInterferences by cause (total: ms; others: us)")?;
    let mut table = TextTable::new(2, ["KIND", "CAUSE", "count", "total"].into_iter().chain(distribution::TIMES));
    let numbers = distribution::names(
        &["", "", "interferences.times.count", "interferences.times.total"],
        "interferences.times",
        &[],
    );
    let mut rows: Vec<_> = sources.iter().collect();
    let more = cut(&mut rows, top);
    for (source, durations) in rows {
        let times = durations.distribution();
        let total = ClockUnit::Nanoseconds.long(times.total);
        let row = [kind(source).to_owned(), name(source), times.count.to_string(), total];
        let row = row.into_iter().chain(distribution::cells(&times, ClockUnit::Nanoseconds)).collect();
        table.row(found.row(RowSubject::All, &numbers, row));
    }
    table.write(out)?;
    Ok(not_shown(more, out)?)
}

/// The causes of one sample, in the order in which they ended.
pub(super) fn causes(causes: &[Noise], top: usize, out: &mut dyn Write) -> Result<(), Failure> {
    if causes.is_empty() {
        return Ok(());
    }
    let mut table = TextTable::aligned(vec![true, true], ["KIND", "CAUSE", "us", "begin (local clock)"]);
    let mut rows: Vec<_> = causes.iter().collect();
    let more = cut(&mut rows, top);
    for noise in rows {
        let unit = ClockUnit::Nanoseconds;
        let row = [kind(&noise.source).to_owned(), name(&noise.source), unit.short(noise.duration)];
        table.row(row.into_iter().chain([unit.point(noise.start)]));
    }
    table.write(out)?;
    Ok(not_shown(more, out)?)
}

/// Interferences by cause as JSON; times in nanoseconds.
pub(super) fn sources_json(sources: &[(NoiseSource, Durations)], top: usize) -> Value {
    let mut rows: Vec<_> = sources.iter().collect();
    cut(&mut rows, top);
    let row = |(source, durations): &(NoiseSource, Durations)| json!({"kind": kind(source), "cause": name(source), "times": distribution::json(&durations.distribution())});
    rows.into_iter().map(row).collect()
}

/// The causes of one sample as JSON.
pub(super) fn causes_json(causes: &[Noise]) -> Value {
    let row = |noise: &Noise| json!({"kind": kind(&noise.source), "cause": name(&noise.source), "start": noise.start, "duration": noise.duration});
    causes.iter().map(row).collect()
}

/// Nanoseconds of the causes of one kind.
pub(super) fn sum<'n>(causes: impl IntoIterator<Item = &'n Noise>, of: &str) -> u64 {
    let times = causes.into_iter().filter(|noise| kind(&noise.source) == of).map(|noise| noise.duration);
    times.fold(0, u64::saturating_add)
}

/// The sentence on lost events.
pub(super) fn losses(losses: u64) -> Option<String> {
    let places = super::words::many(losses, "place");
    (losses > 0).then(|| format!("events were lost at {places}: there were more samples or interferences"))
}

/// The sentence on a sample that may have more causes than are shown.
pub(super) const PARTIAL: &str = "Events were lost in it, or there were more than are kept: there may be more causes.";
