//! A recorder's settings of an instance, by name.

use super::core::Journal;
use super::undo::Undo;
use crate::base::units::Pid;
use crate::control::tracefs::{Error, Instance, WriteMode};

impl Journal {
    /// Switches recording into the ring buffer on or off (`tracing_on`); what is in it stays.
    ///
    /// # Errors
    /// As [`Journal::set`].
    pub fn set_on(&mut self, instance: &Instance, on: bool) -> Result<(), Error> {
        self.set(instance, "tracing_on", if on { "1" } else { "0" }).map(drop)
    }

    /// Switches recording into the ring buffer off, and notes no undo: for a ring whose journal says already how it was, of a killed
    /// recorder or after [`Journal::remember_on`].
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn stop_for_good(&mut self, instance: &Instance) -> Result<(), Error> {
        self.act(instance, "tracing_on", "0", WriteMode::Truncate)
    }

    /// Will put back whether recording is on (`tracing_on`), regardless of who changes it from now on: to be called before a trigger
    /// is set that may, since what is noted first is put back last.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn remember_on(&mut self, instance: &Instance) -> Result<(), Error> {
        if self.created(instance) {
            return Ok(());
        }
        let _held = self.hold();
        let said = instance.read("tracing_on")?;
        let write = said.trim().to_owned();
        self.note(Undo::Restore { file: instance.relative("tracing_on"), said, write })
    }

    /// Fill level of a ring at which its readers are woken, in per cent (`buffer_percent`, since Linux 5.0). Gives
    /// false where the kernel has no such knob and wakes at the first event.
    ///
    /// # Errors
    /// As [`Journal::set`].
    pub fn set_buffer_percent(&mut self, instance: &Instance, percent: usize) -> Result<bool, Error> {
        self.set_if_there(instance, "buffer_percent", &percent.to_string())
    }

    /// Records only the events of these tasks (`set_event_pid`), and with `children` of all that they fork from now on.
    ///
    /// # Errors
    /// As [`Journal::set`].
    pub fn trace_only(&mut self, instance: &Instance, pids: &[Pid], children: bool) -> Result<(), Error> {
        if children {
            self.set_option(instance, "event-fork", true)?;
        }
        self.append_to_list(instance, "set_event_pid", &words(pids))
    }

    /// Leaves out the events of these tasks (`set_event_notrace_pid`, since Linux 5.7). Gives false where the kernel
    /// cannot. With `event-fork` on, what they fork from now on is left out too.
    ///
    /// # Errors
    /// As [`Journal::set`].
    pub fn leave_out(&mut self, instance: &Instance, pids: &[Pid]) -> Result<bool, Error> {
        let there = instance.has("set_event_notrace_pid");
        if there {
            self.append_to_list(instance, "set_event_notrace_pid", &words(pids))?;
        }
        Ok(there)
    }

    fn set_if_there(&mut self, instance: &Instance, file: &str, value: &str) -> Result<bool, Error> {
        let there = instance.has(file);
        if there {
            self.set(instance, file, value)?;
        }
        Ok(there)
    }
}

pub(super) fn words(pids: &[Pid]) -> String {
    pids.iter().map(Pid::to_string).collect::<Vec<_>>().join(" ")
}
