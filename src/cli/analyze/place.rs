//! One buffer of a recording: the place that an answer is about.

use super::unit::Unit;
use crate::cli::query::Input;
use rtrace::recording::Source;
use rtrace::symbols::Comms;
use rtrace::units::Pid;

/// A buffer, and what its answer needs to be read.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    /// Its name; of the top buffer empty.
    pub(super) buffer: &'a str,
    pub(super) clock: &'a str,
    pub(super) unit: Unit,
    comms: &'a Comms,
}

impl<'a> Place<'a> {
    pub(super) fn of(input: &'a Input, source: &Source) -> Self {
        let buffer = &input.trace.buffers[source.buffer];
        let unit = Unit::of(source.in_ticks);
        Place { buffer: &buffer.name, clock: &buffer.clock, unit, comms: &input.symbols.comms }
    }

    /// The name of a task, which the recording keeps one of for each pid.
    pub(super) fn comm(&self, pid: Pid) -> Option<String> {
        self.comms.get(pid).map(|comm| String::from_utf8_lossy(comm).into_owned())
    }
}
