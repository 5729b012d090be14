//! The table verb x kernel x result of docs/kernels.md: `table.sh` runs the commands of `commands.txt` in a guest, and what
//! came of each is the kernel's column.
//!
//! `RTRACE_WRITE_TABLE=1 RTRACE_LONG_TESTS=1 cargo test --test kernel table:: -- --test-threads 1` writes the table anew.

use crate::guest_machine::{Guest, Kernel, on_kernels};
use crate::suites::is_left_out;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const COLUMNS: [Kernel; 7] =
    [Kernel::V6_1, Kernel::V6_12, Kernel::V6_18, Kernel::V7, Kernel::Arm64, Kernel::AllTracers, Kernel::All7];
const HEAD: &str = "\
# Feature matrix

The result of each command on each kernel that the tests boot: `yes` (status 0), `needs CONFIG_X` (the kernel was built without
it, which the message says; status 5, of a command with CMD 125), `cannot` (the same status: the kernel is too old, or the
machine lacks something, and the message says which), or the status. 6.1, 6.12 and 6.18 are Debian's cloud kernels, 7 the newest of them
(7.3), arm64 the 6.12 for that; all-tracers is a 6.12 with every tracer, and all-7 a 7.2, runtime verification and
a remote included. After the last command all settings are what they were before the first. $FIRST is the register of a function's first argument, $DYNAMIC a program that uses the C library of which there is a file.

`tests/kernel/table.rs` compares this table with what it sees, and writes it with `RTRACE_WRITE_TABLE=1`.

";

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/kernels.md")
}

fn commands() -> Vec<&'static str> {
    include_str!("commands.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
}

/// Of what `rtrace VERB ...` a row is about; other commands prepare one.
fn verb(command: &str) -> Option<&str> {
    command.strip_prefix("rtrace ")?.split(' ').next()
}

/// The results in the table, a command's of each of [`COLUMNS`]. A command may be there more than once.
fn written() -> BTreeMap<(String, usize), Vec<String>> {
    let text = std::fs::read_to_string(file()).unwrap_or_default();
    let cells = |line: &str| -> Vec<String> {
        let line = line.replace("\\|", "\u{1}");
        line.trim_matches('|').split('|').map(|cell| cell.trim().replace('\u{1}', "|")).collect()
    };
    let mut lines = text.lines().filter(|line| line.starts_with("| "));
    let heads = lines.next().map(cells).unwrap_or_default();
    let places = COLUMNS.map(|kernel| heads.iter().position(|head| head == kernel.argument()));
    let mut rows = BTreeMap::new();
    for cells in lines.map(cells) {
        let command = cells[1].trim_matches('`').to_owned();
        let number = (0..).find(|n| !rows.contains_key(&(command.clone(), *n))).unwrap_or(0);
        let results = places.iter().map(|place| place.map_or_else(String::new, |at| cells[at].clone()));
        rows.insert((command, number), results.collect());
    }
    rows
}

fn table(results: &BTreeMap<(String, usize), Vec<String>>) -> String {
    let heads = COLUMNS.map(Kernel::argument).join(" | ");
    let mut text = format!("{HEAD}| verb | command | {heads} |\n|---|---|{}\n", "---|".repeat(COLUMNS.len()));
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for command in commands() {
        let number = seen.entry(command).or_default();
        let cells = results.get(&(command.to_owned(), *number)).cloned().unwrap_or_default();
        *number += 1;
        let Some(verb) = verb(command) else { continue };
        let shown = command.replace('|', "\\|");
        text.push_str(&format!("| {verb} | `{shown}` | {} |\n", cells.join(" | ")));
    }
    text
}

fn result(status: &str, config: &str) -> String {
    match (status, config) {
        ("0", _) => "yes".to_owned(),
        ("5" | "125", "") => "cannot".to_owned(),
        ("5" | "125", config) => format!("needs {config}"),
        (status, _) => format!("status {status}"),
    }
}

on_kernels!(long every_verb_does_what_the_table_says: V6_1, V6_12, V6_18, V7, Arm64, AllTracers, All7 => |kernel| {
    if is_left_out("the table of docs/kernels.md") {
        return;
    }
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernel/commands.txt");
    let Some(guest) = Guest::run(kernel, include_str!("table.sh"), &[&list]) else { return };
    assert_eq!(guest.text("changed"), "", "{kernel:?}");
    let column = COLUMNS.iter().position(|k| *k == kernel).expect("a column");
    let mut results = written();
    let (mut wrong, mut seen) = (String::new(), BTreeMap::<&str, usize>::new());
    let rows = guest.text("rows");
    for (command, row) in commands().into_iter().zip(rows.lines()) {
        let mut cells = row.split('\t');
        let (status, ran, config) = (cells.next().unwrap_or(""), cells.next().unwrap_or(""), cells.next().unwrap_or(""));
        assert_eq!(ran, command, "{kernel:?}: {rows}");
        let number = seen.entry(command).or_default();
        let cells = results.entry((command.to_owned(), *number)).or_default();
        *number += 1;
        cells.resize(COLUMNS.len(), String::new());
        let result = result(status, config);
        if cells[column] != result && verb(command).is_some() {
            wrong.push_str(&format!("{command}: {result}, the table says `{}`\n", cells[column]));
        }
        cells[column] = result;
    }
    assert_eq!(rows.lines().count(), commands().len(), "{kernel:?}: {rows}");
    if std::env::var_os("RTRACE_WRITE_TABLE").is_some() {
        std::fs::write(file(), table(&results)).expect("docs/kernels.md is written");
        return;
    }
    assert!(wrong.is_empty(), "{kernel:?}:\n{wrong}{}", guest.text("refusals"));
});
