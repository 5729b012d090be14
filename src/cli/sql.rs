//! `rtrace sql`.
//! Refusals of queries in DuckDB's words, with what was meant.

use super::convert::write_tables;
use super::exit::{Exit, Failure};
use super::helper_programs::{HelperPath, check_owned};
use super::query::QueryArgs;
use super::terminal::{PagerArgs, stdout};
use super::unfinished;
use super::unfinished::UnfinishedPath;
use anyhow::{Context, anyhow};
use rtrace::syntax::nearest;
use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

mod views;

/// Query recordings with SQL (needs an installed DuckDB)
///
/// Each event type is a view, SYSTEM.EVENT, beside the tables of slices and tasks (sched_slice, thread_state, meta, ...), as
/// docs/tables.md of the source has them. A FILE is a recording, or a directory that `convert --to parquet` made. Takes the command
/// `duckdb`, or python3 with the module duckdb.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace sql run.dat 'select comm, count(*) n from sched.sched_waking group by comm order by n desc limit 5'
  rtrace sql run.dat 'select t.name, max(dur) from thread_state join thread t using (utid) where state = 0 group by 1'
  rtrace sql web1.parquet web2.parquet 'select host, count(*) from events_lost group by host'
  rtrace sql --json run.dat 'from meta'
  rtrace sql run.dat 'show all tables'")]
pub(crate) struct SqlArgs {
    /// Recordings or directories of tables [default: trace.dat], and last the query
    #[arg(value_name = "FILE | QUERY", required = true, value_hint = clap::ValueHint::FilePath)]
    words: Vec<String>,
    /// Rows as one JSON array
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Rows as comma-separated values, after a line with the columns' names
    #[arg(long)]
    csv: bool,
    #[command(flatten)]
    pager: PagerArgs,
    #[command(flatten)]
    events: QueryArgs,
}

impl SqlArgs {
    /// The files to ask, and the query.
    fn parts(&self) -> Result<(Vec<&Path>, String), Failure> {
        // A query without quotes is several words.
        let begins = |word: &String| {
            let is_verb = ["select", "from", "with", "show", "describe", "summarize"].iter();
            is_verb.into_iter().any(|verb| verb.eq_ignore_ascii_case(word)) && !Path::new(word).exists()
        };
        if let Some((files, query)) = self.words.iter().position(begins).and_then(|at| self.words.split_at_checked(at))
        {
            return Ok((inputs(files), query.join(" ")));
        }
        let Some((query, files)) = self.words.split_last() else { return Err(no_query("it")) };
        // A query is no file's name, unless it was forgotten.
        if Path::new(query).exists() {
            if let Some(first) = files.first().filter(|first| first.contains(' ') && !Path::new(first).exists()) {
                let error = anyhow!("the query comes last, and `{query}` stands there");
                return Err(Failure::new(Exit::Usage, error).hint(format!("`rtrace sql {query} '{first}'` asks it.")));
            }
            return Err(no_query(query));
        }
        Ok((inputs(files), query.clone()))
    }

    fn layout(&self) -> SqlLayout {
        match (self.json, self.csv) {
            (true, _) => SqlLayout::Json,
            (_, true) => SqlLayout::Csv,
            _ => SqlLayout::Box,
        }
    }
}

/// The files to ask.
fn inputs(files: &[String]) -> Vec<&Path> {
    if files.is_empty() { vec![Path::new("trace.dat")] } else { files.iter().map(Path::new).collect() }
}

fn no_query(last: &str) -> Failure {
    let failure = Failure::new(Exit::Usage, anyhow!("no query is given; {last} is a file"));
    failure.hint(format!("`rtrace sql {last} 'select ...'` asks it; `show all tables` lists what there is."))
}

pub(crate) fn run(args: &SqlArgs) -> Result<Exit, Failure> {
    unfinished::watch();
    let (files, query) = args.parts()?;
    // Before the recordings are read.
    let engine = Engine::find()?;
    let (tables, recordings): (Vec<&Path>, Vec<&Path>) = files.into_iter().partition(|file| file.is_dir());
    let mut folders: Vec<PathBuf> = tables.into_iter().map(Path::to_owned).collect();
    let folder = Folder::new()?;
    let mut exit = Exit::Success;
    if !recordings.is_empty() {
        let written = folder.path().join("tables");
        exit = write_tables(&recordings, &args.events, &written)?;
        folders.push(written);
    }
    let views = views::of(&folders)?;
    let _pager = args.pager.start();
    engine.ask(&views, &query, args.layout())?;
    Ok(exit)
}

/// An installed DuckDB: the beginning of its command line.
#[derive(Debug)]
enum Engine {
    /// The command `duckdb`.
    Command(PathBuf),
    /// The module of `python3`, and where Python finds modules.
    Module(PathBuf, Vec<PathBuf>),
}

/// The layout of a query's rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SqlLayout {
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
    fn find() -> Result<Self, Failure> {
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
    fn ask(&self, views: &str, query: &str, layout: SqlLayout) -> Result<(), Failure> {
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
        let (said, hint) = refusal_in_words(said.trim(), views);
        let failure = Failure::new(Exit::Usage, anyhow!("DuckDB refuses the query: {said}"));
        Err(hint
            .into_iter()
            .fold(failure, Failure::hint)
            .hint("`rtrace sql FILE 'show all tables'` lists the tables, `describe TABLE` the columns of one."))
    }
}

/// Stands between the views and the query: a comment of SQL.
const SEPARATOR: &str = "-- query\n";

/// The same for Python: SQL on standard input; the layout, the current directory and places of modules as arguments.
const PROGRAM: &str = include_str!("sql/engine.py");

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

/// A folder below that of temporary files, which only its owner can enter; it is removed with all it holds when this is
/// dropped or a signal ends the program.
struct Folder(UnfinishedPath);

impl Folder {
    /// Makes an empty one.
    fn new() -> Result<Self, Failure> {
        let template = std::env::temp_dir().join("rtrace-sql-XXXXXX");
        let made = UnfinishedPath::new(|| Ok((nix::unistd::mkdtemp(&template)?, ())));
        let (folder, ()) = made.with_context(|| format!("failed to create {}", template.display()))?;
        Ok(Folder(folder))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(self.path());
    }
}

/// DuckDB's words and a hint; of a table that is not there the nearest of `views`, as DuckDB's own may be another thing of a similar
/// name.
fn refusal_in_words(said: &str, views: &str) -> (String, Option<String>) {
    let between = |begin: &str, end: &str| said.split_once(begin)?.1.split_once(end).map(|(name, _)| name.to_owned());
    if let Some(table) = between("Table with name ", " does not exist") {
        let first = said.lines().next().unwrap_or(said).to_owned();
        let tables = || views.lines().filter_map(|line| line.strip_prefix("create view ")?.split_once(" as "));
        let names: Vec<String> = tables().map(|(name, _)| name.replace('"', "")).collect();
        let alone = |name: &str| name.rsplit('.').next().map(str::to_owned).unwrap_or_default();
        let own = format!("{table}.");
        let of_schema: Vec<&str> = names.iter().map(String::as_str).filter(|name| name.starts_with(&own)).collect();
        if !of_schema.is_empty() {
            return (first, Some(format!("`{table}` is a group of tables: {}.", some(&of_schema))));
        }
        let bare: Vec<String> = names.iter().map(|name| alone(name)).collect();
        let wanted = alone(&table);
        let near = nearest(&wanted, bare.iter().map(String::as_str));
        let meant = near.first().and_then(|near| names.iter().find(|name| alone(name) == **near));
        let mut all: Vec<&str> = names.iter().map(String::as_str).collect();
        all.sort_by_key(|name| name.contains('.')); // those of slices and tasks before those of events
        let hint =
            meant.map_or_else(|| format!("tables are {}.", some(&all)), |name| format!("did you mean `{name}`?"));
        return (first, Some(hint));
    }
    if let Some(function) = between("Scalar Function with name ", " does not exist") {
        let first = said.lines().next().unwrap_or(said).to_owned();
        let is_percentile = function.contains("perc") || function.contains("quantile") || function.starts_with('p');
        let hint = is_percentile.then(|| "a percentile is `quantile_cont(dur, 0.99)`.".to_owned());
        return (first, hint);
    }
    let column = between("Referenced column \"", "\" not found");
    let hint = column.filter(|text| !text.contains('_')).map(|text| {
        format!("a text stands in single quotes, as `comm = '{text}'`; double quotes are about names of columns.")
    });
    (said.to_owned(), hint)
}

/// The first of `names`, in backquotes.
fn some(names: &[&str]) -> String {
    const MOST: usize = 12;
    let first: Vec<String> = names.iter().take(MOST).map(|name| format!("`{name}`")).collect();
    format!("{}{}", first.join(", "), if names.len() > MOST { ", ..." } else { "" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_table_is_an_event_of_the_recording() {
        let views = "create schema if not exists \"sched\";\ncreate view \"sched\".\"sched_switch\" as select 1;\ncreate view \"sched_slice\" as select 2;\n";
        let said =
            "Catalog Error: Table with name sched_swich does not exist!\nDid you mean \"sched_slice\"?\nLINE 1: ...";
        let (text, hint) = refusal_in_words(said, views);
        assert_eq!(text, "Catalog Error: Table with name sched_swich does not exist!");
        assert_eq!(hint.as_deref(), Some("did you mean `sched.sched_switch`?"));
        let said = "Catalog Error: Table with name sched does not exist!";
        assert_eq!(
            refusal_in_words(said, views).1.as_deref(),
            Some("`sched` is a group of tables: `sched.sched_switch`.")
        );
        let said = "Catalog Error: Table with name nosuch does not exist!";
        assert_eq!(refusal_in_words(said, views).1.as_deref(), Some("tables are `sched_slice`, `sched.sched_switch`."));
        let said = "Binder Error: Referenced column \"sleep\" not found in FROM clause!";
        assert!(refusal_in_words(said, views).1.is_some_and(|hint| hint.contains("`comm = 'sleep'`")));
    }
}
