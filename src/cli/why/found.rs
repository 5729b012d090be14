//! The answer of `rtrace why`, whatever it is printed as.

use crate::cli::analyze::BufferLimits;
use crate::cli::query::{ClockUnit, QueryInput};
use crate::cli::recording_names::RecordingNames;
use rtrace::analysis::{
    Handler, History, InterruptShare, InterruptShares, IntervalPart, PartKind, Priority, Quota, QuotaTime, Throttle,
    follow_path,
};
use rtrace::events::EventName;
use rtrace::internal::assertion::Names;
use rtrace::internal::trace_dat::{Buffer, Cgroups};
use rtrace::units::Pid;

/// The interval that is taken apart, in the clock's unit.
#[derive(Clone)]
pub(super) struct WhyInterval {
    pub(super) pid: Pid,
    pub(super) begin: u64,
    pub(super) end: u64,
    pub(super) kind: LateKind,
    /// Others that were not chosen, in words.
    pub(super) note: Option<String>,
}

/// The kind of a late interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum LateKind {
    /// Around a time.
    Around(u64),
    /// From a wakeup to the switch.
    Wakeup,
    /// From the switch that took its CPU to the next one.
    Preempted,
    /// From a switch from it to the next one to it.
    OffCpu,
    /// A system call, by its name.
    Syscall(String),
    /// A pair of events, by its text.
    Pair(String),
}

/// One interval, taken apart.
pub(super) struct LateInterval<'e> {
    pub(super) input: &'e QueryInput,
    pub(super) buffer: &'e Buffer,
    pub(super) unit: ClockUnit,
    pub(super) interval: WhyInterval,
    pub(super) history: History,
    /// Number of wakers that are followed.
    pub(super) depth: usize,
    pub(super) limits: &'e BufferLimits,
    /// The cgroups of tasks, if they were recorded.
    pub(super) cgroups: Option<&'e Cgroups>,
}

/// True of events that tell what tasks and CPUs do.
pub(super) fn is_of_tasks(event: &EventName) -> bool {
    ["sched", "irq", "irq_vectors", "timer"].contains(&event.system.as_str())
}

impl LateInterval<'_> {
    /// The time of the whole interval.
    pub(super) fn time(&self) -> u64 {
        self.interval.end.saturating_sub(self.interval.begin)
    }

    /// Time of which not even the task's own state is known.
    pub(super) fn unknown(&self) -> u64 {
        let mut sum = 0;
        self.for_each_part(None, &mut |part| {
            if part.kind == PartKind::Unknown {
                sum += part.time();
            }
        });
        sum
    }

    /// True if something is known, and nothing was lost.
    pub(super) fn is_certain(&self) -> bool {
        let nothing = self.time() > 0 && self.unknown() == self.time();
        self.history.losses.is_empty() && !nothing
    }

    /// Gives `each` the smaller parts of a part, or those of the whole interval, one by one: there may be millions.
    pub(super) fn for_each_part(&self, of: Option<&IntervalPart>, each: &mut dyn FnMut(IntervalPart)) {
        let WhyInterval { pid, begin, end, .. } = self.interval;
        match of {
            Some(part) => part.for_each_part(&self.history, each),
            None => follow_path(&self.history, pid, (begin, end), self.depth, each),
        }
    }

    /// The priority of the task that a part is about, at the part's begin.
    pub(super) fn priority(&self, part: &IntervalPart) -> Option<Priority> {
        match part.kind {
            PartKind::Run { task, .. } | PartKind::Wait { task, .. } | PartKind::Preempted { task, .. } => {
                self.history.priority(task, part.begin)
            }
            _ => None,
        }
    }

    /// The name of a task.
    pub(super) fn comm(&self, pid: Pid) -> String {
        let named = self.history.comm(pid).or_else(|| self.input.symbols.comms.get(pid));
        match (pid.0, named) {
            (0, _) => "idle".to_owned(),
            (_, Some(name)) => String::from_utf8_lossy(name).into_owned(),
            (_, None) => "?".to_owned(),
        }
    }

    /// The name of a handler.
    pub(super) fn handler(&self, handler: &Handler) -> String {
        let source = rtrace::analysis::IrqSource {
            kind: handler.kind,
            id: handler.id,
            name: handler.name.clone(),
            times: Default::default(),
            own: None,
            delays: Default::default(),
            longest: None,
            cpus: Default::default(),
        };
        RecordingNames::of(self.input).handler(&source)
    }

    /// The limit that kept a task off the CPU that it waited for.
    pub(super) fn throttle(&self, part: &IntervalPart) -> Option<Throttle> {
        self.history.throttle(part, &|handler, name| self.handler(handler) == name)
    }

    /// From when to when a limit kept a task off its CPU: from the first time that the CPU was idle to the timer that lifted it. Tasks
    /// that ran between did not keep it off.
    pub(super) fn held_time(&self, part: &IntervalPart) -> Option<(u64, u64)> {
        let proven = self.quota_time(part).filter(|time| time.least > 0);
        let proven = proven.map(|QuotaTime { least, ends: (_, end), .. }| (end.saturating_sub(least), end));
        let idle = self.held_by_idle(part);
        // Whichever says more.
        idle.into_iter().chain(proven).max_by_key(|(from, to)| to.saturating_sub(*from))
    }

    fn held_by_idle(&self, part: &IntervalPart) -> Option<(u64, u64)> {
        let throttle = self.throttle(part)?;
        let mut first = None;
        self.for_each_part(Some(part), &mut |within| {
            if matches!(within.kind, PartKind::Idle { .. }) {
                first.get_or_insert(within.begin);
            }
        });
        Some((first?, throttle.at))
    }

    /// For how long a quota kept the task off its CPU, by the kernel's throttled time.
    pub(super) fn quota_time(&self, part: &IntervalPart) -> Option<QuotaTime> {
        self.history.quota_time(part, self.cgroups?)
    }

    /// The cgroup whose quota may have kept the task off the CPU that it waited for.
    pub(super) fn quota(&self, part: &IntervalPart) -> Option<Quota> {
        let cgroups = self.cgroups.as_ref()?;
        self.history.quota(part, cgroups, &|handler, name| self.handler(handler) == name)
    }

    /// Interrupts on the CPUs that the task ran on or waited for, those that took longest first.
    pub(super) fn interrupts(&self) -> Vec<InterruptShare> {
        let mut found = InterruptShares::default();
        self.for_each_part(None, &mut |part| found.add(&self.history, &part));
        found.finish(&self.history)
    }

    /// The command that shows the events from `begin` to `end`.
    pub(super) fn report(&self, begin: u64, end: u64) -> String {
        let point = |at| self.unit.point(at);
        format!("rtrace report {} --since {} --until {}", self.path(), point(begin), point(end))
    }

    /// The command that shows the events around `at`.
    pub(super) fn around(&self, at: u64) -> String {
        let width = if self.unit == ClockUnit::Ticks { "" } else { "±20us" };
        format!("rtrace report {} --around {}{width}", self.path(), self.unit.point(at))
    }

    fn path(&self) -> String {
        let path = self.input.path.to_string_lossy();
        let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,:@".contains(c);
        match path.chars().all(plain) && !path.starts_with('-') {
            true => path.into_owned(),
            false => format!("-i '{}'", path.replace('\'', "'\\''")),
        }
    }

    /// Sentences that the numbers need to be understood.
    pub(super) fn notes(&self) -> Vec<String> {
        let of_kind: &[&str] = match self.interval.kind {
            LateKind::Syscall(_) => &["raw_syscalls", "syscalls"],
            _ => &[],
        };
        let is_pair = matches!(self.interval.kind, LateKind::Pair(_));
        let reads = |event: &EventName| is_pair || is_of_tasks(event) || of_kind.contains(&event.system.as_str());
        let mut notes = self.limits.sentences(reads);
        notes.extend(self.interval.note.iter().cloned());
        if !self.history.losses.is_empty() {
            notes.push(
                "events were lost within: what is not known of that time is unknown, and so are wakeups".to_owned(),
            );
        }
        if !self.history.has_wakeups {
            notes.push("no wakeups are recorded: who woke a task is not known".to_owned());
        } else if !self.input.formats().any(|format| format.system == "sched" && format.name == "sched_waking") {
            notes.push("sched_waking is not recorded: a wakeup from another CPU may show as an interrupt's".to_owned());
        }
        if !self.history.has_handlers {
            notes.push(
                "no interrupts are recorded: their time counts as that of the task that they interrupt".to_owned(),
            );
        }
        let counts = self.history.counts;
        if counts.contradictions > 0 || counts.missed_wakeups > 0 && self.history.has_wakeups {
            notes.push(
                "in the recording events are missing that nothing says were lost (`rtrace analyze sched`)".to_owned(),
            );
        }
        notes
    }
}
