//! The bytes of a flame graph, and what is said of them.

use serde_json::{Value, json};
use std::path::Path;

/// The bytes to write, and what is said of them.
pub(super) struct Picture {
    pub(super) bytes: Vec<u8>,
    /// The quantity that the frames are as wide as.
    pub(super) subject: &'static str,
    /// Number of different stacks.
    pub(super) stacks: u64,
    pub(super) words: String,
    pub(super) left_out: Vec<String>,
}

impl Picture {
    pub(super) fn summary(&self, name: &str) -> String {
        let left_out = if self.left_out.is_empty() { "nothing".to_owned() } else { self.left_out.join(", ") };
        format!("{name}: {}; left out: {left_out}", self.words)
    }

    /// Schema `rtrace.flame`, version 1.
    pub(super) fn json(&self, output: &Path) -> Value {
        json!({
            "schema": "rtrace.flame", "version": 1, "output": output.to_string_lossy(), "subject": self.subject,
            "stacks": self.stacks, "bytes": self.bytes.len(), "left_out": self.left_out,
        })
    }
}
