//! `rtrace why --json`.

use super::found::{LateInterval, LateKind};
use crate::cli::analyze::words::{many, percent};
use crate::cli::query::{ClockUnit, add_wall, wall_clock};
use rtrace::analysis::{IntervalPart, LeadingPart, Leaves, PartKind, Priority, Quota, QuotaTime, WakeContext};
use rtrace::internal::answers::{SMALL_JSON, json_text};
use rtrace::units::Pid;
use serde_json::{Map, Value, json};
use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

/// The text of the document, with the `top` longest of each part's parts; 0 for all, else as many as a small one holds.
pub(super) fn text(found: &LateInterval<'_>, top: Option<usize>) -> String {
    let cause = found.cause();
    let of = |top| WhyDocument { found, cause: cause.as_ref(), top, is_cut: false }.text();
    match top {
        Some(0) => of(usize::MAX).0,
        Some(top) => of(top).0,
        None => {
            // From the smallest: the whole tree may be larger than the memory.
            let (mut text, mut is_cut) = of(0);
            for top in [1, 2, 3, 5, 10, 20, 50, 200] {
                let (longer, is_longer_cut) = if is_cut { of(top) } else { break };
                if longer.len() > SMALL_JSON {
                    break;
                }
                (text, is_cut) = (longer, is_longer_cut);
            }
            text
        }
    }
}

/// Members that are points in time.
const POINTS: [&str; 5] = ["begin", "end", "at", "issued", "completed"];

/// A document in the making; all times in the buffer's unit.
struct WhyDocument<'f, 'e> {
    found: &'f LateInterval<'e>,
    cause: Option<&'f Cause>,
    top: usize,
    /// True if a part has more than `top` parts.
    is_cut: bool,
}

impl WhyDocument<'_, '_> {
    /// The text, and whether something is left out.
    fn text(mut self) -> (String, bool) {
        let found = self.found;
        let interval = &found.interval;
        let (late, of) = match &interval.kind {
            LateKind::Around(at) => ("at", json!(at)),
            LateKind::Wakeup => ("wakeup", Value::Null),
            LateKind::Preempted => ("preempted", Value::Null),
            LateKind::OffCpu => ("off_cpu", Value::Null),
            LateKind::Syscall(name) => ("syscall", json!(name)),
            LateKind::Pair(text) => ("pair", json!(text)),
        };
        let (losses, (parts, all_parts)) = (&found.history.losses, self.parts(None));
        let interrupts = found.interrupts();
        let is_cut = self.is_cut || losses.len() > self.top || interrupts.len() > self.top;
        let losses_shown = losses.iter().take(self.top);
        let clock = wall_clock(&found.input.recording.query().buffer(&found.buffer.name));
        let mut document = json!({
            "schema": "rtrace.why",
            "version": 1,
            "file": found.input.path.to_string_lossy(),
            "buffer": found.buffer.name,
            "clock": found.buffer.clock,
            "unit": found.unit.name(),
            "task": self.task(interval.pid),
            "interval": {"begin": interval.begin, "end": interval.end, "kind": late, "of": of, "time": found.time()},
            "depth": found.depth,
            "losses": losses_shown.map(|loss| json!({"cpu": loss.cpu.0, "begin": loss.begin, "end": loss.end})).collect::<Vec<_>>(),
            "unknown": found.unknown(),
            "cause": self.cause.map(|cause| json!({
                "known": cause.is_known,
                "kind": kind(&cause.leading.part.kind),
                "time": cause.leading.time,
                "count": cause.leading.count,
                "text": cause.words,
            })),
            "interrupts": interrupts.iter().take(self.top).map(|one| json!({
                "handler": {"kind": one.handler.kind.name(), "name": found.handler(&one.handler)},
                "cpu": one.cpu.0,
                "count": one.count,
                "time": one.time,
            })).collect::<Vec<_>>(),
            "notes": found.notes(),
            "report": found.report(interval.begin, interval.end),
            "parts": parts,
            "truncated": is_cut,
        });
        if is_cut {
            document["total"] = json!({"parts": all_parts, "losses": losses.len(), "interrupts": interrupts.len()});
            document["more"] = json!("--top 0");
        }
        add_wall(&mut document, &POINTS, clock);
        (json_text(&document), is_cut)
    }

    fn task(&self, pid: Pid) -> Value {
        json!({"pid": pid.0, "comm": self.found.comm(pid)})
    }

    /// The `top` longest parts of a part, in order, and the sum of the others: all together add up to the same time. Also
    /// the number of all.
    fn parts(&mut self, of: Option<&IntervalPart>) -> (Vec<Value>, usize) {
        let (mut longest, mut others, mut count) = (Vec::new(), OtherParts::default(), 0);
        self.found.for_each_part(of, &mut |part| {
            count += 1;
            longest.push(part);
            if longest.len() >= self.top.saturating_mul(2).saturating_add(1000) {
                others.take(&mut longest, self.top);
            }
        });
        others.take(&mut longest, self.top);
        longest.sort_by_key(|part| part.begin);
        let shown: Vec<Value> = longest.iter().map(|part| self.part(part)).collect();
        self.is_cut |= others.count > 0;
        (shown.into_iter().chain(others.shown()).collect(), count)
    }

    fn part(&mut self, part: &IntervalPart) -> Value {
        let found = self.found;
        let mut object = Map::new();
        let mut add = |name: &str, value: Value| object.insert(name.to_owned(), value);
        add("kind", kind(&part.kind).into());
        add("begin", part.begin.into());
        add("end", part.end.into());
        add("time", part.time().into());
        match &part.kind {
            PartKind::Run { task, cpu } => {
                add("task", self.task(*task));
                add("cpu", cpu.0.into());
                add("priority", priority(found.priority(part)));
            }
            PartKind::Wait { task, cpu, .. } | PartKind::Preempted { task, cpu } => {
                add("task", self.task(*task));
                add("cpu", cpu.map(|cpu| cpu.0).into());
                add("priority", priority(found.priority(part)));
                let idle = found.history.idle_elsewhere(*cpu, (part.begin, part.end));
                let idle = idle.into_iter().map(|(cpu, time)| json!({"cpu": cpu.0, "time": time}));
                add("idle_elsewhere", idle.collect());
                let throttle = found.throttle(part);
                let throttle =
                    throttle.map(|one| json!({"limit": one.limit, "timer": one.timer, "cpu": one.cpu.0, "at": one.at}));
                let time = found.quota_time(part);
                let is_certain = time.as_ref().is_some_and(|time| time.least > 0);
                let may_be = found.quota(part).filter(|_| throttle.is_none() && !is_certain);
                add("throttled", throttle.unwrap_or_default());
                let time = time.map(
                    |QuotaTime { cgroup, least, most, .. }| json!({"cgroup": cgroup, "least": least, "most": most}),
                );
                add("quota", time.unwrap_or_default());
                if let Some(Quota { cgroup, counters, cpu, at }) = may_be {
                    let (time, periods) = (counters.throttled, counters.throttled_periods);
                    add(
                        "maybe_throttled",
                        json!({
                            "cgroup": cgroup, "throttled": time, "throttled_periods": periods, "cpu": cpu.0, "at": at,
                        }),
                    );
                }
            }
            PartKind::Sleep { task, wake, handler, request, lock, .. } => {
                add("task", self.task(*task));
                let wake = wake.map(|wake| {
                    json!({
                        "at": wake.at,
                        "cpu": wake.by.cpu.0,
                        "task": self.task(wake.by.pid),
                        "context": context(wake.context),
                        "request": request.as_deref().map(|one| json!({
                            "device": one.device.to_string(),
                            "operation": one.operation.name(),
                            "sector": one.sector,
                            "bytes": one.sectors.saturating_mul(512),
                            "error": one.error,
                            "issued": one.issued,
                            "completed": one.completed,
                        })),
                        "handler": handler.as_ref().map(|one| json!({"kind": one.kind.name(), "name": found.handler(one)})),
                    })
                });
                add("wake", wake.unwrap_or_default());
                let lock = lock.as_deref();
                let lock = lock.map(
                    |one| json!({"address": format!("{:#x}", one.lock), "kind": one.kind.name(), "begin": one.begin}),
                );
                add("lock", lock.unwrap_or_default());
            }
            PartKind::Interrupt { handler, cpu } => {
                add("handler", json!({"kind": handler.kind.name(), "name": found.handler(handler)}));
                add("cpu", cpu.0.into());
            }
            PartKind::Idle { cpu } => {
                add("cpu", cpu.0.into());
            }
            PartKind::Absent { task } => {
                add("task", self.task(*task));
            }
            _ => {}
        }
        add("parts", self.parts(Some(part)).0.into());
        Value::Object(object)
    }
}

/// `{"prio": 89, "class": "realtime", "value": 10}`.
fn priority(of: Option<Priority>) -> Value {
    of.map(|of| json!({"prio": of.0, "class": of.class(), "value": of.value()})).unwrap_or_default()
}

/// Parts that are left out: their number, and the time of each kind.
#[derive(Default)]
struct OtherParts {
    count: usize,
    times: BTreeMap<&'static str, u64>,
}

impl OtherParts {
    /// Takes all but the `top` longest of `parts`, of equal ones the first.
    fn take(&mut self, parts: &mut Vec<IntervalPart>, top: usize) {
        parts.sort_unstable_by_key(|part| (Reverse(part.time()), part.begin));
        for part in parts.drain(top.min(parts.len())..) {
            self.count += 1;
            let time = self.times.entry(kind(&part.kind)).or_default();
            *time = time.saturating_add(part.time());
        }
    }

    fn shown(&self) -> Option<Value> {
        let time = self.times.values().copied().fold(0, u64::saturating_add);
        let shown = || json!({"kind": "left_out", "count": self.count, "time": time, "times": self.times});
        (self.count > 0).then(shown)
    }
}

fn kind(kind: &PartKind) -> &'static str {
    match kind {
        PartKind::Run { .. } => "run",
        PartKind::Wait { waking: true, .. } => "waking",
        PartKind::Wait { .. } => "wait",
        PartKind::Preempted { .. } => "preempted",
        PartKind::Sleep { blocked: Some(true), .. } => "blocked",
        PartKind::Sleep { blocked: Some(false), .. } => "sleep",
        PartKind::Sleep { .. } => "asleep",
        PartKind::Interrupt { .. } => "interrupt",
        PartKind::Idle { .. } => "idle",
        PartKind::Absent { .. } => "absent",
        _ => "unknown",
    }
}

fn context(context: WakeContext) -> &'static str {
    match context {
        WakeContext::Task => "task",
        WakeContext::SoftIrq => "softirq",
        WakeContext::HardIrq => "hardirq",
    }
}

// The cause of most of an interval: its leading part in words, or why it is not known.

/// The longest time that a CPU may take to leave idle, in nanoseconds: deep idle states take a tenth of that.
const LEAVES_IDLE: u64 = 1_000_000;

/// The cause of most of an interval.
struct Cause {
    leading: LeadingPart,
    /// False if the leading part is no cause: too little of the time, or something else kept the task.
    is_known: bool,
    /// The leading part in words, and the one that it lies in.
    words: String,
}

impl LateInterval<'_> {
    /// The cause; `None` of an interval without time.
    fn cause(&self) -> Option<Cause> {
        let held = |part: &IntervalPart| self.held_time(part);
        let mut leaves = Leaves::new(&held);
        self.for_each_part(None, &mut |part| leaves.add(&self.history, part));
        let leading = leaves.leading()?;
        // Of two that take nearly the same, which one came first is chance.
        let leads = leading.time.saturating_mul(2) >= self.time()
            && leading.time.saturating_mul(2) >= leading.next.saturating_mul(3);
        let is_known = leads && (self.is_held(&leading) || self.explains(&leading));
        Some(Cause { words: self.words(&leading), is_known, leading })
    }

    /// True if a limit kept the task off its CPU for most of it.
    fn is_held(&self, leading: &LeadingPart) -> bool {
        leading.held.saturating_mul(2) > leading.time
    }

    /// False if the events do not tell why the part came about.
    fn explains(&self, leading: &LeadingPart) -> bool {
        let outer = leading.outer.as_ref();
        match (&leading.part.kind, outer) {
            (PartKind::Unknown | PartKind::Wait { .. } | PartKind::Preempted { .. }, _) => false,
            (PartKind::Idle { .. }, Some(outer)) => {
                let is_short = self.unit == ClockUnit::Ticks || leading.part.time() < LEAVES_IDLE;
                let may_leave_idle = matches!(outer.kind, PartKind::Wait { .. }) && is_short;
                self.throttle(outer).is_some() || may_leave_idle
            }
            (PartKind::Run { task, .. }, Some(outer)) => {
                let waiter = match outer.kind {
                    PartKind::Wait { task, .. } | PartKind::Preempted { task, .. } => task,
                    _ => return true,
                };
                let at = leading.part.begin;
                let ranks = self.history.priority(*task, at).zip(self.history.priority(waiter, at));
                // One that comes later may have run as the other was throttled.
                let comes_later = ranks.and_then(|(ours, waiting)| ours.before(waiting)) == Some(Ordering::Greater);
                !comes_later && (self.quota(outer).is_none() || self.leads_anyway(leading, outer))
            }
            (PartKind::Sleep { wake, handler, .. }, _) => match wake {
                None => false,
                Some(wake) => handler.is_some() || wake.context == WakeContext::Task && wake.by.pid.0 != 0,
            },
            _ => true,
        }
    }

    /// True if it took the most time even if a quota took what it may have taken.
    fn leads_anyway(&self, leading: &LeadingPart, outer: &IntervalPart) -> bool {
        let Some(QuotaTime { least, most, .. }) = self.quota_time(outer) else { return false };
        let perhaps = most.saturating_sub(least);
        let (time, next) = (leading.time.saturating_sub(perhaps), leading.next.saturating_add(perhaps));
        time.saturating_mul(2) >= self.time() && time.saturating_mul(2) >= next.saturating_mul(3)
    }

    fn words(&self, leading: &LeadingPart) -> String {
        let LeadingPart { part, outer, count, .. } = leading;
        let held = |outer: &IntervalPart| matches!(part.kind, PartKind::Idle { .. }) && self.throttle(outer).is_some();
        let mut words = match (&part.kind, outer) {
            // The sentence says that the CPU was idle, or the task was throttled, and why.
            (_, Some(outer)) if held(outer) || self.is_held(leading) => return self.sentence(outer, None),
            (PartKind::Interrupt { cpu, .. }, _) => self.interruption(cpu.0),
            _ => self.sentence(part, outer.as_ref()),
        };
        if *count > 1 {
            words.push_str(&format!(", in {}", many(*count, "part")));
        }
        if let Some(outer) = outer {
            words.push_str(&format!(", while {}", self.sentence(outer, None)));
        }
        words
    }

    /// `interrupts on CPU 0, mostly vector local_timer (36)`.
    fn interruption(&self, cpu: u32) -> String {
        match self.interrupts().first() {
            Some(most) => format!("interrupts on CPU {cpu}, mostly {}", self.interrupt(&most.handler)),
            None => format!("interrupts on CPU {cpu}"),
        }
    }

    /// `Cause of 98.2 %: rtspin [33] ran on CPU 0, ...`; `Cause: not known; 40.1 %: ...`.
    pub(super) fn cause_line(&self) -> Option<String> {
        let cause = self.cause()?;
        let share = percent(cause.leading.time, self.time());
        Some(match cause.is_known {
            true => format!("Cause of {share} %: {}", cause.words),
            false => format!("Cause: not known; {share} %: {}", cause.words),
        })
    }
}
