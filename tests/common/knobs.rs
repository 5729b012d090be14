//! The settings of tracefs: every knob of the top level and of all instances, to be compared before and after.
//!
//! A knob is a file that its owner may both read and write, and every event's `enable`, `filter` and `trigger`. Not
//! knobs: what holds or consumes data (`trace`, `trace_pipe`, `trace_marker`, `snapshot`, `*_raw`, `free_buffer`, which
//! shrinks the ring even when it is only opened), and the kernel's log of refused writes. A refused read counts as
//! a value.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// File (below the tracing directory) to content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Knobs(BTreeMap<String, String>);

impl Knobs {
    /// Reads all of them below `root`, which may be the tracing directory or one instance's.
    pub(crate) fn read(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        let mut knobs = BTreeMap::new();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            let entries = match fs::read_dir(&folder) {
                Err(_) if folder != root && !folder.exists() => continue, // an instance that was removed meanwhile
                entries => entries.unwrap_or_else(|e| panic!("{}: {e}", folder.display())),
            };
            for entry in entries {
                let entry = match entry {
                    Err(_) if folder != root && !folder.exists() => break,
                    entry => entry.expect("a directory entry"),
                };
                let path = entry.path();
                // An event may be removed meanwhile by its maker; an instance, too.
                let Ok(metadata) = entry.metadata() else { continue };
                let file = path.strip_prefix(&root).expect("below the root").to_str().expect("kernel names").to_owned();
                if metadata.is_dir() {
                    if file.starts_with("instances/") && !file["instances/".len()..].contains('/') {
                        knobs.insert(file, "instance".to_owned());
                    }
                    folders.push(path);
                } else if is_knob(&file, metadata.permissions().mode()) {
                    knobs.insert(file, value(&path));
                }
            }
        }
        assert!(knobs.contains_key("trace_clock"), "{} is no tracing directory", root.display());
        Knobs(knobs)
    }

    /// The differences, one line each; empty if there are none.
    ///
    /// A ring buffer that was never used (`7 (expanded: 1408)`) cannot become so again: its size is left out.
    pub(crate) fn differences(&self, after: &Knobs) -> Vec<String> {
        let unexpanded = |file: &str| {
            file.ends_with("_size_kb") && self.0.values().any(|value| value.contains("(expanded")) // total and per CPU follow
        };
        let all: std::collections::BTreeSet<&String> = self.0.keys().chain(after.0.keys()).collect();
        all.into_iter()
            .filter(|file| self.0.get(*file) != after.0.get(*file) && !unexpanded(file))
            .map(|file| {
                let show = |value: Option<&String>| value.map_or("absent".to_owned(), |value| format!("{value:?}"));
                format!("{file}: {} became {}", show(self.0.get(file)), show(after.0.get(file)))
            })
            .collect()
    }

    /// Fails with the list if anything differs.
    #[track_caller]
    pub(crate) fn assert_unchanged(&self, after: &Knobs) {
        let differences = self.differences(after);
        assert!(differences.is_empty(), "knobs changed:\n  {}", differences.join("\n  "));
    }
}

fn is_knob(file: &str, mode: u32) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    let data = ["free_buffer", "trace", "trace_pipe", "trace_marker", "snapshot", "error_log", "user_events_data"];
    if data.contains(&name) || name.ends_with("_raw") {
        return false;
    }
    let of_event = file.contains("events/") && ["enable", "filter", "trigger"].contains(&name);
    of_event || mode & 0o600 == 0o600
}

fn value(path: &Path) -> String {
    // An event's `filter` gives its whole text to the first read only, so that must be large.
    let mut bytes = vec![0; 64 << 10];
    let mut filled = 0;
    let mut file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) => return error.to_string(),
    };
    loop {
        if filled == bytes.len() {
            bytes.resize(2 * filled, 0);
        }
        match file.read(&mut bytes[filled..]) {
            Ok(0) => return String::from_utf8_lossy(&bytes[..filled]).into_owned(),
            Ok(count) => filled += count,
            Err(error) => return error.to_string(),
        }
    }
}
