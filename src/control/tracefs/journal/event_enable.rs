//! Enabling and disabling events with as few writes as possible, and only those that change.

use super::core::Journal;
use super::undo::Undo;
use crate::control::tracefs::{Error, EventName, Instance, WriteMode};

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
        let held = if self.created(instance) { None } else { self.hold() };
        let mut enabled = instance.enabled_events()?; // in order
        enabled.retain(|event| !is_held_ready(instance, event));
        let is_enabled = |event: &EventName| enabled.binary_search(event).is_ok();
        let mut changing: Vec<&EventName> = events.iter().filter(|event| is_enabled(event) != on).collect();
        changing.sort_unstable();
        changing.dedup();
        // One event is one write, whatever else there is: reading the names of all takes a millisecond and more.
        let existing = if changing.len() > 1 { instance.events()? } else { Vec::new() }; // in order
        let systems = || changing.chunk_by(|a, b| a.system == b.system);
        let bit = if on { "1" } else { "0" };

        let mut writes: Vec<String> = Vec::new();
        let mut noted: Vec<String> = Vec::new();
        let mut uniform_everywhere = !changing.is_empty();
        let mut whole_everywhere = systems().count() == existing.chunk_by(|a, b| a.system == b.system).count();
        for names in systems() {
            let Some(system) = names.first().map(|event| event.system.as_str()) else { continue };
            let first = existing.partition_point(|event| event.system.as_str() < system);
            let of_system = existing
                .get(first..)
                .unwrap_or_default()
                .split(|event| event.system != system)
                .next()
                .unwrap_or_default();
            // Those of the system that are in the wanted state already, regardless of who put them there.
            let already = of_system.iter().filter(|event| is_enabled(event) == on).count();
            let all = names.len().saturating_add(already) == of_system.len();
            let whole = all && names.len() > 1;
            let each = || names.iter().map(|event| event.file("enable"));
            let system_file = || format!("events/{system}/enable");
            whole_everywhere &= all;
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
        if whole_everywhere && systems().count() > 1 {
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
            // Those that another rtrace has switched are to stay so when that one ends.
            let others = self.others();
            for event in events.iter().filter(|event| is_enabled(event) == on) {
                let file = instance.relative(&event.file("enable"));
                if others.hold(instance, &file) {
                    self.note(Undo::Restore { file, said: format!("{bit}\n"), write: bit.to_owned() })?;
                }
            }
        }
        drop(held);
        let _awake = (!writes.is_empty()).then(|| self.tracefs().files().keep_cpus_awake());
        writes.iter().try_for_each(|file| self.writer.write(&instance.relative(file), bit, WriteMode::Truncate))
    }
}

/// True if the event is on for its triggers only, or waits for an `enable_event` (kernel: `EVENT_FILE_FL_SOFT_DISABLED`):
/// `set_event` lists it, and its `enable` says `0*`.
fn is_held_ready(instance: &Instance, event: &EventName) -> bool {
    instance.read(&event.file("enable")).is_ok_and(|text| text.starts_with("0*"))
}
