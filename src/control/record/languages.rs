//! Filters and triggers of a plan, parsed and checked against the events they are for before anything is set.
//! Triggers of events and commands on functions, which act from the moment they are set.

use super::error::{PlanError, RecordError};
use super::plan::EventPlan;
use crate::base::syntax::Diagnostic;
use crate::control::tracefs::{Error, EventName, Instance, Journal};
use crate::kernel::format::EventFormat;
use crate::language::filter::Filter;
use crate::language::hist::spec::{CheckContext, Features};
use crate::language::trigger::{EventRef, FunctionTrigger, Trigger, TriggerAction};
use std::collections::BTreeSet;

/// Most events that a hint names.
const MOST_NAMED: usize = 3;

/// Filters and triggers of one [`EventPlan`], in the kernel's text.
#[derive(Debug, Default)]
pub(super) struct CheckedTriggers {
    /// All filters as one: `(a)&&(b)`, as trace-cmd joins them.
    pub(super) filter: Option<String>,
    /// Events that lack a field of the filter, or have it of another type: they are recorded unfiltered, as the kernel
    /// does it for a filter of a whole system.
    pub(super) unfiltered: BTreeSet<EventName>,
    /// Warnings: their number and the reason, if there are any, and settings that the kernel takes and that cannot mean
    /// what they say.
    pub(super) warnings: Vec<String>,
    pub(super) triggers: Vec<String>,
    /// Events that a trigger switches on.
    pub(super) targets: Vec<EventName>,
}

/// Checks what `plan` sets on the events `selected`, which it names; `existing` are all events of `instance`.
///
/// # Errors
/// [`PlanError::Language`] with the place in the text; [`RecordError::Tracefs`] if a format cannot be read.
pub(super) fn check(
    instance: &Instance,
    plan: &EventPlan,
    selected: &[EventName],
    existing: &[EventName],
) -> Result<CheckedTriggers, RecordError> {
    let mut checked = CheckedTriggers::default();
    if !plan.enable || (plan.filters.is_empty() && plan.triggers.is_empty()) {
        return Ok(checked);
    }
    let filters = plan.filters.iter().map(|text| Filter::parse(text).map_err(|e| invalid("filter", e)));
    let filters = filters.collect::<Result<Vec<_>, _>>()?;
    let triggers = plan.triggers.iter().map(|text| text.parse::<Trigger>().map_err(|e| invalid("trigger", e)));
    let triggers = triggers.collect::<Result<Vec<_>, _>>()?;
    let known: Vec<String> = existing.iter().map(EventName::to_string).collect();
    let (mut warnings, mut misfits): (Vec<Diagnostic>, Vec<(&EventName, Diagnostic)>) = Default::default();
    for event in selected {
        let Some(format) = format(instance, event)? else { continue };
        let found = filters.iter().map(|filter| filter.check(&format)).collect::<Result<Vec<_>, _>>();
        match found {
            Ok(found) => Diagnostic::gather(&mut warnings, found.concat()),
            Err(error) => {
                checked.unfiltered.insert(event.clone());
                misfits.push((event, error));
            }
        }
        for (trigger, text) in triggers.iter().zip(&plan.triggers) {
            let refused = |error| invalid(&format!("trigger for {event}"), error);
            let found = trigger.check(text, &format, &known).map_err(|error| {
                let others = selected.iter().filter(|other| {
                    let other = self::format(instance, other).ok().flatten();
                    other.is_some_and(|other| trigger.check(text, &other, &known).is_ok())
                });
                let fitting: Vec<String> = others.take(MOST_NAMED).map(EventName::to_string).collect();
                let Some(one) = fitting.first() else { return refused(error) };
                let (all, those) = (plan.selection.text(), fitting.join(", "));
                let hint = format!("of `{all}` it fits {those}: `-e '{all}' -e {one} -R '{text}'` sets it there alone");
                refused(Diagnostic::new(error.label, &error.text, error.span, error.message).hint(hint))
            })?;
            Diagnostic::gather(&mut warnings, found);
            if let Some(error) = misfit_of_hist(instance, trigger, text, &format) {
                return Err(refused(error).into());
            }
        }
    }
    if misfits.len() == selected.len() {
        // The most helpful of the reasons: of the event whose field was meant, if the name is nearly one.
        let near = |(_, error): &(&EventName, Diagnostic)| error.hints().iter().any(|hint| hint.starts_with("did you"));
        let best = misfits.iter().position(near).unwrap_or(0);
        if let Some((event, error)) = misfits.get(best) {
            return Err(invalid(&format!("filter for {event}"), error.clone()).into());
        }
    }
    checked.filter = join(&filters);
    let partly = misfits.first().zip(checked.filter.as_ref()).map(|((_, error), filter)| {
        let reason = error.message.split(" in ").next().unwrap_or(&error.message);
        format!(
            "filter `{filter}` is set on {} of {} events of `{}`; the others are recorded unfiltered ({reason})",
            selected.len() - misfits.len(),
            selected.len(),
            plan.selection.text(),
        )
    });
    let with_hints = |warning: &Diagnostic| {
        let hints: String = warning.hints().iter().map(|hint| format!("\n  Hint: {hint}")).collect();
        format!("{warning}{hints}")
    };
    checked.warnings = warnings.iter().map(with_hints).chain(partly).collect();
    checked.targets = triggers.iter().filter_map(|trigger| trigger.action.target()).map(name).collect();
    checked.triggers = triggers.iter().map(Trigger::to_string).collect();
    Ok(checked)
}

/// The part of a histogram on the event of `format` that the kernel would refuse; `None` of other triggers. The meaning of
/// `$variables` of other triggers is left to the kernel: those of the plan are not set yet.
fn misfit_of_hist(instance: &Instance, trigger: &Trigger, text: &str, format: &EventFormat) -> Option<Diagnostic> {
    let TriggerAction::Hist(spec) = &trigger.action else { return None };
    let readme = instance.tracefs().top().read("README").ok()?;
    let lookup = |system: &str, name: &str| self::format(instance, &EventName::new(system, name)).ok().flatten();
    let features = Features::from_readme(&readme);
    let around = CheckContext { event: format, features, neighbours: None, lookup: Some(&lookup) };
    Some(spec.check(&around).err()?.first()?.diagnostic(text))
}

/// The event that `target` names.
pub(super) fn name(target: &EventRef) -> EventName {
    EventName { system: target.system.clone(), name: target.event.clone() }
}

/// The format of an event; `None` of one that has gone meanwhile, or is of a form not known here: the kernel decides.
fn format(instance: &Instance, event: &EventName) -> Result<Option<EventFormat>, RecordError> {
    let text = instance.event_format(event)?;
    Ok(EventFormat::parse(&event.system, &text).ok())
}

fn join(filters: &[Filter]) -> Option<String> {
    match filters {
        [] => None,
        [one] => Some(one.to_string()),
        many => Some(many.iter().map(|filter| format!("({filter})")).collect::<Vec<_>>().join("&&")),
    }
}

fn invalid(what: &str, error: Diagnostic) -> PlanError {
    PlanError::Language { what: what.to_owned(), error: Box::new(error) }
}

/// The triggers of one buffer, and its counted commands.
#[derive(Debug, Default)]
pub(super) struct Armed {
    triggers: Vec<(EventName, String)>,
    commands: Vec<FunctionTrigger>,
}

impl Armed {
    /// These triggers of events, and those of `commands` that have a count; `Functions::set` sets the others.
    pub(super) fn new<'a>(
        triggers: impl IntoIterator<Item = (&'a EventName, &'a String)>,
        commands: &[FunctionTrigger],
    ) -> Self {
        let triggers = triggers.into_iter().map(|(event, trigger)| (event.clone(), trigger.clone()));
        let counted = commands.iter().filter(|command| command.count.is_some());
        Armed { triggers: triggers.collect(), commands: counted.cloned().collect() }
    }

    /// Sets those without a count: before a ring is switched on, so that they miss nothing.
    pub(super) fn set_uncounted(&self, journal: &mut Journal, instance: &Instance) -> Result<(), Error> {
        self.set_triggers(journal, instance, false)
    }

    /// Sets those with a count: when tracing is on, since they count down whether anything is recorded or not.
    pub(super) fn set_counted(&self, journal: &mut Journal, instance: &Instance) -> Result<(), Error> {
        self.set_triggers(journal, instance, true)?;
        self.commands.iter().try_for_each(|command| journal.add_function_command(instance, command))
    }

    fn set_triggers(&self, journal: &mut Journal, instance: &Instance, counted: bool) -> Result<(), Error> {
        let is_counted = |trigger: &str| trigger.parse().is_ok_and(|trigger: Trigger| trigger.count.is_some());
        for (event, trigger) in self.triggers.iter().filter(|(_, trigger)| is_counted(trigger) == counted) {
            journal.add_trigger(instance, event, trigger)?;
        }
        Ok(())
    }
}
