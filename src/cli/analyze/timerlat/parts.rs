//! The parts of a thread's latency.

use crate::cli::analyze::noise;
use rtrace::analysis::{Noise, TimerlatSample};

/// Nanoseconds of a thread's latency; they add up to it.
pub(super) struct TimerlatParts {
    /// Up to the begin of the timer's interrupt; `None` where that is not known, and part of `rest`.
    pub(super) irq_delay: Option<u64>,
    /// The timer's interrupt.
    pub(super) timer_irq: u64,
    /// The task that it interrupted.
    pub(super) blocking: u64,
    pub(super) nmi: u64,
    pub(super) irq: u64,
    pub(super) softirq: u64,
    pub(super) thread: u64,
    /// Time without an event: the scheduler, the idle state, tracing itself. Negative where parts overlap its edges.
    pub(super) rest: i64,
}

impl TimerlatParts {
    /// Of a sample of a recording whose clock is `clock`.
    pub(super) fn of(sample: &TimerlatSample, clock: &str) -> Self {
        let (timer, blocking) = (sample.timer_irq(), sample.blocking());
        let is = |one: Option<&Noise>, noise: &Noise| one.is_some_and(|one| std::ptr::eq(one, noise));
        let others = || sample.causes.iter().filter(|noise| !is(timer, noise) && !is(blocking, noise));
        let sum = |kind| noise::sum(others(), kind);
        let duration = |one: Option<&Noise>| one.map_or(0, |noise| noise.duration);
        // An interrupt's begin is in this clock, and comparable with the time of an event in no other.
        let irq_delay = if matches!(clock, "" | "local") { sample.irq_delay() } else { None };
        let mut parts = TimerlatParts {
            irq_delay,
            timer_irq: duration(timer),
            blocking: duration(blocking),
            nmi: sum("nmi"),
            irq: sum("irq"),
            softirq: sum("softirq"),
            thread: sum("thread"),
            rest: 0,
        };
        let known = parts.known().into_iter().fold(0i128, |all, (_, part)| all.saturating_add(part.into()));
        parts.rest = i64::try_from(i128::from(sample.thread).saturating_sub(known)).unwrap_or(i64::MIN);
        parts
    }

    /// All but the rest, with their names in JSON.
    pub(super) fn known(&self) -> Vec<(&'static str, u64)> {
        let others = [
            ("timer_irq", self.timer_irq),
            ("blocking", self.blocking),
            ("nmi", self.nmi),
            ("irq", self.irq),
            ("softirq", self.softirq),
            ("thread", self.thread),
        ];
        self.irq_delay.map(|delay| ("irq_delay", delay)).into_iter().chain(others).collect()
    }
}
