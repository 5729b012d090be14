//! A statement to what it means: a histogram or a synthetic event, or rows of a recording.

use super::rows::{self, Rows};
use super::source::{CASTS, Find, Result, Side, Statement, StatementEvent, delta, stripped};
use super::{Aggregate, Calculation, Join, Order, SelectColumn, SelectExpr, SqlQuery, ValueExpr};
use crate::base::syntax::{Diagnostic, Span, Spanned, did_you_mean};
use crate::language::hist::spec::{HistExpr, HistSpec, KeyModifier, SortKey};
use crate::language::synth::{Arithmetic, Builder, TIMESTAMP, TIMESTAMP_USECS};

/// The meaning of a statement.
#[derive(Clone, Debug)]
pub enum Lowered {
    /// Without JOIN: a histogram of an event (system, name).
    Hist((String, String), HistSpec),
    /// With JOIN: a synthetic event, to which actions can still be added.
    Synth(Builder),
    /// Rows, which no kernel makes: only events of a recording can answer.
    Rows(Box<Rows>),
}

/// Finds out what the statement `text` means. A synthetic event is called `name`; a histogram has that name only if it
/// is given.
///
/// # Errors
/// A [`Diagnostic`] about `text`: grammar, unknown events and fields, types.
pub fn lower(text: &str, name: Option<&str>, find: Find<'_>) -> Result<Lowered> {
    of_kernel(text, &within_kernel(text)?, name, find)
}

/// Parses the statement `text`, which asks for what kernels can do; no kernel and no format is looked at.
///
/// # Errors
/// A [`Diagnostic`] about `text`: grammar, or the first part that only a recording can answer.
pub fn within_kernel(text: &str) -> Result<SqlQuery> {
    let query = SqlQuery::parse(text)?;
    match beyond(&query) {
        Some((span, why)) => {
            let error = Diagnostic::new("sql", text, span, format!("the kernel {why}"));
            Err(error.hint("`rtrace synth sql -i FILE` can answer it, of a recording"))
        }
        None => Ok(query),
    }
}

/// The same of a statement about a recording, which may ask for more than the kernel can; it is rows then, as it is where
/// `only_rows` are wanted.
///
/// # Errors
/// As [`lower`].
pub fn lower_recorded(text: &str, name: Option<&str>, only_rows: bool, find: Find<'_>) -> Result<Lowered> {
    let query = SqlQuery::parse(text)?;
    let rows = || rows::lower(&Statement { text }, &query, find).map(|rows| Lowered::Rows(Box::new(rows)));
    if only_rows || beyond(&query).is_some() {
        return rows();
    }
    of_kernel(text, &query, name, find).or_else(|error| rows().map_err(|_| error))
}

fn of_kernel(text: &str, query: &SqlQuery, name: Option<&str>, find: Find<'_>) -> Result<Lowered> {
    let statement = Statement { text };
    let from = statement.event(&query.from, find)?;
    match &query.join {
        None => statement.hist(query, from, name),
        Some(join) => {
            let end = statement.event(&join.item, find)?;
            statement.synth(query, join, [from, end], name.unwrap_or("Anonymous"))
        }
    }
}

/// The first part of a statement that no kernel evaluates, and why.
fn beyond(query: &SqlQuery) -> Option<(Span, String)> {
    let is_joined = query.join.is_some();
    let expression = |expr: &SelectExpr, span: Span| match expr {
        SelectExpr::Count | SelectExpr::Of(..) if is_joined => {
            Some((span, "makes one event of each pair, and counts nothing".to_owned()))
        }
        SelectExpr::Count | SelectExpr::Of(Aggregate::Sum, ValueExpr::Field(_)) => None,
        SelectExpr::Of(Aggregate::Sum, _) => Some((span, "has sums of fields alone".to_owned())),
        SelectExpr::Of(aggregate, _) => Some((span, format!("has no {}() of values", aggregate.name()))),
        SelectExpr::Value(ValueExpr::Field(_)) => None,
        SelectExpr::Value(ValueExpr::Cast(inner, _)) => match **inner {
            ValueExpr::Field(_) if !is_joined => None,
            _ if is_joined => Some((span, "casts no field of a synthetic event".to_owned())),
            _ => Some((span, "casts fields alone".to_owned())),
        },
        SelectExpr::Value(ValueExpr::Binary(Calculation::Plus | Calculation::Minus, both))
            if is_joined && matches!(**both, (ValueExpr::Field(_), ValueExpr::Field(_))) =>
        {
            None
        }
        SelectExpr::Value(_) => Some((span, "adds and subtracts two fields, one of each event of a JOIN".to_owned())),
    };
    let clause = "makes synthetic events, which have no groups and no order";
    let group = |group: &ValueExpr| match group {
        _ if is_joined => Some((group.span(), clause.to_owned())),
        ValueExpr::Field(_) => None,
        _ => Some((group.span(), "groups by fields alone".to_owned())),
    };
    let order = |order: &Spanned<Order>| match &order.value.by {
        _ if is_joined => Some((order.span, clause.to_owned())),
        SelectExpr::Value(ValueExpr::Field(_)) | SelectExpr::Count => None,
        _ => Some((order.span, "sorts by fields and by count(*)".to_owned())),
    };
    let limit = query.limit.as_ref().map(|limit| (limit.span, "keeps all entries of a table".to_owned()));
    let select = query.select.iter().find_map(|selection| expression(&selection.value.expr, selection.span));
    select.or_else(|| query.group.iter().find_map(group)).or_else(|| query.order.iter().find_map(order)).or(limit)
}

impl Statement<'_> {
    fn hist(&self, query: &SqlQuery, from: StatementEvent, name: Option<&str>) -> Result<Lowered> {
        let mut spec = HistSpec { name: name.map(|n| n.to_owned().into()), ..HistSpec::default() };
        // The words of ORDER BY: labels and names, and the columns that they stand for.
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
        spec.filter = self.filter(query, &from)?.map(Into::into);
        Ok(Lowered::Hist((from.format.system.clone(), from.format.name.clone()), spec))
    }

    /// The groups are the keys: those that are not selected are added.
    fn grouped(
        &self,
        query: &SqlQuery,
        from: &StatementEvent,
        columns: &[(String, String)],
        spec: &mut HistSpec,
    ) -> Result<()> {
        if query.group.is_empty() {
            return Ok(());
        }
        let mut groups = Vec::new();
        for group in &query.group {
            // Others are beyond the kernel.
            let ValueExpr::Field(group) = group else { continue };
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
    fn sorted(&self, order: &Spanned<Order>, from: &StatementEvent, columns: &[(String, String)]) -> Result<SortKey> {
        let SelectExpr::Value(ValueExpr::Field(by)) = &order.value.by else {
            return Ok(SortKey { field: "hitcount".to_owned(), descending: order.value.descending });
        };
        let by = &by.value;
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
    fn column(&self, from: &StatementEvent, selection: &Spanned<SelectColumn>) -> Result<(HistExpr, bool)> {
        match &selection.value.expr {
            SelectExpr::Value(ValueExpr::Field(field)) => {
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
            // Every table counts its events.
            SelectExpr::Count => Ok((HistExpr::field("hitcount"), true)),
            SelectExpr::Of(_, ValueExpr::Field(field)) => {
                let name = self.own(from, field)?;
                if from.format.field(name).is_none() {
                    return Err(self.error(field, "sums are of fields that the event has"));
                }
                Ok((HistExpr::field(name), true))
            }
            SelectExpr::Value(ValueExpr::Cast(inner, ty)) => {
                let ValueExpr::Field(field) = &**inner else {
                    return Err(self.error(selection, "only fields are cast"));
                };
                let name = self.own(from, field)?;
                let is_text = from.format.field(name).is_some_and(crate::kernel::format::Field::is_string);
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
            SelectExpr::Value(_) | SelectExpr::Of(..) => Err(self.error(selection, "sums are of fields")),
        }
    }

    fn synth(&self, query: &SqlQuery, join: &Join, sources: [StatementEvent; 2], name: &str) -> Result<Lowered> {
        let pairs = self.pairs(join, &sources)?;
        let [start, end] = &sources;
        // A selected match field is given by the match itself.
        let selected = |start_field: &str, end_field: &str| -> Result<Option<String>> {
            for selection in &query.select {
                if let SelectExpr::Value(ValueExpr::Field(field)) = &selection.value.expr {
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
        self.filters(query, &sources, &mut builder)?;
        Ok(Lowered::Synth(builder))
    }

    fn select(
        &self,
        builder: &mut Builder,
        sources: &[StatementEvent; 2],
        selection: &Spanned<SelectColumn>,
        matched: &[(String, String)],
        named: &mut Vec<String>,
        selected: &dyn Fn(&str, &str) -> Result<Option<String>>,
    ) -> Result<()> {
        let done = match &selection.value.expr {
            SelectExpr::Value(ValueExpr::Field(field)) => {
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
            SelectExpr::Value(ValueExpr::Binary(calculation, both)) => {
                let (ValueExpr::Field(left), ValueExpr::Field(right)) = &**both else {
                    return Err(self.error(selection, "one field of each event is needed"));
                };
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
                let calc = match (calculation, left_side) {
                    (Calculation::Plus, _) => Arithmetic::Add,
                    (_, Side::End) => Arithmetic::DeltaEnd,
                    (_, Side::Start) => Arithmetic::DeltaStart,
                };
                builder.compare(&start, &end, calc, name)
            }
            SelectExpr::Value(_) | SelectExpr::Count | SelectExpr::Of(..) => {
                return Err(self.error(selection, "a field of a synthetic event is a field, a sum or a difference"));
            }
        };
        done.map(drop).map_err(|e| self.synth_error(selection, e))
    }
}

fn label(selection: &SelectColumn, default: &str) -> String {
    match &selection.label {
        Some(label) => label.value.clone(),
        None => default.to_owned(),
    }
}
