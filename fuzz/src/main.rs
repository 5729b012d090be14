//! All fuzz targets in one program, so that the library is built and linked once. The environment variable
//! `FUZZ_TARGET` chooses the target; everything else is libFuzzer's command line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::process::exit;
use std::sync::OnceLock;

/// Declares the targets: modules with a function `run` that panics if what the module promises does not hold.
macro_rules! targets {
    (bytes: $($bytes:ident)*; text: $($text:ident)*;) => {
        $(mod $bytes;)*
        $(mod $text;)*

        const TARGETS: &[(&str, fn(&[u8]))] = &[
            $((stringify!($bytes), $bytes::run),)*
            $((stringify!($text), |data| if let Ok(text) = std::str::from_utf8(data) { $text::run(text) }),)*
        ];
    };
}

targets! {
    bytes: btf chunk_index comms elf hist_table kallsyms last_boot network options page print_fmt spool_table trace_dat
        trace_dat_header user_symbols;
    text: filter format hist_spec journal probe sql synth_spec trigger;
}

static TARGET: OnceLock<fn(&[u8])> = OnceLock::new();

fn chosen() -> fn(&[u8]) {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    let found = TARGETS.iter().find(|target| target.0 == name).map(|target| target.1);
    found.unwrap_or_else(|| {
        eprintln!("FUZZ_TARGET must be one of:");
        TARGETS.iter().for_each(|target| eprintln!("  {}", target.0));
        exit(2)
    })
}

fuzz_target!(|data: &[u8]| TARGET.get_or_init(chosen)(data));

/// The input as `N` texts with a NUL between them; the last takes the rest, missing ones are empty.
fn parts<const N: usize>(data: &[u8]) -> [&[u8]; N] {
    let mut parts = data.splitn(N, |byte| *byte == 0);
    std::array::from_fn(|_| parts.next().unwrap_or_default())
}
