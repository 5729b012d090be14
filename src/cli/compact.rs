//! `rtrace compact`.

mod batch;
mod day;
mod store;

use super::exit::{Exit, Failure};
use super::terminal::note;
use super::{foreign, unfinished};
use anyhow::anyhow;
use batch::Compaction;
use day::{DayTables, MANIFEST, Manifest};
use rtrace::internal::trace_dat::is_recording;
use rtrace::internal::wall_time::utc_day;
use rtrace::units::ByteSize;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};
use store::{CompactionLock, TableStore};

/// Join tables of many recordings into few large files
///
/// DIRECTORY holds what `convert --to parquet` made of any number of recordings of any number of machines, copied one over
/// the other. The files of each table and day become parts, `date=DAY/event=TABLE/part-ID.parquet`, with a column `host`, in
/// the order of machines and times, and are removed then. Killed at any moment, nothing is lost, and the next run goes on.
/// `manifest.jsonl` names all parts.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace compact fleet
  rtrace compact inbox -o fleet --keep 30d
  rtrace sql fleet 'select host, count(*) from sched_slice group by host'")]
pub(crate) struct CompactArgs {
    /// Directory of tables
    #[arg(value_name = "DIRECTORY", value_hint = clap::ValueHint::DirPath)]
    directory: PathBuf,
    /// Write parts and manifest below STORE [default: DIRECTORY]
    #[arg(short, long, value_name = "STORE", value_hint = clap::ValueHint::DirPath)]
    output: Option<PathBuf>,
    /// Largest part; only a table of one recording that is larger makes a larger one
    #[arg(long, value_name = "SIZE", default_value = "128M")]
    size: ByteSize,
    /// Remove parts of days that ended more than DAYS ago, as in 30d
    #[arg(long, value_name = "DAYS", value_parser = days)]
    keep: Option<u32>,
}

fn days(text: &str) -> Result<u32, String> {
    let digits = text.strip_suffix('d').unwrap_or(text);
    digits.parse().map_err(|_| "expected a number of days, as in 30d".to_owned())
}

pub(crate) fn run(args: &CompactArgs) -> Result<Exit, Failure> {
    unfinished::watch();
    if !args.directory.is_dir() {
        if !args.directory.exists() {
            return Err(Failure::new(Exit::Failed, anyhow!("{}: No such file or directory", args.directory.display())));
        }
        if is_recording(&args.directory) {
            let (error, file) = (
                anyhow!("{} is a recording, no directory of tables", args.directory.display()),
                args.directory.display(),
            );
            return Err(Failure::new(Exit::Failed, error)
                .hint(format!("`rtrace convert {file} --to parquet -o DIRECTORY` makes one; `rtrace convert {file} OUT.dat --compression zstd` packs a recording.")));
        }
        let error = anyhow!("{} is no directory", args.directory.display());
        return Err(
            Failure::new(Exit::Failed, error).hint("`rtrace convert FILE --to parquet -o DIRECTORY` makes one.")
        );
    }
    let store = TableStore::new(&args.directory, args.output.as_deref().unwrap_or(&args.directory));
    let (lock, was_stopped) = CompactionLock::take(&store.output)?;
    if was_stopped {
        store::remove_unfinished(&store.output, MANIFEST)?;
    }
    let mut manifest = Manifest::read(&store.output)?;
    let mut done = Compaction::default();
    let dates = store.dates()?;
    if dates.is_empty() && foreign::folder(&args.directory).is_some() {
        note!(
            "rtrace: {} holds recordings and no tables\n  Hint: `rtrace convert FILE --to parquet -o DIRECTORY` makes \
             tables of each, which `rtrace compact DIRECTORY` joins.",
            args.directory.display()
        );
    }
    for date in dates {
        let mut day = DayTables::new(&store, &date, args.size.0, was_stopped);
        let compacted = day.compact(&mut done);
        // What was joined before a failure is in its place all the same.
        day.finish(&mut manifest, &mut done)?;
        compacted?;
    }
    if let Some(days) = args.keep {
        remove_before(&store, &day_before(days), &mut manifest, &mut done)?;
    }
    lock.release()?;
    done.tell(&args.directory)?;
    Ok(if done.left > 0 { Exit::Incomplete } else { Exit::Success })
}

/// The day this many days ago, in UTC.
fn day_before(days: u32) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as i64;
    utc_day(now.saturating_sub(i64::from(days) * 86_400_000_000_000))
}

/// Removes the parts of days before `first`, as in `2026-11-24`. Parts whose day is not known stay.
fn remove_before(
    store: &TableStore,
    first: &str,
    manifest: &mut Manifest,
    done: &mut Compaction,
) -> Result<(), Failure> {
    for date in store.dates()? {
        let day = date.strip_prefix("date=").unwrap_or_default();
        let is_day = day.len() == first.len() && day.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        if is_day && day < first {
            let parts = store.parts_of_day(&date)?;
            manifest.replace(&date, Vec::new())?;
            for part in parts {
                store::remove(&part)?;
                done.expired += 1;
            }
        }
    }
    Ok(())
}
