//! `rtrace check`.

mod context;
pub(in crate::cli) mod dropped;
mod github;
mod json;
mod junit;
pub(in crate::cli) mod names;
mod saved;
mod spec;
mod text;

use super::analyze::FileArgs;
use super::analyze::unit::Unit;
use super::exit::{Exit, Failure, print};
use super::piped::is_stdout;
use super::query::{QueryEvents, one_buffer};
use super::saved_summary;
use anyhow::anyhow;
use names::RecordingNames;
use rtrace::analysis::{Extent, Extents};
use rtrace::assertion::{Assertion, AssertionVerdict, Check, Checked, Conditions};
use rtrace::recording::Query;
use rtrace::symbols::Comms;
use rtrace::trace_dat::Buffer;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Hold assertions against a recording: pass, fail, or not known
///
/// FILE may be a saved summary of recordings (`rtrace baseline save`). An assertion passes only if it holds whatever was lost. Exit codes: 0 if all pass, 3 if one fails, 4 if none fails and one
/// is indeterminate: its event was not recorded, there are too few samples, or events are missing. `rtrace help assertions`
/// has the language.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace check run.dat --assert 'lost == 0' --assert 'p99(wait(nginx)) < 500us'
  rtrace check --assert 'max(latency(irq:irq_handler_entry, irq:irq_handler_exit, common_cpu)) < 100us'
  rtrace check run.dat --spec rtrace.toml --junit results.xml
  rtrace check baseline.json --assert 'p99(wait()) < 500us'
  rtrace check run.dat --assert 'rate(sched:sched_migrate_task) < 100/s' --json | jq .verdict")]
pub(crate) struct Args {
    #[command(flatten)]
    file: FileArgs,
    /// Assertion that must hold; may be given several times
    #[arg(short, long, value_name = "ASSERTION", value_parser = assertion)]
    assert: Vec<Assertion>,
    /// File of assertions: a TOML table `[assert]` of names and assertions, perhaps `min-samples`
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    spec: Option<PathBuf>,
    /// Buffer to look at, if several hold events; the empty name for the top buffer
    #[arg(long, value_name = "NAME")]
    buffer: Option<String>,
    /// Least number of durations that a mean, a quantile, a minimum or a maximum says something of
    #[arg(long, value_name = "N")]
    min_samples: Option<u64>,
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
    /// Write a JUnit report too
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    junit: Option<PathBuf>,
    /// Annotations for GitHub instead of text, and a table in the job's summary
    #[arg(long, conflicts_with = "json")]
    github: bool,
}

pub(super) fn assertion(text: &str) -> Result<Assertion, String> {
    Assertion::parse(text).map_err(|error| {
        let hints: String = error.hints().iter().map(|hint| format!("\n  Hint: {hint}")).collect();
        format!("\n{error}{hints}")
    })
}

/// An assertion's verdict, its name, and the events around the place that it is about.
pub(super) struct Judged {
    name: String,
    checked: Checked,
    context: Vec<String>,
}

/// All verdicts about a recording.
pub(super) struct Verdicts<'a> {
    path: &'a Path,
    buffer: &'a str,
    clock: &'a str,
    unit: Unit,
    extent: Extent,
    results: Vec<Judged>,
}

impl Verdicts<'_> {
    /// The verdict on all together: as bad as the worst.
    fn all(&self) -> AssertionVerdict {
        let has = |verdict| self.results.iter().any(|result| result.checked.verdict == verdict);
        match (has(AssertionVerdict::Fail), has(AssertionVerdict::Indeterminate)) {
            (true, _) => AssertionVerdict::Fail,
            (_, true) => AssertionVerdict::Indeterminate,
            _ => AssertionVerdict::Pass,
        }
    }

    fn exit(&self) -> Exit {
        match self.all() {
            AssertionVerdict::Pass => Exit::Success,
            AssertionVerdict::Fail => Exit::Unmet,
            AssertionVerdict::Indeterminate => Exit::Incomplete,
        }
    }

    fn count(&self, verdict: AssertionVerdict) -> usize {
        self.results.iter().filter(|result| result.checked.verdict == verdict).count()
    }
}

/// A verdict as JSON and tables have it.
fn word(verdict: AssertionVerdict) -> &'static str {
    match verdict {
        AssertionVerdict::Pass => "pass",
        AssertionVerdict::Fail => "fail",
        AssertionVerdict::Indeterminate => "indeterminate",
    }
}

pub(super) fn run(args: &Args) -> Result<Exit, Failure> {
    let mut named: Vec<(String, Assertion)> =
        args.assert.iter().map(|assertion| (assertion.text.clone(), assertion.clone())).collect();
    let mut min_samples = args.min_samples;
    if let Some(path) = &args.spec {
        let spec = spec::read(path)?;
        named.extend(spec.assertions);
        min_samples = min_samples.or(spec.min_samples);
    }
    if named.is_empty() {
        let error = anyhow!("nothing is asserted");
        return Err(
            Failure::new(Exit::Usage, error).hint("Say what must hold: `--assert 'lost == 0'`, or `--spec FILE`.")
        );
    }
    let min_samples = min_samples.unwrap_or(1);
    let path = args.file.path();
    if let Some(summary) = saved_summary::saved(path)? {
        if !args.file.is_whole() || args.buffer.is_some() {
            let error = anyhow!("{} is a saved summary, which has no events to choose from", path.display());
            return Err(Failure::new(Exit::Usage, error).hint("`rtrace baseline save` takes a window and a buffer."));
        }
        let verdicts = saved::judge(named, min_samples, path, &summary);
        let mut out = Vec::new();
        let exit = args.show(&verdicts, &Comms::default(), &mut out)?;
        print(&String::from_utf8_lossy(&out))?;
        return Ok(exit);
    }
    args.file.answer(|events, out| {
        let (query, buffer) = one_buffer(args.buffer.as_deref(), events)?;
        let verdicts = judge(named, min_samples, events, &query, buffer)?;
        args.show(&verdicts, &events.inputs[0].symbols.comms, out)
    })
}

impl Args {
    /// Writes the verdicts in the form that is asked for; `comms` has the names of tasks.
    fn show(&self, verdicts: &Verdicts<'_>, comms: &Comms, out: &mut dyn Write) -> Result<Exit, Failure> {
        if let Some(path) = &self.junit {
            junit::write(verdicts, path)?;
        }
        match (self.json, self.github) {
            (true, _) => writeln!(out, "{:#}", json::document(verdicts, comms))?,
            (_, true) => github::write(verdicts, out)?,
            _ => text::write(verdicts, comms, out)?,
        }
        Ok(verdicts.exit())
    }
}

/// Holds `assertions` against what was just recorded to `path`; of several buffers that hold events, against the main one.
/// Gives the verdicts as text.
pub(super) fn check_recorded(assertions: &[Assertion], path: &Path) -> Result<(Exit, String), Failure> {
    let named = assertions.iter().map(|assertion| (assertion.text.clone(), assertion.clone())).collect();
    let mut said = Vec::new();
    let exit = FileArgs::of(path).answer(|events, _| {
        let (query, buffer) = one_buffer(None, events).or_else(|_| one_buffer(Some(""), events))?;
        let verdicts = judge(named, 1, events, &query, buffer)?;
        text::write(&verdicts, &events.inputs[0].symbols.comms, &mut said)?;
        Ok(verdicts.exit())
    })?;
    Ok((exit, String::from_utf8_lossy(&said).into_owned()))
}

fn judge<'e>(
    named: Vec<(String, Assertion)>,
    min_samples: u64,
    events: &QueryEvents<'e>,
    query: &Query<'e>,
    buffer: &'e Buffer,
) -> Result<Verdicts<'e>, Failure> {
    let input = &events.inputs[0];
    let (names, assertions): (Vec<String>, Vec<Assertion>) = named.into_iter().unzip();
    let formats: Vec<_> = input.formats().collect();
    let check = Check::new(assertions, &formats, input.trace.abi, &input.symbols.comms).map_err(|error| {
        let hints = error.hints().to_vec();
        hints.into_iter().fold(Failure::new(Exit::Usage, anyhow!("{error}")), Failure::hint)
    })?;
    let ((extent, findings), outcome) =
        query.analyse((Extents::new(formats.iter().copied(), input.trace.abi), check.measures()))?;
    let trace = &input.trace;
    let damaged = outcome.damage.count + outcome.unknown().len() as u64 + trace.damage.len() as u64;
    let unit = Unit::of(query.sources().iter().any(|source| source.in_ticks));
    let names_of_recording = RecordingNames::of(input);
    let conditions = Conditions {
        damaged,
        dropped: dropped::dropped(trace, &buffer.name),
        enabled: trace.enabled_events(buffer),
        in_ticks: unit == Unit::Ticks,
        min_samples,
        names: &names_of_recording,
    };
    let checked = check.verdicts(&findings, &extent, &conditions).into_iter();
    let results: Vec<Judged> = checked
        .zip(names)
        .map(|(checked, name)| {
            let wanted = checked.spot.filter(|_| checked.verdict != AssertionVerdict::Pass);
            let context = wanted.map(|spot| context::lines(query, &spot, unit)).transpose()?.unwrap_or_default();
            Ok(Judged { name, checked, context })
        })
        .collect::<Result<_, Failure>>()?;
    Ok(Verdicts { path: &input.path, buffer: &buffer.name, clock: &buffer.clock, unit, extent, results })
}

/// Writes a file at a path that the user names.
pub(in crate::cli) fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    if is_stdout(path) {
        return print(text).map(drop);
    }
    let failed = |error| anyhow!("cannot write {}", path.display()).context(error);
    let mut file = rtrace::safe_file::create(path, 0o644).map_err(failed)?;
    file.write_all(text.as_bytes()).map_err(failed)?;
    Ok(())
}

/// Reads a file at a path that the user names.
pub(in crate::cli) fn read_file(path: &Path) -> Result<String, Failure> {
    Ok(fs::read_to_string(path)
        .map_err(|error| anyhow::Error::new(error).context(format!("cannot read {}", path.display())))?)
}
