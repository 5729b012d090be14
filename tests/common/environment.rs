//! A folder of its own in which the built `rtrace` is run, with a cleared environment.
//!
//! A failed expectation shows all one would look for by hand: the command, the folder and its files, the exit status
//! and both streams.

use super::bounded::{line, output_within};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

/// A temporary folder, the working directory of every command run in it.
pub(crate) struct TestEnvironment {
    dir: tempfile::TempDir,
}

impl TestEnvironment {
    pub(crate) fn new() -> Self {
        TestEnvironment { dir: tempfile::TempDir::new().expect("a temporary folder") }
    }

    /// The folder.
    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    /// Runs `rtrace ARGS` to its end, without input.
    pub(crate) fn rtrace<S: AsRef<str>>(&self, args: &[S]) -> Outcome {
        self.run(env!("CARGO_BIN_EXE_rtrace"), args)
    }

    /// Runs `program ARGS` to its end, without input.
    pub(crate) fn run<S: AsRef<str>>(&self, program: &str, args: &[S]) -> Outcome {
        let mut command = self.command(program);
        command.args(args.iter().map(AsRef::as_ref));
        let output = output_within(&mut command, LIMIT).unwrap_or_else(|e| panic!("failed to run {program}: {e}"));
        Outcome { line: line(&command), dir: self.path().to_owned(), output }
    }

    /// `program` as every test should start it: this folder, an empty environment but for PATH, HOME and LC_ALL.
    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.path()).stdin(Stdio::null()).env_clear().env("LC_ALL", "C").env("HOME", self.path());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command
    }
}

/// The longest that a command may take, rtrace on a large file included: 5 minutes.
const LIMIT: Duration = Duration::from_secs(300);

/// The outcome of a command, with expectations that explain themselves when they fail. Each returns the outcome again.
pub(crate) struct Outcome {
    line: String,
    dir: PathBuf,
    output: Output,
}

impl Outcome {
    /// Standard output; lossy, because tests compare words.
    pub(crate) fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.output.stdout).into_owned()
    }

    /// Standard error.
    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    /// The exit status, if it ended by itself.
    pub(crate) fn status(&self) -> Option<i32> {
        self.output.status.code()
    }

    /// Ended by itself with this status.
    #[track_caller]
    pub(crate) fn exits(&self, status: i32) -> &Self {
        self.expect(self.status() == Some(status), &format!("exit status {status}"))
    }

    /// Wrote exactly this to stdout.
    #[track_caller]
    pub(crate) fn prints(&self, text: &str) -> &Self {
        self.expect(self.stdout() == text, &format!("on stdout exactly:\n{text}"))
    }

    /// Wrote this somewhere in stdout.
    #[track_caller]
    pub(crate) fn prints_with(&self, text: &str) -> &Self {
        self.expect(self.stdout().contains(text), &format!("on stdout: {text}"))
    }

    /// Wrote exactly this to stderr.
    #[track_caller]
    pub(crate) fn complains(&self, text: &str) -> &Self {
        self.expect(self.stderr() == text, &format!("on stderr exactly:\n{text}"))
    }

    /// Wrote this somewhere in stderr.
    #[track_caller]
    pub(crate) fn complains_with(&self, text: &str) -> &Self {
        self.expect(self.stderr().contains(text), &format!("on stderr: {text}"))
    }

    #[track_caller]
    fn expect(&self, holds: bool, expected: &str) -> &Self {
        if !holds {
            let mut files: Vec<String> = std::fs::read_dir(&self.dir)
                .into_iter()
                .flatten()
                .flatten()
                .map(|f| f.file_name().to_string_lossy().into_owned())
                .collect();
            files.sort();
            panic!(
                "\nexpected {expected}\n\ncommand: {}\ncwd: {}\nfiles: {}\nstatus: {}\n--- stdout\n{}\n--- stderr\n{}\n---\n",
                self.line,
                self.dir.display(),
                files.join(" "),
                self.output.status,
                self.stdout(),
                self.stderr()
            );
        }
        self
    }
}
