//! Prints the events that pass a filter of the kernel's language.
//! `cargo run --example filter trace.dat 'sched:sched_switch: next_prio < 100'`

use rtrace::recording::Recording;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(path), Some(filter)) = (args.next(), args.next()) else { return Err("usage: filter FILE FILTER".into()) };
    let recording = Recording::open_path(&path)?;
    recording.query().filter(&filter)?.for_each(|event| {
        println!("{} {}: {}", event.timestamp().0, event.name(), event.text());
    })?;
    Ok(())
}
