//! Any text as a hist trigger: an error, or a trigger that reads back as itself from what it prints.

use rtrace::hist::spec::{Echo, HistSpec};

pub(crate) fn run(text: &str) {
    if let Ok(spec) = HistSpec::parse(text) {
        let printed = spec.to_string();
        assert!(!printed.contains(['\n', '\0']), "more than one line: {printed:?}");
        let again = HistSpec::parse(&printed).expect("what a hist trigger prints can be read");
        assert_eq!(again, spec);
    }
    let _ = Echo::parse(text);
}
