//! The tests themselves: the test programs hold every test file, as Cargo looks for none (`autotests = false`); and no
//! test waits for ever.

use crate::common::bounded::output_within;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The files of a test program, from its `main.rs` on along the `mod` lines.
fn reached(file: &Path, folder: &Path, found: &mut BTreeSet<PathBuf>) {
    let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let (mut folder, own) = (folder.to_owned(), folder);
    let mut is_outside = false; // the next module is a file outside of tests/
    for line in text.lines().map(|line| line.trim().trim_start_matches("pub(crate) ")) {
        match line.strip_prefix("mod ") {
            Some(module) if module.ends_with(';') && std::mem::take(&mut is_outside) => {}
            Some("common {") => folder = own.join("../common").canonicalize().expect("tests/common"),
            Some(module) if module.ends_with(';') => {
                let name = module.trim_end_matches(';');
                let (flat, inner) = (folder.join(name).with_extension("rs"), folder.join(name));
                let file = if flat.exists() { flat } else { inner.join("mod.rs") };
                if found.insert(file.clone()) {
                    reached(&file, &inner, found);
                }
            }
            _ if line.starts_with("#[path = \"../../") => is_outside = true,
            _ if line == "}" => folder = own.to_owned(),
            _ => {}
        }
    }
}

/// All Rust files of `folder` and below, but for fixtures.
fn all(folder: &Path, found: &mut BTreeSet<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if entry.is_dir() && !entry.ends_with("tests/data") {
            all(&entry, found);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            found.insert(entry);
        }
    }
}

#[test]
fn every_test_file_belongs_to_a_program() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").canonicalize().expect("tests");
    let manifest = std::fs::read_to_string(tests.join("../Cargo.toml")).expect("Cargo.toml");
    let (mut files, mut run) = (BTreeSet::new(), BTreeSet::new());
    all(&tests, &mut files);
    let programs: Vec<&str> = manifest.lines().filter_map(|line| line.strip_prefix("path = \"tests/")).collect();
    for program in &programs {
        let main = tests.join(program.trim_end_matches('"'));
        run.insert(main.clone());
        reached(&main, main.parent().expect("its folder"), &mut run);
    }
    assert!((1..=4).contains(&programs.len()), "every program links the library again: {programs:?}");
    let forgotten: Vec<_> = files.difference(&run).collect();
    assert!(forgotten.is_empty(), "no program has a `mod` line for {forgotten:?}");
}

#[test]
fn a_program_that_hangs_is_named_and_killed() {
    let mut sleep = Command::new("sh");
    sleep.args(["-c", "echo begun; sleep 1000"]);
    let said = catch_unwind(AssertUnwindSafe(|| output_within(&mut sleep, Duration::from_secs(2))));
    let said = *said.expect_err("it was killed").downcast::<String>().expect("a message");
    assert!(said.starts_with("killed after 2s: sh \"-c\" \"echo begun; sleep 1000\"\n--- stdout\nbegun\n"), "{said}");
}

/// A changelog is read in a terminal, by people who look for a word.
#[test]
fn lines_of_the_changelog_are_short() {
    let text =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("CHANGELOG.md")).expect("CHANGELOG.md");
    let long: Vec<&str> = text.lines().filter(|line| line.chars().count() > 160).collect();
    assert!(long.is_empty(), "more than 160 characters: {long:#?}");
    // Branches are merged line by line.
    let (mut seen, lines) = (BTreeSet::new(), text.lines().filter(|line| line.starts_with("- ")));
    let twice: Vec<&str> = lines.filter(|line| !seen.insert(*line)).collect();
    assert!(twice.is_empty(), "said twice: {twice:#?}");
}

/// An item's comment is read alone too: in an index, in an editor's hint.
#[test]
fn comments_of_items_name_their_thing() {
    let (src, mut files) = (Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), BTreeSet::new());
    all(&src, &mut files);
    let mut found = Vec::new();
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        for (at, line) in text.lines().enumerate() {
            let Some(comment) = line.trim_start().strip_prefix("/// ") else { continue };
            let mut words = comment.split(' ');
            let pronoun = words.next().is_some_and(|word| ["Its", "Their"].contains(&word));
            if pronoun && comment.ends_with('.') && words.count() <= 2 {
                found.push(format!("{}:{}: {comment}", file.display(), at + 1));
            }
        }
    }
    assert!(files.len() > 100 && found.is_empty(), "a noun in place of the pronoun: {found:#?}");
}

#[test]
fn the_map_names_files_that_are_there() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let map = std::fs::read_to_string(top.join("docs/architecture.md")).expect("the map");
    let named: BTreeSet<&str> = map.split('`').filter(|word| word.contains('/') && word.ends_with(".rs")).collect();
    let is_missing =
        |path: &&&str| !path.contains("NAME") && !top.join(path).exists() && !top.join("src").join(path).exists();
    let missing: Vec<_> = named.iter().filter(is_missing).collect();
    assert!(named.len() > 50 && missing.is_empty(), "{} files named, not there: {missing:?}", named.len());
}
