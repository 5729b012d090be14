//! The traced functions, and their callers.

use super::core::Journal;
use super::restore::value_to_write;
use super::undo::Undo;
use crate::tracefs::{Error, FunctionList, Instance, WriteMode};
use crate::trigger::{FunctionAction, FunctionTrigger};
use crate::units::Pid;
use nix::errno::Errno;

impl Journal {
    /// Replaces a list of functions by `patterns`: names, the kernel's globs, `NAME:mod:MODULE`, or places in
    /// `available_filter_functions`, from 1. The lists of the function_graph tracer are the top level's, whichever
    /// instance it runs in.
    ///
    /// # Errors
    /// [`Error::NoFunction`] with similar names; as [`Journal::set`].
    pub fn set_functions(&mut self, instance: &Instance, list: FunctionList, patterns: &[String]) -> Result<(), Error> {
        let top = self.tracefs().top();
        let instance = if list.is_of_top_level() { &top } else { instance };
        let path = instance.relative(list.file());
        if !self.created(instance) {
            let said = instance.read(list.file())?;
            let content = || Error::Content { file: path.clone(), text: said.trim_end().to_owned() };
            let write = value_to_write(list.file(), &said).ok_or_else(content)?;
            self.note(Undo::Restore { file: path.clone(), said, write })?;
        }
        for (index, pattern) in patterns.iter().enumerate() {
            let mode = if index == 0 { WriteMode::Truncate } else { WriteMode::Append };
            self.writer.write(&path, pattern, mode).map_err(|error| unknown(instance, pattern, error))?;
        }
        Ok(())
    }

    /// Adds a command on functions (`schedule:traceoff:3`) to `set_ftrace_filter`; undone by its removal.
    ///
    /// # Errors
    /// As [`Journal::append`].
    pub fn add_function_command(&mut self, instance: &Instance, command: &FunctionTrigger) -> Result<(), Error> {
        if let FunctionAction::EnableEvent(event) | FunctionAction::DisableEvent(event) = &command.action {
            self.remember_enabled(instance, event)?;
        }
        let file = FunctionList::Filter.file();
        self.append(instance, file, &command.to_string(), &command.removal())
            .map_err(|error| unknown(instance, &command.function, error))
    }

    /// Traces only the functions of these tasks (`set_ftrace_pid`), and with `children` of all that they fork.
    ///
    /// # Errors
    /// As [`Journal::set`].
    pub fn trace_functions_only(&mut self, instance: &Instance, pids: &[Pid], children: bool) -> Result<(), Error> {
        if children {
            self.set_option(instance, "function-fork", true)?;
        }
        self.append_to_list(instance, "set_ftrace_pid", &super::recording::words(pids))
    }

    /// Leaves out the functions of these tasks (`set_ftrace_notrace_pid`, since Linux 5.7). Gives false where the kernel
    /// cannot.
    ///
    /// # Errors
    /// As [`Journal::set`].
    pub fn leave_out_functions(&mut self, instance: &Instance, pids: &[Pid]) -> Result<bool, Error> {
        let there = instance.has("set_ftrace_notrace_pid");
        if there {
            self.append_to_list(instance, "set_ftrace_notrace_pid", &super::recording::words(pids))?;
        }
        Ok(there)
    }

    /// Switches off all tracing of functions, for live patching and BPF too: `/proc/sys/kernel/ftrace_enabled`.
    ///
    /// # Errors
    /// As [`Journal::set`].
    pub fn disable_ftrace(&mut self) -> Result<(), Error> {
        let top = self.tracefs().top();
        self.set(&top, "/proc/sys/kernel/ftrace_enabled", "0").map(drop)
    }
}

/// The kernel answers EINVAL where no function fits; then the names that resemble it are of use.
fn unknown(instance: &Instance, pattern: &str, error: Error) -> Error {
    if error.errno() != Some(Errno::EINVAL) {
        return error;
    }
    match instance.tracefs().require_function(pattern) {
        Err(unknown @ Error::NoFunction { .. }) => unknown,
        _ => error,
    }
}
