//! Captured texts of `tests/data/languages`.

use rtrace::format::EventFormat;
use std::path::{Path, PathBuf};

pub(crate) fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/languages").join(name)
}

/// The captured format of `system:event`.
pub(crate) fn format(system: &str, event: &str) -> EventFormat {
    let path = data("formats").join(format!("{system}.{event}"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    EventFormat::parse(system, &text).unwrap()
}

/// One write into a file of tracefs, and what came of it.
#[derive(Debug)]
pub(crate) struct Write {
    pub(crate) file: String,
    pub(crate) data: String,
    pub(crate) accepted: bool,
    pub(crate) log: String,
}

/// All writes captured on one kernel (`6.1`, `6.12`).
pub(crate) fn writes(kernel: &str) -> Vec<Write> {
    let text = std::fs::read_to_string(data(&format!("errors-{kernel}.txt"))).unwrap();
    let blocks = text.split("=== file: ").skip(1);
    let writes: Vec<Write> = blocks
        .map(|block| {
            let (file, rest) = block.split_once('\n').unwrap();
            let (data, rest) = rest.strip_prefix("=== data: ").unwrap().split_once("\n=== rc: ").unwrap();
            let (rc, rest) = rest.split_once('\n').unwrap();
            Write {
                file: file.to_owned(),
                data: data.to_owned(),
                accepted: rc.trim() == "0",
                log: rest.strip_prefix("=== error_log:\n").unwrap().to_owned(),
            }
        })
        .collect();
    assert!(writes.len() > 100, "{kernel}: {} writes", writes.len());
    writes
}
