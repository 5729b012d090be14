//! The result of `recover` and `restore`, printed.

use super::exit::{Exit, Failure, print};
use rtrace::units::ByteSize;
use serde_json::json;
use std::path::Path;

/// Result of recovering or restoring a recording; sizes are in bytes.
pub(super) enum Done {
    Nothing,
    Removed,
    Header { size: u64 },
    Recording { how: &'static str, size: u64, data: u64, dropped: u64 },
}

impl Done {
    pub(super) fn tell(&self, file: &Path, json: bool) -> Result<Exit, Failure> {
        let name = file.display();
        if json {
            let (what, size, data, dropped) = match *self {
                Done::Nothing => ("complete", None, None, None),
                Done::Removed => ("removed", None, None, None),
                Done::Header { size } => ("header", Some(size), None, None),
                Done::Recording { how, size, data, dropped } => (how, Some(size), Some(data), Some(dropped)),
            };
            let document = json!({
                "schema": "rtrace.recover", "version": 1, "file": file.to_string_lossy(), "done": what,
                "size": size, "data_size": data, "dropped": dropped,
            });
            return print(&format!("{document:#}\n"));
        }
        print(&match *self {
            Done::Nothing => format!("{name}: a complete recording, nothing to recover\n"),
            Done::Removed => format!("{name}: killed before its first event: what it left is cleared up\n"),
            Done::Header { size } => {
                format!("{name}: {} of formats and symbols, for `rtrace restore -i`\n", ByteSize(size))
            }
            Done::Recording { how, size, data, dropped } => {
                format!("{name}: {how}, {} with {} of events{}\n", ByteSize(size), ByteSize(data), torn(dropped))
            }
        })
    }
}

/// What was left out.
fn torn(dropped: u64) -> String {
    if dropped == 0 { String::new() } else { format!(", {} of torn ends dropped", ByteSize(dropped)) }
}
