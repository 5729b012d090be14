//! DuckDB as it is installed: its command, or its module for Python.

use crate::cli::exit::{Exit, Failure};
use crate::cli::terminal::stdout;
use anyhow::{Context, anyhow};
use std::io::{self, Read, Write};
use std::process::{Command, Stdio};

/// An installed DuckDB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Engine {
    /// The command `duckdb`.
    Command,
    /// The module of `python3`.
    Module,
}

/// The layout of a query's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SqlLayout {
    Box,
    Csv,
    Json,
}

impl SqlLayout {
    fn name(self) -> &'static str {
        match self {
            SqlLayout::Box => "box",
            SqlLayout::Csv => "csv",
            SqlLayout::Json => "json",
        }
    }
}

impl Engine {
    /// The one that is installed; an error that says what to install if none is.
    pub(super) fn find() -> Result<Self, Failure> {
        let works = |command: &mut Command| {
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        };
        if works(Command::new("duckdb").arg("-version")) {
            return Ok(Engine::Command);
        }
        if works(Command::new("python3").args(["-c", "import duckdb"])) {
            return Ok(Engine::Module);
        }
        Err(Failure::new(
            Exit::Unable,
            anyhow!("DuckDB is not installed: there is neither a command `duckdb` nor a module of python3"),
        )
        .hint("`pip install duckdb` installs the module, https://duckdb.org/docs/installation has the command.")
        .hint("`rtrace convert FILE --to parquet -o DIRECTORY` writes the tables for other engines."))
    }

    /// Makes the views and prints the rows of the query.
    pub(super) fn ask(self, views: &str, query: &str, layout: SqlLayout) -> Result<(), Failure> {
        let mut command = match self {
            Engine::Command => {
                let mut command = Command::new("duckdb");
                // Without the user's own settings.
                command.args(["-batch", "-bail", "-init", "/dev/null"]).arg(format!("-{}", layout.name()));
                command
            }
            Engine::Module => {
                let mut command = Command::new("python3");
                command.args(["-c", PROGRAM, layout.name()]);
                command
            }
        };
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .context("failed to start DuckDB")?;
        let (stdin, rows, complaint) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let said = std::thread::scope(|scope| {
            let script = scope.spawn(move || stdin.map(|mut stdin| write!(stdin, "{views}{SEPARATOR}{query}\n;\n")));
            let said = scope.spawn(move || {
                let mut said = Vec::new();
                complaint.map(|mut complaint| complaint.read_to_end(&mut said));
                said
            });
            let copied = rows.map_or(Ok(0), |mut rows| {
                let mut out = stdout();
                let copied = io::copy(&mut rows, &mut out);
                copied.and_then(|count| out.flush().map(|()| count))
            });
            let _ = script.join(); // it stops reading at an error, of which it says more
            (copied, said.join().unwrap_or_default())
        });
        let status = child.wait().context("failed to wait for DuckDB")?;
        let (copied, said) = said;
        copied?;
        if status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&said);
        Err(Failure::new(Exit::Usage, anyhow!("DuckDB refuses the query: {}", said.trim()))
            .hint("`rtrace sql FILE 'show all tables'` lists the tables, `describe TABLE` the columns of one."))
    }
}

/// Stands between the views and the query: a comment of SQL.
const SEPARATOR: &str = "-- query\n";

/// The same for Python: SQL on standard input, the layout as argument.
const PROGRAM: &str = include_str!("engine.py");
