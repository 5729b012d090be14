//! Every command on terminals, over recordings and a tracing directory in which every string attacks.

pub(crate) mod attack;
mod lines;

use crate::common::environment::TestEnvironment;
use crate::common::not_run::not_run;
use crate::common::pty::on_terminals;
use crate::walk::Tree;
use attack::{CUT, FILE};
use memchr::memmem;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

/// All that the program itself sends to a terminal: colours, and where a line or a table goes.
const OURS: [&[u8]; 12] = [
    b"\x1b[36m",
    b"\x1b[1;31m",
    b"\x1b[32m",
    b"\x1b[33m",
    b"\x1b[2m",
    b"\x1b[0m",
    b"\x1b[2J\x1b[H",
    b"\x1b[H",
    b"\r\x1b[K",
    b"\x1b[K\r\n",
    b"\x1b[J",
    b"\x1b[2J",
];
/// Sequences that clap adds to the help, which holds no data.
const OF_HELP: [&[u8]; 2] = [b"\x1b[1m", b"\x1b[4m"];

/// True if a terminal obeys it, or it makes one text look like another.
fn is_command(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t')) || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The first place where `bytes` could command a terminal.
fn command_in(bytes: &[u8]) -> Option<String> {
    let around = |at: usize| bytes[at.saturating_sub(60)..bytes.len().min(at + 40)].escape_ascii().to_string();
    match std::str::from_utf8(bytes) {
        Ok(text) => text.char_indices().find(|(_, c)| is_command(*c)).map(|(at, _)| around(at)),
        Err(error) => Some(format!("no UTF-8: {}", around(error.valid_up_to()))),
    }
}

fn without(bytes: &[u8], sequences: &[&[u8]]) -> Vec<u8> {
    let mut left = bytes.to_vec();
    for sequence in sequences {
        let mut rest = Vec::new();
        let mut from = 0;
        for at in memmem::find_iter(&left, sequence) {
            rest.extend_from_slice(&left[from..at]);
            from = at + sequence.len();
        }
        rest.extend_from_slice(&left[from..]);
        left = rest;
    }
    left
}

/// As a terminal is to get what a pipe gets.
fn escaped(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        let mut chars = chunk.valid().chars().peekable();
        while let Some(c) = chars.next() {
            if is_command(c) && !(c == '\r' && chars.peek() == Some(&'\n')) {
                c.encode_utf8(&mut [0; 4]).bytes().for_each(|b| text.push_str(&format!("\\x{b:02x}")));
            } else {
                text.push(c);
            }
        }
        chunk.invalid().iter().for_each(|b| text.push_str(&format!("\\x{b:02x}")));
    }
    text
}

/// Text without the heading of a report's columns, which terminals alone get.
fn without_heading(text: &[u8]) -> Vec<u8> {
    let is_heading = |line: &[u8]| line.starts_with(b"#  ") || line.starts_with(b"# FLAGS: ");
    text.split_inclusive(|byte| *byte == b'\n').filter(|line| !is_heading(line)).collect::<Vec<_>>().concat()
}

/// Runs a line on terminals, in colours and without, and into pipes; gives what is wrong.
fn wrong(env: &TestEnvironment, words: &[&str], shows: Option<bool>) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut bad = |what: String| wrong.push(format!("rtrace {}: {what}", words.join(" ").escape_debug()));
    let command = |variable: &str, value: &str| {
        let mut command = env.command(env!("CARGO_BIN_EXE_rtrace"));
        command.args(words).env(variable, value);
        command
    };
    let coloured = on_terminals(command("TERM", "xterm"));
    let plain = on_terminals(command("TERM", "dumb"));
    let piped = command("TERM", "xterm").output().expect("to run");
    let is_help = words.contains(&"--help") || words[0] == "help";
    let is_coloured = words.contains(&"--color");
    let ours: Vec<&[u8]> = OURS.iter().chain(OF_HELP.iter().filter(|_| is_help)).copied().collect();
    // `\r\n` ends a line of CSV.
    for (stream, bytes) in [
        ("stdout", without(&coloured.stdout, &[&ours[..], &[b"\r\n"]].concat())),
        ("stderr", without(&coloured.stderr, &[b"\r\x1b[K"])),
        ("plain stdout", without(&plain.stdout, if is_coloured { &OURS } else { &[b"\r\n"] })),
        ("plain stderr", plain.stderr.clone()),
        ("piped stderr", piped.stderr.clone()),
    ] {
        if let Some(place) = command_in(&bytes) {
            bad(format!("{stream} commands the terminal: {place}"));
        }
    }
    // A command that changes something need not do it twice.
    if shows.is_some() && (plain.status != piped.status || coloured.status != piped.status) {
        bad(format!("{} on a terminal, {} into a pipe", plain.status, piped.status));
    }
    let (shown, sent) = (without_heading(&plain.stdout), without_heading(&piped.stdout));
    let sent = if is_coloured { sent } else { escaped(&sent).into_bytes() };
    if shown != sent {
        let at = shown.iter().zip(&sent).take_while(|(a, b)| a == b).count();
        let from = |text: &[u8]| text[at..text.len().min(at + 80)].escape_ascii().to_string();
        bad(format!(
            "the terminal gets something else than the pipe, escaped: {} bytes, not {}; at {at} `{}`, not `{}`; \
             {} and {}, messages `{}` and `{}`",
            shown.len(),
            sent.len(),
            from(&shown),
            from(&sent),
            plain.status,
            piped.status,
            plain.stderr.escape_ascii(),
            piped.stderr.escape_ascii(),
        ));
    }
    // JSON escapes these; DEL and C1 it need not.
    let raw = without(&piped.stdout, &[b"\r\n"]).iter().any(|byte| *byte < b' ' && !matches!(byte, b'\n' | b'\t'));
    if shows.is_some_and(|shows| shows != raw) {
        let what = if raw { "has" } else { "lacks" };
        let start = &piped.stdout[..piped.stdout.len().min(300)];
        let printed = String::from_utf8_lossy(&piped.stderr);
        bad(format!("the pipe {what} the raw bytes: {}\n    {printed}", start.escape_ascii()));
    }
    wrong
}

/// The words of a line, and whether raw attacks reach a pipe, if that is known.
fn expected(line: &str) -> (&str, Option<bool>) {
    match (line.strip_prefix('!'), line.strip_prefix('?')) {
        (Some(line), _) => (line, Some(true)),
        (_, Some(line)) => (line, None),
        _ => (line, Some(false)),
    }
}

/// The commands of the program by the names of their manual pages: `report`, `hist-show`.
fn commands(env: &TestEnvironment) -> BTreeSet<String> {
    env.rtrace(&["generate", "."]).exits(0);
    let pages = fs::read_dir(env.path().join("man")).expect("manual pages");
    let name = |page: fs::DirEntry| page.file_name().to_string_lossy().into_owned();
    let names = pages.map(|page| name(page.expect("a page")));
    // Those of sections 5 and 7 are of the file and the languages.
    names.filter_map(|name| Some(name.strip_prefix("rtrace-")?.strip_suffix(".1")?.to_owned())).collect()
}

#[test]
fn every_command_is_walked() {
    let env = TestEnvironment::new();
    let walked: BTreeSet<String> = lines::all().map(|(command, _)| (*command).to_string()).collect();
    let commands = commands(&env);
    let missing: Vec<&String> = commands.difference(&walked).collect();
    assert!(missing.is_empty(), "no line of tests/cli/hostile/lines.rs runs {missing:?}");
}

#[test]
fn no_command_lets_a_recording_command_the_terminal() {
    let env = TestEnvironment::new();
    let files = attack::recordings(&env);
    let mut problems = Vec::new();
    for (_, line) in lines::OF_FILES {
        let (line, shows) = expected(line);
        let first = if line.contains("FILES") { &files[..] } else { &files[..1] };
        for file in first {
            let place = |word| match word {
                "FILE" | "FILES" => file.as_str(),
                "CUT" => CUT,
                "ATTACK" => FILE,
                word => word,
            };
            let words: Vec<&str> = line.split_whitespace().map(place).collect();
            problems.extend(wrong(&env, &words, shows));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn no_command_lets_a_tracing_directory_command_the_terminal() {
    let tree = Tree::new();
    lines::fill(&tree);
    let mut problems = Vec::new();
    for (_, line) in lines::OF_TRACEFS {
        let (line, shows) = expected(line);
        let words: Vec<&str> = line.split_whitespace().map(|word| if word == "ATTACK" { FILE } else { word }).collect();
        let at = words.iter().position(|word| word.starts_with('-')).unwrap_or(words.len());
        let options = ["--tracefs", "tracing"];
        problems.extend(wrong(&tree.env, &[&words[..at], &options, &words[at..]].concat(), shows));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// A shell's file name that a terminal obeys. The kernel makes it the task's name as it executes the file: a task that
/// renamed itself later would have been seen under another name before, whenever it is pushed aside early.
const HOSTILE_TASK: &[u8] = b"\x1b[2J\xc2\x9b\x9bev";

#[test]
fn a_living_task_cannot_command_the_terminal() {
    if let Err(error) = rtrace::tracefs::Tracefs::discover() {
        return not_run(error);
    }
    let env = TestEnvironment::new();
    let task = env.path().join(OsStr::from_bytes(HOSTILE_TASK));
    std::os::unix::fs::symlink("/bin/sh", &task).expect("a link");
    for (words, shows) in [
        (&["stream", "-e", "sched:sched_switch", "-e", "sched:sched_process_exit", "-F", "-c"][..], true),
        (&["stream", "--format", "raw", "-e", "sched:sched_switch", "-F", "-c"], true),
        (&["stream", "--json", "-e", "sched:sched_switch", "-F", "-c"], false),
        (&["profile", "--layout", "trace-cmd", "-F", "-c"], true),
        (&["profile", "--limit", "0", "-F", "-c"], false), // text: bytes that are none are replaced
        (&["profile", "--stderr", "-F", "-c"], false),
        (&["record", "-o", "live.dat", "-e", "sched:sched_switch", "-e", "raw_syscalls", "-F", "-c"], false),
    ] {
        let command = || {
            let mut command = env.command(env!("CARGO_BIN_EXE_rtrace"));
            command.args(words).arg("--").arg(&task).args(["-c", "for i in 1 2 3; do sleep 0.01; done"]);
            command
        };
        let shown = on_terminals(command());
        assert!(shown.status.success(), "{words:?}: {}", String::from_utf8_lossy(&shown.stderr));
        assert_eq!(command_in(&without(&shown.stdout, &OURS)), None, "{words:?}");
        assert_eq!(command_in(&without(&shown.stderr, &OURS)), None, "{words:?}");
        let seen = memmem::find(&[shown.stdout, shown.stderr].concat(), b"\\x1b[2J\\xc2\\x9b\\x9bev").is_some();
        assert!(seen || !shows, "{words:?}: its name is not there at all");
        let piped = command().output().expect("to run");
        assert_eq!(command_in(&piped.stderr), None, "{words:?}");
        assert_eq!(memmem::find(&piped.stdout, HOSTILE_TASK).is_some(), shows, "{words:?}");
    }
    for words in
        [&["report"][..], &["report", "--format", "kernel"], &["report", "--profile"], &["dump", "--cmd-lines"]]
    {
        let words = [words, &["live.dat"]].concat();
        assert_eq!(wrong(&env, &words, Some(true)), Vec::<String>::new());
    }
}

#[test]
fn arguments_cannot_either() {
    let env = TestEnvironment::new();
    for words in [
        &[FILE][..],
        &["report", "--cpu", FILE],
        &["report", "--filter", FILE, "x.dat"],
        &["help", FILE],
        &["record", "--dry-run", "-e", FILE],
        &["filter", "check", FILE],
        &["list", "--tracefs", FILE],
    ] {
        assert_eq!(wrong(&env, words, Some(false)), Vec::<String>::new());
    }
    // The program's own name.
    let link = env.path().join(FILE);
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_rtrace"), &link).expect("a link");
    let mut command = env.command(link.to_str().expect("a path"));
    command.arg("--help");
    let shown = on_terminals(command);
    assert!(shown.status.success() && !shown.stdout.is_empty());
    assert_eq!(command_in(&without(&shown.stdout, &[&OURS[..], &OF_HELP].concat())), None);
}
