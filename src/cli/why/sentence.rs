//! Parts in words.

use super::found::{LateInterval, LateKind};
use crate::cli::analyze::words::{many, percent, variable};
use rtrace::analysis::{
    AwaitedLock, CompletedRequest, Handler, IntervalPart, IoOperation, PartKind, Priority, QuotaTime, Wake, WakeContext,
};
use rtrace::units::{CpuId, Pid};
use std::cmp::{Ordering, Reverse};

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
            LateKind::Preempted => "was preempted".to_owned(),
            LateKind::OffCpu => "was off the CPU".to_owned(),
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
            PartKind::Run { task, cpu } => {
                let precedence = within.and_then(|outer| self.precedence(outer, *task, part.begin)).unwrap_or_default();
                format!("{} ran on CPU {}{precedence}", self.task(*task), cpu.0)
            }
            PartKind::Wait { task, cpu: Some(cpu), waking: true } => {
                format!("{} was being woken on CPU {}", self.task(*task), cpu.0)
            }
            PartKind::Wait { task, cpu: Some(cpu), waking: false } => {
                let (held, elsewhere) = (self.held(part, *cpu), self.idle_elsewhere(part, *cpu));
                format!("{} waited for CPU {}{held}{elsewhere}", self.task(*task), cpu.0)
            }
            PartKind::Wait { task, cpu: None, .. } => {
                format!("{} waited for a CPU, which one is not known", self.task(*task))
            }
            PartKind::Preempted { task, cpu: Some(cpu) } => match self.first_within(part) {
                Some(PartKind::Run { task: other, .. }) if other != *task => {
                    let (by, elsewhere) = (self.task(other), self.idle_elsewhere(part, *cpu));
                    format!(
                        "{} was preempted on CPU {} by {by}{}{elsewhere}",
                        self.task(*task),
                        cpu.0,
                        self.held(part, *cpu)
                    )
                }
                _ => format!("{} was preempted on CPU {}{}", self.task(*task), cpu.0, self.held(part, *cpu)),
            },
            PartKind::Preempted { task, cpu: None } => {
                format!("{} was preempted and came to another CPU, when is not known", self.task(*task))
            }
            PartKind::Sleep { task, blocked, wake, handler, request, lock } => {
                let did = match blocked {
                    Some(true) => "was blocked",
                    Some(false) => "slept",
                    None => "was asleep or blocked",
                };
                let lock = lock.as_deref().map(|lock| self.lock(lock)).unwrap_or_default();
                let request = request.as_deref().map(|request| self.request(request)).unwrap_or_default();
                let woken = self.woken(wake.as_ref(), handler.as_deref());
                format!("{} {did}{lock}{woken}{request}", self.task(*task))
            }
            PartKind::Interrupt { handler, cpu } => format!("{} on CPU {}", self.interrupt(handler), cpu.0),
            PartKind::Idle { cpu } => format!("CPU {} was idle", cpu.0),
            PartKind::Absent { task } => format!("{} was not there: not forked yet, or ended", self.task(*task)),
            PartKind::Unknown => "unknown".to_owned(),
        }
    }

    fn first_within(&self, part: &IntervalPart) -> Option<PartKind> {
        let mut first = None;
        self.for_each_part(Some(part), &mut |part| {
            first.get_or_insert(part.kind);
        });
        first
    }

    /// `; CPU 1 was idle for 95.2 % of it`: the one that was idle longest, if it was for most of the time.
    fn idle_elsewhere(&self, part: &IntervalPart, cpu: CpuId) -> String {
        let idle = self.history.idle_elsewhere(Some(cpu), (part.begin, part.end));
        let longest = idle.into_iter().max_by_key(|(cpu, time)| (*time, Reverse(cpu.0)));
        match longest.filter(|(_, time)| time.saturating_mul(2) > part.time()) {
            Some((cpu, time)) => format!("; CPU {} was idle for {} % of it", cpu.0, percent(time, part.time())),
            None => String::new(),
        }
    }

    /// `; CPU 0 was idle meanwhile: its cgroup had used up its time (cpu.max), until sched_cfs_period_timer on CPU 1 at 12.34`; nothing
    /// if the CPU was not idle.
    fn held(&self, part: &IntervalPart, cpu: CpuId) -> String {
        let Some(throttle) = self.throttle(part) else {
            let was_preempted = matches!(part.kind, PartKind::Preempted { .. });
            return match self.history.idle_within(part).filter(|_| was_preempted) {
                Some(_) => format!("; CPU {} was idle meanwhile, why is not known", cpu.0),
                None => self.kept_off(part).unwrap_or_else(|| self.maybe_throttled(part)),
            };
        };
        let used_up = match throttle.limit {
            "cgroup" => "its cgroup had used up its time (cpu.max)",
            "realtime" => "real-time tasks had used up their time (sched_rt_runtime_us)",
            _ => "it had used up its deadline's budget",
        };
        let (timer, at) = (throttle.timer, self.unit.point(throttle.at));
        format!("; CPU {} was idle meanwhile: {used_up}, until {timer} on CPU {} at {at}", cpu.0, throttle.cpu.0)
    }

    /// `; its quota kept it off for 58.12 to 60.01 ms of it: /b was throttled (cpu.max), by the kernel's count`; `None` if that is not
    /// certain.
    fn kept_off(&self, part: &IntervalPart) -> Option<String> {
        let QuotaTime { cgroup, least, most, .. } = self.quota_time(part)?;
        let (from, to, name) = (self.unit.short(least), self.unit.short(most), self.unit.short_name());
        Some(format!(
            "; its quota kept it off for {from} to {to} {name} of it: {} was throttled (cpu.max), by the kernel's count",
            cgroup?
        ))
    }

    /// `; perhaps its quota kept it off: /b was throttled in 12 periods of the recording (cpu.max), and one began at 12.34 on CPU 1,
    /// 15.2 us before the end`.
    fn maybe_throttled(&self, part: &IntervalPart) -> String {
        let Some(quota) = self.quota(part) else { return String::new() };
        let (unit, periods) = (self.unit, many(quota.counters.throttled_periods, "period"));
        let (at, before) = (unit.point(quota.at), unit.short(part.end.saturating_sub(quota.at)));
        let (cgroup, cpu, name) = (quota.cgroup, quota.cpu.0, unit.short_name());
        format!(
            "; perhaps its quota kept it off: {cgroup} was throttled in {periods} of the recording (cpu.max), and one began at {at} \
             on CPU {cpu}, {before} {name} before the end"
        )
    }

    /// Priority of a task that runs at `at` beside that of the one that waits meanwhile; nothing of two usual ones.
    fn precedence(&self, outer: &IntervalPart, task: Pid, at: u64) -> Option<String> {
        const USUAL: Priority = Priority(120);
        let (PartKind::Wait { task: waiter, .. } | PartKind::Preempted { task: waiter, .. }) = outer.kind else {
            return None;
        };
        let (ours, waiting) = (self.history.priority(task, at)?, self.history.priority(waiter, at)?);
        Some(match ours.before(waiting) {
            _ if (ours, waiting) == (USUAL, USUAL) => return None,
            Some(Ordering::Less) => format!(", which comes first: {ours}, not {waiting}"),
            Some(Ordering::Equal) => format!(", of the same priority: {ours}"),
            Some(Ordering::Greater) => format!(", though {ours} comes after {waiting}"),
            None => format!(", {ours} beside {waiting}"),
        })
    }

    /// `, as it completed a write of 4096 bytes to 254,0 at sector 2048, issued 120.334 us before`.
    fn request(&self, request: &CompletedRequest) -> String {
        let CompletedRequest { device, operation, sector, sectors, error, issued, completed } = *request;
        let what = match operation {
            IoOperation::Flush => format!("a flush of {device}"),
            _ => format!(
                "a {} of {} bytes at sector {sector} of {device}",
                operation.name(),
                sectors.saturating_mul(512)
            ),
        };
        let issued = issued.map(|at| {
            let time = completed.saturating_sub(at);
            format!(", issued {} {} before", self.unit.short(time), self.unit.short_name())
        });
        let failed = if error < 0 { " with an error" } else { "" };
        format!(", as it completed {what}{failed}{}", issued.unwrap_or_default())
    }

    /// ` on the mutex inode_lock`: its name, or its address.
    fn lock(&self, lock: &AwaitedLock) -> String {
        format!(" on the {} {}", lock.kind.name(), variable(&self.input.symbols.kallsyms, lock.lock))
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
