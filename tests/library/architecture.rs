//! The invariants of `docs/architecture.md` that a look at the sources can check.

use std::path::{Path, PathBuf};

const DECODE: &[&str] = &["ring_buffer", "print_fmt", "symbols", "event", "merge", "analysis", "export"];
const CONTROL: &[&str] = &["tracefs", "record"];
const SHARED: &[&str] = &[
    "abi",
    "btf",
    "events",
    "text",
    "units",
    "format",
    "syntax",
    "filter",
    "trigger",
    "hist",
    "synth",
    "probe",
    "trace_dat",
];

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
    let Ok(entries) = std::fs::read_dir(dir) else { return };
    for entry in entries {
        let path = entry.expect("a directory entry").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") && !is_test(&path) {
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

fn used_as(modules: &[&str]) -> Vec<String> {
    modules.iter().map(|module| format!("crate::{module}::")).collect()
}

#[test]
fn decode_is_pure() {
    let words = ["std::fs", "fs::read", "File::open", "std::env", "Instant::now", "SystemTime", "is_terminal", "nix::"];
    none_says(DECODE, &words, "decode opens no path and reads no clock, environment or terminal");
}

#[test]
fn columns_do_not_mix() {
    fn strs(of: &[String]) -> Vec<&str> {
        of.iter().map(String::as_str).collect()
    }
    let (decode, control) = (used_as(DECODE), used_as(CONTROL));
    none_says(DECODE, &strs(&control), "decode does not use control");
    none_says(CONTROL, &strs(&decode), "control does not use decode");
    none_says(SHARED, &strs(&control), "what both share does not use control");
}

#[test]
fn only_tracefs_spells_its_paths() {
    let others: Vec<&str> =
        DECODE.iter().chain(SHARED).chain(["record", "cli"].iter()).copied().filter(|m| *m != "tracefs").collect();
    let paths = ["/sys/kernel/tracing", "/sys/kernel/debug", "\"trace_pipe_raw\"", "\"set_event\""];
    none_says(&others, &paths, "only `tracefs` spells tracefs paths");
    // Knobs' names are words of the command line too (`show --tracing_on`); nobody else has a use for them.
    let silent: Vec<&str> = others.into_iter().filter(|m| *m != "cli").collect();
    none_says(&silent, &["\"tracing_on\"", "\"trace_clock\""], "only `tracefs` writes knobs");
}

#[test]
fn the_library_is_silent() {
    let library: Vec<&str> = DECODE.iter().chain(CONTROL).chain(SHARED).copied().collect();
    let words = ["println!", "eprint", "print!(", "process::exit", "clap::", "anyhow", "indicatif", "is_terminal"];
    none_says(&library, &words, "the library never prints, never exits and knows no command line");
}

#[test]
fn the_program_prints_what_may_fail() {
    // They end in a panic where nobody listens: `rtrace report 2>&1 | head`.
    none_says(&["cli"], &["println!", "print!("], "the program prints with `exit::print` and `note!`");
}

#[test]
fn only_the_edge_writes_to_the_terminal() {
    // What has another way to it would have to escape its text by itself.
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
    let everywhere: Vec<&str> = DECODE.iter().chain(CONTROL).chain(SHARED).chain(["cli"].iter()).copied().collect();
    none_says(&everywhere, &["unsafe {", "unsafe fn", "unsafe impl"], "`unsafe` lives in src/sys.rs");
}

#[test]
fn no_global_state() {
    let library: Vec<&str> = DECODE.iter().chain(CONTROL).chain(SHARED).copied().collect();
    none_says(&library, &["static mut", "thread_local!", "= OnceLock::new()", "= LazyLock::new("], "no global state");
}

#[test]
fn json_documents_name_themselves_in_one_way() {
    let documented = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/json.md")).expect("read");
    let mut found = 0;
    let everywhere = [DECODE, CONTROL, SHARED, &["cli"][..]].concat();
    for line in everywhere.iter().flat_map(|module| code_of(module)) {
        let value = ["\"schema\": \"", "\"schema\".into(), json!(\"", "const SCHEMA: &str = \""];
        let Some(rest) = value.iter().find_map(|start| line.code.split_once(start)) else { continue };
        let name = rest.1.split('"').next().unwrap_or_default();
        let place = format!("{}:{}: `{name}`", line.file.display(), line.number);
        let words = name.strip_prefix("rtrace.").unwrap_or_else(|| panic!("{place} does not begin with `rtrace.`"));
        let in_form = words.chars().all(|c| c.is_ascii_lowercase() || c == '.' || c == '-');
        assert!(in_form && !words.is_empty(), "{place}: a version is a number of its own");
        assert!(documented.contains(&format!("| `{name}` |")), "{place} is not in docs/json.md");
        found += 1;
    }
    assert!(found > 15, "{found} documents found");
}
