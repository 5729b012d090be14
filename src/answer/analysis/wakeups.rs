//! Wakeup latency: the time that tasks wait for a CPU, from `sched_wakeup` or `sched_wakeup_new` to the `sched_switch` that lets them run.

use super::Analysis;
use crate::base::abi::Abi;
use crate::kernel::event::{Common, NumberField, Record};
use crate::kernel::format::EventFormat;
use crate::kernel::print_fmt::Context;
use crate::kernel::symbols::Symbols;
use std::cmp::Reverse;
use std::collections::HashMap;

/// Latencies of many wakeups, in the clock's unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latencies {
    /// Number of latencies.
    pub count: u64,
    /// All added up.
    pub total: u64,
    /// The longest, and when it ended.
    pub longest: (u64, u64),
    /// The shortest, and when it ended.
    pub shortest: (u64, u64),
}

impl Default for Latencies {
    fn default() -> Self {
        Latencies { count: 0, total: 0, longest: (0, 0), shortest: (u64::MAX, 0) }
    }
}

impl Latencies {
    fn add(&mut self, latency: u64, end: u64) {
        self.merge(&Latencies { count: 1, total: latency, longest: (latency, end), shortest: (latency, end) });
    }

    /// Adds others. Of equals the earlier one counts, so that the order does not matter.
    fn merge(&mut self, other: &Latencies) {
        self.count += other.count;
        self.total = self.total.saturating_add(other.total);
        let key = |(latency, end): (u64, u64)| (latency, Reverse(end));
        self.longest = std::cmp::max_by_key(self.longest, other.longest, |one| key(*one));
        self.shortest = self.shortest.min(other.shortest);
    }

    /// As trace-cmd's `report -w` prints them at the end, which takes the clock for one of nanoseconds.
    fn text(&self) -> String {
        let micros = |ns: u64| format!("{}.{:03} usecs", ns / 1000, ns % 1000);
        let time = |ns: u64| {
            let rounded = ns.saturating_add(500);
            format!("timestamp: {}.{:06}", ns / 1_000_000_000, rounded % 1_000_000_000 / 1000)
        };
        format!(
            "\nAverage wakeup latency: {}\nMaximum Latency: {} at {}\nMinimum Latency: {} at {}\n\n",
            micros(self.total / self.count.max(1)),
            micros(self.longest.0),
            time(self.longest.1),
            micros(self.shortest.0),
            time(self.shortest.1)
        )
    }
}

/// Pairs wakeups with the switches that end them.
#[derive(Clone, Debug)]
pub struct Wakeups<'a> {
    abi: Abi,
    symbols: &'a Symbols,
    common: Common,
    /// By event: `success`, which kernels before 4.4 have, and `pid`.
    wakeups: HashMap<u16, (Option<NumberField>, NumberField)>,
    /// The event, `next_prio` and `next_pid`.
    switch: Option<(u16, NumberField, NumberField)>,
}

/// Latencies of the wakeups of some events.
#[derive(Clone, Debug, Default)]
pub struct WakeupLatencies {
    /// Of all tasks.
    pub all: Latencies,
    /// Of real-time tasks: those with a priority of 99 or below.
    pub real_time: Latencies,
    /// Time of each pending wake-up, by task.
    woken: HashMap<u64, u64>,
    /// In a fork: each task's first switch, where the wakeup before it may lie in an earlier segment.
    first: Option<HashMap<u64, Option<FirstSwitch>>>,
}

/// A switch to a task without a wakeup before it in its segment.
#[derive(Clone, Copy, Debug)]
struct FirstSwitch {
    at: u64,
    real_time: bool,
}

impl WakeupLatencies {
    /// Notes the end of a wakeup; returns the latency.
    fn end(&mut self, woken: u64, at: u64, real_time: bool) -> u64 {
        let latency = at.wrapping_sub(woken);
        self.all.add(latency, at);
        if real_time {
            self.real_time.add(latency, at);
        }
        latency
    }

    /// The text after the events in trace-cmd's `report -w`; empty if no task was woken.
    pub fn text(&self) -> String {
        let mut text = String::new();
        if self.all.count > 0 {
            text.push_str(&self.all.text());
        }
        if self.real_time.count > 0 {
            text.push_str("RT task timings:\n");
            text.push_str(&self.real_time.text());
        }
        text
    }
}

impl<'a> Wakeups<'a> {
    /// For records of a file with these formats.
    pub fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi, symbols: &'a Symbols) -> Self {
        let mut found = Wakeups { abi, symbols, common: Common::default(), wakeups: HashMap::new(), switch: None };
        for (number, format) in formats.into_iter().enumerate() {
            if number == 0 {
                found.common = Common::of(format);
            }
            let field = |name| NumberField::field(format, name);
            match (format.system.as_str(), format.name.as_str()) {
                ("sched", "sched_wakeup" | "sched_wakeup_new") => {
                    if let Some(pid) = field("pid") {
                        found.wakeups.insert(format.id.0, (field("success"), pid));
                    }
                }
                ("sched", "sched_switch") => {
                    if let (Some(prio), Some(pid)) = (field("next_prio"), field("next_pid")) {
                        found.switch = Some((format.id.0, prio, pid));
                    }
                }
                _ => {}
            }
        }
        found
    }

    /// Takes the next record, in the order of time; gives the latency that it ends.
    pub fn step(&self, record: &Record<'_>, part: &mut WakeupLatencies) -> Option<u64> {
        let cx = Context { data: record.data, abi: self.abi, symbols: self.symbols, lists: false };
        let id = self.common.event_id(self.abi, record.data);
        if let Some((success, pid)) = self.wakeups.get(&id) {
            if success.is_none_or(|success| success.get(&cx) != 0) {
                let pid = pid.get(&cx);
                part.woken.insert(pid, record.timestamp.0);
                if let Some(first) = &mut part.first {
                    first.entry(pid).or_insert(None);
                }
            }
            return None;
        }
        let (_, prio, pid) = self.switch.filter(|(switch, ..)| *switch == id)?;
        let (pid, at) = (pid.get(&cx), record.timestamp.0);
        let real_time = (0..=99).contains(&prio.signed(&cx));
        match part.woken.remove(&pid) {
            Some(woken) => Some(part.end(woken, at, real_time)),
            None => {
                if let Some(first) = &mut part.first {
                    first.entry(pid).or_insert(Some(FirstSwitch { at, real_time }));
                }
                None
            }
        }
    }
}

impl Analysis for Wakeups<'_> {
    type Part = WakeupLatencies;
    type Finding = WakeupLatencies;

    fn begin(&self) -> WakeupLatencies {
        WakeupLatencies::default()
    }

    fn fork(&self, _: Option<WakeupLatencies>) -> WakeupLatencies {
        WakeupLatencies { first: Some(HashMap::new()), ..WakeupLatencies::default() }
    }

    fn record<'n>(&self, record: &Record<'_>, _: impl FnOnce() -> Option<Record<'n>>, part: &mut WakeupLatencies) {
        self.step(record, part);
    }

    fn merge(&self, known: &mut WakeupLatencies, later: &mut WakeupLatencies) {
        for (pid, first) in later.first.take().into_iter().flatten() {
            if let (Some(woken), Some(FirstSwitch { at, real_time })) = (known.woken.remove(&pid), first) {
                known.end(woken, at, real_time);
            }
        }
        known.all.merge(&later.all);
        known.real_time.merge(&later.real_time);
        known.woken.extend(later.woken.drain());
    }

    fn finish(self, known: WakeupLatencies) -> WakeupLatencies {
        known
    }
}
