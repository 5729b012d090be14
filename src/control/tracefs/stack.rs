//! The stack tracer: the deepest kernel stack that any function found.

use super::{Error, Journal, Tracefs, WriteMode};

const SWITCH: &str = "/proc/sys/kernel/stack_tracer_enabled";

/// Findings of the stack tracer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackTrace {
    /// True if it looks.
    pub on: bool,
    /// The size of the deepest stack in bytes.
    pub max_size: u64,
    /// The kernel's table of it (`stack_trace`).
    pub text: String,
}

impl StackTrace {
    /// Reads it.
    ///
    /// # Errors
    /// [`Error::File`], [`Error::Unsupported`] without CONFIG_STACK_TRACER.
    pub fn read(tracefs: &Tracefs) -> Result<Self, Error> {
        let top = tracefs.top();
        let size = top.read("stack_max_size")?;
        let max_size = size.trim().parse();
        Ok(StackTrace {
            on: top.read(SWITCH)?.trim() != "0",
            max_size: max_size
                .map_err(|_| Error::Content { file: "stack_max_size".to_owned(), text: size.trim().to_owned() })?,
            text: top.read("stack_trace")?,
        })
    }
}

impl Journal {
    /// Switches the stack tracer on or off, to stay so (`/proc/sys/kernel/stack_tracer_enabled`).
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn switch_stack_tracer(&mut self, on: bool) -> Result<(), Error> {
        let top = self.tracefs().top();
        self.act(&top, SWITCH, if on { "1" } else { "0" }, WriteMode::Truncate)
    }
}
