//! Any text as an event format file: an error, or a format that reads back as itself from what it writes.
//! (What a kernel says is also written back byte for byte; the tests see to that.)

use rtrace::format::EventFormat;

pub(crate) fn run(text: &str) {
    if let Ok(format) = EventFormat::parse("fuzz", text) {
        let written = format.to_string();
        let again = EventFormat::parse("fuzz", &written).expect("what a format writes can be read");
        assert_eq!(again.to_string(), written);
    }
}
