//! Parts in words.

use super::found::{LateInterval, LateKind};
use rtrace::analysis::{Handler, IntervalPart, PartKind, Wake, WakeContext};
use rtrace::units::Pid;

impl LateInterval<'_> {
    /// `comm [pid]`.
    pub(super) fn task(&self, pid: Pid) -> String {
        format!("{} [{}]", self.comm(pid), pid.0)
    }

    /// `softirq NET_RX`.
    pub(super) fn interrupt(&self, handler: &Handler) -> String {
        format!("{} {}", handler.kind.name(), self.handler(handler))
    }

    /// The first line: which interval it is.
    pub(super) fn headline(&self) -> String {
        let unit = self.unit;
        let (begin, end) = (unit.point(self.interval.begin), unit.point(self.interval.end));
        let what = match &self.interval.kind {
            LateKind::Around(at) => format!("around {}", unit.point(*at)),
            LateKind::Wakeup => "waited for a CPU after its wakeup".to_owned(),
            LateKind::Syscall(name) => format!("was in {name}()"),
            LateKind::Pair(text) => text.clone(),
        };
        let (time, name) = (unit.short(self.time()), unit.short_name());
        format!("{} {what}: {time} {name}, from {begin} to {end}", self.task(self.interval.pid))
    }

    /// A part in words; within a part of the same kind, the time between other parts.
    pub(super) fn sentence(&self, part: &IntervalPart, within: Option<&IntervalPart>) -> String {
        if within.is_some_and(|outer| outer.kind == part.kind) {
            return match &part.kind {
                PartKind::Run { .. } => "the task itself".to_owned(),
                PartKind::Idle { .. } => "idle".to_owned(),
                _ => "the handler itself".to_owned(),
            };
        }
        match &part.kind {
            PartKind::Run { task, cpu } => format!("{} ran on CPU {}", self.task(*task), cpu.0),
            PartKind::Wait { task, cpu: Some(cpu), waking: true } => {
                format!("{} was being woken on CPU {}", self.task(*task), cpu.0)
            }
            PartKind::Wait { task, cpu: Some(cpu), waking: false } => {
                format!("{} waited for CPU {}", self.task(*task), cpu.0)
            }
            PartKind::Wait { task, cpu: None, .. } => {
                format!("{} waited for a CPU, which one is not known", self.task(*task))
            }
            PartKind::Preempted { task, cpu: Some(cpu) } => match self.within(part).first().map(|first| &first.kind) {
                Some(PartKind::Run { task: other, .. }) if other != task => {
                    format!("{} was preempted on CPU {} by {}", self.task(*task), cpu.0, self.task(*other))
                }
                _ => format!("{} was preempted on CPU {}", self.task(*task), cpu.0),
            },
            PartKind::Preempted { task, cpu: None } => {
                format!("{} was preempted and came to another CPU, when is not known", self.task(*task))
            }
            PartKind::Sleep { task, blocked, wake, handler } => {
                let did = if *blocked { "was blocked" } else { "slept" };
                format!("{} {did}{}", self.task(*task), self.woken(wake.as_ref(), handler.as_deref()))
            }
            PartKind::Interrupt { handler, cpu } => format!("{} on CPU {}", self.interrupt(handler), cpu.0),
            PartKind::Idle { cpu } => format!("CPU {} was idle", cpu.0),
            PartKind::Absent { task } => format!("{} was not there: not forked yet, or ended", self.task(*task)),
            PartKind::Unknown => "unknown".to_owned(),
        }
    }

    fn woken(&self, wake: Option<&Wake>, handler: Option<&Handler>) -> String {
        let Some(wake) = wake else { return ", and was not woken in the window".to_owned() };
        let by = match (wake.context, handler) {
            (WakeContext::Task, _) if wake.by.pid.0 == 0 => "the idle task, for an unknown requester".to_owned(),
            (WakeContext::Task, _) => self.task(wake.by.pid),
            (_, Some(handler)) => self.interrupt(handler),
            (WakeContext::HardIrq, None) => "a hard interrupt".to_owned(),
            (WakeContext::SoftIrq, None) => "a soft interrupt".to_owned(),
        };
        format!(" until woken by {by} on CPU {} at {}", wake.by.cpu.0, self.unit.point(wake.at))
    }
}
