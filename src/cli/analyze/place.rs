//! One buffer of a recording: the place that an answer is about.

use super::limits::BufferLimits;
use crate::cli::query::{ClockUnit, QueryEvents};
use rtrace::internal::trace_dat::FileError;
use rtrace::recording::BufferSource;
use rtrace::symbols::Comms;
use rtrace::units::Pid;
use std::io::{self, Write};
use std::rc::Rc;

/// A buffer, and what its answer needs to be read.
#[derive(Clone)]
pub(super) struct AnswerPlace<'a> {
    /// Its name; of the top buffer empty.
    pub(super) buffer: &'a str,
    pub(super) clock: &'a str,
    pub(super) unit: ClockUnit,
    comms: &'a Comms,
    pub(super) limits: Rc<BufferLimits>,
}

impl<'a> AnswerPlace<'a> {
    /// Of a source of `events`.
    ///
    /// # Errors
    /// As [`BufferLimits::of`].
    pub(super) fn of(events: &QueryEvents<'a>, source: &BufferSource) -> Result<Self, FileError> {
        let input = &events.inputs[source.recording];
        let buffer = &input.trace.buffers[source.buffer];
        let unit = events.unit(source);
        let limits = Rc::new(BufferLimits::of(&events.query, input, source)?);
        Ok(AnswerPlace { buffer: &buffer.name, clock: &buffer.clock, unit, comms: &input.symbols.comms, limits })
    }

    /// The name of a task, which the recording keeps one of for each pid.
    pub(super) fn comm(&self, pid: Pid) -> Option<String> {
        self.comms.get(pid).map(|comm| String::from_utf8_lossy(comm).into_owned())
    }

    /// `sh [7]`; of a task without a name only its number.
    pub(super) fn task(&self, pid: Pid) -> String {
        self.comm(pid).map_or_else(|| format!("[{pid}]"), |comm| format!("{comm} [{pid}]"))
    }

    /// The line that begins an answer: the window, and how much there was in it.
    pub(super) fn window(&self, window: Option<(u64, u64)>, parts: &[String], out: &mut dyn Write) -> io::Result<()> {
        let ((begin, end), unit) = (window.unwrap_or_default(), self.unit);
        let (length, name) = (unit.long(end.saturating_sub(begin)), unit.long_name());
        let parts = parts.join("; ");
        writeln!(out, "Window: {} to {}, {length} {name}; {parts}", unit.point(begin), unit.point(end))
    }
}
