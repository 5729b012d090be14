//! A trigger against its event and this kernel, before anything is written.

use super::{
    ActionArg, BinaryOp, Do, Features, HandlerAction, HistExpr, HistSpec, KeyModifier, Reaction, SpecError,
    SpecErrorKind as Kind, VarRef,
};
use crate::base::syntax::{Span, Spanned, did_you_mean};
use crate::kernel::format::{EventFormat, Field, Shape};
use crate::language::filter::Filter;

/// `TRACING_MAP_KEYS_MAX`
const MAX_KEYS: usize = 3;
/// `TRACING_MAP_VALS_MAX`, of which hitcount is one.
const MAX_VALS: usize = 3;
/// `TRACING_MAP_VARS_MAX`
const MAX_VARS: usize = 16;
/// `TRACING_MAP_SORT_KEYS_MAX`
const MAX_SORT: usize = 2;
/// `HIST_ACTIONS_MAX`
const MAX_ACTIONS: usize = 8;
/// Operators in one expression.
const MAX_OPERATORS: usize = 3;
/// Names that stand for no field of the event. `cpu`, `CPU` and `stacktrace` are old spellings.
const SPECIAL: [&str; 10] = [
    "common_timestamp",
    "common_cpu",
    "cpu",
    "CPU",
    "common_stacktrace",
    "stacktrace",
    "STACKTRACE",
    "hitcount",
    "common_comm",
    "COMM",
];

/// Finds the format of an event: (system, event).
pub type Lookup<'a> = &'a dyn Fn(&str, &str) -> Option<EventFormat>;

/// The event and kernel that a trigger is checked against.
#[derive(Clone, Copy)]
pub struct CheckContext<'a> {
    /// The event it is to be set on.
    pub event: &'a EventFormat,
    /// The features of this kernel.
    pub features: Features,
    /// The other hist triggers of the instance, if they are known: what `$variables` may mean.
    pub neighbours: Option<&'a [Neighbour]>,
    /// The format of another event (system, event), if formats are available at all. Synthetic events are of the system
    /// `synthetic`.
    pub lookup: Option<Lookup<'a>>,
}

/// A hist trigger that is set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// System of its event.
    pub system: String,
    /// Name of the event.
    pub event: String,
    /// The trigger.
    pub spec: HistSpec,
}

impl HistSpec {
    /// Checks names, types and limits against the event and the kernel, and the filter against the event.
    ///
    /// # Errors
    /// All that the kernel would refuse as far as can be known, in the order of the text.
    pub fn check(&self, around: &CheckContext<'_>) -> Result<(), Vec<SpecError>> {
        let mut check = SpecCheck { spec: self, around, errors: Vec::new() };
        check.limits();
        check.keys();
        check.vals();
        check.vars();
        check.sort();
        for action in &self.actions {
            check.action(action);
        }
        check.filter();
        check.errors.sort_by_key(|e| e.span.start);
        if check.errors.is_empty() { Ok(()) } else { Err(check.errors) }
    }
}

struct SpecCheck<'a> {
    spec: &'a HistSpec,
    around: &'a CheckContext<'a>,
    errors: Vec<SpecError>,
}

/// The position of an expression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ExprRole {
    Key,
    Value,
    Variable,
}

impl SpecCheck<'_> {
    fn report(&mut self, kind: Kind, span: Span) {
        self.errors.push(SpecError::new(kind, span));
    }

    fn limits(&mut self) {
        let spec = self.spec;
        let own_vals = spec.vals.iter().filter(|v| v.value != HistExpr::field("hitcount"));
        let extra_val = own_vals.clone().nth(MAX_VALS - 1).map(|v| v.span);
        let counts = [
            ("keys", spec.keys.len(), MAX_KEYS, spec.keys.get(MAX_KEYS).map(|k| k.span)),
            ("values besides hitcount", own_vals.count(), MAX_VALS - 1, extra_val),
            ("variables", spec.vars.len(), MAX_VARS, spec.vars.get(MAX_VARS).map(|v| v.name.span)),
            ("sort fields", spec.sort.len(), MAX_SORT, spec.sort.get(MAX_SORT).map(|s| s.span)),
            ("actions", spec.actions.len(), MAX_ACTIONS, spec.actions.get(MAX_ACTIONS).map(|a| a.span)),
        ];
        for (what, found, limit, extra) in counts {
            if let Some(span) = extra {
                self.report(Kind::TooMany { what, found, limit }, span);
            }
        }
        if let Some(size) = &spec.size
            && !(65..=131_072).contains(&size.value)
        {
            self.report(Kind::SizeRange(size.value), size.span);
        }
        if spec.no_hitcount {
            let place = Span::default();
            if !self.around.features.no_hitcount {
                self.report(Kind::NotInThisKernel("nohitcount"), place);
            } else if spec.vals.iter().all(|v| v.value == HistExpr::field("hitcount")) {
                self.report(Kind::NothingToShow, place);
            }
        }
        if !spec.actions.is_empty() && !self.around.features.actions {
            self.report(Kind::NotInThisKernel("actions"), spec.actions[0].span);
        }
    }

    fn filter(&mut self) {
        let Some(filter) = &self.spec.filter else { return };
        if let Err(wrong) = Filter::for_event(&filter.value, self.around.event) {
            let start = filter.span.start;
            let span = Span::new(start + wrong.span.start, start + wrong.span.end);
            let error = SpecError::new(Kind::Filter(wrong.message.clone()), span);
            self.errors.push(SpecError { hint: wrong.hints().first().cloned(), ..error });
        }
    }

    fn keys(&mut self) {
        for key in &self.spec.keys {
            key.value.walk(key.span, &mut |expr, span| {
                if let HistExpr::Var(_) = expr {
                    self.report(Kind::VariableKey, span);
                }
            });
            self.expr(key, ExprRole::Key);
        }
    }

    fn vals(&mut self) {
        for val in &self.spec.vals {
            self.expr(val, ExprRole::Value);
        }
    }

    fn vars(&mut self) {
        for (at, var) in self.spec.vars.iter().enumerate() {
            if self.spec.vars[..at].iter().any(|v| v.name == var.name) {
                self.report(Kind::DuplicateVariable(var.name.value.clone()), var.name.span);
            }
            self.expr(&var.value, ExprRole::Variable);
        }
    }

    fn expr(&mut self, whole: &Spanned<HistExpr>, place: ExprRole) {
        // The kernel makes the values first, then the variables in their order.
        let known = self.spec.vars.iter().position(|var| std::ptr::eq(&var.value, whole)).unwrap_or(0);
        let mut operators = 0;
        let mut units = Vec::new();
        whole.value.walk(whole.span, &mut |expr, span| match expr {
            HistExpr::Number(_) => {
                if !self.around.features.arithmetic {
                    self.report(Kind::NotInThisKernel("numbers in expressions"), span);
                }
            }
            HistExpr::Field { name, modifier } => {
                let operand = expr != &whole.value;
                self.field(name, *modifier, span, place, operand);
                if name == "common_timestamp" {
                    units.push(*modifier == Some(KeyModifier::Usecs));
                }
            }
            HistExpr::Var(var) => self.operand_variable(var, span, known),
            HistExpr::Neg(_) => operators += 1,
            HistExpr::Binary { op, right, .. } => {
                operators += 1;
                if matches!(op, BinaryOp::Mul | BinaryOp::Div) && !self.around.features.arithmetic {
                    self.report(Kind::NotInThisKernel("multiplication and division"), span);
                }
                if *op == BinaryOp::Div && right.value == HistExpr::Number(0) {
                    self.report(Kind::DivisionByZero, right.span);
                }
            }
        });
        if operators > MAX_OPERATORS {
            let what = "operators in one expression";
            self.report(Kind::TooMany { what, found: operators, limit: MAX_OPERATORS }, whole.span);
        }
        if units.contains(&true) && units.contains(&false) {
            self.report(Kind::MixedUnits, whole.span);
        }
    }

    fn field(&mut self, name: &str, modifier: Option<KeyModifier>, span: Span, place: ExprRole, operand: bool) {
        let features = self.around.features;
        let name_span = Span::new(span.start, span.start + name.len());
        let modifier_span = Span::new((name_span.end + 1).min(span.end), span.end);
        let field = self.around.event.field(name);
        let is_stack = field.is_none() && matches!(name, "common_stacktrace" | "stacktrace" | "STACKTRACE");
        match field {
            None if name == "hitcount" => {
                if place != ExprRole::Value {
                    self.unknown_field(name, name_span);
                } else if modifier.is_some() && !features.no_hitcount {
                    self.report(Kind::NotInThisKernel("modifiers on hitcount"), modifier_span);
                }
            }
            None if is_stack => {
                if !features.common_stacktrace && name == "common_stacktrace" {
                    let error = SpecError::new(Kind::NotInThisKernel("common_stacktrace"), name_span);
                    self.errors.push(error.hint("before Linux 6.3 it is called `stacktrace`"));
                } else if !features.common_stacktrace && place != ExprRole::Key {
                    self.report(Kind::NotInThisKernel("stacks outside of keys"), name_span);
                }
            }
            None if SPECIAL.contains(&name) => {}
            None => self.unknown_field(name, name_span),
            Some(field) => {
                if is_number_array(field) && modifier != Some(KeyModifier::Stacktrace) {
                    self.report(Kind::ArrayField(name.to_owned()), name_span);
                }
                if operand && (field.is_string() || is_number_array(field)) {
                    self.report(Kind::TextOperand(name.to_owned()), name_span);
                }
            }
        }
        if let Some(modifier) = modifier {
            use KeyModifier::*;
            let is_text = field.map_or(matches!(name, "common_comm" | "COMM"), Field::is_string);
            let numeric = matches!(modifier, Log2 | Buckets(_) | Sym | SymOffset | Syscall);
            let what = match modifier {
                Stacktrace => None,
                // The kernel takes these, and makes numbers of the text's address, or unreadable tables.
                _ if is_stack => Some("on a stack"),
                _ if is_text && numeric => Some("on text"),
                _ => None,
            };
            match what {
                Some(what) => {
                    let place = format!("{what}: `{name}`");
                    self.report(Kind::ModifierPlace { modifier: modifier.to_string(), place }, modifier_span);
                }
                None => self.modifier(name, modifier, modifier_span, place),
            }
        }
    }

    fn modifier(&mut self, name: &str, modifier: KeyModifier, span: Span, place: ExprRole) {
        use KeyModifier::*;
        let features = self.around.features;
        let unsupported = match modifier {
            Percent if !features.no_hitcount => Some(".percent"),
            Graph if !features.no_hitcount => Some(".graph"),
            Stacktrace if !features.common_stacktrace => Some(".stacktrace"),
            Buckets(_) if !features.buckets => Some(".buckets"),
            _ => None,
        };
        if let Some(what) = unsupported {
            return self.report(Kind::NotInThisKernel(what), span);
        }
        let misplaced = match (modifier, place) {
            (Execname, _) if name != "common_pid" => Some(format!("on `{name}`, only on common_pid")),
            (Percent | Graph, ExprRole::Key) => Some("on a key".to_owned()),
            (Percent | Graph | Buckets(_) | Log2, ExprRole::Variable) => Some("in a variable".to_owned()),
            (Buckets(_) | Log2 | Sym | SymOffset | Syscall | Stacktrace | Execname, ExprRole::Value) => {
                Some("on a value, which is a sum".to_owned())
            }
            _ => None,
        };
        if let Some(place) = misplaced {
            let mut error = SpecError::new(Kind::ModifierPlace { modifier: modifier.to_string(), place }, span);
            let comm = name.replace("pid", "comm");
            let has_name =
                modifier == Execname && comm != name && self.around.event.fields.iter().any(|field| field.name == comm);
            error.hint = has_name.then(|| format!("`{comm}` is the name"));
            self.errors.push(error);
        }
    }

    fn unknown_field(&mut self, name: &str, span: Span) {
        let error = unknown_field(self.around.event, name, span);
        self.errors.push(error);
    }

    /// `$name` in an expression, where the first `known` variables of this trigger are defined. Of the same trigger's
    /// variables the kernel puts what they are set to in their place, if that is without an operator, and takes it for a
    /// field then.
    fn operand_variable(&mut self, var: &VarRef, span: Span, known: usize) {
        let mut vars = self.spec.vars.iter().enumerate();
        let Some((at, own)) = vars.find(|(_, v)| v.name.value == var.name && var.event.is_none()) else {
            return self.variable(var, span);
        };
        let of_others = |all: &[Neighbour]| all.iter().any(|n| n.spec.vars.iter().any(|v| v.name.value == var.name));
        let elsewhere = self.around.neighbours.is_none_or(of_others);
        let kind = match own.value.value {
            HistExpr::Field { .. } => None,
            HistExpr::Number(_) => Some(Kind::OwnNumber(var.name.clone())),
            _ if at < known || elsewhere => None,
            _ => Some(Kind::SameStage(var.name.clone())),
        };
        if let Some(kind) = kind {
            let hint = match kind {
                Kind::OwnNumber(_) => format!("write `{}` itself", own.value.value),
                _ => format!(
                    "write `{}` itself here, or fire a synthetic event with `${}` and count that one",
                    own.value.value, var.name
                ),
            };
            self.errors.push(SpecError::new(kind, span).hint(hint));
        }
    }

    /// `$name`: of this trigger, or of another one of the instance.
    fn variable(&mut self, var: &VarRef, span: Span) {
        let own = self.spec.vars.iter().any(|v| v.name.value == var.name);
        if own && var.event.is_none() {
            return;
        }
        let Some(neighbours) = self.around.neighbours else { return };
        let matching = |n: &&Neighbour| var.event.as_ref().is_none_or(|(s, e)| *s == n.system && *e == n.event);
        let defines = |n: &&Neighbour| n.spec.vars.iter().any(|v| v.name.value == var.name);
        let mut events: Vec<_> = neighbours.iter().filter(matching).filter(defines).collect();
        // The events of own onmatch() handlers come first.
        let matched = |n: &&Neighbour| {
            self.spec.actions.iter().any(|a| {
                matches!(&a.when, Reaction::OnMatch { event } if event.value == (n.system.clone(), n.event.clone()))
            })
        };
        if events.iter().any(matched) {
            events.retain(|n| matched(n));
        }
        if events.is_empty() {
            let known = self.spec.vars.iter().chain(neighbours.iter().flat_map(|n| &n.spec.vars));
            let mut error = SpecError::new(Kind::UnknownVariable(var.name.clone()), span);
            error.hint = did_you_mean(&var.name, known.map(|v| v.name.value.as_str()));
            self.errors.push(error);
        } else if events.len() > 1 && var.event.is_none() {
            let names: Vec<_> = events.iter().map(|n| format!("{}.{}", n.system, n.event)).collect();
            let hint = format!("write `{}.${}`", names[0], var.name);
            let error = SpecError::new(Kind::AmbiguousVariable(var.name.clone(), names.join(", ")), span);
            self.errors.push(error.hint(hint));
        }
    }

    fn sort(&mut self) {
        for key in &self.spec.sort {
            let named = self.spec.keys.iter().chain(&self.spec.vals).any(|e| match &e.value {
                HistExpr::Field { name, .. } => *name == key.field,
                _ => false,
            });
            let stack = key.field == "stacktrace" || key.field == "common_stacktrace";
            if named || stack || key.field == "hitcount" {
                continue;
            }
            let names = self.spec.keys.iter().chain(&self.spec.vals).filter_map(|e| match &e.value {
                HistExpr::Field { name, .. } => Some(name.as_str()),
                _ => None,
            });
            let mut error = SpecError::new(Kind::UnknownSort(key.field.clone()), key.span);
            let hits = matches!(key.field.as_str(), "hits" | "hit" | "count" | "counts" | "events");
            let order = ["descending", "ascending"].iter().find(|order| order.starts_with(key.field.as_str()));
            error.hint = hits
                .then(|| "did you mean `hitcount`?".to_owned())
                .or_else(|| order.map(|order| format!("an order follows a name: `hitcount.{order}`")))
                .or_else(|| did_you_mean(&key.field, names.chain(["hitcount"])))
                .or_else(|| Some(format!("add it: `vals={}`", key.field)));
            self.errors.push(error);
        }
    }

    fn action(&mut self, action: &Spanned<HandlerAction>) {
        match &action.value.when {
            Reaction::OnMatch { event } => {
                let (system, name) = &event.value;
                if let Some(lookup) = self.around.lookup
                    && lookup(system, name).is_none()
                {
                    self.report(Kind::UnknownEvent(format!("{system}.{name}")), event.span);
                }
                let only = match action.value.what {
                    Do::Save(_) => Some("save"),
                    Do::Snapshot => Some("snapshot"),
                    Do::Trace { .. } => None,
                };
                if let Some(action_name) = only {
                    self.report(Kind::HandlerAction { action: action_name }, action.span);
                }
            }
            Reaction::OnMax(var) | Reaction::OnChange(var) => {
                if !self.spec.vars.iter().any(|v| v.name == *var) {
                    let mut error = SpecError::new(Kind::UnknownVariable(var.value.clone()), var.span);
                    error.hint = did_you_mean(var, self.spec.vars.iter().map(|v| v.name.value.as_str()))
                        .or_else(|| Some("it must be defined in this same trigger".to_owned()));
                    self.errors.push(error);
                }
            }
        }
        match &action.value.what {
            Do::Trace { event, args, keyword } => {
                if *keyword && event.len() < 2 {
                    self.report(Kind::ShortArgument(event.value.clone()), event.span);
                }
                if let Some(lookup) = self.around.lookup {
                    match lookup("synthetic", event) {
                        None => self.report(Kind::UnknownSynthetic(event.value.clone()), event.span),
                        Some(format) if format.fields.len() != args.len() => {
                            let (fields, args) = (format.fields.len(), args.len());
                            let kind = Kind::ArgumentCount { event: event.value.clone(), fields, args };
                            self.report(kind, event.span);
                        }
                        Some(_) => {}
                    }
                }
                for arg in args {
                    self.arg(arg, action);
                }
            }
            Do::Save(args) => {
                let others = self.spec.actions.iter().filter(|a| matches!(a.value.what, Do::Save(_))).count();
                if args.is_empty() {
                    self.report(Kind::Save("save() needs at least one field"), action.span);
                } else if others > 1 && self.first_save() != Some(action.span) {
                    self.report(Kind::Save("only one save() is possible"), action.span);
                }
                for arg in args {
                    self.arg(arg, action);
                }
            }
            Do::Snapshot => {
                if !self.around.features.snapshot {
                    self.report(Kind::NotInThisKernel("snapshot()"), action.span);
                }
            }
        }
    }

    fn first_save(&self) -> Option<Span> {
        self.spec.actions.iter().find(|a| matches!(a.value.what, Do::Save(_))).map(|a| a.span)
    }

    fn arg(&mut self, arg: &Spanned<ActionArg>, action: &Spanned<HandlerAction>) {
        match &arg.value {
            ActionArg::Var(var) => self.variable(var, arg.span),
            ActionArg::Field(name) if name.chars().count() < 2 => {
                self.report(Kind::ShortArgument(name.clone()), arg.span);
            }
            ActionArg::Field(name) => {
                let special = SPECIAL.contains(&name.as_str());
                if special || self.around.event.field(name).is_some() {
                    return;
                }
                // With onmatch() a plain name may also be a field of the matched event.
                let matched = match (&action.value.when, self.around.lookup) {
                    (Reaction::OnMatch { event }, Some(lookup)) => lookup(&event.0, &event.1),
                    (Reaction::OnMatch { .. }, None) => return,
                    _ => None,
                };
                if matched.as_ref().is_some_and(|m| m.field(name).is_some()) {
                    return;
                }
                self.unknown_field(name, arg.span);
            }
            ActionArg::Other { event: (system, event), field } => {
                let Some(lookup) = self.around.lookup else { return };
                match lookup(system, event) {
                    None => self.report(Kind::UnknownEvent(format!("{system}.{event}")), arg.span),
                    Some(format) if format.field(field).is_none() => {
                        self.errors.push(unknown_field(&format, field, arg.span));
                    }
                    Some(_) => {}
                }
            }
        }
    }
}

/// An array that is no text and whose elements are not found through a location word.
fn is_number_array(field: &Field) -> bool {
    matches!(field.shape, Shape::Array { .. }) && !field.is_string() && !matches!(field.size, 1 | 2 | 4 | 8)
}

fn unknown_field(event: &EventFormat, name: &str, span: Span) -> SpecError {
    let full = format!("{}:{}", event.system, event.name);
    let error = SpecError::new(Kind::UnknownField { event: full.clone(), field: name.to_owned() }, span);
    let names = || event.fields.iter().chain(event.common.iter()).map(|f| f.name.as_str());
    let other = match name {
        "kstack" | "ustack" | "stack" => Some("the key of call stacks is `common_stacktrace`".to_owned()),
        "pid" | "tid" if event.fields.iter().all(|field| field.name != "pid") => {
            Some("the task that runs at the event is `common_pid`, its name `common_pid.execname`".to_owned())
        }
        _ => None,
    };
    let hint = other.or_else(|| did_you_mean(name, names().chain(SPECIAL))).unwrap_or_else(|| {
        let own: Vec<_> = event.fields.iter().map(|f| f.name.as_str()).collect();
        format!("fields of {full} are {}", own.join(", "))
    });
    error.hint(hint)
}
