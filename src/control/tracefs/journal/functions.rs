//! The traced functions, and their callers.

use super::core::Journal;
use super::undo::Undo;
use super::writer::value_to_write;
use crate::base::syntax::nearest;
use crate::base::units::Pid;
use crate::control::tracefs::machine_knobs::FTRACE_ENABLED;
use crate::control::tracefs::{Error, FunctionList, Instance, WriteMode};
use crate::language::trigger::{FunctionAction, FunctionTrigger};
use nix::errno::Errno;

impl Journal {
    /// Replaces a list of functions by `patterns`: names, the kernel's globs, `NAME:mod:MODULE`, or places in
    /// `available_filter_functions`, from 1. One after a `!` is taken out again: of these, or, if there are no others, of the
    /// list as it is. The lists of the function_graph tracer are the top level's, whichever instance it runs in.
    ///
    /// Gives true if the list has become empty by that: the tracer then traces all functions.
    ///
    /// # Errors
    /// [`Error::NoFunction`] with similar names; [`Error::NotListed`]; as [`Journal::set`].
    pub fn set_functions(
        &mut self,
        instance: &Instance,
        list: FunctionList,
        patterns: &[String],
    ) -> Result<bool, Error> {
        let top = self.tracefs().top();
        let instance = if list.is_of_top_level() { &top } else { instance };
        let path = instance.relative(list.file());
        if !self.created(instance) {
            let _held = self.hold();
            let said = instance.read(list.file())?;
            let content = || Error::Content { file: path.clone(), text: said.trim_end().to_owned() };
            let write = value_to_write(list.file(), &said).ok_or_else(content)?;
            self.note(Undo::Restore { file: path.clone(), said, write })?;
        }
        let (removals, additions): (Vec<_>, Vec<_>) = patterns.iter().partition(|pattern| pattern.starts_with('!'));
        for (index, pattern) in additions.into_iter().enumerate() {
            let mode = if index == 0 { WriteMode::Truncate } else { WriteMode::Append };
            self.writer.write(&path, pattern, mode).map_err(|error| unknown(instance, pattern, error))?;
        }
        let mut left = None;
        for pattern in removals {
            // The kernel says yes to what is not in the list, or refuses it as no function at all.
            let before = listed(&instance.read(list.file())?);
            let missing = |before: Vec<String>| {
                let name = pattern.trim_start_matches('!').split(':').next().unwrap_or_default();
                let near = nearest(name, before.iter().map(String::as_str));
                let near = near.into_iter().map(str::to_owned).collect::<Vec<_>>();
                let listed = if near.is_empty() { before.into_iter().take(MOST_SHOWN).collect() } else { near };
                Error::NotListed { file: list.file(), pattern: pattern.trim_start_matches('!').to_owned(), listed }
            };
            match self.writer.write(&path, pattern, WriteMode::Append) {
                Err(error) if error.errno() == Some(Errno::EINVAL) => return Err(missing(before)),
                outcome => outcome?,
            }
            let after = listed(&instance.read(list.file())?);
            if after.len() == before.len() {
                return Err(missing(before));
            }
            left = Some(after.len());
        }
        Ok(left == Some(0))
    }

    /// Removes the commands on functions that are like `wanted` ([`FunctionTrigger::is_like`]); undone by setting them again.
    ///
    /// # Errors
    /// [`Error::NoCommand`] if there are none; as [`Journal::append`].
    pub fn remove_function_commands(&mut self, instance: &Instance, wanted: &FunctionTrigger) -> Result<(), Error> {
        let file = FunctionList::Filter.file();
        let (like, others): (Vec<_>, Vec<_>) =
            instance.function_commands()?.into_iter().partition(|set| set.is_like(wanted));
        if like.is_empty() {
            let listed = others.iter().map(FunctionTrigger::to_string).collect();
            return Err(Error::NoCommand { command: wanted.to_string(), listed });
        }
        let mut removed = Vec::new();
        for set in &like {
            // The kernel takes whether there is a count, not which, and a glob for all of its functions.
            let removal = FunctionTrigger { count: set.count, ..wanted.clone() }.removal();
            if !removed.contains(&removal) {
                self.append(instance, file, &removal, &set.to_string())?;
                removed.push(removal);
            }
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
        self.append_to_list(instance, "set_ftrace_pid", &super::knobs::words(pids))
    }

    /// Leaves out the functions of these tasks (`set_ftrace_notrace_pid`, since Linux 5.7). Gives false where the kernel
    /// cannot.
    ///
    /// # Errors
    /// As [`Journal::set`].
    pub fn leave_out_functions(&mut self, instance: &Instance, pids: &[Pid]) -> Result<bool, Error> {
        let there = instance.has("set_ftrace_notrace_pid");
        if there {
            self.append_to_list(instance, "set_ftrace_notrace_pid", &super::knobs::words(pids))?;
        }
        Ok(there)
    }

    /// Switches all tracing of functions on or off, for live patching and BPF too: `/proc/sys/kernel/ftrace_enabled`.
    ///
    /// # Errors
    /// As [`Journal::set`].
    pub fn switch_ftrace(&mut self, on: bool) -> Result<(), Error> {
        let top = self.tracefs().top();
        self.set(&top, FTRACE_ENABLED, if on { "1" } else { "0" }).map(drop)
    }
}

/// Entries of a list that a message shows at most.
const MOST_SHOWN: usize = 5;

/// The functions of a list: not its commands, nor the remark that it is empty.
fn listed(text: &str) -> Vec<String> {
    let entries = text.lines().filter(|line| !line.starts_with('#') && !line.contains(':'));
    entries.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
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
