//! Triggers of events and commands on functions, which act from the moment they are set.

use crate::control::tracefs::{Error, EventName, Instance, Journal};
use crate::language::trigger::{FunctionTrigger, Trigger};

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
