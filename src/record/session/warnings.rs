//! Warnings at the start: events that this recording will not hold, or holds unasked.

use super::Run;
use std::fs;

impl Run<'_> {
    pub(super) fn warn_of_markers(&mut self) {
        if self.buffers.iter().any(|buffer| !buffer.has_markers) {
            self.observer.warn(
                "what applications write to trace_marker is not recorded: this kernel cannot copy it into an instance; \
                 --top records it",
            );
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
            self.observer.warn(&text);
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
                "{place} holds {} events from before: they move to the start of {}; `rtrace clear{of}` drops them",
                buffer.held_before,
                self.plan.output.display()
            ));
        }
    }
}

/// The loaded modules that have a section of this name.
fn modules_with(section: &str) -> Vec<String> {
    let modules = fs::read_dir("/sys/module").into_iter().flatten().flatten();
    let having = modules.filter(|module| module.path().join("sections").join(section).exists());
    having.map(|module| module.file_name().to_string_lossy().into_owned()).collect()
}
