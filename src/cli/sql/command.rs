//! `rtrace sql`: arguments, and the query put to the tables of all recordings.

use super::engine::{Engine, SqlLayout};
use super::folder::Folder;
use super::views;
use crate::cli::convert::write_tables;
use crate::cli::exit::{Exit, Failure};
use crate::cli::query::QueryArgs;
use crate::cli::unfinished;
use anyhow::anyhow;
use std::path::{Path, PathBuf};

/// Query recordings with SQL (needs an installed DuckDB)
///
/// Each event type is a view, SYSTEM.EVENT, beside the tables of slices and tasks (sched_slice, thread_state, meta, ...), as
/// docs/tables.md has them. A FILE is a recording, or a directory that `convert --to parquet` made. Takes the command
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
    events: QueryArgs,
}

impl SqlArgs {
    /// The files to ask, and the query.
    fn parts(&self) -> Result<(Vec<&Path>, &str), Failure> {
        let Some((query, files)) = self.words.split_last() else { return Err(no_query("it")) };
        // A query is no file's name, unless it was forgotten.
        if Path::new(query).exists() {
            return Err(no_query(query));
        }
        let files = files.iter().map(Path::new).collect::<Vec<_>>();
        Ok((if files.is_empty() { vec![Path::new("trace.dat")] } else { files }, query))
    }

    fn layout(&self) -> SqlLayout {
        match (self.json, self.csv) {
            (true, _) => SqlLayout::Json,
            (_, true) => SqlLayout::Csv,
            _ => SqlLayout::Box,
        }
    }
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
    engine.ask(&views, query, args.layout())?;
    Ok(exit)
}
