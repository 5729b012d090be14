//! Interferences as `analyze osnoise` and `analyze timerlat` show them.

use super::answers::AnalysisAnswer;
use super::irq::softirq_name;
use super::words::many;
use crate::cli::exit::Failure;
use crate::cli::query::ClockUnit;
use rtrace::analysis::{Durations, KnownPart, Noise, NoiseSource, RowSubject};
use rtrace::internal::answers::{AnswerStyle, TextTable, answer_json, answer_text, not_shown};
use rtrace::internal::table::{
    Answer, AnswerCell as Cell, AnswerColumn as Column, AnswerTable as Table, ColumnKind as Kind,
};
use rtrace::symbols::Kallsyms;
use serde_json::Value;
use std::io::Write;
use std::time::Duration;

/// An answer of osnoise or timerlat, of a recording or of what happens now.
pub(in crate::cli) struct NoiseView<'a, R> {
    pub(in crate::cli) report: &'a R,
    /// The trace clock.
    pub(in crate::cli) clock: &'a str,
    pub(in crate::cli) unit: ClockUnit,
    pub(in crate::cli) kallsyms: &'a Kallsyms,
    /// Degrees to which numbers of the recording are known.
    pub(super) known: &'a dyn Fn(&str, RowSubject) -> KnownPart,
}

impl<'a, R> NoiseView<'a, R> {
    /// Of a recording.
    pub(super) fn of(found: &'a AnalysisAnswer<'_, R>, known: &'a dyn Fn(&str, RowSubject) -> KnownPart) -> Self {
        let AnalysisAnswer { place, report, .. } = found;
        NoiseView { report, clock: place.clock, unit: place.unit, kallsyms: found.kallsyms(), known }
    }

    /// Of what happens now, of which all is known.
    pub(in crate::cli) fn live(report: &'a R, kallsyms: &'a Kallsyms) -> Self {
        let known = &|_: &str, _| KnownPart::Whole;
        NoiseView { report, clock: "local", unit: ClockUnit::Nanoseconds, kallsyms, known }
    }
}

/// Writes an answer of what happens now. The kernel's measures are in nanoseconds, whatever the clock is.
pub(in crate::cli) fn write(answer: &Answer, out: &mut dyn Write) -> Result<(), Failure> {
    Ok(answer_text(answer, AnswerStyle { unit: ClockUnit::Nanoseconds, width: None }, out)?)
}

/// The same as JSON.
pub(in crate::cli) fn json(answer: &Answer) -> Value {
    Value::Object(answer_json(answer, usize::MAX, None))
}

/// Kinds of interferences, in the order of their priority.
pub(super) const KINDS: [&str; 4] = ["nmi", "irq", "softirq", "thread"];

/// The kind of a cause, one of [`KINDS`].
fn kind(source: &NoiseSource) -> &'static str {
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
pub(super) fn interferences<'a>() -> Table<&'a (NoiseSource, Durations)> {
    type Of<'a> = &'a (NoiseSource, Durations);
    Table::new(
        "interferences",
        vec![
            Column::new("kind", Kind::Text, "Kind: nmi, irq, softirq or thread.", |of: &Of<'a>| kind(&of.0).into())
                .text("KIND"),
            Column::new("cause", Kind::Text, "Name and number of the cause.", |of: &Of<'a>| name(&of.0).into())
                .text("CAUSE"),
            Column::new("times.count", Kind::Count, "Interferences.", |of: &Of<'a>| of.1.count().into())
                .text("count")
                .no_json(),
            Column::new("times.total", Kind::Sum, "Nanoseconds of all of them.", |of: &Of<'a>| {
                Cell::Time(of.1.total())
            })
            .text("total")
            .no_json(),
            Column::new("times", Kind::Distribution, "Nanoseconds of each.", |of: &Of<'a>| (&of.1).into()).text(""),
        ],
    )
}

/// The title of the table of [`interferences`].
pub(super) const TITLE: &str = "Interferences by cause (total: ms; others: us)";

/// The causes of one sample, in the order in which they ended.
pub(super) fn causes(causes: &[Noise], top: usize) -> Vec<String> {
    if causes.is_empty() {
        return Vec::new();
    }
    let mut table = TextTable::aligned(vec![true, true], ["KIND", "CAUSE", "us", "begin (local clock)"]);
    let shown = if top == 0 { causes.len() } else { top.min(causes.len()) };
    for noise in causes.iter().take(shown) {
        let unit = ClockUnit::Nanoseconds;
        let names = [kind(&noise.source).to_owned(), name(&noise.source)];
        table.row(names.into_iter().chain([unit.short(noise.duration), unit.point(noise.start)]));
    }
    table.lines().into_iter().chain(not_shown(causes.len() - shown)).collect()
}

/// The causes of one sample as data.
pub(super) fn cause_cells(causes: &[Noise], top: usize) -> Cell {
    let cell = |noise: &Noise| {
        let names = [("kind", kind(&noise.source).into()), ("cause", name(&noise.source).into())];
        let times = [("start", Cell::Point(noise.start)), ("duration", Cell::Time(noise.duration))];
        Cell::record(names.into_iter().chain(times))
    };
    Cell::List(causes.iter().take(if top == 0 { usize::MAX } else { top }).map(cell).collect())
}

/// Nanoseconds of the causes of one kind.
pub(super) fn sum<'n>(causes: impl IntoIterator<Item = &'n Noise>, of: &str) -> u64 {
    let times = causes.into_iter().filter(|noise| kind(&noise.source) == of).map(|noise| noise.duration);
    times.fold(0, u64::saturating_add)
}

/// The sentence on lost events.
pub(super) fn losses(losses: u64) -> Option<String> {
    let places = many(losses, "place");
    (losses > 0).then(|| format!("events were lost at {places}: there were more samples or interferences"))
}

/// The sentence on a sample that may have more causes than are shown.
pub(super) const PARTIAL: &str = "Events were lost in it, or there were more than are kept: there may be more causes.";
