//! Every format file available, of this machine's kernel and of the corpus, survives parsing byte for byte.

use rtrace::format::EventFormat;
use std::path::{Path, PathBuf};

/// All `format` files below `dir`.
fn format_files(dir: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        if path.is_dir() {
            format_files(&path, found);
        } else if path.file_name().is_some_and(|n| n == "format") {
            found.push(path);
        }
    }
}

fn round_trips(dir: &Path) -> usize {
    let mut files = Vec::new();
    format_files(dir, &mut files);
    for path in &files {
        let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let system = path.parent().and_then(Path::parent).and_then(Path::file_name).unwrap().to_string_lossy();
        let format = EventFormat::parse(&system, &text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        assert_eq!(format.to_string(), text, "{}", path.display());
    }
    files.len()
}

#[test]
fn every_format_of_this_machine() {
    for dir in std::env::var("FORMATS").unwrap_or("/sys/kernel/tracing/events".into()).split(':') {
        let n = round_trips(Path::new(dir));
        println!("{dir}: {n} formats");
    }
}
