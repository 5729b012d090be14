//! Assertions held against a recording.

use super::ast::{Assertion, Events, Expr, Latency, Operation, Quantity, Reducer, Source};
use super::compare::Compare;
use super::conditions::Conditions;
use super::interval::Interval;
use super::measure::{Finding, Measure};
use super::quantity::{Facts, Valued};
use crate::abi::Abi;
use crate::analysis::{Chosen, EventCount, Extent, Io, Irqs, KeyPart, Pairs, Sched, Several, Spot, Syscalls};
use crate::events::{EventName, EventSelection};
use crate::filter::Program;
use crate::format::EventFormat;
use crate::symbols::Comms;
use crate::syntax::{Diagnostic, Spanned};
use crate::units::EventId;
use std::collections::HashMap;
use std::sync::Arc;

/// Assertions, and what must be measured for them.
pub struct Check<'a> {
    planned: Vec<Planned>,
    measures: Vec<Measure<'a>>,
}

/// An assertion.
struct Planned {
    assertion: Assertion,
    /// For each of its quantities, by the start of its place.
    needs: HashMap<usize, Need>,
}

/// The measure that a quantity needs.
#[derive(Clone, Debug, Default)]
struct Need {
    /// Index of the measure.
    measure: Option<usize>,
    /// Why it cannot be measured.
    missing: Option<String>,
    /// The events it is about.
    events: Vec<(EventName, EventId)>,
}

/// Whether an assertion holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It does, whatever was lost.
    Pass,
    /// It does not, whatever was lost.
    Fail,
    /// That hangs on what the recording does not hold.
    Indeterminate,
}

/// An assertion's verdict, and why.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The assertion.
    pub text: String,
    /// Whether it holds.
    pub verdict: Verdict,
    /// The comparison.
    pub op: Compare,
    /// Left and right of the comparison, as far as they have a value.
    pub values: [Option<Interval>; 2],
    /// Number of durations that the value is made of, if it is made of some.
    pub samples: Option<u64>,
    /// Why it is not known, and what else must be known to read the value.
    pub reasons: Vec<String>,
    /// The first interval or event beyond the limit, as far as it is known, else the longest.
    pub spot: Option<Spot>,
}

impl<'a> Check<'a> {
    /// Plans the check of a recording with these formats; `comms` has the names of its tasks.
    ///
    /// # Errors
    /// A filter or a key that does not fit the fields of its events. That events are missing is a verdict, not an error.
    pub fn new(
        assertions: Vec<Assertion>,
        formats: &[&EventFormat],
        abi: Abi,
        comms: &'a Comms,
    ) -> Result<Self, Diagnostic> {
        let mut planner = Planner { formats, abi, comms, measures: Vec::new(), shared: HashMap::new() };
        let planned = assertions.into_iter().map(|assertion| planner.plan(assertion)).collect::<Result<_, _>>()?;
        Ok(Check { planned, measures: planner.measures })
    }

    /// The analysis of the recording that [`Check::verdicts`] needs the finding of.
    pub fn measures(&self) -> Several<Measure<'a>> {
        Several(self.measures.clone())
    }

    /// The verdicts, in the order of the assertions.
    pub fn verdicts(&self, findings: &[Finding], extent: &Extent, conditions: &Conditions<'_>) -> Vec<Checked> {
        self.planned.iter().map(|planned| planned.verdict(findings, extent, conditions)).collect()
    }
}

struct Planner<'f, 'a> {
    formats: &'f [&'f EventFormat],
    abi: Abi,
    comms: &'a Comms,
    measures: Vec<Measure<'a>>,
    /// Measures that any number of quantities share, by name.
    shared: HashMap<&'static str, usize>,
}

/// The types of some events, each with its filter.
struct Types<'f> {
    formats: Vec<&'f EventFormat>,
    programs: HashMap<EventId, Arc<Program>>,
}

impl<'f, 'a> Planner<'f, 'a> {
    fn plan(&mut self, assertion: Assertion) -> Result<Planned, Diagnostic> {
        let mut needs = HashMap::new();
        for quantity in [assertion.left.quantities(), assertion.right.quantities()].concat() {
            needs.insert(quantity.span.start, self.need(quantity, &assertion)?);
        }
        Ok(Planned { assertion, needs })
    }

    fn need(&mut self, quantity: &Spanned<Quantity>, assertion: &Assertion) -> Result<Need, Diagnostic> {
        let limit = assertion.most_allowed().unwrap_or(u64::MAX);
        match &quantity.value {
            Quantity::Lost | Quantity::Duration => Ok(Need::default()),
            Quantity::Count(events) | Quantity::Rate(events) => {
                let limit = if matches!(quantity.value, Quantity::Rate(_)) { u64::MAX } else { limit };
                self.count(events, assertion, limit)
            }
            Quantity::Reduced(by, Source::Latency(latency)) => {
                let limit = if *by == Reducer::Count { u64::MAX } else { limit };
                self.pairs(latency, assertion, limit)
            }
            Quantity::Reduced(_, source) | Quantity::Errors(source) => Ok(self.analysis(source)),
            Quantity::Busy | Quantity::Run(_) => Ok(self.sched()),
        }
    }

    fn add(&mut self, measure: Measure<'a>) -> Option<usize> {
        self.measures.push(measure);
        Some(self.measures.len().saturating_sub(1))
    }

    fn types(&self, events: &Events, assertion: &Assertion) -> Result<Result<Types<'f>, String>, Diagnostic> {
        let mut names: Vec<EventName> =
            self.formats.iter().map(|format| EventName::new(&format.system, &format.name)).collect();
        names.sort_unstable();
        let selection = EventSelection::new(events.names.value.clone());
        let selected = match selection.select(&names) {
            Ok(selected) => selected,
            Err(none) if none.nearest.is_empty() => return Ok(Err(format!("{none}: it was not recorded"))),
            Err(none) => return Ok(Err(format!("{none}: it was not recorded, but {} was", none.nearest.join(", ")))),
        };
        let is_selected = |format: &&&EventFormat| {
            selected.iter().any(|name| name.system == format.system && name.name == format.name)
        };
        let formats: Vec<&EventFormat> = self.formats.iter().filter(is_selected).copied().collect();
        let mut programs = HashMap::new();
        if let Some(filter) = &events.filter {
            for format in &formats {
                let program = filter.value.compile(format, self.abi, &());
                let program = program.map_err(|error| error.within("assert", &assertion.text, filter.span.start))?;
                programs.insert(format.id, Arc::new(program));
            }
        }
        Ok(Ok(Types { formats, programs }))
    }

    fn count(&mut self, events: &Events, assertion: &Assertion, limit: u64) -> Result<Need, Diagnostic> {
        let types = match self.types(events, assertion)? {
            Ok(types) => types,
            Err(missing) => return Ok(Need { missing: Some(missing), ..Need::default() }),
        };
        let chosen = self.chosen(&types, |_| ());
        let measure = self.add(Measure::Count(Box::new(EventCount::new(chosen, limit))));
        Ok(Need { measure, missing: None, events: types.names() })
    }

    fn pairs(&mut self, latency: &Latency, assertion: &Assertion, limit: u64) -> Result<Need, Diagnostic> {
        let (from, to) = match (self.types(&latency.from, assertion)?, self.types(&latency.to, assertion)?) {
            (Ok(from), Ok(to)) => (from, to),
            (Err(missing), _) | (_, Err(missing)) => return Ok(Need { missing: Some(missing), ..Need::default() }),
        };
        let mut sides = Vec::new();
        for (types, keys) in [
            (&from, latency.keys.iter().map(|(key, _)| key).collect::<Vec<_>>()),
            (&to, latency.keys.iter().map(|(_, key)| key).collect()),
        ] {
            let mut parts: HashMap<EventId, Vec<KeyPart>> = HashMap::new();
            for format in &types.formats {
                for key in &keys {
                    let part = KeyPart::of(format, &key.value).ok_or_else(|| {
                        let fields = format.fields.iter().map(|field| field.name.as_str());
                        let event = EventName::new(&format.system, &format.name);
                        let message = format!("{event} has no number or text `{}` to be a key", key.value);
                        let hint = crate::syntax::did_you_mean(&key.value, fields);
                        assertion.error(key.span, message).hint_opt(hint)
                    })?;
                    parts.entry(format.id).or_default().push(part);
                }
            }
            sides.push(self.chosen(types, |format| parts.get(&format.id).cloned().unwrap_or_default()));
        }
        let mut sides = sides.into_iter();
        let (Some(begin), Some(end)) = (sides.next(), sides.next()) else { return Ok(Need::default()) };
        let measure = self.add(Measure::Pairs(Box::new(Pairs::new(begin, end, limit))));
        Ok(Need { measure, missing: None, events: [from.names(), to.names()].concat() })
    }

    fn chosen<M: Clone>(&self, types: &Types<'_>, meaning: impl Fn(&EventFormat) -> M) -> Chosen<'a, M> {
        Chosen::new(self.formats.iter().copied(), self.abi, self.comms, |format| {
            let selected = types.formats.iter().any(|one| one.id == format.id);
            selected.then(|| (types.programs.get(&format.id).cloned(), meaning(format)))
        })
    }

    fn sched(&mut self) -> Need {
        let switch = self.formats.iter().find(|format| format.system == "sched" && format.name == "sched_switch");
        let events = switch.map(|format| (EventName::new(&format.system, &format.name), format.id));
        let need = self.shared("sched", "sched:sched_switch was not recorded", |formats, abi| {
            let sched = Sched::new(formats.iter().copied(), abi);
            sched.has_events().then(|| Measure::Sched(Box::new(sched)))
        });
        Need { events: events.into_iter().collect(), ..need }
    }

    fn analysis(&mut self, source: &Source) -> Need {
        match source {
            Source::Latency(_) => Need::default(), // has a measure of its own
            Source::Wait(_) | Source::Preempted(_) => self.sched(),
            Source::Syscall(_) => self.shared("syscall", "no system calls were recorded", |formats, abi| {
                let syscalls = Syscalls::new(formats.iter().copied(), abi);
                syscalls.has_events().then(|| Measure::Syscalls(Box::new(syscalls)))
            }),
            Source::Irq(_) => self.shared("irq", "no interrupts were recorded", |formats, abi| {
                let irqs = Irqs::new(formats.iter().copied(), abi);
                irqs.has_events().then(|| Measure::Irqs(Box::new(irqs)))
            }),
            Source::Io(_) => self.shared("io", "block:block_rq_complete was not recorded", |formats, abi| {
                let io = Io::new(formats.iter().copied(), abi);
                io.has_events().then(|| Measure::Io(Box::new(io)))
            }),
        }
    }

    fn shared(
        &mut self,
        name: &'static str,
        missing: &str,
        make: impl FnOnce(&[&EventFormat], Abi) -> Option<Measure<'a>>,
    ) -> Need {
        if let Some(known) = self.shared.get(name) {
            return Need { measure: Some(*known), ..Need::default() };
        }
        match make(self.formats, self.abi) {
            Some(measure) => {
                let measure = self.add(measure);
                self.shared.extend(measure.map(|at| (name, at)));
                Need { measure, ..Need::default() }
            }
            None => Need { missing: Some(missing.to_owned()), ..Need::default() },
        }
    }
}

impl Types<'_> {
    fn names(&self) -> Vec<(EventName, EventId)> {
        self.formats.iter().map(|format| (EventName::new(&format.system, &format.name), format.id)).collect()
    }
}

impl Planned {
    fn verdict(&self, findings: &[Finding], extent: &Extent, conditions: &Conditions<'_>) -> Checked {
        let mut checked = Checked {
            text: self.assertion.text.clone(),
            verdict: Verdict::Indeterminate,
            op: self.assertion.op,
            values: [None, None],
            samples: None,
            reasons: Vec::new(),
            spot: None,
        };
        let sides = [&self.assertion.left, &self.assertion.right];
        checked.values = sides.map(|side| match self.evaluate(side, findings, extent, conditions, &mut checked) {
            Ok(value) => Some(value),
            Err(reason) => {
                checked.reasons.push(reason);
                None
            }
        });
        if let [Some(left), Some(right)] = checked.values {
            checked.verdict = match left.compare(self.assertion.op, right) {
                Some(true) => Verdict::Pass,
                Some(false) => Verdict::Fail,
                None => Verdict::Indeterminate,
            };
        }
        self.explain(extent, conditions, &mut checked);
        checked
    }

    fn evaluate(
        &self,
        expr: &Expr,
        findings: &[Finding],
        extent: &Extent,
        conditions: &Conditions<'_>,
        checked: &mut Checked,
    ) -> Result<Interval, String> {
        match expr {
            Expr::Number(number) => Ok(*number),
            Expr::Quantity(quantity) => {
                let valued = self.quantity(quantity, findings, extent, conditions)?;
                checked.samples = checked.samples.or(valued.samples);
                checked.spot = checked.spot.or(valued.spot);
                if valued.missing > 0 {
                    let intervals = if valued.missing == 1 { "interval is" } else { "intervals are" };
                    checked.reasons.push(format!("{} more {intervals} not known: an event is missing", valued.missing));
                }
                Ok(valued.value)
            }
            Expr::Combined(left, operation, right, dimension) => {
                let left = self.evaluate(left, findings, extent, conditions, checked)?;
                let right = self.evaluate(right, findings, extent, conditions, checked)?;
                Ok(match operation {
                    Operation::Plus => left.plus(right),
                    Operation::Minus => left.minus(right),
                    Operation::Times => left.times(right, *dimension),
                    Operation::Over => left.over(right, *dimension).ok_or("it divides by what may be zero")?,
                })
            }
        }
    }

    fn quantity(
        &self,
        quantity: &Spanned<Quantity>,
        findings: &[Finding],
        extent: &Extent,
        conditions: &Conditions<'_>,
    ) -> Result<Valued, String> {
        let none = Need::default();
        let need = self.needs.get(&quantity.span.start).unwrap_or(&none);
        if let Some(missing) = &need.missing {
            return Err(missing.clone());
        }
        let unseen = need.unseen(extent, conditions);
        let facts = Facts { extent, conditions, unseen: unseen.as_deref() };
        facts.value(&quantity.value, need.measure.and_then(|measure| findings.get(measure)))
    }

    /// Adds what must be known of losses and of filters.
    fn explain(&self, extent: &Extent, conditions: &Conditions<'_>, checked: &mut Checked) {
        let (lost, gaps) = (extent.lost, extent.gaps);
        let widened = checked.values.iter().flatten().any(|value| value.most.is_infinite());
        if widened && (lost > 0 || gaps > 0 || conditions.dropped > 0) {
            let at_least = lost.saturating_add(gaps).max(conditions.dropped);
            let or_more = if gaps > 0 { " or more" } else { "" };
            checked.reasons.push(format!("{at_least}{or_more} events were lost"));
        }
        if widened && conditions.damaged > 0 {
            checked.reasons.push(match conditions.damaged {
                1 => "the file is damaged in 1 place".to_owned(),
                places => format!("the file is damaged in {places} places"),
            });
        }
        let enabled = conditions.enabled.iter().flat_map(|enabled| &enabled.events);
        for (event, filter) in enabled.filter(|(event, _)| self.needs.values().any(|need| need.names(event))) {
            checked
                .reasons
                .extend(filter.iter().map(|filter| format!("{event} was recorded with the filter {filter}")));
        }
    }
}

impl Need {
    fn names(&self, event: &EventName) -> bool {
        self.events.iter().any(|(one, _)| one == event)
    }

    /// Why nothing is known of events that do not occur: the file does not say that they were enabled.
    fn unseen(&self, extent: &Extent, conditions: &Conditions<'_>) -> Option<String> {
        let enabled = |event: &EventName| {
            conditions.enabled.as_ref().is_some_and(|enabled| enabled.events.iter().any(|(one, _)| one == event))
        };
        match self.events.iter().find(|(event, id)| !extent.has(*id) && !enabled(event)) {
            Some((event, _)) => {
                Some(format!("{event} is not in the recording, which does not say that it was enabled"))
            }
            None if self.events.is_empty() => Some("no such events are in the recording".to_owned()),
            None => None,
        }
    }
}
