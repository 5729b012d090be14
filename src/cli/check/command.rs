//! Arguments of `rtrace check`, and what it does.
//! Assertions held against a saved summary.

use super::formats::Bound;
use super::judge::{JudgeOptions, judge};
use super::verdicts::{Judged, Verdicts};
use super::{formats, verdicts};
use crate::cli::analyze::FileArgs;
use crate::cli::exit::{Exit, Failure, print};
use crate::cli::language::of_value;
use crate::cli::page::{text_section, write_page};
use crate::cli::page_args::PageArgs;
use crate::cli::query::{ClockUnit, one_buffer};
use crate::cli::terminal::{Color, PagerArgs, Painted};
use crate::cli::unfinished::read_file;
use crate::cli::{piped, saved_summary};
use anyhow::anyhow;
use rtrace::analysis::Extent;
use rtrace::internal::assertion::Assertion;
use rtrace::internal::comparison::SavedRuns;
use rtrace::internal::trace_dat::is_recording;
use rtrace::symbols::Comms;
use rtrace::syntax::Diagnostic;
use serde::Deserialize;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Check assertions against a recording: pass, fail, or indeterminate
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
  rtrace check run.dat --assert 'rate(sched:sched_migrate_task) < 100/s' --json | jq .verdict
  p99=$(rtrace check run.dat --value 'p99(wait(nginx))')     # nanoseconds")]
pub(crate) struct CheckArgs {
    #[command(flatten)]
    file: FileArgs,
    /// Assertion that must hold; may be given several times
    #[arg(short, long, value_name = "ASSERTION", value_parser = assertion)]
    assert: Vec<Assertion>,
    /// File of assertions: one a line, or a TOML table `[assert]` of names and assertions
    ///
    /// Lines that begin with `#` are comments. The TOML may say `min-samples = N` and `allow-absent = true` before the table.
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    spec: Option<PathBuf>,
    /// Print the number that a quantity has, and nothing else: nanoseconds, bytes, events, or of a rate events per second
    ///
    /// Given several times, one line each. If losses, or intervals whose begin or end is not recorded, keep it from being known,
    /// nothing is printed for it and those after it, and the exit code is 4: `--bound` prints what is known of it.
    #[arg(long, value_name = "QUANTITY", value_parser = quantity, conflicts_with_all = ["assert", "spec", "json", "junit", "html", "github"])]
    value: Vec<Assertion>,
    /// The number that `--value` prints of a quantity that is not known exactly
    #[arg(long, value_enum, value_name = "WHICH", requires = "value", hide_short_help = true)]
    bound: Option<Bound>,
    /// Buffer to look at, if several hold events; the empty name for the top buffer
    #[arg(long, value_name = "NAME")]
    buffer: Option<String>,
    /// Least number of durations that a mean, a quantile, a minimum or a maximum says something of
    #[arg(long, value_name = "N")]
    min_samples: Option<u64>,
    /// Take a name that occurs nowhere in the recording (a task, a handler, a lock, a function) for one of which nothing happened
    ///
    /// Without it an assertion about such a name is indeterminate: it may be mistyped, or the task renamed.
    #[arg(long)]
    allow_absent: bool,
    /// End with 0 where no assertion fails and one is indeterminate, which else ends with 4
    #[arg(long)]
    allow_indeterminate: bool,
    /// One JSON document instead of text
    #[arg(long)]
    json: bool,
    /// Colour the verdicts of the text
    #[arg(long, value_enum, value_name = "WHEN", default_value_t, hide_short_help = true)]
    color: Color,
    /// Write a JUnit report too
    #[arg(long, value_name = "FILE", value_hint = clap::ValueHint::FilePath)]
    junit: Option<PathBuf>,
    #[command(flatten)]
    pager: PagerArgs,
    #[command(flatten)]
    page: PageArgs,
    /// Annotations for GitHub instead of text, and a table in the job's summary
    #[arg(long, conflicts_with = "json")]
    github: bool,
}

pub(in crate::cli) fn assertion(text: &str) -> Result<Assertion, String> {
    Assertion::parse(text).map_err(|error| of_value(&error))
}

fn quantity(text: &str) -> Result<Assertion, String> {
    Assertion::of_quantity(text).map_err(|error| of_value(&error))
}

pub(in crate::cli) fn run(args: &CheckArgs) -> Result<Exit, Failure> {
    let mut named: Vec<(String, Assertion)> =
        args.assert.iter().chain(&args.value).map(|assertion| (assertion.text.clone(), assertion.clone())).collect();
    let (mut min_samples, mut allow_absent) = (args.min_samples, args.allow_absent);
    if let Some(path) = &args.spec {
        let spec = read(path)?;
        named.extend(spec.assertions);
        min_samples = min_samples.or(spec.min_samples);
        allow_absent |= spec.allow_absent;
    }
    if named.is_empty() {
        let error = anyhow!("nothing is asserted");
        return Err(Failure::new(Exit::Usage, error).hint(
            "Say what must hold: `--assert 'lost == 0'`, or `--spec FILE`; or what to print: `--value 'max(wait())'`.",
        ));
    }
    for path in args.junit.as_deref().into_iter().chain(args.page.path()) {
        args.page.overwrite.check(path)?;
    }
    let _pager = args.pager.start();
    let options = JudgeOptions { min_samples: min_samples.unwrap_or(1), allow_absent };
    if args.file.named().is_none() {
        piped::tell_that_unread(args.file.path());
    }
    let path = args.file.path();
    if let Some(summary) = saved_summary::saved(path)? {
        if args.page.path().is_some() {
            let error = anyhow!("{} is a saved summary, which has no events for a page", path.display());
            return Err(Failure::new(Exit::Usage, error).hint("`--html` is for a recording."));
        }
        if !args.file.is_whole() || args.buffer.is_some() {
            let error = anyhow!("{} is a saved summary, which has no events to choose from", path.display());
            return Err(Failure::new(Exit::Usage, error).hint("`rtrace baseline save` takes a window and a buffer."));
        }
        let verdicts = judge_saved(named, options.min_samples, path, &summary);
        let mut out = Vec::new();
        let exit = args.show(&verdicts, &Comms::default(), &mut out)?;
        print(&String::from_utf8_lossy(&out))?;
        return Ok(exit);
    }
    args.file.answer(|events, out| {
        let (query, buffer) = one_buffer(args.buffer.as_deref(), events)?;
        let verdicts = judge(named, options, events, &query, buffer)?;
        let verdicts = Verdicts { window: args.file.window(), ..verdicts };
        let comms = &events.inputs[0].symbols.comms;
        if let Some(path) = args.page.path() {
            let mut words = Painted::default();
            verdicts::write_text(&verdicts, comms, &mut words)?;
            write_page(path, events, Some(text_section("Assertions", &words.into_text())))?;
        }
        args.show(&verdicts, comms, out)
    })
}

impl CheckArgs {
    /// Writes the verdicts in the form that is asked for; `comms` has the names of tasks.
    fn show(&self, verdicts: &Verdicts<'_>, comms: &Comms, out: &mut dyn Write) -> Result<Exit, Failure> {
        if let Some(path) = &self.junit {
            formats::write_junit(verdicts, path)?;
        }
        if !self.value.is_empty() {
            return formats::write_value(verdicts, self.bound, out);
        }
        match (self.json, self.github) {
            (true, _) => writeln!(out, "{:#}", formats::json_document(verdicts, comms))?,
            (_, true) => formats::write_github(verdicts, out)?,
            _ => {
                let mut words = Painted::default();
                verdicts::write_text(verdicts, comms, &mut words)?;
                words.print(self.color)?;
            }
        }
        match verdicts.exit() {
            Exit::Incomplete if self.allow_indeterminate => Ok(Exit::Success),
            exit => Ok(exit),
        }
    }
}

/// The verdicts about each run of the summary at `path`; of several runs each is named.
fn judge_saved<'a>(
    named: Vec<(String, Assertion)>,
    min_samples: u64,
    path: &'a Path,
    summary: &'a SavedRuns,
) -> Verdicts<'a> {
    let runs = &summary.runs;
    let mut results = Vec::new();
    for (name, assertion) in named {
        for (number, run) in runs.iter().enumerate() {
            let name = match runs.len() {
                1 => name.clone(),
                count => format!("{name} (run {} of {count}, {})", number + 1, run.file),
            };
            results.push(Judged { name, checked: run.judge(&assertion, min_samples), context: Vec::new() });
        }
    }
    let sum = |of: fn(&rtrace::internal::comparison::SavedRun) -> u64| runs.iter().map(of).fold(0, u64::saturating_add);
    let mut extent = Extent::default();
    (extent.events, extent.lost, extent.gaps) = (sum(|run| run.events), sum(|run| run.lost), sum(|run| run.gaps));
    let (buffer, clock) = runs.first().map_or(("", ""), |run| (&run.buffer, &run.clock));
    let unit = ClockUnit::of(runs.iter().any(|run| run.in_ticks));
    let unfinished = runs.iter().any(|run| run.unfinished);
    let window = String::new();
    Verdicts { path, window, buffer, clock, unit, unfinished, extent, host: None, began: None, wall: None, results }
}

// A file of assertions.

/// The content of a file of assertions.
struct CheckSpec {
    min_samples: Option<u64>,
    allow_absent: bool,
    /// Names and assertions, in the file's order.
    assertions: Vec<(String, Assertion)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct CheckTables {
    min_samples: Option<u64>,
    #[serde(default)]
    allow_absent: bool,
    #[serde(default)]
    assert: toml::Table,
}

/// The hint on a file of another form.
const FORM: &str = "A file of assertions has one a line, `max(wait()) < 5ms`, or is TOML: `[assert]`, then `name = \"max(wait()) < 5ms\"`.";

/// Reads the file at `path`: TOML if it is that or has a table, else a line for each assertion.
fn read(path: &Path) -> Result<CheckSpec, Failure> {
    if is_recording(path) {
        let error = anyhow!("{} is a recording, and --spec takes a file of assertions", path.display());
        return Err(Failure::new(Exit::Usage, error).hint("as in `rtrace check FILE --spec assertions.toml`."));
    }
    let text = read_file(path)
        .map_err(|failure| failure.hint("it is a file with an assertion a line, as `max(wait()) < 5ms`."))?;
    let first = text.trim_start().lines().next().unwrap_or_default().trim_end();
    let other = match first {
        _ if first.starts_with('{') => Some("JSON"),
        _ if first == "---" || first.ends_with(':') => Some("YAML"),
        _ => None,
    };
    if let Some(other) = other {
        let error = anyhow!("{} is {other}, which assertions are not read from", path.display());
        return Err(Failure::new(Exit::Usage, error).hint(FORM));
    }
    let usage = |error: anyhow::Error| Failure::new(Exit::Usage, error.context(format!("{}", path.display())));
    let tables: CheckTables = match toml::from_str(&text) {
        Ok(tables) => tables,
        Err(_) if is_plain(&text) => return lines(&text, path),
        Err(error) => {
            return Err(usage(anyhow!("{}", error.to_string().trim_end())).hint(FORM));
        }
    };
    let mut assertions = Vec::new();
    for (name, value) in tables.assert {
        let toml::Value::String(text) = value else {
            return Err(usage(anyhow!("`{name}` must be an assertion in quotes")));
        };
        let assertion = Assertion::parse(&text).map_err(|error| refused(usage(anyhow!("{name}: {error}")), &error))?;
        assertions.push((name, assertion));
    }
    Ok(CheckSpec { min_samples: tables.min_samples, allow_absent: tables.allow_absent, assertions })
}

/// True if no line assigns a text or opens a table, as TOML's do.
fn is_plain(text: &str) -> bool {
    let is_toml = |line: &str| {
        let assigned = line.split_once('=').filter(|(name, _)| !name.contains('('));
        line.trim_start().starts_with('[')
            || assigned.is_some_and(|(_, value)| value.trim_start().starts_with(['"', '\'']))
    };
    !text.lines().any(is_toml)
}

/// The assertions of lines; those that begin with `#` are comments, as is what follows ` #`.
fn lines(text: &str, path: &Path) -> Result<CheckSpec, Failure> {
    let mut assertions = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let quotes = |text: &str| text.matches(['"', '\'']).count();
        let comment = line.match_indices('#').map(|(at, _)| &line[..at]);
        let mut comment = comment.filter(|before| before.trim_end().len() < before.len() || before.is_empty());
        let line = comment.find(|before| quotes(before) % 2 == 0).unwrap_or(line).trim();
        if line.is_empty() {
            continue;
        }
        let assertion = Assertion::parse(line).map_err(|error| {
            refused(Failure::new(Exit::Usage, anyhow!("{}:{}: {error}", path.display(), number + 1)), &error)
        })?;
        assertions.push((line.to_owned(), assertion));
    }
    Ok(CheckSpec { min_samples: None, allow_absent: false, assertions })
}

fn refused(failure: Failure, error: &Diagnostic) -> Failure {
    error.hints().iter().cloned().fold(failure, Failure::hint)
}
