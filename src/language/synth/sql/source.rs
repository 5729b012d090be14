//! The events of a statement, and the fields of them that it names.

use super::{Condition, Item, Join, SqlQuery, Test, TestValue};
use crate::base::syntax::{Diagnostic, Spanned, did_you_mean};
use crate::kernel::format::EventFormat;
use crate::language::filter::Filter;
use crate::language::synth::{Builder, SynthError, TIMESTAMP, TIMESTAMP_USECS};

/// Types that CAST knows.
pub(super) const CASTS: [&str; 9] =
    ["hex", "sym", "sym-offset", "syscall", "execname", "comm", "log", "log2", "_COUNTER_"];

/// Finds an event by `event` or `system` and `event`.
pub type Find<'a> = &'a dyn Fn(Option<&str>, &str) -> Option<EventFormat>;

pub(super) type Result<T> = std::result::Result<T, Diagnostic>;

/// A statement's text, for errors.
pub(super) struct Statement<'a> {
    pub(super) text: &'a str,
}

/// An event of the statement and the names it goes by.
pub(super) struct StatementEvent {
    pub(super) format: EventFormat,
    names: Vec<String>,
}

/// The event that a field belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Start,
    End,
}

impl Statement<'_> {
    pub(super) fn error(&self, place: &Spanned<impl Sized>, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new("sql", self.text, place.span, message)
    }

    pub(super) fn synth_error(&self, place: &Spanned<impl Sized>, error: SynthError) -> Diagnostic {
        match error {
            SynthError::Filter(wrong) => self.filter_error(place, &wrong),
            SynthError::NoField { ref hint, .. } => self.error(place, error.to_string()).hint(hint.clone()),
            _ => self.error(place, error.to_string()),
        }
    }

    /// The error in the filter that a condition became, at the condition.
    fn filter_error(&self, place: &Spanned<impl Sized>, wrong: &Diagnostic) -> Diagnostic {
        self.error(place, wrong.message.clone()).hint_opt(wrong.hints().first().cloned())
    }

    pub(super) fn event(&self, item: &Item, find: Find<'_>) -> Result<StatementEvent> {
        let name = &item.name.value;
        let found = match name.split_once('.') {
            Some((system, event)) => find(Some(system), event),
            None => find(None, name),
        };
        let format = found.ok_or_else(|| {
            let known = format!("`rtrace list -e '*{name}*'` shows the kernel's events of such a name");
            self.error(&item.name, format!("no event `{name}`")).hint(known)
        })?;
        let mut names = vec![name.clone(), format.name.clone(), format!("{}.{}", format.system, format.name)];
        names.extend(item.label.as_ref().map(|l| l.value.clone()));
        Ok(StatementEvent { format, names })
    }

    /// A field of the only event.
    pub(super) fn own<'b>(&self, source: &StatementEvent, field: &'b Spanned<String>) -> Result<&'b str> {
        let name = stripped(source, &field.value).unwrap_or(&field.value);
        if source.format.field(name).is_some() || is_special(name) {
            return Ok(name);
        }
        let names = || source.format.fields.iter().map(|f| f.name.as_str());
        let event = format!("{}:{}", source.format.system, source.format.name);
        let hint = did_you_mean(name, names())
            .unwrap_or_else(|| format!("fields of {event} are {}", names().collect::<Vec<_>>().join(", ")));
        Err(self.error(field, format!("{event} has no field `{name}`")).hint(hint))
    }

    /// The event that a field belongs to, and the field's name there.
    pub(super) fn side(&self, sources: &[StatementEvent; 2], field: &Spanned<String>) -> Result<(Side, String)> {
        let [start, end] = sources;
        let text = &field.value;
        // A label may equal the other event's name: labels come first, they are last in the list of names.
        let by_start = stripped(start, text);
        let by_end = stripped(end, text);
        let known = |source: &StatementEvent, name: &str| source.format.field(name).is_some() || is_special(name);
        let found = match (by_start, by_end) {
            (Some(name), None) => Some((Side::Start, start, name)),
            (None, Some(name)) => Some((Side::End, end, name)),
            (Some(a), Some(_)) if known(start, a) => Some((Side::Start, start, a)),
            (Some(_), Some(b)) => Some((Side::End, end, b)),
            (None, None) => match (known(start, text), known(end, text)) {
                (true, false) => Some((Side::Start, start, text.as_str())),
                (false, true) => Some((Side::End, end, text.as_str())),
                (true, true) => {
                    let hint = format!("write `{}.{text}` or `{}.{text}`", shown(start), shown(end));
                    return Err(self.error(field, format!("both events have `{text}`")).hint(hint));
                }
                (false, false) => None,
            },
        };
        let Some((side, source, name)) = found else {
            let hint = format!("fields are `{}.FIELD` and `{}.FIELD`", shown(start), shown(end));
            return Err(self.error(field, format!("neither event has `{text}`")).hint(hint));
        };
        if !known(source, name) {
            return self.own(source, field).map(|name| (side, name.to_owned()));
        }
        Ok((side, name.to_owned()))
    }

    /// The pairs of fields that must be equal, of the start and of the end, each with its place.
    pub(super) fn pairs<'j>(
        &self,
        join: &'j Join,
        sources: &[StatementEvent; 2],
    ) -> Result<Vec<(String, String, &'j Spanned<String>)>> {
        let mut pairs = Vec::new();
        for (left, right) in &join.on {
            let (left_side, left_name) = self.side(sources, left)?;
            let (right_side, right_name) = self.side(sources, right)?;
            match (left_side, right_side) {
                (Side::Start, Side::End) => pairs.push((left_name, right_name, left)),
                (Side::End, Side::Start) => pairs.push((right_name, left_name, left)),
                _ => return Err(self.error(right, "one field of each event must be compared")),
            }
        }
        Ok(pairs)
    }

    /// Gives the conditions to the event that each is about.
    pub(super) fn filters(&self, query: &SqlQuery, sources: &[StatementEvent; 2], builder: &mut Builder) -> Result<()> {
        for condition in &query.conditions {
            let side = self.side_of(sources, condition)?;
            let strip = |field: &Spanned<String>| self.side(sources, field).map(|(_, name)| name);
            let text = filter_text(condition, false, &strip)?;
            match side {
                Side::Start => builder.start_filter(&text),
                Side::End => builder.end_filter(&text),
            }
            .map_err(|e| self.synth_error(condition, e))?;
        }
        Ok(())
    }

    /// The conditions on the only event, as one filter of the kernel's.
    pub(super) fn filter(&self, query: &SqlQuery, from: &StatementEvent) -> Result<Option<String>> {
        let mut tests = Vec::new();
        for condition in &query.conditions {
            let strip = |field: &Spanned<String>| self.own(from, field).map(str::to_owned);
            let test = filter_text(condition, true, &strip)?;
            Filter::for_event(&test, &from.format).map_err(|e| self.filter_error(condition, &e))?;
            tests.push(test);
        }
        Ok((!tests.is_empty()).then(|| tests.join(" && ")))
    }

    /// The one event that a condition is about.
    fn side_of(&self, sources: &[StatementEvent; 2], condition: &Spanned<Condition>) -> Result<Side> {
        match &condition.value {
            Condition::Test(test) => self.side(sources, &test.field).map(|(side, _)| side),
            Condition::Not(inner) => self.side_of(sources, inner),
            Condition::And(left, right) | Condition::Or(left, right) => {
                let side = self.side_of(sources, left)?;
                if self.side_of(sources, right)? != side {
                    return Err(self
                        .error(condition, "this mixes fields of both events")
                        .hint("separate conditions on the two events by `,` or `&&` outside of parentheses"));
                }
                Ok(side)
            }
        }
    }
}

/// The statement's name of an event.
fn shown(source: &StatementEvent) -> &str {
    source.names.last().map_or("", String::as_str)
}

/// `start.pid` as `pid`, if `start` is a name of the event.
pub(super) fn stripped<'b>(source: &StatementEvent, field: &'b str) -> Option<&'b str> {
    source.names.iter().find_map(|name| field.strip_prefix(name.as_str())?.strip_prefix('.'))
}

fn is_special(name: &str) -> bool {
    [TIMESTAMP, TIMESTAMP_USECS, "STACKTRACE", "COMM", "CPU", "common_cpu", "common_timestamp"].contains(&name)
}

/// The timestamp field that `TIMESTAMP_DELTA` subtracts, and whether in microseconds.
pub(super) fn delta(field: &str) -> Option<(&'static str, bool)> {
    match field {
        "TIMESTAMP_DELTA" => Some((TIMESTAMP, false)),
        "TIMESTAMP_DELTA_USECS" => Some((TIMESTAMP_USECS, true)),
        _ => None,
    }
}

/// A condition in the kernel's filter language; inside of `&&` an `||` needs parentheses.
fn filter_text(
    condition: &Spanned<Condition>,
    inner: bool,
    strip: &dyn Fn(&Spanned<String>) -> Result<String>,
) -> Result<String> {
    Ok(match &condition.value {
        Condition::Test(Test { field, op, value }) => {
            let field = strip(field)?;
            match value {
                TestValue::Number(n) => format!("{field} {op} {n}"),
                TestValue::Text(text) => format!("{field} {op} \"{text}\""),
            }
        }
        Condition::Not(inner) => format!("!({})", filter_text(inner, false, strip)?),
        Condition::And(left, right) => {
            format!("{} && {}", filter_text(left, true, strip)?, filter_text(right, true, strip)?)
        }
        Condition::Or(left, right) => {
            let text = format!("{} || {}", filter_text(left, false, strip)?, filter_text(right, false, strip)?);
            if inner { format!("({text})") } else { text }
        }
    })
}
