//! The longest time from a task's wakeup to its next turn on a CPU, by task. `cargo run --example latency trace.dat`

use rtrace::event::Lost;
use rtrace::recording::Recording;
use std::collections::{BTreeMap, HashMap};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "trace.dat".to_owned());
    let recording = Recording::open_path(&path)?;
    let switched_to = recording.field("sched_switch", "next_pid").ok_or("no format of sched_switch")?;
    let mut woken: HashMap<i64, u64> = HashMap::new();
    let mut longest: BTreeMap<i64, u64> = BTreeMap::new();
    recording.query().filters(["sched:sched_wak*", "sched:sched_switch"])?.for_each(|event| {
        let now = event.timestamp().0;
        if event.lost() != Lost::None {
            woken.clear(); // the switch that ended a wait may be lost
        }
        match event.value(&switched_to).and_then(|pid| pid.as_i64()) {
            None => woken.extend(event.field("pid").and_then(|pid| pid.as_i64()).map(|pid| (pid, now))),
            Some(next) => {
                if let Some(since) = woken.remove(&next) {
                    let most = longest.entry(next).or_default();
                    *most = (*most).max(now.saturating_sub(since));
                }
            }
        }
    })?;
    for (pid, nanos) in longest {
        println!("{pid:>8} {:>10.1} us", nanos as f64 / 1000.0);
    }
    Ok(())
}
