//! The files of an event.

use crate::kernel::events::EventName;

impl EventName {
    /// Path of one of the event's files below an instance: `events/sched/sched_switch/filter`.
    pub fn file(&self, file: &str) -> String {
        format!("events/{}/{}/{file}", self.system, self.name)
    }
}
