//! The time through a chain of events, leg by leg, as one synthetic event.

use super::builder::join_filters;
use super::def::valid_name;
use super::plan::{TIMESTAMP, TIMESTAMP_USECS, matching, taken, time};
use super::{FieldType, SynthDef, SynthError, SynthField, shell_line};
use crate::kernel::format::EventFormat;
use crate::language::hist::spec::{
    ActionArg, Assign, BinaryOp, Do, HandlerAction, HistExpr, HistSpec, KeyModifier, Reaction, SortKey, VarRef,
};

/// `TRACING_MAP_KEYS_MAX`
const MAX_KEYS: usize = 3;

/// The unit of the times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// Microseconds.
    Usecs,
}

impl Unit {
    /// The name of the field with the whole time: `ns`, `usecs`.
    pub fn name(self) -> &'static str {
        match self {
            Unit::Ns => "ns",
            Unit::Usecs => "usecs",
        }
    }

    fn now(self) -> HistExpr {
        let name = match self {
            Unit::Ns => TIMESTAMP,
            Unit::Usecs => TIMESTAMP_USECS,
        };
        time(name).unwrap_or(HistExpr::Number(0))
    }
}

/// A value of one of the events that distinguishes times.
#[derive(Clone, Debug)]
struct Split {
    event: usize,
    /// Its name in the synthetic event.
    name: String,
    ty: FieldType,
    value: HistExpr,
    modifier: Option<KeyModifier>,
}

/// Collects what belongs to a chain of events, and checks each part as it comes.
///
/// Each event but the last keeps its time in a variable under the key that it shares with the next one; an event without
/// the one before it counts nothing. The last one fires the synthetic event.
#[derive(Clone, Debug)]
pub struct EventChain {
    name: String,
    unit: Unit,
    events: Vec<EventFormat>,
    keys: Vec<Vec<HistExpr>>,
    filters: Vec<Option<String>>,
    splits: Vec<Split>,
    size: Option<u64>,
    stacks: bool,
}

impl EventChain {
    /// A chain of `events` (two or more), whose synthetic event is called `name`. `stacks` says that this kernel keeps
    /// stacks in variables (Linux 6.3).
    ///
    /// # Errors
    /// [`SynthError::Name`].
    pub fn new(name: &str, unit: Unit, events: Vec<EventFormat>, stacks: bool) -> Result<EventChain, SynthError> {
        if !valid_name(name) {
            return Err(SynthError::Name(name.to_owned()));
        }
        let (keys, filters) = (vec![Vec::new(); events.len()], vec![None; events.len()]);
        Ok(EventChain { name: name.to_owned(), unit, events, keys, filters, splits: Vec::new(), size: None, stacks })
    }

    /// The events, in order.
    pub fn events(&self) -> &[EventFormat] {
        &self.events
    }

    /// Fields, one of each event, that are equal.
    ///
    /// # Errors
    /// [`SynthError`] with the first event that lacks its field or has one of another type, and
    /// [`SynthError::TooManyMatches`].
    pub fn match_fields(&mut self, fields: &[&str]) -> Result<&mut Self, SynthError> {
        let mut found = Vec::with_capacity(fields.len());
        for ((start, end), names) in self.events.iter().zip(self.events.iter().skip(1)).zip(fields.windows(2)) {
            let (first, second) = matching(start, names[0], end, names[1])?;
            if found.is_empty() {
                found.push(first);
            }
            found.push(second);
        }
        if self.keys.first().is_some_and(|keys| keys.len() == MAX_KEYS) {
            return Err(SynthError::TooManyMatches(fields.first().map_or(String::new(), |f| (*f).to_owned())));
        }
        for (keys, key) in self.keys.iter_mut().zip(found) {
            keys.push(key);
        }
        Ok(self)
    }

    /// A distribution for each value of a field of the event with the index `event`.
    ///
    /// # Errors
    /// [`SynthError`] if there is no such field, or the kernel cannot keep it for so long.
    pub fn split(&mut self, event: usize, field: &str, modifier: Option<KeyModifier>) -> Result<&mut Self, SynthError> {
        let Some(format) = self.events.get(event) else { return Ok(self) };
        let (value, ty) = taken(format, field, !self.stacks)?;
        let is_stack = matches!(ty, FieldType::Stack { .. });
        if is_stack && !self.stacks {
            return Err(SynthError::StackUnsupported);
        }
        // A text or a stack is kept by its place, which the next event of that kind overwrites.
        let last = self.events.len().saturating_sub(1);
        if event + 1 < last && (is_stack || matches!(ty, FieldType::Text(_))) {
            return Err(SynthError::NotKept(field.to_owned()));
        }
        let plain = match field {
            "STACKTRACE" | "stacktrace" | "common_stacktrace" => "stack",
            "COMM" => "comm",
            "CPU" => "cpu",
            // The kernel would take it for the field that every event has.
            field => field.strip_prefix("common_").unwrap_or(field),
        };
        let is_used = |name: &str| {
            let of_time = name == self.unit.name() || self.legs().any(|leg| leg_name(leg) == name);
            of_time || self.splits.iter().any(|split| split.name == name)
        };
        let name = match event {
            0 if is_used(plain) => format!("start_{plain}"),
            _ => plain.to_owned(),
        };
        if is_used(&name) {
            return Err(SynthError::Duplicate(name));
        }
        let modifier = if is_stack { Some(KeyModifier::Stacktrace) } else { modifier };
        self.splits.push(Split { event, name, ty, value, modifier });
        Ok(self)
    }

    /// Only those of the event with the index `event` that pass this filter.
    ///
    /// # Errors
    /// [`SynthError::Filter`].
    pub fn filter(&mut self, event: usize, filter: &str) -> Result<&mut Self, SynthError> {
        if let (Some(format), Some(all)) = (self.events.get(event), self.filters.get_mut(event)) {
            join_filters(all, format, filter)?;
        }
        Ok(self)
    }

    /// The number of entries of each table.
    pub fn size(&mut self, entries: Option<u64>) -> &mut Self {
        self.size = entries;
        self
    }

    /// The writes; `class` is the modifier of the classes of the distributions.
    ///
    /// # Errors
    /// [`SynthError`] if there is more than the kernel takes.
    pub fn plan(&self, class: KeyModifier) -> Result<ChainPlan, SynthError> {
        if let Some(extra) = self.splits.get(MAX_KEYS - 1) {
            return Err(SynthError::TooManySplits(extra.name.clone()));
        }
        let stages: Vec<Stage> = (0..self.events.len()).map(|at| self.stage(at)).collect();
        if let Some(stage) = stages.iter().find(|stage| stage.spec.vars.len() > 16) {
            return Err(SynthError::TooManyVariables(stage.spec.vars.len()));
        }
        // The kernel's differences have no sign, and it compares types by their names.
        let number = |name: String| SynthField { ty: FieldType::Number("u64".to_owned()), name };
        let split = |split: &Split| SynthField { ty: split.ty.clone(), name: split.name.clone() };
        let mut fields = vec![number(self.unit.name().to_owned())];
        fields.extend(self.legs().map(|leg| number(leg_name(leg))));
        fields.extend(self.splits.iter().map(split));
        let legs = self.legs().map(|leg| {
            let event = |at: usize| self.events.get(at).map(name_of).unwrap_or_default();
            let table = self.table(&[], &leg_name(leg), class);
            Leg { from: event(leg - 1), to: event(leg), field: leg_name(leg), table }
        });
        Ok(ChainPlan {
            definition: SynthDef { name: self.name.clone(), fields },
            table: self.table(&self.splits, self.unit.name(), class),
            legs: legs.collect(),
            stages,
        })
    }

    /// The numbers of the legs, from 1, that have times of their own: none of two events, whose leg is the whole.
    fn legs(&self) -> std::ops::Range<usize> {
        1..if self.events.len() > 2 { self.events.len() } else { 1 }
    }

    fn table(&self, splits: &[Split], field: &str, class: KeyModifier) -> HistSpec {
        let key = |split: &Split| HistExpr::Field { name: split.name.clone(), modifier: split.modifier }.into();
        let mut keys: Vec<_> = splits.iter().map(key).collect();
        keys.push(HistExpr::with(field, class).into());
        let by = |name: &str| SortKey { field: name.to_owned(), descending: false }.into();
        // A stack has no order.
        let first = splits.iter().find(|split| split.modifier != Some(KeyModifier::Stacktrace));
        let sort = first.map(|split| by(&split.name)).into_iter().chain([by(field)]).collect();
        HistSpec {
            keys,
            vals: vec![HistExpr::field(field).into()],
            sort,
            size: self.size.map(Into::into),
            ..HistSpec::default()
        }
    }

    /// The variable that the event `at` keeps.
    fn variable(&self, at: usize, what: &str) -> String {
        format!("__{}_{at}_{what}", self.name)
    }

    fn stage(&self, at: usize) -> Stage {
        let last = at + 1 == self.events.len();
        let mut vars = Vec::new();
        let mut set = |what: &str, value: HistExpr| {
            vars.push(Assign { name: self.variable(at, what).into(), value: value.into() });
        };
        if !last {
            set("ts", self.unit.now());
        }
        if let Some(before) = at.checked_sub(1) {
            let earlier = |what: &str| HistExpr::var(self.variable(before, what));
            let first = if before == 0 { "ts" } else { "first" };
            if last {
                set(self.unit.name(), HistExpr::binary(BinaryOp::Sub, self.unit.now(), earlier(first)));
            } else {
                set("first", earlier(first));
            }
            for leg in self.legs().take_while(|leg| *leg <= at) {
                let name = leg_name(leg);
                let value = if leg == at {
                    HistExpr::binary(BinaryOp::Sub, self.unit.now(), earlier("ts"))
                } else {
                    earlier(&name)
                };
                set(&name, value);
            }
            for split in self.splits.iter().filter(|split| split.event < at) {
                set(&split.name, earlier(&split.name));
            }
        }
        for split in self.splits.iter().filter(|split| split.event == at) {
            set(&split.name, split.value.clone());
        }
        let mut spec = HistSpec {
            keys: self.keys.get(at).into_iter().flatten().cloned().map(Into::into).collect(),
            vars,
            size: self.size.map(Into::into),
            filter: self.filters.get(at).cloned().flatten().map(Into::into),
            ..HistSpec::default()
        };
        if last && let Some(before) = at.checked_sub(1).and_then(|before| self.events.get(before)) {
            let fields = [self.unit.name().to_owned()].into_iter().chain(self.legs().map(leg_name));
            let fields = fields.chain(self.splits.iter().map(|split| split.name.clone()));
            let arg = |name: String| ActionArg::Var(VarRef { event: None, name: self.variable(at, &name) }).into();
            let what = Do::Trace { event: self.name.clone().into(), args: fields.map(arg).collect(), keyword: true };
            let when = Reaction::OnMatch { event: (before.system.clone(), before.name.clone()).into() };
            spec.actions.push(HandlerAction { when, what }.into());
        }
        // All events that could end a leg, with the START that they had or without.
        let seen = (at > 0).then(|| {
            let name = self.variable(at, "seen").into();
            HistSpec {
                keys: vec![HistExpr::field("common_cpu").into()],
                vars: vec![Assign { name, value: HistExpr::field("common_cpu").into() }],
                filter: spec.filter.clone(),
                ..HistSpec::default()
            }
        });
        let event = self.events.get(at).map(name_of).unwrap_or_default();
        Stage { event, spec, seen }
    }
}

fn leg_name(leg: usize) -> String {
    format!("leg{leg}")
}

fn name_of(event: &EventFormat) -> (String, String) {
    (event.system.clone(), event.name.clone())
}

/// One event of a chain and what is set on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// System and name.
    pub event: (String, String),
    /// The trigger that keeps the event's time, or fires the synthetic event. Its table counts events that followed
    /// the one before them, of the first event all.
    pub spec: HistSpec,
    /// A table that counts all these events; `None` for the first one.
    pub seen: Option<HistSpec>,
}

/// The way from one event of a chain to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leg {
    /// System and name of the event that it starts with.
    pub from: (String, String),
    /// System and name of the event that it ends with.
    pub to: (String, String),
    /// The field of the synthetic event with its time.
    pub field: String,
    /// Its distribution, a histogram of the synthetic event.
    pub table: HistSpec,
}

/// Writes that set up a [`EventChain`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainPlan {
    /// The synthetic event.
    pub definition: SynthDef,
    /// The distribution of the whole time, a histogram of the synthetic event.
    pub table: HistSpec,
    /// The legs of a chain of three events and more.
    pub legs: Vec<Leg>,
    /// The events, in their order, which is the order of the writes.
    pub stages: Vec<Stage>,
}

impl ChainPlan {
    /// The histograms of the synthetic event: the whole, then the legs.
    pub fn tables(&self) -> impl Iterator<Item = &HistSpec> {
        std::iter::once(&self.table).chain(self.legs.iter().map(|leg| &leg.table))
    }

    /// The fields with times. They are negative where the clock of an event's CPU is behind that of the one before.
    pub fn times(&self) -> impl Iterator<Item = &str> {
        self.definition.fields.iter().take(1 + self.legs.len()).map(|field| field.name.as_str())
    }

    /// The triggers in the order in which they are to be set: tables first, so that nothing is fired unseen.
    pub fn triggers(&self) -> Vec<((&str, &str), &HistSpec)> {
        let synthetic = ("synthetic", self.definition.name.as_str());
        let mut all: Vec<_> = self.tables().map(|table| (synthetic, table)).collect();
        for stage in &self.stages {
            let event = (stage.event.0.as_str(), stage.event.1.as_str());
            all.push((event, &stage.spec));
            all.extend(stage.seen.iter().map(|seen| (event, seen)));
        }
        all
    }

    /// The writes as shell commands; `root` is the tracing directory, `instance` the one for the triggers.
    pub fn shell(&self, root: &str, instance: Option<&str>) -> Vec<String> {
        let base = instance.map_or(root.to_owned(), |name| format!("{root}/instances/{name}"));
        let mut lines = vec![shell_line(&self.definition.to_string(), &format!("{root}/synthetic_events"))];
        for ((system, event), spec) in self.triggers() {
            lines.push(shell_line(&spec.to_string(), &format!("{base}/events/{system}/{event}/trigger")));
        }
        lines
    }
}
