//! Names that quantities are limited to: members of closed vocabularies, and those that occur in a recording.
//!
//! Time of a task that never ran is 0, and so is that of one whose name was mistyped. A name that cannot occur is an error; one
//! that occurs nowhere leaves the value unknown.
//!
//! Sources of durations as text: two that mean the same have the same text.

use super::ast::{Assertion, DurationSource, EventsExpr, LABEL, Quantity, Reducer};
use super::conditions;
use super::conditions::Names;
use super::measure::Finding;
use super::plan::Named;
use super::quantity::{calls, handlers, sites, tasks};
use crate::answer::analysis::{CgroupSet, HandlerKind, IoOperation, LockKind};
use crate::base::syntax::{Diagnostic, Span, did_you_mean};
use crate::base::units::Pid;
use crate::kernel::events::glob_matches;
use std::fmt;

/// A name that is no member of a closed vocabulary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Stranger {
    message: String,
    /// The name that was probably meant, or all that there are.
    hint: String,
}

impl Stranger {
    /// `name` is none of `members`, which are `kind`.
    fn among(name: &str, members: &[&str], kind: &str) -> Option<Self> {
        if name.is_empty() || members.iter().any(|member| glob_matches(name, member)) {
            return None;
        }
        let near = did_you_mean(name, members.iter().copied());
        let hint = near.unwrap_or_else(|| match members.len() {
            ..=20 => format!("There are {}.", members.join(", ")),
            _ => "A call that is not known by name is given by its number.".to_owned(),
        });
        Some(Stranger { message: format!("`{name}` is no {kind}"), hint })
    }

    /// The error that it is, at `span` of the text.
    pub(super) fn error(self, label: &'static str, text: &str, span: Span) -> Diagnostic {
        Diagnostic::new(label, text, span, self.message).hint(self.hint)
    }
}

impl DurationSource {
    /// The name that no recording can hold: of a kind of handler, a soft interrupt, an operation, a kind of lock.
    pub(super) fn stranger(&self) -> Option<Stranger> {
        match self {
            DurationSource::Io(operation) => {
                Stranger::among(operation, &IoOperation::ALL.map(IoOperation::name), "operation of requests")
            }
            DurationSource::Irq(pattern) => {
                let (kind, name) = pattern.split_once(':').unwrap_or((pattern, ""));
                Stranger::among(kind, &HandlerKind::ALL.map(HandlerKind::name), "kind of handler")
                    .map(|stranger| Stranger {
                        hint: format!("{} One by its name: `irq(irq:{kind})`.", stranger.hint),
                        ..stranger
                    })
                    .or_else(|| {
                        let is_soft_irq = kind == HandlerKind::SoftIrq.name() && !name.starts_with("vector ");
                        Stranger::among(name, &HandlerKind::SOFT_IRQS, "soft interrupt").filter(|_| is_soft_irq)
                    })
            }
            // No name of a variable has a colon.
            DurationSource::Lock(pattern) if pattern.contains(':') => {
                let kinds = LockKind::ALL.map(LockKind::name);
                Stranger::among(pattern, &kinds.each_ref().map(String::as_str), "kind of lock")
            }
            _ => None,
        }
    }
}

impl Quantity {
    /// The durations that it is of, whatever tasks these are limited to.
    pub(super) fn source(&self) -> Option<&DurationSource> {
        match self {
            Quantity::Reduced(_, source) | Quantity::Errors(source) => Some(source.parts().0),
            _ => None,
        }
    }

    /// Refuses a system call that an architecture with the calls `known` does not have.
    ///
    /// # Errors
    /// The name and its place, `span` of the text.
    pub(super) fn must_be_a_call(&self, known: &[String], of: Named<'_>, span: Span) -> Result<(), Diagnostic> {
        let Some(DurationSource::Syscall(name)) = self.source() else { return Ok(()) };
        if known.is_empty() || name.parse::<i64>().is_ok() {
            return Ok(());
        }
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        match Stranger::among(name, &known, "system call of this architecture") {
            Some(stranger) => Err(stranger.error(of.label, of.text, span)),
            None => Ok(()),
        }
    }

    /// The reason why its value is not known: the name that it is limited to occurs nowhere in the recording.
    pub(super) fn absent(&self, finding: &Finding, names: &dyn Names) -> Option<String> {
        let cgroups = names.cgroups();
        let set = self.tasks().and_then(|tasks| conditions::set_of(tasks, cgroups.as_ref()));
        let stray_task = || {
            let task = self.task().filter(|task| !names.is_task(task) && set.is_none())?;
            Some(("task", task, names.tasks()))
        };
        let stray_cgroup = || {
            let pattern = self.tasks().filter(|_| set.as_ref().is_some_and(CgroupSet::is_empty))?;
            Some(("cgroup", conditions::glob_of(pattern)?, conditions::all(cgroups.as_ref())))
        };
        // Names of tasks are not looked for where cgroups stand for them.
        let is_of_named = |of: &Self| of.pattern() != of.tasks() || set.is_none();
        let stray = Some(self).filter(|of| is_of_named(of)).and_then(|of| of.stray(finding, names));
        let (kind, pattern, near) = stray.or_else(stray_task).or_else(stray_cgroup)?;
        let near = did_you_mean(pattern, near.iter().map(String::as_str));
        Some(match near {
            Some(near) => format!("no {kind} `{pattern}` is in the recording: {near}"),
            None if kind == "task" => {
                format!("no task `{pattern}` is in the recording: `rtrace analyze sched FILE` lists those that are")
            }
            None => format!("no {kind} `{pattern}` is in the recording"),
        })
    }

    /// The name that occurs nowhere, what it is of, and names that do occur.
    fn stray(&self, finding: &Finding, names: &dyn Names) -> Option<(&'static str, &str, Vec<String>)> {
        let pattern = self.pattern().filter(|pattern| !pattern.is_empty())?;
        let is = |name: &String| glob_matches(pattern, name);
        let (kind, occurs, near) = match (self, finding) {
            (_, Finding::Sched(found)) => {
                let mut near = names.tasks();
                near.extend(found.tasks.iter().map(|task| String::from_utf8_lossy(&task.comm).into_owned()));
                ("task", tasks(found, pattern, names).next().is_some() || names.is_task(pattern), near)
            }
            (Quantity::Faults(_), Finding::Faults(found)) => {
                let pid = pattern.parse().ok().map(Pid);
                let has_faults = found.tasks.iter().any(|(one, _)| pid == Some(*one));
                ("task", has_faults || names.is_task(pattern), names.tasks())
            }
            (_, Finding::Syscalls(found)) => {
                let known = names.syscalls();
                let occurs = pattern.parse::<i64>().is_ok() || calls(found, pattern, names).next().is_some();
                let near = found.calls.iter().filter_map(|call| call.name.clone()).collect();
                ("system call", occurs || known.iter().any(is), near)
            }
            (_, Finding::Irqs(found)) => {
                let (kind, name) = pattern.split_once(':')?;
                let is = |one: HandlerKind| glob_matches(kind, one.name());
                let function = [HandlerKind::Tasklet, HandlerKind::Timer, HandlerKind::HrTimer, HandlerKind::Work];
                let known = name.is_empty()
                    || is(HandlerKind::SoftIrq)
                    || function.into_iter().any(is) && names.is_symbol(name);
                let near = handlers(found, kind, names).map(|source| names.handler(source));
                let near = near.map(|name| format!("{kind}:{name}")).collect();
                ("handler", known || handlers(found, pattern, names).next().is_some(), near)
            }
            (_, Finding::Functions(found)) => {
                let near: Vec<String> = found.functions.iter().map(|one| names.function(one.address)).collect();
                ("function", near.iter().any(is) || names.is_symbol(pattern), near)
            }
            (_, Finding::Memory(found)) => {
                let near = sites(found, "", names).map(|site| names.function(site.site)).collect();
                ("function", sites(found, pattern, names).next().is_some() || names.is_symbol(pattern), near)
            }
            (_, Finding::Locks(found)) => {
                let kinds = LockKind::ALL.map(LockKind::name);
                let locks = found.locks.iter().map(|((address, _), _)| names.variable(*address));
                let near: Vec<String> = locks.chain(kinds).collect();
                ("lock", near.iter().any(is) || names.is_symbol(pattern), near)
            }
            _ => return None,
        };
        (!occurs).then_some((kind, pattern, near))
    }

    /// The text between its parentheses, if that is a name.
    fn pattern(&self) -> Option<&str> {
        match self {
            Quantity::Run(name) | Quantity::Faults(name) | Quantity::Live(name) => Some(name),
            quantity => Some(quantity.source()?.named()?.1),
        }
    }

    /// The tasks that it is of; `None` if it is of all.
    pub(super) fn tasks(&self) -> Option<&str> {
        let tasks = match self {
            Quantity::Run(task) | Quantity::Faults(task) => task,
            Quantity::Reduced(_, DurationSource::Wait(task) | DurationSource::Preempted(task)) => task,
            _ => self.task()?,
        };
        Some(tasks).filter(|tasks| !tasks.is_empty())
    }

    /// The tasks that its durations are limited to by `task=`.
    fn task(&self) -> Option<&str> {
        match self {
            Quantity::Reduced(_, source) | Quantity::Errors(source) => {
                Some(source.parts().1).filter(|task| !task.is_empty())
            }
            _ => None,
        }
    }

    /// A task without a name that may be one of those that it is limited to by name, which leaves the value unknown.
    pub(super) fn nameless(&self, finding: &Finding, names: &dyn Names) -> Option<String> {
        let tasks = self.tasks().filter(|task| task.parse::<i32>().is_err())?;
        let set = conditions::set_of(tasks, names.cgroups().as_ref());
        let is_nameless = |pid: &Pid| match &set {
            Some(set) => set.is_unsure(*pid),
            None => names.task(*pid).is_none(),
        };
        let task = match finding {
            Finding::Syscalls(found) => {
                let going_on = found.going_on.iter().map(|call| call.pid);
                found.tasks.iter().map(|task| task.pid).chain(going_on).find(is_nameless)
            }
            Finding::Irqs(found) => found.tasks.iter().copied().find(is_nameless),
            Finding::Io(found) => found.tasks.iter().copied().find(is_nameless),
            Finding::Locks(found) => found.tasks.iter().map(|(pid, _)| *pid).find(is_nameless),
            Finding::Faults(found) if set.is_some() => found.tasks.iter().map(|(pid, _)| *pid).find(is_nameless),
            _ => None,
        }?;
        Some(match set {
            Some(_) => format!("the cgroup of task {} is not known at all times; it may be one of them", task.0),
            None => format!("task {} has no name in the recording and may be one of them", task.0),
        })
    }
}

impl Assertion {
    /// Refuses system calls that an architecture with the calls `known` does not have: before anything is recorded.
    ///
    /// # Errors
    /// A [`Diagnostic`] labelled `assert` with the name's place.
    pub fn check_syscalls(&self, known: &[String]) -> Result<(), Diagnostic> {
        let of = Named { label: LABEL, text: &self.text };
        let quantities = [self.left.quantities(), self.right.quantities()].concat();
        quantities.into_iter().try_for_each(|quantity| quantity.value.must_be_a_call(known, of, quantity.span))
    }
}

impl fmt::Display for EventsExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names.value)?;
        match &self.filter {
            Some(filter) => write!(f, " if {}", filter.value.text()),
            None => Ok(()),
        }
    }
}

/// A pattern between parentheses, in quotes if it holds one.
struct PatternText<'a>(&'a str);

impl fmt::Display for PatternText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_plain = !self.0.contains(['(', ')', '"', '\'']) && self.0.trim() == self.0;
        if is_plain { f.write_str(self.0) } else { write!(f, "\"{}\"", self.0) }
    }
}

impl DurationSource {
    /// Its word and the name between its parentheses, if that is all that it has.
    fn named(&self) -> Option<(&'static str, &str)> {
        Some(match self {
            DurationSource::Latency(_) | DurationSource::Hist(_) | DurationSource::OfTask(..) => return None,
            DurationSource::Wait(pattern) => ("wait", pattern),
            DurationSource::Preempted(pattern) => ("preempted", pattern),
            DurationSource::Syscall(pattern) => ("syscall", pattern),
            DurationSource::Irq(pattern) => ("irq", pattern),
            DurationSource::Io(pattern) => ("io", pattern),
            DurationSource::Function(pattern) => ("function", pattern),
            DurationSource::Lock(pattern) => ("lock", pattern),
            DurationSource::Life(pattern) => ("life", pattern),
        })
    }
}

impl fmt::Display for DurationSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DurationSource::Latency(latency) => {
                write!(f, "latency({}, {}", latency.from, latency.to)?;
                for (from, to) in &latency.keys {
                    match from.value == to.value {
                        true => write!(f, ", {}", from.value)?,
                        false => write!(f, ", {}={}", from.value, to.value)?,
                    }
                }
                f.write_str(")")
            }
            DurationSource::OfTask(source, task) => {
                let (name, pattern) = source.named().unwrap_or_default();
                let comma = if pattern.is_empty() { "" } else { ", " };
                write!(f, "{name}({}{comma}task={})", PatternText(pattern), PatternText(task))
            }
            DurationSource::Hist(hist) => {
                write!(f, "hist({}", hist.events)?;
                hist.keys.iter().try_for_each(|key| write!(f, ", key={}", key.value))?;
                hist.value.iter().try_for_each(|value| write!(f, ", val={}", value.value))?;
                f.write_str(")")
            }
            source => {
                let (name, pattern) = source.named().unwrap_or_default();
                write!(f, "{name}({})", PatternText(pattern))
            }
        }
    }
}

impl Quantity {
    /// True of the shortest and the longest duration.
    pub fn is_extreme(&self) -> bool {
        matches!(self, Quantity::Reduced(Reducer::Min | Reducer::Max, _))
    }

    /// The name of the series over time that it is a number of: `wait(nginx)` of `p99(wait(nginx))`, `count(EVENTS)` of their
    /// rate. `None` if it needs none, or has none.
    pub fn series(&self) -> Option<String> {
        match self {
            Quantity::Lost | Quantity::Duration | Quantity::Faults(_) | Quantity::Live(_) => None,
            Quantity::Count(events) | Quantity::Rate(events) => Some(format!("count({events})")),
            Quantity::Reduced(_, source) => Some(source.to_string()),
            Quantity::Errors(source) => Some(format!("errors({source})")),
            Quantity::Busy => Some("busy".to_owned()),
            Quantity::Run(task) => Some(format!("run({})", PatternText(task))),
        }
    }
}
