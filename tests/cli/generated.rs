//! `man/`, `completions/` and the columns of analyses are what the program says of itself; `cargo run -- generate .` brings them up to date.

use crate::common::environment::TestEnvironment;
use std::collections::BTreeMap;
use std::path::Path;

fn files(dir: &Path) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
    let mut files = BTreeMap::new();
    for entry in entries {
        let path = entry.expect("a directory entry").path();
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        files.insert(path.file_name().expect("a name").to_string_lossy().into_owned(), text);
    }
    files
}

#[test]
fn man_pages_completions_and_columns_are_up_to_date() {
    let env = TestEnvironment::new();
    env.rtrace(&["generate", "."]).exits(0).complains("").prints("");
    for folder in ["man", "completions"] {
        let fresh = files(&env.path().join(folder));
        assert!(!fresh.is_empty(), "nothing generated in {folder}");
        let committed = files(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder));
        let stale: Vec<&String> =
            fresh.keys().chain(committed.keys()).filter(|name| fresh.get(*name) != committed.get(*name)).collect();
        assert!(stale.is_empty(), "{folder}: {stale:?} differ from the program; run `cargo run -- generate .`");
    }
    let page = "docs/reference/analyses.md";
    let read = |dir: &Path| std::fs::read_to_string(dir.join(page)).unwrap_or_else(|e| panic!("{page}: {e}"));
    let fresh = read(env.path());
    assert!(fresh.contains("  tasks.run ") && fresh == read(Path::new(env!("CARGO_MANIFEST_DIR"))), "{page} is stale");
}
