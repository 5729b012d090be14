//! Enabling and disabling events with as few writes as possible, and only those that change.

use super::core::Journal;
use super::undo::Undo;
use crate::tracefs::{Error, EventName, Instance, WriteMode};
use std::collections::{BTreeMap, BTreeSet};

impl Journal {
    /// Enables `events`. Undone: those that were not enabled before are disabled.
    ///
    /// # Errors
    /// [`Error::File`]. Some of them may be enabled then.
    pub fn enable_events(&mut self, instance: &Instance, events: &[EventName]) -> Result<(), Error> {
        self.switch_events(instance, events, true)
    }

    /// Disables `events`. Undone: those that were enabled before are enabled.
    ///
    /// # Errors
    /// [`Error::File`]. Some of them may be disabled then.
    pub fn disable_events(&mut self, instance: &Instance, events: &[EventName]) -> Result<(), Error> {
        self.switch_events(instance, events, false)
    }

    fn switch_events(&mut self, instance: &Instance, events: &[EventName], on: bool) -> Result<(), Error> {
        let existing = by_system(instance.events()?);
        let enabled: BTreeSet<EventName> = instance.enabled_events()?.into_iter().collect();
        let changing = by_system(events.iter().filter(|event| enabled.contains(*event) != on).cloned());
        let bit = if on { "1" } else { "0" };

        let mut writes: Vec<String> = Vec::new();
        let mut noted: Vec<String> = Vec::new();
        let mut uniform_everywhere = !changing.is_empty();
        let mut whole_everywhere = changing.len() == existing.len();
        for (system, names) in &changing {
            let of_system = existing.get(system);
            // Those of the system that are in the wanted state already, whoever put them there.
            let already = of_system.map_or(0, |all| all.iter().filter(|e| enabled.contains(*e) == on).count());
            let whole = of_system.is_some_and(|all| names.len() + already == all.len()) && names.len() > 1;
            let each = || names.iter().map(|event| event.file("enable"));
            let system_file = || format!("events/{system}/enable");
            whole_everywhere &= whole || of_system.is_some_and(|all| names.len() + already == all.len());
            uniform_everywhere &= already == 0;
            if whole {
                writes.push(system_file());
            } else {
                writes.extend(each());
            }
            if whole && already == 0 {
                noted.push(system_file());
            } else {
                noted.extend(each());
            }
        }
        if whole_everywhere && changing.len() > 1 {
            writes = vec!["events/enable".to_owned()];
            if uniform_everywhere {
                noted = writes.clone();
            }
        }
        if !self.created(instance) {
            let was = if on { "0" } else { "1" };
            for file in noted {
                self.note(Undo::Restore {
                    file: instance.relative(&file),
                    said: format!("{was}\n"),
                    write: was.to_owned(),
                })?;
            }
        }
        let _awake = (!writes.is_empty()).then(|| self.tracefs().files().keep_cpus_awake());
        writes.iter().try_for_each(|file| self.writer.write(&instance.relative(file), bit, WriteMode::Truncate))
    }
}

fn by_system(events: impl IntoIterator<Item = EventName>) -> BTreeMap<String, BTreeSet<EventName>> {
    let mut systems: BTreeMap<String, BTreeSet<EventName>> = BTreeMap::new();
    for event in events {
        systems.entry(event.system.clone()).or_default().insert(event);
    }
    systems
}
