//! Strings that command a terminal, and recordings full of them.

use crate::common::environment::TestEnvironment;
use std::fs;
use std::path::Path;

/// The name of the recording: a file's name reaches messages.
pub(super) const FILE: &str = "\u{1b}[2J\u{9b}2J\u{202e}.dat";
/// The same, cut off.
pub(super) const CUT: &str = "cut\u{1b}]0;x\u{7}.dat";

/// The texts in the recordings that are replaced by an attack of the same length: names of events, systems, fields,
/// tasks, buffers, symbols, strings, print formats, statistics and versions.
const WORDS: [(&str, &[&str]); 3] = [
    (
        "vm-6.1/trig.dat",
        &[
            "sched_process_exec",
            "sched_switch",
            "rcu_preempt",
            "swapper/0",
            "prev_comm",
            "next_prio",
            "thaw_processes",
            "set_next_task_stop",
            "not-a-git-repo",
            "cloud-amd64",
            "x86-tsc",
            "overrun:",
            "counter",
            "kthreadd",
            "/bin/sh",
        ],
    ),
    ("s390x/inst.dat", &["sched_waking", "softirq_raise", "hrtimer", "action", "one\0local", "irq_count"]),
    ("i386/kprobe.dat", &["trace-cmd", "/tmp/load.sh", "open_ret", "__probe_ip"]),
];

/// An attack of `len` bytes without blanks and brackets, so that it can be any name. Each number has another beginning;
/// only the even ones are UTF-8.
pub(super) fn attack(number: usize, len: usize) -> Vec<u8> {
    let pieces = ["\u{1b}c", "\u{7}\u{7f}", "\u{9b}1m", "\r\u{8}", "\u{202e}", "\u{1b}P"];
    let from = pieces.iter().cycle().skip(number);
    let mut text = String::new();
    for piece in from {
        if text.len() + piece.len() > len {
            break;
        }
        text.push_str(piece);
    }
    let mut bytes = text.into_bytes();
    bytes.resize(len, 0x1b);
    if number % 2 == 1 {
        bytes[len - 1] = 0x9b;
    }
    bytes
}

/// Recordings made hostile, under names that are: they are read by every command that reads files. Gives their names.
pub(crate) fn recordings(env: &TestEnvironment) -> Vec<String> {
    let mut names = Vec::new();
    for (at, (file, words)) in WORDS.iter().enumerate() {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/traces").join(file);
        let from = from.to_str().expect("a path");
        env.rtrace(&["convert", "--compression", "none", "--force", "-i", from, "-o", "plain.dat"]).exits(0);
        let mut bytes = fs::read(env.path().join("plain.dat")).expect("a recording");
        for (number, word) in words.iter().enumerate() {
            let (word, len) = (word.as_bytes(), word.split('\0').next().map_or(0, str::len));
            let places: Vec<usize> = memchr::memmem::find_iter(&bytes, word).collect();
            assert!(!places.is_empty(), "{file} has no `{}`", word.escape_ascii());
            for place in places {
                bytes[place..place + len].copy_from_slice(&attack(number, len));
            }
        }
        let name = if at == 0 { FILE.to_owned() } else { format!("{at}{FILE}") };
        fs::write(env.path().join(&name), &bytes).expect("to write it");
        if at == 0 {
            fs::write(env.path().join(CUT), &bytes[..bytes.len() - 5000]).expect("to write it");
        }
        names.push(name);
    }
    names.push(CUT.to_owned());
    names
}
