//! The kernel's text of a trigger that it took.
//! Histograms of one name, which share a table.

use super::{BinaryOp, HistExpr, HistSpec, KeyModifier, SortKey, SpecError, SpecErrorKind as Kind, VarRef, parse};
use crate::base::syntax::{Span, Spanned};
use crate::kernel::format::EventFormat;
use std::borrow::Cow;
use std::fmt::Write as _;

/// A line of an event's `trigger` file, or the rest of a table's `# trigger info: ` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Echo {
    /// The trigger, in the kernel's normal form (see [`HistSpec::normal`]).
    pub spec: HistSpec,
    /// True if it counts.
    pub state: TriggerState,
}

/// `[active]` or `[paused]`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriggerState {
    /// It counts.
    Active,
    /// It does not.
    Paused,
}

impl Echo {
    /// Parses `hist:keys=...:vals=...:sort=...:size=N [active]`.
    ///
    /// # Errors
    /// [`SpecError`] if the line has no state or is no trigger.
    pub fn parse(line: &str) -> Result<Echo, SpecError> {
        let line = &with_one_name(line.trim_end_matches('\n'));
        let (text, state) = if let Some(text) = line.strip_suffix(" [active]") {
            (text, TriggerState::Active)
        } else if let Some(text) = line.strip_suffix(" [paused]") {
            (text, TriggerState::Paused)
        } else {
            let end = Span::at(line.len());
            return Err(SpecError::new(Kind::Empty("state"), end).hint("the line should end with [active] or [paused]"));
        };
        Ok(Echo { spec: parse::parse(text, true)?.normal(), state })
    }

    /// The text that the kernel takes for the trigger that it shows as `line`: its own words but for the state and for
    /// the sort keys' modifiers, which it refuses. `None` if the line is no such trigger.
    pub fn settable(line: &str) -> Option<String> {
        let echo = Echo::parse(line).ok()?;
        let line = with_one_name(line);
        let text = line.trim_end_matches('\n').rsplit_once(" [")?.0;
        let (head, sorted) = text.split_once(":sort=")?;
        let rest = sorted.find(":size=").map_or("", |at| &sorted[at..]);
        let keys: Vec<String> = echo.spec.sort.iter().map(|key| key.value.to_string()).collect();
        Some(format!("{head}:sort={}{rest}", keys.join(",")))
    }
}

/// The names that a trigger may have been given for the CPU, all of which the kernel shows as the first, and takes for
/// different keys all the same (`parse_field` and `hist_trigger_match` in `kernel/trace/trace_events_hist.c`).
const CPU: [&str; 3] = ["common_cpu", "cpu", "CPU"];

/// A line in which the CPU has one name: Linux 7 shows it as `common_cpucommon_cpu`, or by an older name as `common_cpucpu` (an `else` that
/// `hist_field_print()` lost).
fn with_one_name(line: &str) -> Cow<'_, str> {
    let doubled = CPU.map(|name| format!("{}{name}", CPU[0]));
    match doubled.iter().any(|twice| line.contains(twice)) {
        true => Cow::Owned(doubled.iter().fold(line.to_owned(), |line, twice| line.replace(twice, CPU[0]))),
        false => Cow::Borrowed(line),
    }
}

impl Echo {
    /// The texts of which one is that of the trigger that the kernel shows as `line`, as [`Echo::settable`] has it: with
    /// each name of the CPU. Empty if the line is no such trigger.
    pub fn written(line: &str) -> Vec<String> {
        let Some(text) = Echo::settable(line) else { return Vec::new() };
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (head, filter) = text.find(" if ").map_or((text.as_str(), ""), |at| text.split_at(at));
        let with = |name: &&str| {
            let words = head.split_inclusive(|c| !is_word(c)).map(|piece| match piece.strip_prefix(CPU[0]) {
                Some(rest) if !rest.starts_with(is_word) => format!("{name}{rest}"),
                _ => piece.to_owned(),
            });
            words.collect::<String>() + filter
        };
        let mut written: Vec<String> = CPU.iter().map(with).collect();
        written.dedup();
        written
    }
}

impl HistSpec {
    /// The same trigger as the kernel keeps it: defaults filled in, aliases resolved, `hitcount` first, size rounded,
    /// nothing of pause, cont and clear. Two triggers with the same normal form are one to the kernel.
    pub fn normal(&self) -> HistSpec {
        let mut spec = self.clone();
        spec.control = None;
        let exprs = spec.keys.iter_mut().chain(&mut spec.vals).chain(spec.vars.iter_mut().map(|v| &mut v.value));
        for expr in exprs {
            normal_expr(&mut expr.value);
        }
        spec.vals.retain(|v| v.value != HistExpr::field("hitcount"));
        if !spec.no_hitcount {
            spec.vals.insert(0, HistExpr::field("hitcount").into());
        }
        if spec.sort.is_empty() {
            spec.sort.push(SortKey { field: "hitcount".to_owned(), descending: false }.into());
        }
        let size = spec.size.as_ref().map_or(2048, |s| s.value);
        spec.size = Some(size.checked_next_power_of_two().unwrap_or(size).into());
        let clock = spec.clock.take().unwrap_or_else(|| "global".to_owned().into());
        spec.clock = spec.uses_timestamp().then_some(clock);
        spec
    }

    /// The normal form as the kernel shows it on `event`: `cpu` is `common_cpu` if the event has no field of that name,
    /// and a variable that only repeats another one of the same trigger shows what that one holds.
    pub fn shown_on(&self, event: &EventFormat) -> HistSpec {
        let mut spec = self.normal();
        let rename = |expr: &mut HistExpr| {
            if let HistExpr::Field { name, .. } = expr
                && matches!(name.as_str(), "cpu" | "CPU")
                && event.field(name).is_none()
            {
                *name = "common_cpu".to_owned();
            }
        };
        spec.keys.iter_mut().chain(&mut spec.vals).for_each(|e| rename(&mut e.value));
        spec.vars.iter_mut().for_each(|v| rename(&mut v.value.value));
        let field = |value: &HistExpr| matches!(value, HistExpr::Field { .. });
        let own: Vec<(String, HistExpr)> =
            spec.vars.iter().map(|var| (var.name.value.clone(), var.value.value.clone())).collect();
        // Of what is calculated a variable that repeats it shows the first operand.
        for var in &mut spec.vars {
            if let HistExpr::Var(VarRef { event: None, name }) = &var.value.value
                && let Some((_, value)) = own.iter().find(|(known, _)| known == name)
            {
                var.value.value = first_operand(value).clone();
            }
        }
        let own: Vec<(String, HistExpr)> = own.into_iter().filter(|(_, value)| field(value)).collect();
        let all = spec.keys.iter_mut().chain(&mut spec.vals).chain(spec.vars.iter_mut().map(|var| &mut var.value));
        all.for_each(|expr| in_place_of_own(&mut expr.value, &own));
        spec
    }

    /// The text that the kernel prints for this trigger, without ` [active]`; sort keys carry their key's modifier,
    /// which is why the kernel does not take its own words back.
    pub fn echo(&self) -> String {
        let spec = self.normal();
        let mut sorted = spec.clone();
        sorted.sort.clear();
        let fields: Vec<String> = spec.sort.iter().map(|key| spec.echo_sort(key)).collect();
        let text = sorted.to_string();
        // `:sort=` comes before `:size=`, which a normal form always has.
        let size = format!(":size={}", spec.size.as_ref().map_or(0, |s| s.value));
        let (head, tail) = text.split_once(&size).unwrap_or((&text, ""));
        let mut out = String::new();
        let _ = write!(out, "{head}:sort={}{size}{tail}", fields.join(","));
        out
    }

    fn echo_sort(&self, key: &SortKey) -> String {
        let named = self.keys.iter().chain(&self.vals).find_map(|e| match &e.value {
            HistExpr::Field { name, modifier: Some(modifier) } if *name == key.field => Some(modifier),
            _ => None,
        });
        let mut out = key.field.clone();
        if let Some(modifier) = named.filter(|_| key.field != "hitcount") {
            let _ = write!(out, ".{modifier}");
        }
        if key.descending {
            out.push_str(".descending");
        }
        out
    }
}

fn first_operand(expr: &HistExpr) -> &HistExpr {
    match expr {
        HistExpr::Neg(inner) => first_operand(&inner.value),
        HistExpr::Binary { left, .. } => first_operand(&left.value),
        HistExpr::Number(_) | HistExpr::Field { .. } | HistExpr::Var(_) => expr,
    }
}

/// Puts what variables of the same trigger are set to in their place.
fn in_place_of_own(expr: &mut HistExpr, own: &[(String, HistExpr)]) {
    match expr {
        HistExpr::Var(VarRef { event: None, name }) => {
            if let Some((_, value)) = own.iter().find(|(var, _)| var == name) {
                *expr = value.clone();
            }
        }
        HistExpr::Neg(inner) => in_place_of_own(&mut inner.value, own),
        HistExpr::Binary { left, right, .. } => {
            in_place_of_own(&mut left.value, own);
            in_place_of_own(&mut right.value, own);
        }
        HistExpr::Number(_) | HistExpr::Field { .. } | HistExpr::Var(_) => {}
    }
}

fn normal_expr(expr: &mut HistExpr) {
    match expr {
        HistExpr::Field { name, modifier } => {
            if matches!(name.as_str(), "stacktrace" | "STACKTRACE") {
                *name = "common_stacktrace".to_owned();
            }
            if name == "common_stacktrace" && *modifier == Some(KeyModifier::Stacktrace) {
                *modifier = None;
            }
        }
        HistExpr::Neg(inner) => normal_expr(&mut inner.value),
        HistExpr::Binary { op, left, right } => {
            normal_expr(&mut left.value);
            normal_expr(&mut right.value);
            // The kernel calculates with two numbers at once.
            if let (HistExpr::Number(a), HistExpr::Number(b)) = (&left.value, &right.value) {
                let folded = match op {
                    BinaryOp::Add => Some(a.wrapping_add(*b)),
                    BinaryOp::Sub => Some(a.wrapping_sub(*b)),
                    BinaryOp::Mul => Some(a.wrapping_mul(*b)),
                    BinaryOp::Div => a.checked_div(*b),
                };
                if let Some(n) = folded {
                    *expr = HistExpr::Number(n);
                }
            }
        }
        HistExpr::Number(_) | HistExpr::Var(_) => {}
    }
}

impl HistSpec {
    /// The names of the keys as the table shows them: without modifiers.
    pub fn key_names(&self) -> Vec<String> {
        self.keys.iter().map(|k| shown_name(&k.value)).collect()
    }
}

fn shown_name(expr: &HistExpr) -> String {
    match expr {
        HistExpr::Field { name, .. } => name.clone(),
        other => other.to_string(),
    }
}

impl HistSpec {
    /// Checks that this histogram on `event` can share the table of `other`, which is set on `other_event` and has the
    /// same name: the kernel wants the same keys, values and order, of the same types.
    ///
    /// # Errors
    /// [`SpecError`] at the first key or value that differs.
    pub fn check_named(
        &self,
        event: &EventFormat,
        other: &HistSpec,
        other_event: &EventFormat,
    ) -> Result<(), SpecError> {
        let Some(name) = &self.name else { return Ok(()) };
        let differs = |span: Span, theirs: String, ours: String| {
            let (system, event) = (&other_event.system, &other_event.name);
            let differs = format!("{system}:{event} has {theirs}, this one {ours}");
            let hint = "give it another name, or the same keys, values and order";
            Err(SpecError::new(Kind::NamedDiffers { name: name.value.clone(), differs }, span).hint(hint))
        };
        let (ours, theirs) = (self.shown_on(event), other.shown_on(other_event));
        let described = |expr: &HistExpr, format: &EventFormat| match expr {
            HistExpr::Field { name, .. } => match format.field(name) {
                Some(field) => format!("`{expr}` ({})", field.type_name),
                None => format!("`{expr}`"),
            },
            _ => format!("`{expr}`"),
        };
        let lists = [("keys", &self.keys, &ours.keys, &theirs.keys), ("values", &self.vals, &ours.vals, &theirs.vals)];
        for (what, written, mine, others) in lists {
            for (at, (a, b)) in mine.iter().zip(others).enumerate() {
                let (a, b) = (described(&a.value, event), described(&b.value, other_event));
                if a != b {
                    let span = written.get(at).map_or(name.span, |expr| expr.span);
                    return differs(span, b, a);
                }
            }
            if mine.len() != others.len() {
                return differs(name.span, format!("{} {what}", others.len()), format!("{}", mine.len()));
            }
        }
        let order = |spec: &HistSpec| {
            let keys: Vec<String> = spec.sort.iter().map(|key: &Spanned<_>| key.value.to_string()).collect();
            format!("sort={}", keys.join(","))
        };
        if ours.sort != theirs.sort {
            let span = self.sort.first().map_or(name.span, |key| key.span);
            return differs(span, order(&theirs), order(&ours));
        }
        Ok(())
    }
}
