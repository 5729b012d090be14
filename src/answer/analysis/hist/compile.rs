//! Triggers to a plan: names resolved, filters compiled.

use super::gates::Gates;
use super::key::{KeyColumn, TriggerOperand, calculated};
use super::plan::{Assigned, CompiledTrigger, Reference, TriggerEffect, TriggerHandler, TriggerPlan, When};
use super::setup::{HistSetup, HistTrigger, Problem, SetupError};
use super::synthetic::SyntheticEvent;
use super::table::Widths;
use crate::base::abi::Abi;
use crate::base::syntax::{Span, Spanned};
use crate::base::units::EventId;
use crate::kernel::event::{Common, FieldPlace, TypedField};
use crate::kernel::format::{EventFormat, Field, Shape};
use crate::language::filter::{Filter, FunctionAddresses};
use crate::language::hist::spec::{
    ActionArg, Assign, CheckContext, Do, Features, HandlerAction, HistExpr, HistSpec, KeyModifier, Neighbour, Reaction,
    VarRef,
};
use std::sync::Arc;

/// The kernel's default `size`.
const ROOM: u64 = 2048;
/// The longest text in a key, NUL included (`MAX_FILTER_STR_VAL`), in bytes.
const LONGEST_TEXT: usize = 256;

/// The recording that the triggers are for.
pub(super) struct Around<'a> {
    pub(super) formats: &'a [&'a EventFormat],
    pub(super) abi: Abi,
    pub(super) functions: &'a dyn FunctionAddresses,
    pub(super) has_stacks: bool,
}

impl TriggerPlan {
    /// The triggers of `setup`, each checked as the kernel would and against what a recording holds.
    pub(super) fn compile(setup: &HistSetup, around: &Around<'_>) -> Result<TriggerPlan, SetupError> {
        let common = around.formats.first().map(|format| format.common.clone()).unwrap_or_default();
        let used = around.formats.iter().map(|format| format.id.0).max().unwrap_or(0);
        let definitions = setup.definitions.iter().zip(used.saturating_add(1)..);
        let synthetic =
            definitions.map(|(definition, id)| SyntheticEvent::new(definition, EventId(id), &common, around.abi));
        let mut compiler = TriggerCompiler {
            around,
            setup,
            plan: TriggerPlan {
                abi: around.abi,
                common: around.formats.first().map(|format| Common::of(format)).unwrap_or_default(),
                triggers: Vec::new(),
                tables: Vec::new(),
                synthetic: synthetic.collect(),
                on_synthetic: Vec::new(),
                gates: Gates::default(),
                only_held: setup.only_held,
                note_held: setup.note_held,
                needs_stacks: false,
                is_ordered: setup.keep_fired,
                keep_fired: setup.keep_fired,
            },
        };
        for (number, trigger) in setup.triggers.iter().enumerate() {
            compiler.add(trigger, false).map_err(|problem| SetupError { trigger: number, problem })?;
        }
        let find = |system: &str, event: &str| compiler.format(system, event).cloned();
        let gates = Gates::compile(setup, &find, around.abi, around.functions);
        let gates = gates.map_err(|(trigger, problem)| SetupError { trigger, problem })?;
        let mut plan = compiler.plan;
        for trigger in plan.triggers.iter_mut().filter(|trigger| trigger.waits.is_empty()) {
            trigger.waits = trigger.variables.iter().map(|(slot, _)| *slot).collect();
        }
        plan.is_ordered |= !gates.is_empty() || setup.note_held || setup.heaviest.is_some();
        for widths in &mut plan.tables {
            (widths.every, widths.heaviest) = (setup.every, setup.heaviest);
        }
        for trigger in plan.triggers.iter().filter(|trigger| trigger.measured().is_some() && setup.heaviest.is_none()) {
            if let Some(widths) = plan.tables.get_mut(trigger.table) {
                widths.measures = true;
            }
        }
        let on = |event: &SyntheticEvent| {
            let name = &event.format.name;
            gates.on("synthetic", name, plan.hists_on("synthetic", name))
        };
        plan.on_synthetic = plan.synthetic.iter().map(on).collect();
        plan.gates = gates;
        Ok(plan)
    }
}

struct TriggerCompiler<'a> {
    around: &'a Around<'a>,
    setup: &'a HistSetup,
    plan: TriggerPlan,
}

/// One trigger while it is compiled.
struct Draft<'t> {
    source: &'t HistTrigger,
    format: EventFormat,
    /// The values of `common_timestamp` are all in microseconds if one is.
    usecs: bool,
    references: Vec<Reference>,
    table: usize,
    /// The trigger's number.
    number: usize,
}

impl TriggerCompiler<'_> {
    fn format(&self, system: &str, event: &str) -> Option<&EventFormat> {
        let named = |format: &&EventFormat| format.system == system && format.name == event;
        let synthetic = self.plan.synthetic.iter().map(|event| &event.format);
        synthetic.chain(self.around.formats.iter().copied()).find(named)
    }

    /// True of a trigger whose filter all events that come have passed before.
    fn is_filtered(&self, source: &HistTrigger) -> bool {
        let filtered = self.setup.filtered.iter().filter_map(|number| self.setup.triggers.get(*number));
        let text = |trigger: &HistTrigger| trigger.spec.filter.as_ref().map(|text| text.value.clone());
        filtered.into_iter().any(|filtered| {
            (&source.system, &source.event, text(source)) == (&filtered.system, &filtered.event, text(filtered))
        })
    }

    fn add(&mut self, source: &HistTrigger, is_hidden: bool) -> Result<usize, Problem> {
        let (system, event) = (source.system.as_str(), source.event.as_str());
        let format = self.format(system, event).ok_or_else(|| Problem::NoEvent(format!("{system}:{event}")))?.clone();
        if !is_hidden {
            self.check(source, &format)?;
        }
        let usecs = {
            let mut found = false;
            for expr in
                source.spec.keys.iter().chain(&source.spec.vals).chain(source.spec.vars.iter().map(|v| &v.value))
            {
                found |= has_usecs(&expr.value);
            }
            found
        };
        let number = self.plan.triggers.len();
        let mut draft = Draft { source, format, usecs, references: Vec::new(), table: self.table_of(source), number };
        let spec = &source.spec;
        let mut sums = Vec::new();
        for value in spec.vals.iter().filter(|value| !is_hitcount(&value.value)) {
            sums.push(self.operand(&mut draft, value, false)?);
        }
        let base = self.plan.tables.get(draft.table).map_or(0, |widths| widths.variables);
        let mut variables = Vec::new();
        for (slot, Assign { value, .. }) in (base..).zip(&spec.vars) {
            variables.push((slot, self.assigned(&mut draft, value)?));
        }
        let keys: Vec<KeyColumn> = spec.keys.iter().map(|key| self.key(&mut draft, key)).collect::<Result<_, _>>()?;
        let tracks = self.plan.tables.get(draft.table).map_or(0, |widths| widths.tracked);
        if let Some(widths) = self.plan.tables.get_mut(draft.table) {
            widths.sums = widths.sums.max(sums.len());
            widths.variables = widths.variables.max(base.saturating_add(spec.vars.len()));
        }
        let filter = match &spec.filter {
            // It may ask for more than records hold, as for text behind a pointer.
            Some(_) if self.is_filtered(source) => None,
            None => None,
            Some(text) => {
                let filter = Filter::parse(&text.value)
                    .and_then(|filter| filter.compile(&draft.format, self.around.abi, self.around.functions));
                Some(Arc::new(filter.map_err(|error| Problem::Filter(Box::new(error)))?))
            }
        };
        // Set before its actions are made: they refer to its own variables.
        self.plan.triggers.push(CompiledTrigger {
            source: source.clone(),
            format: draft.format.clone(),
            filter,
            keys,
            sums,
            variables,
            references: Vec::new(),
            actions: Vec::new(),
            table: draft.table,
            is_read: false,
            waits: Vec::new(),
            is_hidden,
        });
        let mut actions = Vec::new();
        for (track, action) in (tracks..).zip(&spec.actions) {
            actions.push(self.action(&mut draft, &action.value, track)?);
        }
        if let Some(widths) = self.plan.tables.get_mut(draft.table) {
            widths.tracked = widths.tracked.max(tracks.saturating_add(actions.len()));
        }
        for reference in draft.references.iter().filter(|reference| reference.table != draft.table) {
            if let Some(trigger) = self.plan.triggers.get_mut(reference.trigger) {
                trigger.is_read = true;
                if reference.once && !trigger.waits.contains(&reference.slot) {
                    trigger.waits.push(reference.slot);
                }
            }
        }
        self.plan.is_ordered |= !spec.vars.is_empty() || !spec.actions.is_empty() || !draft.references.is_empty();
        if let Some(trigger) = self.plan.triggers.get_mut(number) {
            trigger.references = draft.references;
            trigger.actions = actions;
        }
        Ok(number)
    }

    /// As the kernel would, the newest one.
    fn check(&self, source: &HistTrigger, format: &EventFormat) -> Result<(), Problem> {
        let own = self.plan.triggers.iter().filter(|trigger| !trigger.is_hidden);
        let neighbours: Vec<Neighbour> = own
            .map(|trigger| {
                let HistTrigger { system, event, spec } = trigger.source.clone();
                Neighbour { system, event, spec }
            })
            .collect();
        let lookup = |system: &str, event: &str| self.format(system, event).cloned();
        let around = CheckContext {
            event: format,
            features: Features::ALL,
            neighbours: Some(&neighbours),
            lookup: Some(&lookup),
        };
        let first = |errors: Vec<_>| errors.into_iter().next();
        match source.spec.check(&around).map_err(first) {
            Err(Some(error)) => Err(Problem::Spec(Box::new(error))),
            _ => Ok(()),
        }
    }

    /// A table of its own, or that of the triggers of the same name.
    fn table_of(&mut self, source: &HistTrigger) -> usize {
        let same =
            |trigger: &&CompiledTrigger| source.spec.name.is_some() && trigger.source.spec.name == source.spec.name;
        if let Some(trigger) = self.plan.triggers.iter().find(same) {
            return trigger.table;
        }
        let size = source.spec.size.as_ref().map_or(ROOM, |size| size.value);
        let room = size.checked_next_power_of_two().and_then(|size| usize::try_from(size).ok()).unwrap_or(usize::MAX);
        self.plan.tables.push(Widths { room, ..Widths::default() });
        self.plan.tables.len().saturating_sub(1)
    }

    fn key(&mut self, draft: &mut Draft<'_>, key: &Spanned<HistExpr>) -> Result<KeyColumn, Problem> {
        let HistExpr::Field { name, modifier } = &key.value else {
            return Ok(KeyColumn::Number(self.operand(draft, key, false)?));
        };
        let field = draft.format.field(name).cloned();
        match (&field, name.as_str()) {
            (Some(field), _) if *modifier == Some(KeyModifier::Stacktrace) => {
                Ok(KeyColumn::StackField(place(&draft.format, field)))
            }
            (Some(field), _) if field.is_string() => {
                let room = if field.is_dynamic() { LONGEST_TEXT } else { field.size.min(LONGEST_TEXT) };
                Ok(KeyColumn::Text { place: place(&draft.format, field), longest: room.saturating_sub(1) })
            }
            (None, "common_stacktrace" | "stacktrace" | "STACKTRACE") => {
                self.stacks()?;
                Ok(KeyColumn::Stack)
            }
            (None, "common_comm" | "COMM") => Ok(KeyColumn::Comm),
            _ => {
                // Of a text behind a pointer, the kernel counts the address in these (`hist_field_log2()`).
                let scaled = matches!(modifier, Some(KeyModifier::Log2 | KeyModifier::Buckets(_)));
                let number = match field.as_ref().filter(|field| scaled && is_text_pointer(field)) {
                    Some(field) => scalar(field),
                    None => self.operand(draft, key, false)?,
                };
                Ok(match modifier {
                    Some(KeyModifier::Log2) => KeyColumn::Log2(number),
                    Some(KeyModifier::Buckets(size)) => KeyColumn::Bucket(number, *size),
                    _ => KeyColumn::Number(number),
                })
            }
        }
    }

    fn stacks(&mut self) -> Result<(), Problem> {
        self.plan.needs_stacks = true;
        self.plan.is_ordered = true;
        if self.around.has_stacks { Ok(()) } else { Err(Problem::NoStacks) }
    }

    /// A number. `once`: in a calculation, where reading a variable unsets it.
    fn operand(
        &mut self,
        draft: &mut Draft<'_>,
        expr: &Spanned<HistExpr>,
        once: bool,
    ) -> Result<TriggerOperand, Problem> {
        Ok(match &expr.value {
            HistExpr::Number(number) => TriggerOperand::Constant(*number),
            HistExpr::Field { name, .. } => match draft.format.field(name) {
                Some(field) => number(field, expr.span)?,
                None => match name.as_str() {
                    "common_timestamp" => TriggerOperand::Time { usecs: draft.usecs },
                    "common_cpu" | "cpu" | "CPU" => TriggerOperand::Cpu,
                    _ => return Err(not_a_number(name, "no number", expr.span)),
                },
            },
            HistExpr::Var(var) => {
                // Of the trigger's own variables the value that they are set to at this event.
                let own = draft.source.spec.vars.iter().find(|own| var.event.is_none() && own.name.value == var.name);
                match own {
                    Some(own) if own.value.value != expr.value => self.operand(draft, &own.value, once)?,
                    _ => TriggerOperand::Variable(self.reference(draft, var, once)?),
                }
            }
            HistExpr::Neg(inner) => TriggerOperand::Negative(Box::new(self.operand(draft, inner, once)?)),
            HistExpr::Binary { op, left, right } => {
                let left = self.operand(draft, left, true)?;
                let right = self.operand(draft, right, true)?;
                match (&left, &right) {
                    (TriggerOperand::Constant(left), TriggerOperand::Constant(right)) => {
                        TriggerOperand::Constant(calculated(*op, *left, *right))
                    }
                    _ => TriggerOperand::Binary(*op, Box::new((left, right))),
                }
            }
        })
    }

    fn assigned(&mut self, draft: &mut Draft<'_>, value: &Spanned<HistExpr>) -> Result<Assigned, Problem> {
        match &value.value {
            HistExpr::Field { name, modifier } => self.field(draft, name, *modifier, value.span),
            HistExpr::Var(var) => {
                let own = draft.source.spec.vars.iter().find(|own| var.event.is_none() && own.name.value == var.name);
                match own.map(|own| own.value.clone()) {
                    Some(own) if own.value != value.value => self.assigned(draft, &own),
                    _ => Ok(Assigned::Copy(self.reference(draft, var, false)?)),
                }
            }
            _ => Ok(Assigned::Number(self.operand(draft, value, false)?)),
        }
    }

    /// The value of a field, whatever its type.
    fn field(
        &mut self,
        draft: &mut Draft<'_>,
        name: &str,
        modifier: Option<KeyModifier>,
        span: Span,
    ) -> Result<Assigned, Problem> {
        match (draft.format.field(name), name) {
            (Some(field), _)
                if modifier == Some(KeyModifier::Stacktrace) || (field.is_dynamic() && field.is_long()) =>
            {
                Ok(Assigned::StackField(place(&draft.format, field)))
            }
            (Some(field), _) if field.is_string() => Ok(Assigned::Text(place(&draft.format, field))),
            (Some(_), "common_pid") if modifier == Some(KeyModifier::Execname) => Ok(Assigned::Comm),
            (None, "common_comm" | "COMM") => Ok(Assigned::Comm),
            (None, "common_stacktrace" | "stacktrace" | "STACKTRACE") => {
                self.stacks()?;
                Ok(Assigned::Stack)
            }
            _ => {
                let expr = Spanned::new(HistExpr::Field { name: name.to_owned(), modifier }, span);
                Ok(Assigned::Number(self.operand(draft, &expr, false)?))
            }
        }
    }

    /// The number of the reference to a variable of an earlier trigger, or of this one.
    fn reference(&mut self, draft: &mut Draft<'_>, var: &VarRef, once: bool) -> Result<usize, Problem> {
        let number = self.trigger_with(draft, var).ok_or_else(|| Problem::NoVariable(var.name.clone()))?;
        let trigger = self.plan.triggers.get(number);
        let at = trigger.and_then(|of| of.source.spec.vars.iter().position(|own| own.name.value == var.name));
        let found = trigger.zip(at).and_then(|(trigger, at)| Some((trigger.table, trigger.variables.get(at)?.0)));
        let (table, slot) = found.ok_or_else(|| Problem::NoVariable(var.name.clone()))?;
        let same = |known: &Reference| (known.table, known.slot) == (table, slot);
        if let Some(at) = draft.references.iter().position(same) {
            // The kernel keeps one reference per variable, and marks it.
            if let Some(known) = draft.references.get_mut(at) {
                known.once |= once;
            }
            return Ok(at);
        }
        draft.references.push(Reference { trigger: number, table, slot, once });
        Ok(draft.references.len().saturating_sub(1))
    }

    /// The trigger that sets a variable: this one, one of an event that a handler matches, or the only other one
    /// (`find_event_var()`).
    fn trigger_with(&self, draft: &Draft<'_>, var: &VarRef) -> Option<usize> {
        let sets = |trigger: &CompiledTrigger| trigger.source.spec.vars.iter().any(|own| own.name.value == var.name);
        let is_on = |trigger: &CompiledTrigger, system: &str, event: &str| {
            trigger.source.system == system && trigger.source.event == event
        };
        let all = || self.plan.triggers.iter().enumerate().filter(|(_, trigger)| sets(trigger));
        if let Some((system, event)) = &var.event {
            return all().find(|(_, trigger)| is_on(trigger, system, event)).map(|(number, _)| number);
        }
        if let Some((number, _)) = all().find(|(number, _)| *number == draft.number) {
            return Some(number);
        }
        let matched = draft.source.spec.actions.iter().find_map(|action| match &action.value.when {
            Reaction::OnMatch { event } => {
                all().find(|(_, trigger)| is_on(trigger, &event.value.0, &event.value.1)).map(|(number, _)| number)
            }
            _ => None,
        });
        matched.or_else(|| all().next().map(|(number, _)| number))
    }

    fn action(
        &mut self,
        draft: &mut Draft<'_>,
        action: &HandlerAction,
        track: usize,
    ) -> Result<TriggerHandler, Problem> {
        let followed = |name: &str| VarRef { event: None, name: name.to_owned() };
        let (when, matched) = match &action.when {
            Reaction::OnMatch { event } => (When::Match, Some(event.value.clone())),
            Reaction::OnMax(name) => {
                (When::Max { reference: self.reference(draft, &followed(name), false)?, track }, None)
            }
            Reaction::OnChange(name) => {
                (When::Change { reference: self.reference(draft, &followed(name), false)?, track }, None)
            }
        };
        let what = match &action.what {
            Do::Trace { event, args, .. } => {
                let named = |synthetic: &SyntheticEvent| synthetic.format.name == event.value;
                let at = self.plan.synthetic.iter().position(named);
                let synthetic = at.ok_or_else(|| Problem::NoSynthetic(event.value.clone()))?;
                TriggerEffect::Fire { synthetic, values: self.passed(draft, args, matched.as_ref())? }
            }
            Do::Save(args) => TriggerEffect::Save(self.passed(draft, args, matched.as_ref())?),
            Do::Snapshot => TriggerEffect::Snapshot,
        };
        Ok(TriggerHandler { when, what })
    }

    fn passed(
        &mut self,
        draft: &mut Draft<'_>,
        args: &[Spanned<ActionArg>],
        matched: Option<&(String, String)>,
    ) -> Result<Vec<Assigned>, Problem> {
        let mut passed = Vec::with_capacity(args.len());
        for arg in args {
            passed.push(match &arg.value {
                ActionArg::Var(var) => Assigned::Copy(self.reference(draft, var, false)?),
                ActionArg::Field(name) if self.is_own(draft, name) => self.field(draft, name, None, arg.span)?,
                ActionArg::Field(name) => match matched {
                    Some(event) => self.kept(draft, event, name)?,
                    None => self.field(draft, name, None, arg.span)?,
                },
                ActionArg::Other { event, field } => {
                    let own = (event.0.as_str(), event.1.as_str()) == (&draft.source.system, &draft.source.event);
                    if own { self.field(draft, field, None, arg.span)? } else { self.kept(draft, event, field)? }
                }
            });
        }
        Ok(passed)
    }

    fn is_own(&self, draft: &Draft<'_>, name: &str) -> bool {
        const SPECIAL: [&str; 9] = [
            "common_timestamp",
            "common_cpu",
            "cpu",
            "CPU",
            "common_comm",
            "COMM",
            "common_stacktrace",
            "stacktrace",
            "STACKTRACE",
        ];
        draft.format.field(name).is_some() || SPECIAL.contains(&name)
    }

    /// A field of a matched event, which a hidden trigger with the same keys keeps (`create_field_var_hist()`).
    fn kept(&mut self, draft: &mut Draft<'_>, event: &(String, String), field: &str) -> Result<Assigned, Problem> {
        let variable = format!("synthetic_{field}");
        let own_keys = draft.source.spec.keys.len();
        let fits = |trigger: &&CompiledTrigger| {
            (&trigger.source.system, &trigger.source.event) == (&event.0, &event.1)
                && trigger.source.spec.keys.len() == own_keys
        };
        let source = self.plan.triggers.iter().find(fits).map(|trigger| trigger.source.clone());
        let source = source.ok_or_else(|| Problem::NoVariable(format!("{}.{}.{field}", event.0, event.1)))?;
        let hidden = HistSpec {
            keys: source.spec.keys,
            vars: vec![Assign { name: variable.clone().into(), value: HistExpr::field(field).into() }],
            filter: source.spec.filter,
            size: source.spec.size,
            ..HistSpec::default()
        };
        let same = |trigger: &CompiledTrigger| trigger.is_hidden && trigger.source.spec == hidden;
        let at = self.plan.triggers.iter().position(same);
        let number = match at {
            Some(at) => at,
            None => {
                let source = HistTrigger { system: source.system, event: source.event, spec: hidden };
                self.add(&source, true)?
            }
        };
        let found =
            self.plan.triggers.get(number).and_then(|trigger| Some((trigger.table, trigger.variables.first()?.0)));
        let (table, slot) = found.ok_or(Problem::NoVariable(variable))?;
        let same = |known: &Reference| (known.table, known.slot) == (table, slot);
        let at = draft.references.iter().position(same).unwrap_or_else(|| {
            draft.references.push(Reference { trigger: number, table, slot, once: false });
            draft.references.len().saturating_sub(1)
        });
        Ok(Assigned::Copy(at))
    }
}

fn is_hitcount(expr: &HistExpr) -> bool {
    matches!(expr, HistExpr::Field { name, .. } if name == "hitcount")
}

fn has_usecs(expr: &HistExpr) -> bool {
    match expr {
        HistExpr::Field { name, modifier } => name == "common_timestamp" && *modifier == Some(KeyModifier::Usecs),
        HistExpr::Neg(inner) => has_usecs(&inner.value),
        HistExpr::Binary { left, right, .. } => has_usecs(&left.value) || has_usecs(&right.value),
        HistExpr::Number(_) | HistExpr::Var(_) => false,
    }
}

fn place(format: &EventFormat, field: &Field) -> FieldPlace {
    TypedField::new(format, field).place
}

fn number(field: &Field, span: Span) -> Result<TriggerOperand, Problem> {
    let what = match (field.shape, field.size) {
        _ if field.is_string() => "a text: a sum of texts means nothing",
        _ if is_text_pointer(field) => "a pointer: the text behind it is not in the recording",
        (Shape::Scalar, 1 | 2 | 4 | 8) => return Ok(scalar(field)),
        _ => "no number",
    };
    Err(not_a_number(&field.name, what, span))
}

/// A pointer to a text (`FILTER_PTR_STRING`).
fn is_text_pointer(field: &Field) -> bool {
    field.shape == Shape::Scalar && field.type_name.ends_with("char *")
}

/// The number in a scalar field.
fn scalar(field: &Field) -> TriggerOperand {
    TriggerOperand::Field { offset: field.offset, size: field.size, signed: field.is_signed() }
}

fn not_a_number(field: &str, what: &'static str, span: Span) -> Problem {
    Problem::Field { field: field.to_owned(), what, span }
}
