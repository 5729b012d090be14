//! A statement to rows: values of events or of pairs, grouped, aggregated, sorted. No kernel does that.

use super::source::{CASTS, Find, Result, Side, Statement, StatementEvent, delta};
use super::{Aggregate, Calculation, Join, SelectExpr, SqlQuery, ValueExpr};
use crate::base::syntax::{Diagnostic, Spanned, did_you_mean, parse_int};
use crate::kernel::format::{Field, Shape};
use crate::language::synth::{Arithmetic, Builder, TIMESTAMP, TIMESTAMP_USECS};

/// Rows that a statement asks for.
#[derive(Clone, Debug)]
pub struct Rows {
    /// The events that the rows are made of.
    pub source: RowSource,
    /// Values of an event that its group is found by; where nothing is grouped, all values of a row.
    pub keys: Vec<RowExpr>,
    /// True if the events with equal keys are one row.
    pub is_grouped: bool,
    /// Numbers that functions are of.
    pub arguments: Vec<RowExpr>,
    /// The columns: those shown, then those that rows are only sorted by.
    pub columns: Vec<RowColumn>,
    /// The number of columns that are shown.
    pub shown: usize,
    /// Columns that rows are sorted by, and whether the largest comes first.
    pub order: Vec<(usize, bool)>,
    /// The number of rows shown at most.
    pub limit: Option<u64>,
}

/// The events that rows are made of.
#[derive(Clone, Debug)]
pub enum RowSource {
    /// Events of one kind.
    Event {
        /// The event's system.
        system: String,
        /// The event's name.
        name: String,
        /// A filter in the kernel's language.
        filter: Option<String>,
    },
    /// Synthetic events, whose fields are what the row needs of both events.
    Joined(Box<Builder>),
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowColumn {
    /// Heading of the column.
    pub label: String,
    /// Value of each row.
    pub value: RowValue,
    /// Notation of the values.
    pub show: Show,
}

/// The value of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowValue {
    /// The key of this index.
    Key(usize),
    /// The number of events.
    Count,
    /// A function of the argument of this index.
    Of(Aggregate, usize),
}

/// Notation of a value; all but `Plain` are of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    /// As a plain number.
    Plain,
    /// Hexadecimal.
    Hex,
    /// As a function of the kernel, with `offset` the place in it.
    Symbol {
        /// True for `sym-offset`.
        offset: bool,
    },
    /// As a system call.
    Syscall,
    /// As the name of a task.
    Execname,
    /// As the range of a power of two.
    Log2,
}

/// A value of one event. Numbers are whole; one beyond 2^64, either way, and one divided by 0 is no value (NULL).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowExpr {
    /// A field of the event.
    Field(String),
    /// The event's time, in the clock's unit.
    Time,
    /// The event's CPU.
    Cpu,
    /// The name of the event's task.
    Comm,
    /// A constant.
    Number(i128),
    /// Nanoseconds as microseconds, rounded as the kernel does.
    Usecs(Box<RowExpr>),
    /// The power of two that the number is rounded up to.
    Log2(Box<RowExpr>),
    /// A calculation.
    Binary(Calculation, Box<(RowExpr, RowExpr)>),
}

/// The rows that a statement asks for.
pub(super) fn lower(statement: &Statement<'_>, query: &SqlQuery, find: Find<'_>) -> Result<Rows> {
    let from = statement.event(&query.from, find)?;
    let values = match &query.join {
        None => Values::Own(from),
        Some(join) => Values::joined(statement, query, join, [from, statement.event(&join.item, find)?])?,
    };
    let mut lowering = Lowering { statement, values, keys: Vec::new(), arguments: Vec::new(), columns: Vec::new() };
    let is_aggregate = |expr: &SelectExpr| match expr {
        SelectExpr::Value(value) => is_counter(value),
        SelectExpr::Count | SelectExpr::Of(..) => true,
    };
    let has_functions = query.select.iter().any(|selection| is_aggregate(&selection.value.expr));
    let is_grouped = query.join.is_none() || has_functions || !query.group.is_empty();
    for group in &query.group {
        let selected = query.select.iter().find_map(|selection| match (&selection.value.label, group) {
            (Some(label), ValueExpr::Field(name)) if label.value == name.value => match &selection.value.expr {
                SelectExpr::Value(value) => Some(value),
                _ => None,
            },
            _ => None,
        });
        let (key, _, _) = lowering.values.value(statement, selected.unwrap_or(group))?;
        lowering.keys.push(key);
    }
    // Without GROUP BY all values that are no function's are keys.
    let only_keys = !query.group.is_empty();
    for selection in &query.select {
        let label = selection.value.label.as_ref();
        let label = label.map_or_else(|| selection.value.expr.to_string(), |label| label.value.clone());
        if lowering.columns.iter().any(|column| column.label == label) {
            return Err(statement.error(selection, format!("two columns are called `{label}`")).hint("add `AS name`"));
        }
        lowering.column(&selection.value.expr, label, only_keys)?;
    }
    if is_grouped && !has_functions {
        let label = "count(*)".to_owned();
        lowering.columns.push(RowColumn { label, value: RowValue::Count, show: Show::Plain });
    }
    let shown = lowering.columns.len();
    let mut order = Vec::new();
    for by in &query.order {
        let at = lowering.sorted(&by.value.by, is_grouped)?;
        order.push((at, by.value.descending));
    }
    let limit = query.limit.as_ref().map(|text| match parse_int(text).ok().and_then(|n| u64::try_from(n).ok()) {
        Some(limit) => Ok(limit),
        None => Err(statement.error(text, "a number of rows has 64 bits")),
    });
    let Lowering { values, keys, arguments, columns, .. } = lowering;
    let source = match values {
        Values::Own(source) => RowSource::Event {
            filter: statement.filter(query, &source)?,
            system: source.format.system,
            name: source.format.name,
        },
        Values::Joined { mut builder, sources, .. } => {
            statement.filters(query, &sources, &mut builder)?;
            builder.plan().map_err(|error| statement.synth_error(&query.from.name, error))?;
            RowSource::Joined(builder)
        }
    };
    Ok(Rows { source, keys, is_grouped, arguments, columns, shown, order, limit: limit.transpose()? })
}

/// `CAST(field AS _COUNTER_)`: a sum.
fn is_counter(value: &ValueExpr) -> bool {
    matches!(value, ValueExpr::Cast(_, ty) if matches!(ty.to_ascii_lowercase().as_str(), "_counter_" | "__counter__"))
}

struct Lowering<'s> {
    statement: &'s Statement<'s>,
    values: Values,
    keys: Vec<RowExpr>,
    arguments: Vec<RowExpr>,
    columns: Vec<RowColumn>,
}

impl Lowering<'_> {
    /// Adds a column; with `only_keys` a value must be one of the keys that there are.
    fn column(&mut self, expr: &SelectExpr, label: String, only_keys: bool) -> Result<()> {
        let (value, show) = match expr {
            SelectExpr::Count => (RowValue::Count, Show::Plain),
            SelectExpr::Of(aggregate, value) => (self.function(*aggregate, value)?, Show::Plain),
            SelectExpr::Value(ValueExpr::Cast(inner, _)) if matches!(expr, SelectExpr::Value(value) if is_counter(value)) => {
                (self.function(Aggregate::Sum, inner)?, Show::Plain)
            }
            SelectExpr::Value(value) => {
                let (key, show, _) = self.values.value(self.statement, value)?;
                let at = match self.keys.iter().position(|known| *known == key) {
                    Some(at) => at,
                    None if only_keys => {
                        let place = Spanned::new((), value.span());
                        let error = self.statement.error(&place, format!("`{value}` is selected, but not grouped by"));
                        return Err(error.hint("add it to GROUP BY, or take a function of it, like max()"));
                    }
                    None => {
                        self.keys.push(key);
                        self.keys.len().saturating_sub(1)
                    }
                };
                (RowValue::Key(at), show)
            }
        };
        self.columns.push(RowColumn { label, value, show });
        Ok(())
    }

    fn function(&mut self, aggregate: Aggregate, of: &ValueExpr) -> Result<RowValue> {
        let (argument, _, kind) = self.values.value(self.statement, of)?;
        if kind != Kind::Number && aggregate != Aggregate::Count {
            let place = Spanned::new((), of.span());
            let message = format!("{}() is of numbers, and `{of}` is {}", aggregate.name(), kind.name());
            return Err(self.statement.error(&place, message));
        }
        let at = self.arguments.iter().position(|known| *known == argument).unwrap_or_else(|| {
            self.arguments.push(argument);
            self.arguments.len().saturating_sub(1)
        });
        Ok(RowValue::Of(aggregate, at))
    }

    /// The column that rows are sorted by: a selected one, or one more, which is not shown.
    fn sorted(&mut self, by: &SelectExpr, is_grouped: bool) -> Result<usize> {
        let text = by.to_string();
        if let Some(at) = self.columns.iter().position(|column| column.label == text) {
            return Ok(at);
        }
        self.column(by, text, is_grouped)?;
        let last = self.columns.len().saturating_sub(1);
        let same = |column: &RowColumn| self.columns.last().is_some_and(|made| made.value == column.value);
        let known = self.columns.iter().position(same).unwrap_or(last);
        self.columns.truncate(if known < last { last } else { last.saturating_add(1) });
        Ok(known)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Number,
    Text,
    Stack,
}

impl Kind {
    fn of(field: &Field) -> Kind {
        match field.shape {
            _ if field.is_string() => Kind::Text,
            Shape::Scalar => Kind::Number,
            _ => Kind::Stack,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Number => "a number",
            Kind::Text => "text",
            Kind::Stack => "a stack",
        }
    }
}

/// The values that there are to choose from.
enum Values {
    Own(StatementEvent),
    Joined {
        builder: Box<Builder>,
        sources: Box<[StatementEvent; 2]>,
        /// Fields that the synthetic event has, `f0`, `f1` and so on.
        taken: Vec<(Side, String)>,
    },
}

impl Values {
    fn joined(
        statement: &Statement<'_>,
        query: &SqlQuery,
        join: &Join,
        sources: [StatementEvent; 2],
    ) -> Result<Values> {
        let mut pairs = statement.pairs(join, &sources)?.into_iter();
        let Some((start, end, place)) = pairs.next() else {
            return Err(statement.error(&query.from.name, "ON needs a pair of fields"));
        };
        let formats = [&sources[0], &sources[1]].map(|source| source.format.clone());
        let [first, second] = formats;
        let mut builder = Builder::new("rows", first, second, &start, &end, None)
            .map_err(|error| statement.synth_error(place, error))?;
        // A difference takes the start's value away: each start makes one pair.
        builder
            .compare(TIMESTAMP, TIMESTAMP, Arithmetic::DeltaEnd, "pair")
            .map_err(|error| statement.synth_error(place, error))?;
        for (start, end, place) in pairs {
            builder.match_fields(&start, &end, None).map_err(|error| statement.synth_error(place, error))?;
        }
        Ok(Values::Joined { builder: Box::new(builder), sources: Box::new(sources), taken: Vec::new() })
    }

    /// A value, how it is shown, and what it is.
    fn value(&mut self, statement: &Statement<'_>, value: &ValueExpr) -> Result<(RowExpr, Show, Kind)> {
        match value {
            ValueExpr::Field(field) => {
                let (value, kind) = self.field(statement, field)?;
                Ok((value, Show::Plain, kind))
            }
            ValueExpr::Number(text) => match parse_int(text) {
                Ok(number) if number.unsigned_abs() <= u128::from(u64::MAX) => {
                    Ok((RowExpr::Number(number), Show::Plain, Kind::Number))
                }
                _ => Err(statement.error(text, "numbers have 64 bits")),
            },
            ValueExpr::Cast(inner, ty) => {
                let number = self.number(statement, inner)?;
                let show = match ty.value.to_ascii_lowercase().as_str() {
                    "hex" => Show::Hex,
                    "sym" => Show::Symbol { offset: false },
                    "sym-offset" => Show::Symbol { offset: true },
                    "syscall" => Show::Syscall,
                    "execname" | "comm" => Show::Execname,
                    "log" | "log2" => return Ok((RowExpr::Log2(Box::new(number)), Show::Log2, Kind::Number)),
                    "_counter_" | "__counter__" => {
                        return Err(statement.error(ty, "a sum stands by itself: sum(FIELD)"));
                    }
                    other => {
                        let hint =
                            did_you_mean(other, CASTS).unwrap_or_else(|| format!("types are {}", CASTS.join(", ")));
                        return Err(statement.error(ty, format!("unknown type `{}`", ty.value)).hint(hint));
                    }
                };
                Ok((number, show, Kind::Number))
            }
            ValueExpr::Binary(calculation, both) => {
                let both = (self.number(statement, &both.0)?, self.number(statement, &both.1)?);
                Ok((RowExpr::Binary(*calculation, Box::new(both)), Show::Plain, Kind::Number))
            }
        }
    }

    fn number(&mut self, statement: &Statement<'_>, value: &ValueExpr) -> Result<RowExpr> {
        let place = Spanned::new((), value.span());
        match self.value(statement, value)? {
            (number, Show::Plain | Show::Log2, Kind::Number) => Ok(number),
            (_, _, Kind::Number) => Err(statement.error(&place, "this cast only shows a number: it stands outermost")),
            (_, _, kind) => {
                let what = if matches!(value, ValueExpr::Field(_)) { "cannot be cast or calculated with" } else { "" };
                Err(statement.error(&place, format!("`{value}` is {}, which {what}", kind.name())))
            }
        }
    }

    fn field(&mut self, statement: &Statement<'_>, field: &Spanned<String>) -> Result<(RowExpr, Kind)> {
        match self {
            Values::Own(source) => {
                let name = statement.own(source, field)?;
                Ok(match (source.format.field(name), name) {
                    (Some(found), _) if Kind::of(found) == Kind::Stack => {
                        return Err(statement.error(field, format!("`{name}` is an array")));
                    }
                    (Some(found), _) => (RowExpr::Field(name.to_owned()), Kind::of(found)),
                    (None, "COMM") => (RowExpr::Comm, Kind::Text),
                    (None, "CPU" | "common_cpu") => (RowExpr::Cpu, Kind::Number),
                    (None, TIMESTAMP_USECS) => (RowExpr::Usecs(Box::new(RowExpr::Time)), Kind::Number),
                    (None, "STACKTRACE") => {
                        let error = statement.error(field, "stacks are no values of rows without JOIN");
                        return Err(error.hint("`rtrace hist -i FILE EVENT --key common_stacktrace` counts by stacks"));
                    }
                    (None, _) => (RowExpr::Time, Kind::Number),
                })
            }
            Values::Joined { builder, sources, taken } => {
                if let Some((_, in_usecs)) = delta(&field.value) {
                    let mut time = |side| take(builder, taken, side, TIMESTAMP, statement, field);
                    let (end, start) = (time(Side::End)?, time(Side::Start)?);
                    let unit = |time| if in_usecs { RowExpr::Usecs(Box::new(time)) } else { time };
                    let difference = RowExpr::Binary(Calculation::Minus, Box::new((unit(end), unit(start))));
                    return Ok((difference, Kind::Number));
                }
                let (side, name) = statement.side(sources, field)?;
                let [start, end] = &**sources;
                let format = if side == Side::Start { &start.format } else { &end.format };
                let (name, kind, in_usecs) = match (format.field(&name), name.as_str()) {
                    (Some(found), name) => (name, Kind::of(found), false),
                    (None, "common_timestamp" | TIMESTAMP) => (TIMESTAMP, Kind::Number, false),
                    (None, TIMESTAMP_USECS) => (TIMESTAMP, Kind::Number, true),
                    (None, "COMM") => ("COMM", Kind::Text, false),
                    (None, "STACKTRACE") => ("STACKTRACE", Kind::Stack, false),
                    (None, name) => (name, Kind::Number, false),
                };
                let value = take(builder, taken, side, name, statement, field)?;
                Ok((if in_usecs { RowExpr::Usecs(Box::new(value)) } else { value }, kind))
            }
        }
    }
}

/// A field of the synthetic event that holds a field of one of both.
fn take(
    builder: &mut Builder,
    taken: &mut Vec<(Side, String)>,
    side: Side,
    name: &str,
    statement: &Statement<'_>,
    place: &Spanned<String>,
) -> Result<RowExpr> {
    let known = taken.iter().position(|(of, field)| *of == side && field == name);
    let at = known.unwrap_or(taken.len());
    let field = format!("f{at}");
    if known.is_none() {
        let added = match side {
            Side::Start => builder.start_field(name, Some(&field)),
            Side::End => builder.end_field(name, Some(&field)),
        };
        added.map(drop).map_err(|error: crate::language::synth::SynthError| -> Diagnostic {
            statement.synth_error(place, error)
        })?;
        taken.push((side, name.to_owned()));
    }
    Ok(RowExpr::Field(field))
}
