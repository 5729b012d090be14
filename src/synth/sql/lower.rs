//! A statement to what it means: a histogram or a synthetic event.

use super::{Condition, Item, Join, Order, Query, SelectExpr, Selection, Test, TestValue};
use crate::filter::Filter;
use crate::format::EventFormat;
use crate::hist::spec::{HistExpr, HistSpec, KeyModifier, SortKey};
use crate::syntax::{Diagnostic, Spanned, did_you_mean};
use crate::synth::{Arithmetic, Builder, SynthError, TIMESTAMP, TIMESTAMP_USECS};

/// Modifiers that CAST knows.
const CASTS: [&str; 9] = ["hex", "sym", "sym-offset", "syscall", "execname", "comm", "log", "log2", "_COUNTER_"];

/// The meaning of a statement.
#[derive(Clone, Debug)]
pub enum Lowered {
    /// Without JOIN: a histogram of an event (system, name).
    Hist((String, String), HistSpec),
    /// With JOIN: a synthetic event, to which actions can still be added.
    Synth(Builder),
}

/// Finds an event by `event` or `system` and `event`.
pub type Find<'a> = &'a dyn Fn(Option<&str>, &str) -> Option<EventFormat>;

/// Finds out what the statement `text` means. A synthetic event is called `name`; a histogram has that name only if it
/// is given.
///
/// # Errors
/// A [`Diagnostic`] about `text`: grammar, unknown events and fields, types.
pub fn lower(text: &str, name: Option<&str>, find: Find<'_>) -> Result<Lowered> {
    let query = Query::parse(text)?;
    let lower = Lower { text };
    let from = lower.event(&query.from, find)?;
    match &query.join {
        None => lower.hist(&query, from, name),
        Some(join) => {
            let end = lower.event(&join.item, find)?;
            lower.synth(&query, join, [from, end], name.unwrap_or("Anonymous"))
        }
    }
}

struct Lower<'a> {
    text: &'a str,
}

/// An event of the statement and the names it goes by.
struct Source {
    format: EventFormat,
    names: Vec<String>,
}

/// The event that a field belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Start,
    End,
}

type Result<T> = std::result::Result<T, Diagnostic>;

impl Lower<'_> {
    fn error(&self, place: &Spanned<impl Sized>, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new("sql", self.text, place.span, message)
    }

    fn synth_error(&self, place: &Spanned<impl Sized>, error: SynthError) -> Diagnostic {
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

    fn event(&self, item: &Item, find: Find<'_>) -> Result<Source> {
        let name = &item.name.value;
        let found = match name.split_once('.') {
            Some((system, event)) => find(Some(system), event),
            None => find(None, name),
        };
        let format = found.ok_or_else(|| self.error(&item.name, format!("no event `{name}`")))?;
        let mut names = vec![name.clone(), format.name.clone(), format!("{}.{}", format.system, format.name)];
        names.extend(item.label.as_ref().map(|l| l.value.clone()));
        Ok(Source { format, names })
    }

    /// A field of the only event.
    fn own<'b>(&self, source: &Source, field: &'b Spanned<String>) -> Result<&'b str> {
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

    fn hist(&self, query: &Query, from: Source, name: Option<&str>) -> Result<Lowered> {
        let mut spec = HistSpec { name: name.map(|n| n.to_owned().into()), ..HistSpec::default() };
        // What ORDER BY may say: labels and names, and the columns that they stand for.
        let mut columns: Vec<(String, String)> = Vec::new();
        for selection in &query.select {
            let label = selection.value.label.as_ref().map(|label| label.value.clone());
            if selection.value.expr == SelectExpr::Count {
                columns.extend(label.map(|label| (label, "hitcount".to_owned())));
                continue;
            }
            let (expr, counter) = self.column(&from, selection)?;
            if let HistExpr::Field { name, .. } = &expr {
                columns.extend(label.into_iter().chain([name.clone()]).map(|known| (known, name.clone())));
            }
            let column = Spanned::new(expr, selection.span);
            if counter { spec.vals.push(column) } else { spec.keys.push(column) }
        }
        self.grouped(query, &from, &columns, &mut spec)?;
        for order in &query.order {
            spec.sort.push(order.with(self.sorted(order, &from, &columns)?));
        }
        if spec.keys.is_empty() {
            let all = query.select.first().map_or_else(|| Spanned::from(()), |s| s.with(()));
            return Err(self
                .error(&all, "at least one selected field must be a key")
                .hint("leave one without CAST(.. AS _COUNTER_)"));
        }
        let mut tests = Vec::new();
        for condition in &query.conditions {
            let strip = |field: &Spanned<String>| self.own(&from, field).map(str::to_owned);
            let test = filter_text(condition, true, &strip)?;
            Filter::for_event(&test, &from.format).map_err(|e| self.filter_error(condition, &e))?;
            tests.push(test);
        }
        spec.filter = (!tests.is_empty()).then(|| tests.join(" && ").into());
        Ok(Lowered::Hist((from.format.system.clone(), from.format.name.clone()), spec))
    }

    /// The groups are the keys: those that are not selected are added.
    fn grouped(&self, query: &Query, from: &Source, columns: &[(String, String)], spec: &mut HistSpec) -> Result<()> {
        if query.group.is_empty() {
            return Ok(());
        }
        let mut groups = Vec::new();
        for group in &query.group {
            let column = columns.iter().find(|(known, _)| *known == group.value).map(|(_, column)| column.as_str());
            let name = match column {
                Some(column) => column,
                None => self.own(from, group)?,
            };
            groups.push(name.to_owned());
            let is_key =
                |key: &Spanned<HistExpr>| matches!(&key.value, HistExpr::Field { name: key, .. } if key == name);
            if !spec.keys.iter().any(is_key) {
                spec.keys.push(group.with(HistExpr::field(name)));
            }
        }
        let other = spec.keys.iter().find(|key| match &key.value {
            HistExpr::Field { name, .. } => !groups.contains(name),
            _ => false,
        });
        match other {
            Some(key) => Err(self
                .error(key, format!("`{}` is selected, but not grouped by", key.value))
                .hint("add it to GROUP BY, or take sum() of it")),
            None => Ok(()),
        }
    }

    /// The column that a part of ORDER BY means.
    fn sorted(&self, order: &Spanned<Order>, from: &Source, columns: &[(String, String)]) -> Result<SortKey> {
        let Some(by) = &order.value.by else {
            return Ok(SortKey { field: "hitcount".to_owned(), descending: order.value.descending });
        };
        let name = stripped(from, by).unwrap_or(by);
        let column = columns.iter().find(|(known, _)| known == by || known == name);
        let field = match column {
            Some((_, column)) => column.clone(),
            None if name == "hitcount" => name.to_owned(),
            None => {
                let near = did_you_mean(name, columns.iter().map(|(known, _)| known.as_str()));
                let hint = near.unwrap_or_else(|| "a table is sorted by what is selected, or by count(*)".to_owned());
                return Err(self.error(order, format!("cannot sort by `{by}`, which is not selected")).hint(hint));
            }
        };
        Ok(SortKey { field, descending: order.value.descending })
    }

    /// A key, or with `_COUNTER_` a value.
    fn column(&self, from: &Source, selection: &Spanned<Selection>) -> Result<(HistExpr, bool)> {
        match &selection.value.expr {
            SelectExpr::Field(field) => {
                let name = self.own(from, field)?;
                Ok((
                    match name {
                        TIMESTAMP => HistExpr::field("common_timestamp"),
                        TIMESTAMP_USECS => HistExpr::with("common_timestamp", KeyModifier::Usecs),
                        "STACKTRACE" => HistExpr::field("common_stacktrace"),
                        "COMM" => HistExpr::with("common_pid", KeyModifier::Execname),
                        name => HistExpr::field(name),
                    },
                    false,
                ))
            }
            SelectExpr::Plus(left, _) | SelectExpr::Minus(left, _) => {
                Err(self.error(left, "sums and differences need two events: JOIN"))
            }
            // Every table counts its events.
            SelectExpr::Count => Ok((HistExpr::field("hitcount"), true)),
            SelectExpr::Sum(field) => Ok((HistExpr::field(self.own(from, field)?), true)),
            SelectExpr::Cast(field, ty) => {
                let name = self.own(from, field)?;
                let is_text = from.format.field(name).is_some_and(crate::format::Field::is_string);
                if is_text {
                    return Err(self.error(field, format!("`{name}` is text, which cannot be cast")));
                }
                let modifier = match ty.value.to_ascii_lowercase().as_str() {
                    "_counter_" | "__counter__" => return Ok((HistExpr::field(name), true)),
                    "hex" => KeyModifier::Hex,
                    "sym" => KeyModifier::Sym,
                    "sym-offset" => KeyModifier::SymOffset,
                    "syscall" => KeyModifier::Syscall,
                    "log" | "log2" => KeyModifier::Log2,
                    "execname" | "comm" if name == "common_pid" => KeyModifier::Execname,
                    "execname" | "comm" => return Err(self.error(ty, "only common_pid can be cast to a comm")),
                    other => {
                        let hint =
                            did_you_mean(other, CASTS).unwrap_or_else(|| format!("types are {}", CASTS.join(", ")));
                        return Err(self.error(ty, format!("unknown type `{}`", ty.value)).hint(hint));
                    }
                };
                Ok((HistExpr::with(name, modifier), false))
            }
        }
    }

    fn synth(&self, query: &Query, join: &Join, sources: [Source; 2], name: &str) -> Result<Lowered> {
        if let Some(span) = query.group.first().map(|g| g.span).or_else(|| query.order.first().map(|o| o.span)) {
            let hint = "count it: `rtrace hist synthetic:NAME --key ... --sort ...`";
            let error = Diagnostic::new("sql", self.text, span, "a synthetic event has no groups and no order");
            return Err(error.hint(hint));
        }
        let mut pairs = Vec::new();
        for (left, right) in &join.on {
            let (left_side, left_name) = self.side(&sources, left)?;
            let (right_side, right_name) = self.side(&sources, right)?;
            match (left_side, right_side) {
                (Side::Start, Side::End) => pairs.push((left_name, right_name, left)),
                (Side::End, Side::Start) => pairs.push((right_name, left_name, left)),
                _ => return Err(self.error(right, "one field of each event must be compared")),
            }
        }
        let [start, end] = &sources;
        // A selected match field is given by the match itself.
        let selected = |start_field: &str, end_field: &str| -> Result<Option<String>> {
            for selection in &query.select {
                if let SelectExpr::Field(field) = &selection.value.expr {
                    let (side, name) = self.side(&sources, field)?;
                    let matches = if side == Side::Start { name == start_field } else { name == end_field };
                    if matches {
                        return Ok(Some(label(&selection.value, &name)));
                    }
                }
            }
            Ok(None)
        };
        let mut pairs = pairs.into_iter();
        let (start_field, end_field, place) =
            pairs.next().ok_or_else(|| self.error(&join.item.name, "ON needs a pair of fields"))?;
        // The fields of the event keep the order of the selection, so the match is named in its turn, below.
        let mut builder = Builder::new(name, start.format.clone(), end.format.clone(), &start_field, &end_field, None)
            .map_err(|e| self.synth_error(place, e))?;
        let mut matched = vec![(start_field, end_field)];
        for (start_field, end_field, place) in pairs {
            builder.match_fields(&start_field, &end_field, None).map_err(|e| self.synth_error(place, e))?;
            matched.push((start_field, end_field));
        }
        let mut named = Vec::new();
        for selection in &query.select {
            self.select(&mut builder, &sources, selection, &matched, &mut named, &selected)?;
        }
        for condition in &query.conditions {
            let side = self.side_of(&sources, condition)?;
            let strip = |field: &Spanned<String>| self.side(&sources, field).map(|(_, name)| name);
            let text = filter_text(condition, false, &strip)?;
            match side {
                Side::Start => builder.start_filter(&text),
                Side::End => builder.end_filter(&text),
            }
            .map_err(|e| self.synth_error(condition, e))?;
        }
        Ok(Lowered::Synth(builder))
    }

    fn select(
        &self,
        builder: &mut Builder,
        sources: &[Source; 2],
        selection: &Spanned<Selection>,
        matched: &[(String, String)],
        named: &mut Vec<String>,
        selected: &dyn Fn(&str, &str) -> Result<Option<String>>,
    ) -> Result<()> {
        let done = match &selection.value.expr {
            SelectExpr::Field(field) => {
                if let Some((unit, usecs)) = delta(&field.value) {
                    let name = label(&selection.value, if usecs { "delta_usecs" } else { "delta" });
                    return builder
                        .compare(unit, unit, Arithmetic::DeltaEnd, &name)
                        .map(drop)
                        .map_err(|e| self.synth_error(selection, e));
                }
                let (side, name) = self.side(sources, field)?;
                let pair = matched.iter().find(|(s, e)| if side == Side::Start { *s == name } else { *e == name });
                if let Some((start_field, end_field)) = pair
                    && let Some(first) = selected(start_field, end_field)?
                    && !named.contains(&first)
                    && first == label(&selection.value, &name)
                {
                    named.push(first.clone());
                    builder.end_field(end_field, Some(&first))
                } else {
                    let name_out = label(&selection.value, &name);
                    match side {
                        Side::Start => builder.start_field(&name, Some(&name_out)),
                        Side::End => builder.end_field(&name, Some(&name_out)),
                    }
                }
            }
            SelectExpr::Minus(left, right) | SelectExpr::Plus(left, right) => {
                let (left_side, left_name) = self.side(sources, left)?;
                let (right_side, right_name) = self.side(sources, right)?;
                if left_side == right_side {
                    return Err(self.error(right, "one field of each event is needed"));
                }
                let Some(name) = &selection.value.label else {
                    return Err(self.error(selection, "a calculated field needs a name").hint("add `AS name`"));
                };
                let (start, end) =
                    if left_side == Side::Start { (left_name, right_name) } else { (right_name, left_name) };
                let calc = match (&selection.value.expr, left_side) {
                    (SelectExpr::Plus(..), _) => Arithmetic::Add,
                    (_, Side::End) => Arithmetic::DeltaEnd,
                    (_, Side::Start) => Arithmetic::DeltaStart,
                };
                builder.compare(&start, &end, calc, name)
            }
            SelectExpr::Count | SelectExpr::Sum(_) => {
                let hint = "count it: `rtrace hist synthetic:NAME --key ...`";
                return Err(self.error(selection, "a synthetic event is one event, and counts nothing").hint(hint));
            }
            SelectExpr::Cast(_, ty) => {
                return Err(self.error(ty, "a synthetic event has no casts").hint("cast in a histogram of the event"));
            }
        };
        done.map(drop).map_err(|e| self.synth_error(selection, e))
    }

    /// The event that a field belongs to, and the field's name there.
    fn side(&self, sources: &[Source; 2], field: &Spanned<String>) -> Result<(Side, String)> {
        let [start, end] = sources;
        let text = &field.value;
        // A label may equal the other event's name: labels come first, they are last in the list of names.
        let by_start = stripped(start, text);
        let by_end = stripped(end, text);
        let known = |source: &Source, name: &str| source.format.field(name).is_some() || is_special(name);
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

    /// The one event that a condition is about.
    fn side_of(&self, sources: &[Source; 2], condition: &Spanned<Condition>) -> Result<Side> {
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
fn shown(source: &Source) -> &str {
    source.names.last().map_or("", String::as_str)
}

/// `start.pid` as `pid`, if `start` is a name of the event.
fn stripped<'b>(source: &Source, field: &'b str) -> Option<&'b str> {
    source.names.iter().find_map(|name| field.strip_prefix(name.as_str())?.strip_prefix('.'))
}

fn is_special(name: &str) -> bool {
    [TIMESTAMP, TIMESTAMP_USECS, "STACKTRACE", "COMM", "CPU", "common_cpu", "common_timestamp"].contains(&name)
}

/// The timestamp that a `TIMESTAMP_DELTA` is the difference of, and whether in microseconds.
fn delta(field: &str) -> Option<(&'static str, bool)> {
    match field {
        "TIMESTAMP_DELTA" => Some((TIMESTAMP, false)),
        "TIMESTAMP_DELTA_USECS" => Some((TIMESTAMP_USECS, true)),
        _ => None,
    }
}

fn label(selection: &Selection, default: &str) -> String {
    match &selection.label {
        Some(label) => label.value.clone(),
        None => default.to_owned(),
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
