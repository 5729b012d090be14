//! Two events that make a pair, as `-H` names them.

use std::fmt;
use std::str::FromStr;

/// `[SYSTEM:]START,FIELD[,PID]/[SYSTEM:]END,FIELD[,FLAGS]`: the time from one event to the next other one of the same
/// task whose field has the same value.
///
/// `hrtimer_expire_entry,hrtimer/hrtimer_expire_exit,hrtimer,sp`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hook {
    text: String,
    /// The event that begins it.
    pub start: HookEvent,
    /// The field of the first event with the task; the task in whose context it happened, if `None`.
    pub start_pid: Option<String>,
    /// The event that ends it.
    pub end: HookEvent,
    /// `p`: both happen on the same CPU, so that what another CPU lost does not matter.
    pub pinned: bool,
    /// `s`: with the first event's stack traces.
    pub stack: bool,
    /// `g`: whatever the task; with `p` by CPU.
    pub global: bool,
}

/// One of the two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookEvent {
    /// Its system; any if `None`.
    pub system: Option<String>,
    /// Name of the event.
    pub event: String,
    /// The field to match.
    pub field: String,
}

/// Errors in a hook's text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid hook `{text}`: {what}")]
pub struct HookError {
    text: String,
    what: String,
}

/// Mismatches between a hook and the recorded events.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HookProblem {
    /// There is no such event.
    #[error("hook `{hook}`: no event `{event}`")]
    NoEvent {
        /// The hook.
        hook: String,
        /// The event.
        event: String,
    },
    /// The event has no such field.
    #[error("hook `{hook}`: {event} has no field `{field}`")]
    NoField {
        /// The hook.
        hook: String,
        /// The event.
        event: String,
        /// The field.
        field: String,
        /// The fields that it has.
        fields: Vec<String>,
    },
    /// The field is not a number.
    #[error("hook `{hook}`: `{field}` of {event} is not a number")]
    NoNumber {
        /// The hook.
        hook: String,
        /// The event.
        event: String,
        /// The field.
        field: String,
    },
}

impl FromStr for Hook {
    type Err = HookError;

    fn from_str(text: &str) -> Result<Self, HookError> {
        let wrong = |what: String| HookError { text: text.to_owned(), what };
        let form = || wrong("expected [SYSTEM:]START,FIELD[,PID]/[SYSTEM:]END,FIELD[,FLAGS]".to_owned());
        let (start, end) = text.split_once('/').ok_or_else(form)?;
        let half = |half: &str| {
            let mut words = half.split(',').map(|word| word.trim().to_owned());
            let (name, field, third) = (words.next()?, words.next()?, words.next());
            let (system, event) = match name.split_once(':') {
                Some((system, event)) => (Some(system.to_owned()), event.to_owned()),
                None => (None, name),
            };
            let empty = |word: &str| word.is_empty();
            let bad = system.as_deref().is_some_and(empty) || empty(&event) || empty(&field) || words.next().is_some();
            (!bad && !third.as_deref().is_some_and(empty)).then_some((HookEvent { system, event, field }, third))
        };
        let (start, start_pid) = half(start).ok_or_else(form)?;
        let (end, flags) = half(end).ok_or_else(form)?;
        let mut hook =
            Hook { text: text.to_owned(), start, start_pid, end, pinned: false, stack: false, global: false };
        for flag in flags.iter().flat_map(|flags| flags.chars()) {
            match flag.to_ascii_lowercase() {
                'p' => hook.pinned = true,
                's' => hook.stack = true,
                'g' => hook.global = true,
                _ => {
                    let what = "the flags are p (same CPU), s (stack traces) and g (whatever the task)";
                    return Err(wrong(format!("unknown flag `{flag}`: {what}")));
                }
            }
        }
        Ok(hook)
    }
}

impl fmt::Display for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for HookEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.system {
            Some(system) => write!(f, "{system}:{}", self.event),
            None => f.write_str(&self.event),
        }
    }
}
