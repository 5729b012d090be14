//! Any text as a hist trigger: an error, or a trigger that reads back as itself from what it prints.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rtrace::hist::spec::{Echo, HistSpec};

fuzz_target!(|text: &str| {
    if let Ok(spec) = HistSpec::parse(text) {
        let printed = spec.to_string();
        let again = HistSpec::parse(&printed).expect("what a hist trigger prints can be read");
        assert_eq!(again, spec);
    }
    let _ = Echo::parse(text);
});
