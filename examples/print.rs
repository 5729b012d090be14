//! Prints a recording: time, CPU, task, event and text. `cargo run --example print trace.dat`

use rtrace::recording::Recording;
use std::error::Error;
use std::io::{BufWriter, Write, stdout};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).unwrap_or_else(|| "trace.dat".to_owned());
    let recording = Recording::open_path(&path)?;
    let mut out = BufWriter::new(stdout().lock());
    let outcome = recording.query().try_for_each(|event| {
        let (time, cpu, pid) = (event.timestamp().0, event.cpu(), event.pid());
        writeln!(out, "{time} [{cpu:03}] {}-{pid} {}: {}", event.comm(), event.name(), event.text())?;
        Ok::<_, Box<dyn Error>>(())
    })?;
    out.flush()?;
    eprintln!("{} events, {} lost, {} damaged places", outcome.events, outcome.lost, outcome.damage.count);
    Ok(())
}
