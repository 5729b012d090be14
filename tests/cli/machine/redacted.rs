//! `--redact`: all texts are pseudonyms, one for each; all else is as without it.

use super::files;
use crate::common::environment::TestEnvironment;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;

/// Pseudonyms by text and, as a task may be named like a file, kind.
#[derive(Default)]
struct Seen {
    pseudonyms: BTreeMap<(String, String), String>,
    zeroed: usize,
}

impl Seen {
    /// Holds `after`, the value of `key` with `--redact`, against `before`.
    fn compare(&mut self, key: &str, before: &Value, after: &Value) {
        match (before, after) {
            (Value::Object(before), Value::Object(after)) => {
                assert!(before.keys().eq(after.keys()), "{before:?} {after:?}");
                before.iter().for_each(|(key, value)| self.compare(key, value, &after[key]));
            }
            (Value::Array(before), Value::Array(after)) if before != after && before.iter().all(Value::is_number) => {
                assert!(before.len() == after.len() && after.iter().all(|n| n == 0), "{key}: {before:?} {after:?}");
                self.zeroed += 1;
            }
            (Value::Array(before), Value::Array(after)) => {
                assert_eq!(before.len(), after.len());
                before.iter().zip(after).for_each(|(before, after)| self.compare(key, before, after));
            }
            (Value::String(before), Value::String(after)) => self.text(key, before, after),
            (before, after) => assert_eq!(before, after, "{key}"),
        }
    }

    fn text(&mut self, key: &str, before: &str, after: &str) {
        let stays = ["type", "event", "schema", "clock", "unit", "buffer", "name"].contains(&key) && before == after;
        // Addresses, functions of the kernel, and the idle task, which every machine has.
        if stays || before.is_empty() || before.starts_with("0x") || key.ends_with("_symbol") || before == "<idle>" {
            return assert_eq!(before, after, "{key}");
        }
        if key == "uname" {
            let (before, after): (Vec<_>, Vec<_>) = (before.split(' ').collect(), after.split(' ').collect());
            assert!(after[1].starts_with("host-") && before[0] == after[0] && before[2..] == after[2..], "{after:?}");
            return;
        }
        if after.bytes().all(|digit| digit == b'0') && before.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            self.zeroed += 1; // a structure
            return;
        }
        let (kind, digits) = after.split_once('-').unwrap_or_else(|| panic!("{key}: {before} stays {after}"));
        assert!(["task", "path", "text"].contains(&kind) && digits.len() == 10, "{key}: {after}");
        assert!(digits.bytes().all(|digit| digit.is_ascii_hexdigit()), "{key}: {after}");
        let one = self.pseudonyms.entry((kind.to_owned(), before.to_owned())).or_insert_with(|| after.to_owned());
        assert_eq!(one, after, "{key}: {before} has two pseudonyms");
    }
}

#[test]
fn names_become_pseudonyms_and_all_else_stays() {
    let mut all = Seen::default();
    for file in files::recordings() {
        let mut seen = Seen::default();
        let (before, after) = (files::json(&file, &[]), files::json(&file, &["--redact"]));
        assert_eq!(before.len(), after.len(), "{}", file.display());
        for (before, after) in before.iter().zip(&after) {
            // Of an event without a format nothing but its number is known.
            if before["type"] != "event" || !before["event"].is_null() {
                seen.compare("", before, after);
            }
        }
        let pseudonyms: BTreeSet<_> = seen.pseudonyms.values().collect();
        assert_eq!(pseudonyms.len(), seen.pseudonyms.len(), "two names have one pseudonym");
        let csv = files::report(&file, &["--format", "csv", "--redact"]);
        let cells: BTreeSet<&str> = csv.split([',', '\n', '"', '\\']).collect();
        let names = seen.pseudonyms.keys().filter(|(kind, text)| kind != "text" && text.len() > 3);
        let left: Vec<_> = names.filter(|(_, name)| cells.contains(name.as_str())).collect();
        assert!(left.is_empty(), "{}: {left:?}", file.display());
        all.pseudonyms.append(&mut seen.pseudonyms);
        all.zeroed += seen.zeroed;
    }
    let kinds: BTreeSet<&str> = all.pseudonyms.keys().map(|(kind, _)| kind.as_str()).collect();
    assert!(kinds.contains("task") && kinds.contains("path") && kinds.contains("text"), "{kinds:?}");
    assert!(all.zeroed > 0, "no structure and no array of bytes was seen");
}

#[test]
fn formats_without_it_refuse_it() {
    let env = TestEnvironment::new();
    let file = crate::files::recording("vm-6.1/trig.dat");
    let path = file.to_str().expect("a path");
    env.rtrace(&["convert", path, "--redact", "-o", "new.dat"]).exits(2).complains_with("this is to be trace.dat");
    env.rtrace(&["convert", path, "--redact", "-o", "new.folded"]).exits(2).complains_with("this is to be folded");
    env.rtrace(&["report", path, "--redact"]).exits(2).complains_with("`--redact` has no effect");
    env.rtrace(&["convert", path, "--redact", "-o", "new.json"]).exits(0);
    let text = std::fs::read_to_string(env.path().join("new.json")).expect("the lines");
    assert!(text.contains("\"comm\":\"task-") && !text.contains("trig.dat"));
}

/// Adds the names of tasks and paths in `value`, that of `key`, and the machine's.
fn names(key: &str, value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| names(key, value, found)),
        Value::Array(values) => values.iter().for_each(|value| names(key, value, found)),
        Value::String(text) if key.ends_with("comm") || text.starts_with('/') => drop(found.insert(text.clone())),
        Value::String(text) if key == "uname" => found.extend(text.split(' ').nth(1).map(str::to_owned)),
        _ => {}
    }
}

/// Adds the bytes of a file, or of all in a directory, and of the frames of zstd in them.
fn contents(path: &Path, found: &mut Vec<u8>) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).expect("a directory") {
            let entry = entry.expect("an entry");
            found.extend(entry.file_name().as_encoded_bytes());
            found.push(0);
            contents(&entry.path(), found);
        }
        return;
    }
    let bytes = std::fs::read(path).expect("a file");
    for at in 0..bytes.len() {
        if bytes[at..].starts_with(&[0x28, 0xb5, 0x2f, 0xfd])
            && let Ok(frame) = zstd::Decoder::with_buffer(&bytes[at..])
        {
            drop(frame.single_frame().read_to_end(found));
            found.push(0);
        }
    }
    found.extend(bytes);
}

/// The names that stand in `bytes` as words of their own.
fn standing<'n>(names: &'n BTreeSet<String>, bytes: &[u8]) -> BTreeSet<&'n str> {
    let is_word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_-./:".contains(byte));
    let stands = |name: &&String| {
        memchr::memmem::find_iter(bytes, name.as_bytes())
            .any(|at| !is_word(at.checked_sub(1).and_then(|at| bytes.get(at))) && !is_word(bytes.get(at + name.len())))
    };
    names.iter().filter(stands).map(String::as_str).collect()
}

#[test]
fn tables_and_traces_hold_no_names() {
    let env = TestEnvironment::new();
    let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
    for (number, file) in files::recordings().iter().enumerate() {
        let mut texts = BTreeSet::from([file.file_name().expect("a name").to_string_lossy().into_owned()]);
        files::json(file, &[]).iter().for_each(|line| names("", line, &mut texts));
        // Shorter ones may be words of the formats.
        texts.retain(|text| text.len() > 6);
        for ending in ["perfetto-trace", "parquet", "ctf"] {
            for redact in [false, true] {
                let output = format!("{number}-{redact}.{ending}");
                let mut words = vec!["convert", file.to_str().expect("a path"), "-o", &output];
                words.extend(redact.then_some("--redact"));
                let ended = env.rtrace(&words);
                assert!(matches!(ended.status(), Some(0 | 4)), "{}", ended.stderr());
                let mut bytes = Vec::new();
                contents(&env.path().join(&output), &mut bytes);
                let standing = standing(&texts, &bytes);
                match redact {
                    false => *shown.entry(ending).or_default() += standing.len(),
                    true => assert!(standing.is_empty(), "{}: {ending}: {standing:?}", file.display()),
                }
            }
        }
    }
    assert!(shown.len() == 3 && shown.values().all(|count| *count > 10), "names are looked for in vain: {shown:?}");
}
