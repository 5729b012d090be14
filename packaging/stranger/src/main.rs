//! A program of somebody else's: a recording's switches by task, its longest wait after a wakeup, and its events by CPU.
//!
//!     stranger FILE

use rtrace::analysis::Wakeups;
use rtrace::event::Record;
use rtrace::{Analysis, Recording};
use std::collections::BTreeMap;
use std::error::Error;

/// Counts events by CPU, on any number of threads.
struct ByCpu;

impl Analysis for ByCpu {
    type Part = BTreeMap<u32, u64>;
    type Finding = BTreeMap<u32, u64>;

    fn begin(&self) -> Self::Part {
        BTreeMap::new()
    }

    fn fork(&self, _used: Option<Self::Part>) -> Self::Part {
        BTreeMap::new()
    }

    fn record<'n>(&self, record: &Record<'_>, _next: impl FnOnce() -> Option<Record<'n>>, part: &mut Self::Part) {
        *part.entry(record.cpu.0).or_default() += 1;
    }

    fn merge(&self, known: &mut Self::Part, later: &mut Self::Part) {
        for (cpu, count) in std::mem::take(later) {
            *known.entry(cpu).or_default() += count;
        }
    }

    fn finish(self, known: Self::Part) -> Self::Finding {
        known
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("no recording is named")?;
    let recording = Recording::open_path(&path)?;
    let next = recording.field("sched_switch", "next_pid").ok_or("no sched_switch was recorded")?;

    let mut switches: BTreeMap<u64, u64> = BTreeMap::new();
    recording.query().filter("sched:sched_switch: next_pid != 0")?.for_each(|event| {
        let pid = event.value(&next).and_then(|pid| pid.as_u64());
        *switches.entry(pid.unwrap_or_default()).or_default() += 1;
    })?;
    switches.iter().for_each(|(pid, count)| println!("task {pid}: {count}"));

    let wakeups = Wakeups::new(recording.trace.formats(), recording.trace.abi, &recording.symbols);
    let (waits, _) = recording.query().analyse(wakeups)?;
    println!("longest wait: {} ns", waits.all.longest.0);

    let (cpus, outcome) = recording.query().threads(2).analyse(ByCpu)?;
    cpus.iter().for_each(|(cpu, count)| println!("CPU {cpu}: {count}"));
    println!("events: {}, lost: {}", outcome.events, outcome.lost);
    Ok(())
}
