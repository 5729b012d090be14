//! DuckDB as it is installed: its command, or its module for Python.

use crate::cli::exit::{Exit, Failure};
use crate::cli::helper_programs::{HelperPath, check_owned};
use crate::cli::terminal::stdout;
use anyhow::{Context, anyhow};
use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// An installed DuckDB: the beginning of its command line.
#[derive(Debug)]
pub(super) enum Engine {
    /// The command `duckdb`.
    Command(PathBuf),
    /// The module of `python3`, and where Python finds modules.
    Module(PathBuf, Vec<PathBuf>),
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
    /// The one that is installed; an error that says what to install if none is. What others could have put where DuckDB
    /// is looked for is not run.
    pub(super) fn find() -> Result<Self, Failure> {
        let helpers = HelperPath::of_environment();
        let duckdb = helpers.find("duckdb").map(Engine::Command);
        if let Some(engine) = duckdb.filter(|engine| engine.works(&helpers, "-version")) {
            return Ok(engine);
        }
        let mut failure = Failure::new(
            Exit::Unable,
            anyhow!("DuckDB is not installed: there is neither a command `duckdb` nor a module of python3"),
        );
        if let Some(python) = helpers.find("python3") {
            let (places, refused) = module_places(helpers.command(&python));
            let engine = Engine::Module(python, places);
            if engine.works(&helpers, PROBE) {
                return Ok(engine);
            }
            failure = refused.into_iter().fold(failure, Failure::hint);
        }
        Err(failure
            .hint("`pip install duckdb` installs the module, https://duckdb.org/docs/installation has the command.")
            .hint("`rtrace convert FILE --to parquet -o DIRECTORY` writes the tables for other engines."))
    }

    /// True if it starts, with `word` for the layout, and ends with 0.
    fn works(&self, helpers: &HelperPath, word: &str) -> bool {
        let mut command = self.command(helpers, word);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    fn command(&self, helpers: &HelperPath, word: &str) -> Command {
        match self {
            Engine::Command(file) => {
                let mut command = helpers.command(file);
                command.arg(word);
                command
            }
            Engine::Module(python, places) => {
                let mut command = python_alone(helpers.command(python), PROGRAM);
                command.arg(word).arg(std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"))).args(places);
                command
            }
        }
    }

    /// Makes the views and prints the rows of the query.
    pub(super) fn ask(&self, views: &str, query: &str, layout: SqlLayout) -> Result<(), Failure> {
        let helpers = HelperPath::of_environment();
        let mut command = match self {
            // Without the user's own settings.
            Engine::Command(_) => {
                let mut command = self.command(&helpers, &format!("-{}", layout.name()));
                command.args(["-batch", "-bail", "-init", "/dev/null"]);
                command
            }
            Engine::Module(..) => self.command(&helpers, layout.name()),
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

/// The same for Python: SQL on standard input; the layout, the current directory and places of modules as arguments.
const PROGRAM: &str = include_str!("engine.py");

/// Stands for the layout if the program is only to import what it needs.
const PROBE: &str = "probe";

/// Prints the directories of installed modules, those of a virtual environment and of the user included, and runs nothing
/// of them.
const PLACES: &str = "\
import sys
sys.path[:] = filter(None, sys.path)
import site
site.addsitedir = lambda place, known=None: print(place) or known
site.main()
";

/// Python that runs `program` with the modules of its own library, and none of the current directory, of the environment
/// or installed ones. It runs in `/`, as starters of Python look for settings in the current directory.
fn python_alone(mut command: Command, program: &str) -> Command {
    command.args(["-E", "-S", "-c", program]).current_dir("/");
    command
}

/// Directories where Python finds installed modules, without those that others can write to; and the reason against each of
/// these that holds DuckDB.
fn module_places(python: Command) -> (Vec<PathBuf>, Vec<String>) {
    let listed = python_alone(python, PLACES).stdin(Stdio::null()).output().map(|done| done.stdout).unwrap_or_default();
    let installed = listed.split(|byte| *byte == b'\n').map(|line| PathBuf::from(OsStr::from_bytes(line)));
    let named = std::env::var_os("PYTHONPATH").unwrap_or_default();
    let (mut places, mut refused) = (Vec::new(), Vec::new());
    for place in std::env::split_paths(&named).chain(installed) {
        match check_owned(&place) {
            Ok(()) => places.push(place),
            Err(error) if place.join("duckdb").exists() || place.join("duckdb.py").exists() => {
                refused.push(format!("the module in `{}` is not used: {error}.", place.display()));
            }
            Err(_) => {}
        }
    }
    refused.dedup();
    (places, refused)
}
