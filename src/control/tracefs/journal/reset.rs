//! Putting an instance into the state after boot, regardless of who changed it. Not to be undone.

use super::core::Journal;
use super::undo::{UndoError, remove_triggers};
use super::writer::may_hide_a_list;
use crate::control::tracefs::machine_knobs::is_fixed_here;
use crate::control::tracefs::status::{LISTS, boot_clock, is_partial, list, page_kib, unusual_options};
use crate::control::tracefs::{BufferSize, Error, Instance, WriteMode, status};
use crate::language::probe::Probe;
use std::collections::BTreeSet;

/// Settings that [`Journal::reset`] leaves alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResetPlan {
    /// Size of the ring buffer to set, in KiB per CPU; else it gets the size after boot.
    pub buffer_kib: Option<u64>,
    /// Dynamic events to keep: first letters of their lines in `dynamic_events` (`p`, `r`, `e`, `s`, `f`, `t`), and `P`
    /// and `R` for those of user space.
    pub keep: Vec<char>,
}

impl Journal {
    /// Puts `instance` into the state after boot and clears it: no tracer, events, filters, triggers, pid or function
    /// lists, all CPUs, clock, options and buffer sizes as after boot; for the top level also without dynamic events, and
    /// with the machine's settings as after boot. Tracing is on afterwards. Only what differs is written. Gives the refusals
    /// of what nobody can change: settings of the machine that its root may not, and the size of a ring buffer in memory that
    /// was reserved at boot.
    ///
    /// # Errors
    /// [`UndoError`] with each step that failed; the others were done.
    pub fn reset(&mut self, instance: &Instance, plan: &ResetPlan) -> Result<Vec<Error>, UndoError> {
        let mut reset = Reset { journal: self, instance, failures: Vec::new(), fixed: Vec::new() };
        reset.knob("tracing_on", "0");
        reset.knob("current_tracer", "nop");
        reset.events();
        LISTS.iter().for_each(|file| reset.list(file));
        if instance.name().is_none() {
            reset.dynamic_events(&plan.keep);
        }
        reset.options();
        reset.knob("trace_clock", &boot_clock(instance));
        reset.cpumask();
        reset.zero("tracing_max_latency");
        if instance.name().is_none() {
            reset.machine();
        }
        reset.buffer(plan.buffer_kib);
        reset.contents();
        reset.knob("tracing_on", "1");
        let Reset { failures, fixed, .. } = reset;
        if failures.is_empty() { Ok(fixed) } else { Err(UndoError { failures }) }
    }
}

struct Reset<'a> {
    journal: &'a mut Journal,
    instance: &'a Instance,
    failures: Vec<Error>,
    fixed: Vec<Error>,
}

impl Reset<'_> {
    fn write(&mut self, file: &str, text: &str, mode: WriteMode) {
        match self.journal.act(self.instance, file, text, mode) {
            Err(error @ Error::FixedBuffer { .. }) => self.fixed.push(error),
            Err(error) => self.failures.push(error),
            Ok(()) => {}
        }
    }

    /// Sets a knob that does not say so already; one that this kernel lacks, or refuses to show, stays.
    fn knob(&mut self, file: &str, value: &str) {
        let Ok(said) = self.instance.read(file) else { return };
        if super::writer::value_to_write(file, &said).as_deref() != Some(value) {
            self.write(file, value, WriteMode::Truncate);
        }
    }

    fn zero(&mut self, file: &str) {
        self.knob(file, "0");
    }

    /// The machine's settings. Some are bounds of others, so that those which are refused are tried again at last.
    fn machine(&mut self) {
        let tracefs = self.journal.tracefs().clone();
        for knob in tracefs.machine_knobs() {
            let _ = self.journal.act(self.instance, &knob.file, &knob.after_boot, WriteMode::Truncate);
        }
        for knob in tracefs.machine_knobs() {
            match self.journal.act(self.instance, &knob.file, &knob.after_boot, WriteMode::Truncate) {
                Err(error) if is_fixed_here(&error) => self.fixed.push(error),
                Err(error) => self.failures.push(error),
                Ok(()) => {}
            }
        }
    }

    fn events(&mut self) {
        if self.instance.enabled_events().is_ok_and(|events| !events.is_empty()) {
            self.write("events/enable", "0", WriteMode::Truncate);
        }
        remove_triggers(&mut self.journal.writer, self.instance);
        for system in self.instance.systems().unwrap_or_default() {
            let file = format!("events/{system}/filter");
            if self
                .instance
                .read(&file)
                .is_ok_and(|text| !text.starts_with("### global filter ###") && text.trim() != "none")
            {
                self.write(&file, "0", WriteMode::Truncate);
            }
        }
        match self.instance.event_filters(None) {
            Ok(set) => set.iter().for_each(|(event, _)| self.write(&event.file("filter"), "0", WriteMode::Truncate)),
            Err(error) => self.failures.push(error),
        }
        match self.instance.event_triggers(None) {
            Ok(left) => self.failures.extend(
                left.into_iter()
                    .map(|(event, text)| Error::Content { file: self.instance.relative(&event.file("trigger")), text }),
            ),
            Err(error) => self.failures.push(error),
        }
    }

    fn list(&mut self, file: &str) {
        let entries = list(self.instance, file);
        // `schedule:traceoff:unlimited` is a command on a function, which truncating does not remove.
        for command in entries.iter().filter(|entry| entry.contains(':')) {
            let command = command.trim_end_matches(":unlimited");
            // A command with a count is another one to the kernel than one without (`ftrace_trace_onoff_callback()`).
            let removal = match command.split_once(":count=") {
                Some((counted, _)) => format!("!{counted}:0"),
                None => format!("!{command}"),
            };
            self.write(file, &removal, WriteMode::Append);
        }
        let hidden = entries.is_empty() && may_hide_a_list(file, "") && self.instance.has(file);
        if hidden || entries.iter().any(|entry| !entry.contains(':')) {
            self.write(file, "", WriteMode::Truncate);
        }
    }

    fn dynamic_events(&mut self, keep: &[char]) {
        let of_user_space = list(self.instance, "uprobe_events");
        let mut removed = BTreeSet::new(); // an event may have several probes
        // The newest first: an event probe is younger than the event it is on.
        for line in list(self.instance, "dynamic_events").iter().rev() {
            let Some(kind) = line.chars().next() else { continue };
            let kind = if of_user_space.contains(line) { kind.to_ascii_uppercase() } else { kind };
            if let (false, Some(removal)) = (keep.contains(&kind), removal(line))
                && removed.insert(removal.clone())
            {
                self.write("dynamic_events", &removal, WriteMode::Append);
            }
        }
    }

    fn options(&mut self) {
        for (name, on) in unusual_options(self.instance).unwrap_or_default() {
            self.write(&format!("options/{name}"), if on { "0" } else { "1" }, WriteMode::Truncate);
        }
    }

    fn cpumask(&mut self) {
        let cpus = self.instance.cpus().unwrap_or_default();
        let mask = self.instance.read("tracing_cpumask").unwrap_or_default();
        if !mask.trim().is_empty() && is_partial(mask.trim(), cpus.len()) {
            let count = cpus.last().map_or(1, |cpu| (cpu.0 as usize).saturating_add(1));
            self.write("tracing_cpumask", &full_mask(count), WriteMode::Truncate);
        }
    }

    fn buffer(&mut self, kib: Option<u64>) {
        let page = page_kib().to_string();
        self.knob("buffer_subbuf_size_kb", &page);
        self.knob("buffer_percent", "50");
        self.knob("syscall_user_buf_size", &status::SYSCALL_BYTES.to_string());
        let wanted = kib.unwrap_or(status::BUFFER_KIB);
        match self.instance.buffer_size() {
            // The kernel rounds up to whole sub-buffers.
            Ok(BufferSize::Kib(now)) if now.checked_sub(wanted).is_some_and(|more| more / 2 < page_kib()) => {}
            Ok(BufferSize::Unexpanded { .. }) if kib.is_none() => {}
            // A buffer in memory that was reserved at boot has the size of that.
            _ if kib.is_none() && self.instance.has("last_boot_info") => {}
            _ => self.write("buffer_size_kb", &wanted.to_string(), WriteMode::Truncate),
        }
    }

    fn contents(&mut self) {
        self.write("trace", "", WriteMode::Truncate);
        if self.instance.read("snapshot").is_ok_and(|text| !text.contains("Snapshot is freed")) {
            self.write("snapshot", "0", WriteMode::Truncate);
        }
        if self.instance.read("error_log").is_ok_and(|text| !text.trim().is_empty()) {
            self.write("error_log", "", WriteMode::Truncate);
        }
    }
}

/// The text that removes the dynamic event of which the kernel shows `line`.
fn removal(line: &str) -> Option<String> {
    let by_name = || {
        let name = line.split_once(':')?.1.split_whitespace().next()?;
        Some(format!("-:{name}"))
    };
    line.parse().ok().and_then(|probe: Probe| probe.removal()).or_else(by_name)
}

/// A mask of the first `cpus` CPUs: `3`, `f,ffffffff`.
fn full_mask(cpus: usize) -> String {
    let (words, rest) = (cpus / 32, cpus % 32);
    let mut parts = Vec::new();
    if rest > 0 {
        parts.push(format!("{:x}", !(u64::MAX << rest)));
    }
    parts.extend(std::iter::repeat_n("ffffffff".to_owned(), words));
    parts.join(",")
}

#[cfg(test)]
mod tests {
    use super::{full_mask, removal};

    #[test]
    fn removals() {
        for (line, removed) in [
            ("p:kprobes/ev vfs_read arg1=%di", "-:kprobes/ev"),
            ("s:synthetic/wake\tu64 lat; pid_t pid", "-:synthetic/wake"),
            ("u:mine u32 number; char[20] name", "-:user_events/mine u32 number; char[20] name"),
            ("u:plain", "-:user_events/plain"),
        ] {
            assert_eq!(removal(line).as_deref(), Some(removed));
        }
    }

    #[test]
    fn masks() {
        assert_eq!(full_mask(2), "3");
        assert_eq!(full_mask(32), "ffffffff");
        assert_eq!(full_mask(36), "f,ffffffff");
    }
}
