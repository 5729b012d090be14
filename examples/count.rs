//! Counts a recording's events by name. `cargo run --example count trace.dat`

use rtrace::recording::Recording;
use std::collections::BTreeMap;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "trace.dat".to_owned());
    let recording = Recording::open_path(&path)?;
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    recording.query().for_each(|event| match counts.get_mut(event.name()) {
        Some(count) => *count += 1,
        None => drop(counts.insert(event.name().to_owned(), 1)),
    })?;
    for (name, count) in counts {
        println!("{count:>10} {name}");
    }
    Ok(())
}
