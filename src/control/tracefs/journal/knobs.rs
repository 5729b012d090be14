//! Setting one knob: what it said is noted, what the kernel granted is read back.
//! A recorder's settings of an instance, by name.

use super::core::Journal;
use super::undo::Undo;
use super::writer::{may_hide_a_list, value_to_write, was_refused};
use crate::base::units::{CpuId, Pid};
use crate::control::tracefs::{BufferSize, Error, EventName, Instance, WriteMode};
use crate::language::trigger::{EventRef, Trigger, TriggerAction};
use nix::errno::Errno;

impl Journal {
    /// Sets a knob to `value` and gives what it says afterwards, trimmed. A knob that already has the value is not
    /// written: writing `trace_clock`, for one, clears the ring buffer.
    ///
    /// # Errors
    /// [`Error::File`] with the kernel's complaint; [`Error::Unsupported`] if there is no such knob;
    /// [`Error::Content`] if its present value could not be put back.
    pub fn set(&mut self, instance: &Instance, file: &str, value: &str) -> Result<String, Error> {
        let path = instance.relative(file);
        let created = self.created(instance);
        let is_noted = !created || is_of_tracer(file);
        let held = if is_noted { self.hold() } else { None };
        let said = match instance.read_bytes(file) {
            Ok(bytes) => String::from_utf8(bytes).map_err(|e| Error::Content {
                file: path.clone(),
                text: String::from_utf8_lossy(e.as_bytes()).trim_end().to_owned(),
            })?,
            // Knobs without reading, in an instance that goes as a whole.
            Err(e) if created && matches!(e.errno(), Some(Errno::EPERM | Errno::EINVAL)) => {
                self.writer.write(&path, value, WriteMode::Truncate)?;
                return Ok(value.to_owned());
            }
            Err(e) => return Err(instance.require_writable().err().unwrap_or(e)),
        };
        let old = value_to_write(file, &said);
        let is_so = old.as_deref() == Some(value) && !said.contains("(expanded");
        let is_so = is_so && !was_refused(file, &said) && !may_hide_a_list(file, &said);
        // One that another rtrace has set is to stay when that one ends.
        if is_noted && (!is_so || self.others().hold(instance, &path)) {
            let content = || Error::Content { file: path.clone(), text: said.trim_end().to_owned() };
            let write = old.ok_or_else(content)?;
            self.note(Undo::Restore { file: path.clone(), said: said.clone(), write })?;
        }
        if is_so {
            return Ok(said.trim().to_owned());
        }
        drop(held);
        self.writer.write(&path, value, WriteMode::Truncate)?;
        Ok(instance.read(file).map_or_else(|_| value.to_owned(), |text| text.trim().to_owned()))
    }

    /// Sets an option (`options/NAME`).
    ///
    /// # Errors
    /// As [`Journal::set`].
    pub fn set_option(&mut self, instance: &Instance, name: &str, on: bool) -> Result<(), Error> {
        self.set(instance, &format!("options/{name}"), if on { "1" } else { "0" }).map(drop)
    }

    /// Sets the trace clock, which clears the ring buffer if it is another one.
    ///
    /// # Errors
    /// As [`Journal::set`].
    pub fn set_clock(&mut self, instance: &Instance, clock: &str) -> Result<(), Error> {
        self.set(instance, "trace_clock", clock).map(drop)
    }

    /// Sets the ring buffer's size on every CPU; gives what was granted, since the kernel rounds to sub-buffers.
    ///
    /// # Errors
    /// As [`Journal::set`]; `ENOMEM` if it is too much.
    pub fn set_buffer_size(&mut self, instance: &Instance, kib_per_cpu: u64) -> Result<BufferSize, Error> {
        if instance.buffer_size()? == BufferSize::PerCpu && !self.created(instance) {
            let held = self.hold();
            for cpu in instance.cpus()? {
                let file = Instance::cpu_file(cpu, "buffer_size_kb");
                let said = instance.read(&file)?;
                if let Some(write) = value_to_write(&file, &said) {
                    self.note(Undo::Restore { file: instance.relative(&file), said, write })?;
                }
            }
            drop(held);
            self.writer.write(&instance.relative("buffer_size_kb"), &kib_per_cpu.to_string(), WriteMode::Truncate)?;
        } else {
            self.set(instance, "buffer_size_kb", &kib_per_cpu.to_string())?;
        }
        instance.buffer_size()
    }

    /// Sets the ring buffer's size on one CPU.
    ///
    /// # Errors
    /// [`Error::NoCpu`]; as [`Journal::set`]; `ENOMEM` if it is too much.
    pub fn set_cpu_buffer_size(&mut self, instance: &Instance, cpu: CpuId, kib: u64) -> Result<(), Error> {
        instance.require_cpu(cpu)?;
        self.set(instance, &Instance::cpu_file(cpu, "buffer_size_kb"), &kib.to_string()).map(drop)
    }

    /// Sets an event's filter; `0` removes it.
    ///
    /// # Errors
    /// As [`Journal::set`], with the kernel's caret.
    pub fn set_filter(&mut self, instance: &Instance, event: &EventName, filter: &str) -> Result<(), Error> {
        let file = event.file("filter");
        // One of many events: nothing has to be put back there, and the kernel takes its time for each file.
        if self.created(instance) {
            return self.act(instance, &file, filter, WriteMode::Truncate);
        }
        self.set(instance, &file, filter).map(drop)
    }

    /// Adds a trigger to an event; undone by the same text with a `!` before it.
    ///
    /// # Errors
    /// [`Error::File`] with the kernel's caret, [`Error::Unsupported`].
    pub fn add_trigger(&mut self, instance: &Instance, event: &EventName, trigger: &str) -> Result<(), Error> {
        if let Ok(TriggerAction::EnableEvent(target) | TriggerAction::DisableEvent(target)) =
            trigger.parse().map(|t: Trigger| t.action)
        {
            self.remember_enabled(instance, &target)?;
        }
        self.append(instance, &event.file("trigger"), trigger, &format!("!{trigger}"))
    }

    /// Will put back whether an event is enabled that a trigger is about to enable: it stays so when the trigger goes.
    pub(super) fn remember_enabled(&mut self, instance: &Instance, event: &EventRef) -> Result<(), Error> {
        let file = EventName::new(&event.system, &event.event).file("enable");
        if self.created(instance) {
            return Ok(());
        }
        let _held = self.hold();
        // Of an event that is not there the kernel will say so, when it is given the trigger.
        let Ok(said) = instance.read(&file) else { return Ok(()) };
        let Some(write) = value_to_write(&file, &said) else { return Ok(()) };
        self.note(Undo::Restore { file: instance.relative(&file), said, write })
    }

    /// Adds to a list that can be read back and rewritten as a whole: `set_event_pid`.
    ///
    /// # Errors
    /// As [`Journal::set`].
    pub fn append_to_list(&mut self, instance: &Instance, file: &str, text: &str) -> Result<(), Error> {
        let path = instance.relative(file);
        if !self.created(instance) {
            let _held = self.hold();
            let said = instance.read(file)?;
            let content = || Error::Content { file: path.clone(), text: said.trim_end().to_owned() };
            let write = value_to_write(file, &said).ok_or_else(content)?;
            self.note(Undo::Restore { file: path.clone(), said, write })?;
        }
        self.writer.write(&path, text, WriteMode::Append)
    }
}

/// True if an option is a tracer's: there is one of it for all instances (`struct tracer_flags`), so that it does not
/// go with an instance.
fn is_of_tracer(file: &str) -> bool {
    const PREFIXES: [&str; 4] = ["func", "blk_", "sleep-time", "graph-time"];
    let option = file.strip_prefix("options/");
    option.is_some_and(|name| {
        name != "function-trace" && name != "function-fork" && PREFIXES.iter().any(|p| name.starts_with(p))
    })
}

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
