//! `rtrace baseline save`.

use crate::cli::diff::{PartArgs, metric, runs_of};
use crate::cli::exit::{Exit, Failure};
use crate::cli::named_files::write_file;
use crate::cli::terminal::note;
use crate::cli::trace_file::Overwrite;
use rtrace::internal::assertion::Metric;
use rtrace::internal::comparison::SavedRuns;
use rtrace::internal::safe_file::PRIVATE;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Save a summary of recordings of the same load
///
/// Five recordings or more say how much runs differ, and are saved as wholes; less are saved by parts of their time.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace baseline save run.dat -o baseline.json
  rtrace baseline save run?.dat -o baseline.json --metric 'p99(wait(nginx))'")]
pub(super) struct BaselineSaveArgs {
    /// Recordings, or saved summaries to be joined
    #[arg(value_name = "FILE", required = true, value_hint = clap::ValueHint::FilePath)]
    files: Vec<PathBuf>,
    /// File to write; `-` is standard output
    #[arg(short, long, value_name = "FILE", value_hint = clap::ValueHint::FilePath, required_unless_present = "json")]
    output: Option<PathBuf>,
    /// Print the summary instead: it is JSON
    #[arg(long, conflicts_with = "output")]
    json: bool,
    /// Quantity to save the series of, beside the usual ones
    #[arg(short, long, value_name = "QUANTITY", value_parser = metric)]
    metric: Vec<Metric>,
    #[command(flatten)]
    overwrite: Overwrite,
    #[command(flatten)]
    part: PartArgs,
}

pub(super) fn run(args: &BaselineSaveArgs) -> Result<Exit, Failure> {
    let output = args.output.as_deref().unwrap_or(Path::new("-"));
    args.overwrite.check(output)?;
    let mut runs = Vec::new();
    for file in &args.files {
        runs.extend(runs_of(file, &args.metric, &args.part, &mut |_| Ok(()))?);
    }
    let unfinished: Vec<String> = runs.iter().filter(|run| run.unfinished).map(|run| run.file.clone()).collect();
    let lacking: Vec<String> = runs.iter().filter(|run| run.has_losses()).map(|run| run.file.clone()).collect();
    write(output, SavedRuns::new(runs))?;
    for file in &unfinished {
        note!(
            "rtrace: {file} is unfinished: its recorder runs or was killed, and what came last is not in the summary"
        );
    }
    for file in &lacking {
        note!("rtrace: {file} lacks events: comparisons with it are mostly indeterminate");
    }
    Ok(if lacking.is_empty() { Exit::Success } else { Exit::Incomplete })
}

/// Writes a summary, each fact and each series on a line of its own, so that a change is a small one.
pub(super) fn write(path: &Path, summary: SavedRuns) -> Result<(), Failure> {
    let summary = summary.compact();
    let runs = summary.runs.iter().map(|run| {
        object(&serde_json::to_value(run)?, |name, fact| match name {
            "series" => object(fact, |_, series| Ok(series.to_string())),
            _ => Ok(fact.to_string()),
        })
    });
    let runs = runs.collect::<Result<Vec<_>, Failure>>()?.join(",\n");
    let (schema, version) = (Value::from(summary.schema), summary.version);
    let text = format!("{{\"schema\":{schema},\"version\":{version},\"runs\":[\n{runs}\n]}}\n");
    write_file(path, &text, PRIVATE)
}

/// An object with a line for each member.
fn object(value: &Value, of: impl Fn(&str, &Value) -> Result<String, Failure>) -> Result<String, Failure> {
    let members = value.as_object().into_iter().flatten();
    let lines = members.map(|(name, value)| Ok(format!("{}:{}", Value::from(name.as_str()), of(name, value)?)));
    Ok(format!("{{\n{}\n}}", lines.collect::<Result<Vec<_>, Failure>>()?.join(",\n")))
}
