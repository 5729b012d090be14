//! Triggers as they would be set.
//! Names for what the keys of entries hold.

use crate::base::syntax::{Diagnostic, Span};
use crate::base::units::Pid;
use crate::kernel::format::is_since;
use crate::language::hist::spec::{HistSpec, SpecError};
use crate::language::synth::SynthDef;
use crate::language::trigger::Trigger;

/// A hist trigger and the event that it is set on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistTrigger {
    /// The event's system; `synthetic` for one of [`HistSetup::definitions`].
    pub system: String,
    /// The event's name.
    pub event: String,
    /// The trigger.
    pub spec: HistSpec,
}

/// A trigger other than hist, and the event that it is set on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventTrigger {
    /// The event's system; `synthetic` for one of [`HistSetup::definitions`].
    pub system: String,
    /// The event's name.
    pub event: String,
    /// The trigger: no hist trigger.
    pub trigger: Trigger,
}

/// Synthetic events and triggers, in the order in which they would be written to the kernel's files.
#[derive(Clone, Debug, Default)]
pub struct HistSetup {
    /// Lines of `synthetic_events`.
    pub definitions: Vec<SynthDef>,
    /// The triggers.
    pub triggers: Vec<HistTrigger>,
    /// Gives tables no more room than the kernel's have (`size=`, 2048 entries by default).
    pub kernel_limits: bool,
    /// Keeps the records of synthetic events that no trigger is set on, too.
    pub keep_fired: bool,
    /// Triggers other than hist, in the order in which they would be set.
    pub gates: Vec<EventTrigger>,
    /// Tracing is off at first, as after `echo 0 > tracing_on`.
    pub tracing_off: bool,
    /// Only events that the other triggers let into the ring buffer are counted; the kernel counts all.
    pub only_held: bool,
    /// Notes of each event whether the ring buffer would hold it ([`HistFindings::held`](super::HistFindings::held)).
    pub note_held: bool,
    /// Length of the intervals of [`HistFindings::over_time`](super::HistFindings::over_time), in the clock's unit.
    pub every: Option<u64>,
    /// Number of entries that tables keep, the heaviest: for triggers that only count.
    pub heaviest: Option<u32>,
    /// `sysname nodename release machine` of the kernel that recorded the events: tables of Linux 7.0 hold longer stacks.
    pub uname: String,
    /// Indices of triggers whose filter all events have passed before: the kernel filters those that it streams.
    pub filtered: Vec<usize>,
}

impl HistSetup {
    /// Frames of a stack in a key or a variable (`HIST_STACKTRACE_DEPTH`, kernel/trace/trace.h).
    pub(super) fn stack_frames(&self) -> usize {
        if is_since(&self.uname, (7, 0)) { 31 } else { 16 }
    }
}

/// An error in a setup: the trigger with this index cannot be set. Those of [`HistSetup::gates`] have the numbers after those of
/// [`HistSetup::triggers`].
#[derive(Clone, Debug, thiserror::Error)]
#[error("{problem}")]
pub struct SetupError {
    /// Index into [`HistSetup::triggers`], or [`HistSetup::gates`] after them.
    pub trigger: usize,
    /// The error.
    pub problem: Problem,
}

/// An error in a trigger.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The recording does not describe the event.
    #[error("the recording has no event {0}")]
    NoEvent(String),
    /// The kernel would refuse it.
    #[error("{0}")]
    Spec(Box<SpecError>),
    /// Its filter cannot be decided over recorded events.
    #[error("{0}")]
    Filter(Box<Diagnostic>),
    /// A pointer to a text, a structure, or an array: the record does not hold a number or a text.
    #[error("`{field}` is {what}")]
    Field {
        /// The field's name.
        field: String,
        /// The kind of thing that it is.
        what: &'static str,
        /// Its place in the trigger's text.
        span: Span,
    },
    /// Stacks are asked for, and the recording has none.
    #[error("the recording has no stacks: `rtrace record -T` records one with each event")]
    NoStacks,
    /// A variable that no earlier trigger sets.
    #[error("no trigger before this one sets `${0}`")]
    NoVariable(String),
    /// A hist trigger among the others.
    #[error("it is a hist trigger")]
    HistGate,
    /// A synthetic event that is not defined.
    #[error("there is no synthetic event `{0}`")]
    NoSynthetic(String),
}

impl Problem {
    /// The problem as a diagnostic about the trigger's text, as it was given.
    pub fn diagnostic(&self, text: &str) -> Diagnostic {
        match self {
            Problem::Spec(error) => error.diagnostic(text),
            Problem::Filter(error) => (**error).clone(),
            Problem::Field { span, .. } => Diagnostic::new("trigger", text, *span, self.to_string()),
            _ => Diagnostic::new("trigger", text, Span::default(), self.to_string()),
        }
    }
}

/// Names for what keys hold.
pub trait HistNames {
    /// A function as `%ps` prints it (`schedule`, `nf_hook [nf_tables]`), or with `offset` as `%pS` does
    /// (`schedule+0x27/0xc0`); the number in hexadecimal where there is none.
    fn symbol(&self, address: u64, offset: bool) -> String;

    /// A system call by its number: `sys_read`.
    fn syscall(&self, number: u64) -> Option<String>;

    /// The name of a task.
    fn comm(&self, pid: Pid) -> String;
}
