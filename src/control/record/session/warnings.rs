//! Warnings at the start: events that this recording will not hold, or holds unasked.

use super::SessionRun;
use crate::base::units::counted;
use crate::control::record::plan::{BufferPlan, Plan, TargetBuffer};
use crate::control::record::setup::{Markers, ResolvedEvents};
use crate::control::tracefs::{Instance, Tracefs};
use std::fs;

/// Filters and triggers that an existing buffer has for events of the recording, which did not ask for any.
pub(super) struct EarlierSettings {
    /// `instance foo`, `the top level`.
    place: String,
    /// One such event, its filter, and number of such events.
    filter: Option<(String, String)>,
    filters: u64,
    /// One event with a trigger, the trigger, and number of triggers.
    trigger: Option<(String, String)>,
    triggers: u64,
}

fn place_of(instance: &Instance) -> String {
    instance.name().map_or("the top level".to_owned(), |name| format!("instance {name}"))
}

fn settings_of(instance: &Instance, chosen: &ResolvedEvents) -> Option<EarlierSettings> {
    let place = place_of(instance);
    let mut found = EarlierSettings { place, filter: None, filters: 0, trigger: None, triggers: 0 };
    for (event, wish) in &chosen.events {
        if let (None, Ok(Some(filter))) = (&wish.filter, instance.filter(event)) {
            found.filters += 1;
            found.filter.get_or_insert_with(|| (event.to_string(), filter));
        }
        for trigger in instance.triggers(event).unwrap_or_default() {
            found.triggers += 1;
            found.trigger.get_or_insert_with(|| (event.to_string(), trigger));
        }
    }
    (found.filters + found.triggers > 0).then_some(found)
}

impl SessionRun<'_> {
    /// Filters and triggers that existing buffers have for the events that are to be recorded.
    pub(super) fn earlier_settings(tracefs: &Tracefs, plan: &Plan, chosen: &[ResolvedEvents]) -> Vec<EarlierSettings> {
        let existing = |place: &TargetBuffer| match place {
            TargetBuffer::Top => Some(tracefs.top()),
            TargetBuffer::Instance(name) => tracefs.instance(name).ok(),
            TargetBuffer::Private => None,
        };
        let of = |(buffer, chosen): (&BufferPlan, &ResolvedEvents)| settings_of(&existing(&buffer.place)?, chosen);
        plan.buffers.iter().zip(chosen).filter_map(of).collect()
    }

    /// A filter that somebody left behind is the likeliest reason of a recording without events.
    pub(super) fn warn_of_earlier_settings(&mut self, earlier: &[EarlierSettings]) {
        for EarlierSettings { place, filter, filters, trigger, triggers } in earlier {
            let of = place.strip_prefix("instance ").map_or(String::new(), |name| format!(" -B {name}"));
            if let Some((event, filter)) = filter {
                self.observer.warn(&format!(
                    "{place} already has {}, as `{filter}` of {event}; `rtrace filter clear{of} {event}` removes it",
                    counted(*filters, "filter"),
                ));
            }
            if let Some((event, trigger)) = trigger {
                self.observer.warn(&format!(
                    "{place} already has {}, as `{trigger}` of {event}; `rtrace trigger list{of}` shows them",
                    counted(*triggers, "trigger"),
                ));
            }
        }
    }

    /// Counts what is written to the top level from now on, where trace_marker writes, if this kernel cannot copy that into
    /// the buffers of the recording.
    pub(super) fn count_markers(&mut self) {
        let missing = self.buffers.iter().any(|buffer| buffer.markers == Markers::Missing);
        self.top_level_before = missing.then(|| written(&self.journal.tracefs().top())).flatten();
    }

    /// Messages of applications to trace_marker are lost; if the top level traces for somebody, what was written there may be
    /// events as well.
    pub(super) fn warn_of_markers(&mut self) {
        let top = self.journal.tracefs().top();
        let (Some(before), Some(after)) = (self.top_level_before, written(&top)) else { return };
        const WHY: &str = "this kernel cannot copy them into an instance; --top records them";
        let is_traced = top.enabled_events().is_ok_and(|events| !events.is_empty())
            || top.current_tracer().is_ok_and(|tracer| tracer != "nop");
        match after.checked_sub(before) {
            Some(0) => {}
            Some(count) if !is_traced => self.observer.warn_of_loss(&format!(
                "{} written to trace_marker, or by trace_printk(), not recorded: {WHY}",
                counted(count, "message")
            )),
            _ => self
                .observer
                .warn(&format!("messages that applications may have written to trace_marker are not recorded: {WHY}")),
        }
    }

    /// trace_printk() writes to the top-level buffer only. Modules that call it have a section for its formats.
    pub(super) fn warn_of_printk(&mut self) {
        let at_top = self.buffers.iter().any(|buffer| buffer.instance.name().is_none());
        let callers = if at_top { Vec::new() } else { modules_with("__trace_printk_fmt") };
        if !callers.is_empty() {
            let text = format!(
                "what trace_printk() writes is not recorded, and {} may call it; --top records it",
                callers.join(", ")
            );
            self.observer.warn_of_loss(&text);
        }
    }

    /// What one process reads out of a ring no other finds there, and the settings are those of whoever set them last.
    pub(super) fn warn_of_other_users(&mut self) {
        for buffer in &self.buffers {
            for (pid, command) in self.journal.users_of(&buffer.instance) {
                let place = place_of(&buffer.instance);
                self.observer.warn_of_loss(&format!(
                    "{place} is in use by `{command}` (process {pid}) too: each event goes to one of the two, and filters and \
                     tasks of the later one count for both; without -B and --top each has a buffer of its own"
                ));
            }
        }
    }

    /// The kernel gives no sub-buffer away without taking it out of its ring.
    pub(super) fn warn_of_earlier_events(&mut self) {
        for buffer in self.buffers.iter().filter(|buffer| buffer.held_before > 0) {
            let (place, of) = match buffer.instance.name() {
                Some(name) => (format!("instance {name}"), format!(" -B {name}")),
                None => ("the top-level buffer".to_owned(), String::new()),
            };
            self.observer.warn(&format!(
                "{place} holds {} from before: they move to the start of {}; `rtrace clear{of}` drops them",
                counted(buffer.held_before, "event"),
                self.plan.output.display()
            ));
        }
    }
}

/// Number of events that were ever written to an instance's rings, by its counters.
fn written(instance: &Instance) -> Option<u64> {
    let cpus = instance.cpus().ok()?;
    cpus.into_iter().try_fold(0_u64, |sum, cpu| {
        let stats = instance.cpu_stats(cpu).ok()?;
        Some([stats.entries, stats.overrun, stats.read].into_iter().fold(sum, u64::saturating_add))
    })
}

/// The loaded modules that have a section of this name.
fn modules_with(section: &str) -> Vec<String> {
    let modules = fs::read_dir("/sys/module").into_iter().flatten().flatten();
    let having = modules.filter(|module| module.path().join("sections").join(section).exists());
    having.map(|module| module.file_name().to_string_lossy().into_owned()).collect()
}
