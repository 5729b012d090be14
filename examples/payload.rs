//! Decodes a record that comes from elsewhere, as perf's raw samples hold them: an event's format file, and the record in
//! hexadecimal. `cargo run --example payload /sys/kernel/tracing/events/sched/sched_waking/format HEX`

use rtrace::abi::Abi;
use rtrace::event::TypedEvent;
use rtrace::format::EventFormat;
use rtrace::print_fmt::{Context, Semantics, compile};
use rtrace::symbols::Symbols;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let (Some(path), Some(hex)) = (args.next(), args.next()) else { return Err("usage: payload FORMAT HEX".into()) };
    let digits: Vec<u32> = hex.chars().filter_map(|c| c.to_digit(16)).collect();
    let data: Vec<u8> = digits.chunks_exact(2).map(|two| (two[0] << 4 | two[1]) as u8).collect();

    let format = EventFormat::parse("", &std::fs::read_to_string(path)?)?;
    let symbols = Symbols::default();
    let program = compile(&format, Abi::HOST, &symbols, Semantics::Kernel)?;
    let mut text = Vec::new();
    program.render(&Context { data: &data, abi: Abi::HOST, symbols: &symbols, lists: false }, &mut text);
    println!("{}: {}", format.name, String::from_utf8_lossy(&text));
    for field in &TypedEvent::new(&format).fields {
        println!("  {} = {:?}", field.name, field.value(Abi::HOST, &data));
    }
    Ok(())
}
