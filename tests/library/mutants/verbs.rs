//! Every way to read a recording, and what comes out.

use crate::common::bounded::output_within;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Command lines; `OUT` is a file that they write.
pub(super) const VERBS: [&str; 46] = [
    "dump --validate",
    "report -R",
    "report --format json",
    "report --format kernel",
    "report --format csv",
    "report --format raw",
    "report --summary",
    "report --count",
    "report --stat",
    "report -l",
    "report -t --raw-ts --ts-check",
    "report --ts-diff --boundary",
    "report --profile",
    "report -w",
    "report --last 20",
    "report --first 20",
    "report --cpu 1",
    "report --pid 1,2,3",
    "report --comm sh",
    "report --since +1ms",
    "report --uname",
    "report --version",
    "report --cpus",
    "report --first-event --last-event",
    "report --events",
    "report --functions",
    "report --printk",
    "report -N --threads 2",
    "dump --all",
    "dump --json",
    "convert -o OUT",
    "convert -o OUT --compression none",
    "convert -o OUT --file-version 6",
    "convert -o OUT --to perfetto",
    "convert -o OUT --to folded",
    "convert -o OUT --to speedscope",
    "convert -o OUT --to chrome --threads 2",
    "convert -o OUT --to firefox",
    "convert -o OUT --to ctf",
    "convert -o OUT --to ctf2",
    "flame -o OUT",
    "flame --off-cpu -o OUT",
    "split -o OUT -e 50",
    "check --json --assert lost>=0 --assert duration>=0s --assert count(all)>=0",
    "mem",
    "hist -i",
];

/// The output of a command.
#[derive(Clone)]
pub(super) struct Said {
    pub(super) status: Option<i32>,
    /// Of its standard output, and of the file it wrote.
    pub(super) output: u64,
    pub(super) len: usize,
    pub(super) stderr: String,
}

/// The bytes of a file, or of all files below a directory in the order of their names.
fn contents(path: &Path) -> Vec<u8> {
    let Ok(entries) = std::fs::read_dir(path) else { return std::fs::read(path).unwrap_or_default() };
    let mut below: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    below.sort_unstable();
    below.iter().flat_map(|path| contents(path)).collect()
}

/// Runs `rtrace LINE` on the recording in `dir`.
pub(super) fn run(line: &str, dir: &Path) -> Said {
    // With a path, for it is spawned without a copy of this process's page tables then, which take longer than the shell.
    let mut command = Command::new("/bin/sh");
    // Damage must not cost memory either.
    command.args(["-c", "ulimit -v 1048576 && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_rtrace")]);
    command.args(line.split(' ')).arg("trace.dat");
    command.current_dir(dir).env_clear().env("LC_ALL", "C");
    let done = output_within(&mut command, Duration::from_secs(60)).expect("rtrace");
    let out = dir.join("OUT");
    let written = contents(&out);
    let _ = std::fs::remove_dir_all(&out).or_else(|_| std::fs::remove_file(&out));
    let mut hasher = DefaultHasher::new();
    (&done.stdout, &written).hash(&mut hasher);
    Said {
        status: done.status.code(),
        output: hasher.finish(),
        len: done.stdout.len() + written.len(),
        stderr: String::from_utf8_lossy(&done.stderr).into_owned(),
    }
}
