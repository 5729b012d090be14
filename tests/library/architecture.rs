//! The invariants of `docs/architecture.md` that a look at the sources can check.

use std::path::{Path, PathBuf};

mod imports;

use imports::Imports;

/// The rooms below `src/` from the ground up, with their modules: a room uses those above it in this table only, and a module
/// of a room those before it. The files of `export` and `cli` are theirs to order.
const ROOMS: &[(&str, &[&str])] = &[
    ("base", &["units", "varint", "sys", "wall_time", "safe_file", "lazy", "abi", "text", "syntax"]),
    ("kernel", &["btf", "format", "events", "symbols", "print_fmt", "event"]),
    ("language", &["filter", "hist", "trigger", "synth", "probe"]),
    ("file", &["ring_buffer", "trace_dat"]),
    ("answer", &["analysis", "assertion", "comparison", "table"]),
    ("read", &["merge", "recording"]),
    ("export", &[]),
    ("control", &["tracefs", "record", "network"]),
    ("cli", &[]),
];

/// Rooms that turn bytes into answers and text. `control`, which steers the kernel, uses none of them.
const DECODE: &[&str] = &["answer", "read", "export"];

fn library() -> Vec<&'static str> {
    ROOMS.iter().map(|(room, _)| *room).filter(|room| *room != "cli").collect()
}

fn rank(room: &str, module: Option<&String>) -> Option<(usize, usize)> {
    let at = ROOMS.iter().position(|(name, _)| *name == room)?;
    let modules = ROOMS[at].1;
    let module = modules.iter().position(|name| module.is_some_and(|module| module == name));
    if modules.is_empty() { Some((at, 0)) } else { Some((at, module?)) }
}

/// A line of code that is neither a comment nor part of a test module, with its place.
struct Line {
    file: PathBuf,
    number: usize,
    code: String,
}

/// The code of everything below `src/NAME` and of `src/NAME.rs`.
fn code_of(module: &str) -> Vec<Line> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    let file = src.join(module).with_extension("rs");
    if file.exists() {
        files.push(file);
    }
    collect(&src.join(module), &mut files);
    assert!(!files.is_empty(), "no module {module}");
    files.iter().flat_map(|file| code_lines(file)).collect()
}

fn collect(dir: &Path, files: &mut Vec<PathBuf>) {
    let mut all = Vec::new();
    collect_with_tests(dir, &mut all);
    files.extend(all.into_iter().filter(|file| !is_test(file)));
}

fn collect_with_tests(dir: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for entry in entries {
        let path = entry.expect("a directory entry").path();
        if path.is_dir() {
            collect_with_tests(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}

fn is_test(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "tests")
        || path.file_stem().is_some_and(|stem| stem == "tests" || stem.to_string_lossy().ends_with("_tests"))
}

fn code_lines(file: &Path) -> Vec<Line> {
    let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let mut lines = Vec::new();
    let all: Vec<&str> = text.lines().collect();
    for (at, line) in all.iter().enumerate() {
        if *line == "#[cfg(test)]" && all.get(at + 1).is_some_and(|next| next.ends_with('{') && next.contains("mod ")) {
            break; // by custom the tests close the file
        }
        let code = line.split("//").next().unwrap_or_default().to_owned();
        lines.push(Line { file: file.to_owned(), number: at + 1, code });
    }
    lines
}

/// Fails with every line of `modules` that holds one of `words`.
#[track_caller]
fn none_says(modules: &[&str], words: &[&str], rule: &str) {
    let mut found = String::new();
    for line in modules.iter().flat_map(|module| code_of(module)) {
        if let Some(word) = words.iter().find(|word| line.code.contains(**word)) {
            found.push_str(&format!("{}:{}: {word}: {}\n", line.file.display(), line.number, line.code.trim()));
        }
    }
    assert!(found.is_empty(), "{rule}:\n{found}");
}

/// Modules that read bytes and texts of files which anybody may have made.
const PARSERS: &[&str] = &[
    "base/abi",
    "kernel/btf",
    "kernel/event",
    "language/filter/pattern",
    "language/filter/test",
    "kernel/format",
    "language/hist/table",
    "control/network/wire",
    "kernel/print_fmt",
    "language/probe/elf",
    "file/ring_buffer",
    "kernel/symbols",
    "file/trace_dat",
    "control/tracefs/journal",
];

/// An attribute at the head of a module counts for all files below it, and for those to come.
#[test]
fn arithmetic_on_what_files_say_is_checked() {
    const DENIED: &str = "#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]";
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for module in PARSERS {
        let file = src.join(module).with_extension("rs");
        let file = if file.exists() { file } else { src.join(module).join("mod.rs") };
        let text = std::fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        assert!(text.lines().any(|line| line == DENIED), "{} lacks {DENIED}", file.display());
    }
    // With its reason, and for one of the two at one place: an `allow`, or one for a module, would take it back.
    none_says(&library(), &["allow(clippy::arithmetic", "allow(clippy::indexing", "#![expect(clippy::"], "taken back");
}

#[test]
fn decode_is_pure() {
    let words = ["std::fs", "fs::read", "File::open", "std::env", "Instant::now", "SystemTime", "is_terminal", "nix::"];
    let rooms = [&["kernel", "language", "file/ring_buffer", "file/trace_dat/data"], DECODE].concat();
    none_says(&rooms, &words, "decode opens no path and reads no clock, environment or terminal");
}

fn imports() -> Imports {
    Imports::read(|file| code_lines(file).into_iter().map(|line| line.code + "\n").collect())
}

#[test]
fn imports_go_down_only() {
    let mut wrong = String::new();
    for import in imports().all() {
        let (Some(from), Some(to)) = (import.from.first(), import.to.first()) else { continue };
        if from == "cli" || import.from.get(..2) == import.to.get(..2) || from == to && import.to.len() == 1 {
            continue;
        }
        let (Some(of), Some(with)) = (rank(from, import.from.get(1)), rank(to, import.to.get(1))) else {
            panic!("{} or {} is not in the table of rooms", import.from.join("::"), import.to.join("::"));
        };
        let apart = from == "control" && DECODE.contains(&to.as_str());
        if apart || (from, with) != (to, of) && with >= of {
            wrong.push_str(&format!("{} uses {}\n", import.from.join("::"), import.to.join("::")));
        }
    }
    assert!(wrong.is_empty(), "a module uses those below it, and control stays apart from decode:\n{wrong}");
}

/// Circles between the files of one module that are there on purpose: docs/architecture.md says why.
const CIRCLES: &[(&str, &[&str])] = &[
    // A type's `parse` calls the parser, which makes the type.
    ("kernel::btf", &["declare", "parse", "types"]),
    ("language::filter", &["check", "event_filter"]),
    ("kernel::format", &["event", "parse"]),
    // A plan is checked against the machine, which looks at its buffers.
    ("control::record", &["machine", "plan"]),
    // A file checks its options as it is opened, memory maps among them, which are the open file's to give.
    ("file::trace_dat::file", &["option_checks", "proc_maps", "trace"]),
    // An instance knows its root, and the root finds instances.
    ("control::tracefs", &["instance", "root"]),
];

#[test]
fn files_do_not_use_each_other_in_circles() {
    let found = imports().circles();
    let known = |folder: &str, circle: &[String]| CIRCLES.iter().any(|(at, of)| *at == folder && circle == *of);
    let mut new = String::new();
    for (folder, circle) in &found {
        if !known(&folder.join("::"), circle) {
            new.push_str(&format!("(\"{}\", &{circle:?}),\n", folder.join("::")));
        }
    }
    assert!(new.is_empty(), "files use each other:\n{new}");
    for (folder, circle) in CIRCLES {
        let there = found.iter().any(|(at, of)| at.join("::") == *folder && of == circle);
        assert!(there, "{folder}: {circle:?} is a circle no more: take it off the list");
    }
}

/// Every `static` of the library that can change, with its file: none holds what two open traces or two tracefs roots
/// would share.
const STATICS: &[(&str, &str)] = &[("journal/disk.rs", "COUNT")];

#[test]
fn statics_are_known() {
    for line in library().into_iter().flat_map(code_of) {
        if !["Atomic", "Mutex", "RwLock", "Cell", "OnceLock", "LazyLock", "mut "]
            .iter()
            .any(|word| line.code.contains(word))
        {
            continue;
        }
        let words: Vec<&str> = line.code.split_whitespace().collect();
        let Some(at) = words.iter().position(|word| *word == "static") else { continue };
        let name = words.get(at + 1).map_or("", |name| name.trim_end_matches(':'));
        let file = line.file.to_string_lossy().into_owned();
        let known = STATICS.iter().any(|(path, of)| file.ends_with(path) && name == *of);
        assert!(known, "{file}:{}: `static {name}` is not on the list", line.number);
    }
}

#[test]
fn only_tracefs_spells_its_paths() {
    let rooms = library().into_iter().chain(["cli"]).filter(|room| *room != "control");
    let others: Vec<&str> = rooms.chain(["control/record", "control/network"]).collect();
    let paths = ["/sys/kernel/tracing", "/sys/kernel/debug", "\"trace_pipe_raw\"", "\"set_event\""];
    none_says(&others, &paths, "only `tracefs` spells tracefs paths");
    // Knobs' names are words of the command line too (`show --tracing_on`); no other module has a use for them.
    let silent: Vec<&str> = others.into_iter().filter(|m| *m != "cli").collect();
    none_says(&silent, &["\"tracing_on\"", "\"trace_clock\""], "only `tracefs` writes knobs");
}

#[test]
fn the_library_is_silent() {
    let library = library();
    let words = ["println!", "eprint", "print!(", "process::exit", "clap::", "anyhow", "indicatif", "is_terminal"];
    none_says(&library, &words, "the library never prints, never exits and knows no command line");
}

#[test]
fn the_program_prints_what_may_fail() {
    // They end in a panic on a broken pipe: `rtrace report 2>&1 | head`.
    none_says(&["cli"], &["println!", "print!("], "the program prints with `exit::print` and `note!`");
}

#[test]
fn only_the_edge_writes_to_the_terminal() {
    // A module with another way to it would have to escape its text by itself.
    let words =
        ["io::stdout", "io::stderr", ".is_terminal(", "IsTerminal", "terminal_size", "\\x1b", "\\u{1b}", "/dev/tty"];
    let mut found = String::new();
    for line in code_of("cli") {
        let edge = line.file.components().any(|part| part.as_os_str() == "terminal");
        if let Some(word) = words.iter().find(|word| line.code.contains(**word)).filter(|_| !edge) {
            found.push_str(&format!("{}:{}: {word}: {}\n", line.file.display(), line.number, line.code.trim()));
        }
    }
    assert!(found.is_empty(), "only `cli/terminal` writes to standard output and standard error:\n{found}");
}

#[test]
fn unsafe_has_one_home() {
    let mut found = String::new();
    for line in library().into_iter().chain(["cli"]).flat_map(code_of) {
        let home = line.file.components().any(|part| part.as_os_str() == "sys");
        if !home && ["unsafe {", "unsafe fn", "unsafe impl"].iter().any(|word| line.code.contains(word)) {
            found.push_str(&format!("{}:{}: {}\n", line.file.display(), line.number, line.code.trim()));
        }
    }
    assert!(found.is_empty(), "`unsafe` lives in src/base/sys/:\n{found}");
}

#[test]
fn compression_has_one_home() {
    // The last reads /proc/config.gz.
    const HOMES: [&str; 3] = ["trace_dat/codec.rs", "trace_dat/packer.rs", "cli/doctor/kernel.rs"];
    let mut found = String::new();
    for line in library().into_iter().chain(["cli"]).flat_map(code_of) {
        let is_home = HOMES.iter().any(|home| line.file.ends_with(home));
        if !is_home && ["zstd::", "flate2::"].iter().any(|library| line.code.contains(library)) {
            found.push_str(&format!("{}:{}: {}\n", line.file.display(), line.number, line.code.trim()));
        }
    }
    assert!(found.is_empty(), "all is packed and unpacked in trace_dat/codec.rs and trace_dat/packer.rs:\n{found}");
}

#[test]
fn no_global_state() {
    let library = library();
    none_says(&library, &["static mut", "thread_local!", "= OnceLock::new()", "= LazyLock::new("], "no global state");
}

/// A declaration without its visibility.
fn without_visibility(code: &str) -> &str {
    let code = code.trim_start();
    code.strip_prefix("pub").map_or(code, |rest| {
        let rest = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or(rest, |(_, rest)| rest);
        rest.trim_start()
    })
}

/// The name of the type that a line declares. Aliases count where they are public.
fn declared_type(line: &str) -> Option<&str> {
    let declared = without_visibility(line);
    let mut words = declared.strip_prefix("unsafe ").unwrap_or(declared).split_whitespace();
    match words.next()? {
        "struct" | "enum" | "trait" | "union" => {}
        "type" if line.trim_start().starts_with("pub ") => {}
        _ => return None,
    }
    let name = words.next()?.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
    Some(name).filter(|name| name.starts_with(char::is_uppercase))
}

/// A name stands for one thing: a type's name is enough to know which, also of a private one and in the tests beside the
/// code. Public errors are those of their module, as the standard library's are.
#[test]
fn names_of_types_are_unique() {
    let mut homes: std::collections::BTreeMap<String, Vec<String>> = Default::default();
    let mut files = Vec::new();
    collect_with_tests(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        for (at, line) in text.lines().enumerate() {
            let Some(name) = declared_type(line) else { continue };
            homes.entry(name.to_owned()).or_default().push(format!("{}:{}", file.display(), at + 1));
        }
    }
    assert!(homes.len() > 1000, "only {} types found", homes.len());
    let shared: Vec<_> = homes.iter().filter(|(name, homes)| *name != "Error" && homes.len() > 1).collect();
    assert!(shared.is_empty(), "names that stand for several types: {shared:#?}");
}

/// A folder's `mod.rs` says what is in it.
#[test]
fn mod_files_hold_no_code() {
    let items =
        ["fn ", "struct ", "enum ", "union ", "trait ", "type ", "const ", "static ", "impl ", "impl<", "macro_rules!"];
    let (mut files, mut found) = (std::collections::BTreeSet::new(), String::new());
    for line in library().into_iter().chain(["cli"]).flat_map(code_of) {
        if line.file.file_name().is_none_or(|name| name != "mod.rs") {
            continue;
        }
        files.insert(line.file.clone());
        let code = without_visibility(&line.code);
        if items.iter().any(|item| code.starts_with(item)) {
            found.push_str(&format!("{}:{}: {}\n", line.file.display(), line.number, line.code.trim()));
        }
    }
    assert!(files.len() > 80, "only {} files found", files.len());
    assert!(found.is_empty(), "`mod.rs` holds documentation and re-exports:\n{found}");
}

#[test]
fn json_documents_name_themselves_in_one_way() {
    let documented = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/json.md")).expect("read");
    let mut found = 0;
    let everywhere: Vec<&str> = library().into_iter().chain(["cli"]).collect();
    for line in everywhere.iter().flat_map(|module| code_of(module)) {
        // How a document's name is written, and what goes before it.
        let written = [
            ("\"schema\": \"", ""),
            ("\"schema\".into(), json!(\"", ""),
            ("const SCHEMA: &str = \"", ""),
            ("const PURPOSE: &'static str = \"", "rtrace.analyze."),
        ];
        let find = |(start, head): &(&str, &'static str)| Some((line.code.split_once(start)?.1, *head));
        let Some((rest, head)) = written.iter().find_map(find) else { continue };
        let name = format!("{head}{}", rest.split('"').next().unwrap_or_default());
        let place = format!("{}:{}: `{name}`", line.file.display(), line.number);
        let words = name.strip_prefix("rtrace.").unwrap_or_else(|| panic!("{place} does not begin with `rtrace.`"));
        let in_form = words.chars().all(|c| c.is_ascii_lowercase() || c == '.' || c == '-');
        assert!(in_form && !words.is_empty(), "{place}: a version is a number of its own");
        assert!(documented.contains(&format!("| `{name}` |")), "{place} is not in docs/json.md");
        found += 1;
    }
    assert!(found > 15, "{found} documents found");
}
