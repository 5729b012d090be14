//! `rtrace baseline`.
//! Arguments of `rtrace baseline`, and which of its commands it is.
//! `rtrace baseline compare`.
//! `rtrace baseline save`.

use crate::cli::diff::{CompareArgs, FailOn, PartArgs, metric, print, report, runs_of, summaries};
use crate::cli::exit::{Exit, Failure};
use crate::cli::saved_summary::saved;
use crate::cli::terminal::note;
use crate::cli::trace_file::Overwrite;
use crate::cli::unfinished::write_file;
use anyhow::anyhow;
use rtrace::internal::assertion::Metric;
use rtrace::internal::comparison::SavedRuns;
use rtrace::internal::safe_file::PRIVATE;
use rtrace::units::counted;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Save summaries of recordings, and compare with them
///
/// A summary holds what a comparison needs: digest, kernel, clock, CPUs, events enabled and losses of each recording, and
/// statistics over time of each series. It is small enough to be committed beside the code.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace baseline save run?.dat -o baseline.json
  rtrace baseline compare baseline.json new?.dat --metric 'p99(wait(nginx))'
  rtrace baseline compare baseline.json new?.dat --update")]
pub(crate) struct BaselineArgs {
    #[command(subcommand)]
    what: BaselineCommand,
}

#[derive(clap::Subcommand)]
enum BaselineCommand {
    Save(BaselineSaveArgs),
    Compare(BaselineCompareArgs),
}

pub(crate) fn run(args: &BaselineArgs) -> Result<Exit, Failure> {
    match &args.what {
        BaselineCommand::Save(args) => save(args),
        BaselineCommand::Compare(args) => compare(args),
    }
}

/// Compare recordings with a saved summary
///
/// As `rtrace diff --fail-on worse BASE -- NEW`: ends with 0 if all metrics are the same or better, 3 if one is worse, 4 if
/// none is worse and one is indeterminate.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace baseline compare baseline.json new.dat
  rtrace baseline compare baseline.json new?.dat --metric 'p99(wait(nginx))' --markdown
  rtrace baseline compare baseline.json new?.dat --update")]
struct BaselineCompareArgs {
    /// Saved summary
    #[arg(value_name = "BASE", value_hint = clap::ValueHint::FilePath)]
    base: PathBuf,
    /// Recordings or saved summaries that are new
    #[arg(value_name = "NEW", required = true, value_hint = clap::ValueHint::FilePath)]
    new: Vec<PathBuf>,
    #[command(flatten)]
    compare: CompareArgs,
    /// Outcome that ends with 3: a metric that is worse, or one that changed at all
    #[arg(long, value_name = "OUTCOME", value_enum, default_value_t = FailOn::Worse)]
    fail_on: FailOn,
    /// Replace the summary by that of the new side, whatever the outcome; a side without all its events is refused
    #[arg(long)]
    update: bool,
}

fn compare(args: &BaselineCompareArgs) -> Result<Exit, Failure> {
    if saved(&args.base)?.is_none() {
        let error = anyhow!("{} is not a saved summary", args.base.display());
        let summary = args.new.iter().find(|path| matches!(saved(path), Ok(Some(_))));
        let hint = match summary {
            Some(summary) => format!(
                "the summary comes first: `rtrace baseline compare {} {}`.",
                summary.display(),
                args.base.display()
            ),
            None => "`rtrace diff BASE… -- NEW…` compares recordings.".to_owned(),
        };
        return Err(Failure::new(Exit::Usage, error).hint(hint));
    }
    let (base, new) = summaries(std::slice::from_ref(&args.base), &args.new, &args.compare, &mut |_| Ok(()))?;
    let exit = print(&report(&base, &new, &args.compare, args.fail_on)?, &args.compare)?;
    if args.update {
        if let Some(run) = new.runs.iter().find(|run| run.has_losses()) {
            let error = anyhow!("{} lacks events: {} stays as it is", run.file, args.base.display());
            return Err(Failure::new(Exit::Incomplete, error));
        }
        let runs = counted(new.runs.len() as u64, "recording");
        write(&args.base, SavedRuns::new(new.runs))?;
        note!("rtrace: {} is the summary of {runs} now", args.base.display());
    }
    Ok(exit)
}

/// Save a summary of recordings of the same load
///
/// Five recordings or more say how much runs differ, and are saved as wholes; less are saved by parts of their time.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace baseline save run.dat -o baseline.json
  rtrace baseline save run?.dat -o baseline.json --metric 'p99(wait(nginx))'")]
struct BaselineSaveArgs {
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

fn save(args: &BaselineSaveArgs) -> Result<Exit, Failure> {
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
fn write(path: &Path, summary: SavedRuns) -> Result<(), Failure> {
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
