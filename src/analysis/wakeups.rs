//! How long tasks wait for a CPU: from `sched_wakeup` or `sched_wakeup_new` to the `sched_switch` that lets them run.

use crate::abi::Abi;
use crate::event::{Common, Num, Record};
use crate::format::EventFormat;
use crate::print_fmt::Context;
use crate::symbols::Symbols;
use std::collections::HashMap;

/// Latencies of many wakeups, in the clock's unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latencies {
    /// How many there were.
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
        self.count += 1;
        self.total = self.total.saturating_add(latency);
        if latency > self.longest.0 {
            self.longest = (latency, end);
        }
        if latency < self.shortest.0 {
            self.shortest = (latency, end);
        }
    }

    /// As trace-cmd's `report -w` tells them at the end, which takes the clock for one of nanoseconds.
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
pub struct Wakeups<'a> {
    abi: Abi,
    symbols: &'a Symbols,
    common: Common,
    /// By event: `success`, which kernels before 4.4 have, and `pid`.
    wakeups: HashMap<u16, (Option<Num>, Num)>,
    /// The event, `next_prio` and `next_pid`.
    switch: Option<(u16, Num, Num)>,
    woken: HashMap<u64, u64>,
    /// Of all tasks.
    pub all: Latencies,
    /// Of real-time tasks: those with a priority of 99 or below.
    pub real_time: Latencies,
}

impl<'a> Wakeups<'a> {
    /// For records of a file with these formats.
    pub fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi, symbols: &'a Symbols) -> Self {
        let mut found = Wakeups {
            abi,
            symbols,
            common: Common::default(),
            wakeups: HashMap::new(),
            switch: None,
            woken: HashMap::new(),
            all: Latencies::default(),
            real_time: Latencies::default(),
        };
        for (number, format) in formats.into_iter().enumerate() {
            if number == 0 {
                found.common = Common::of(format);
            }
            let field = |name| Num::field(format, name);
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
    pub fn record(&mut self, record: &Record<'_>) -> Option<u64> {
        let cx = Context { data: record.data, abi: self.abi, symbols: self.symbols };
        let id = self.common.event_id(self.abi, record.data);
        if let Some((success, pid)) = self.wakeups.get(&id) {
            if success.is_none_or(|success| success.get(&cx) != 0) {
                self.woken.insert(pid.get(&cx), record.timestamp.0);
            }
            return None;
        }
        let (_, prio, pid) = self.switch.filter(|(switch, ..)| *switch == id)?;
        let woken = self.woken.remove(&pid.get(&cx))?;
        let now = record.timestamp.0;
        let latency = now.wrapping_sub(woken);
        self.all.add(latency, now);
        if (0..=99).contains(&prio.signed(&cx)) {
            self.real_time.add(latency, now);
        }
        Some(latency)
    }

    /// What stands behind the events in trace-cmd's `report -w`; empty if no task was woken.
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
