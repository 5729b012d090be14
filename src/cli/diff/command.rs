//! Arguments of `rtrace diff`, and what it does.
//! Recordings and saved summaries as the sides of a comparison.
//! A recording's summary.

use super::args::{CompareArgs, FailOn, PartArgs, named_metrics};
use super::print::{print, report};
use super::report::{Report, write_text};
use crate::cli::analyze::FileArgs;
use crate::cli::exit::{Exit, Failure};
use crate::cli::page::{answered, text_section};
use crate::cli::page_args::PageArgs;
use crate::cli::query::{QueryEvents, one_buffer};
use crate::cli::recording_names::{RecordingNames, dropped};
use crate::cli::saved_summary::saved;
use crate::cli::terminal::Painted;
use crate::cli::trace_file::mode_like;
use crate::cli::unfinished::write_file;
use anyhow::{Context, anyhow};
use rtrace::analysis::{CellPlan, Cells, EventCells, Extents, Missing};
use rtrace::events::EventName;
use rtrace::internal::assertion::{Conditions, DurationSource, Finding, Measurements, Metric, Names};
use rtrace::internal::comparison::{CellSeries, SavedRun, SavedRuns};
use rtrace::internal::page::RecordingPage;
use rtrace::internal::safe_file::{PRIVATE, open_seekable};
use rtrace::internal::trace_dat::OptionId;
use rtrace::units::{EventId, Timestamp};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Compare recordings: better, worse, the same, or indeterminate
///
/// Each side is one or several recordings of the same load, or saved summaries (`rtrace baseline save`). Where one side has
/// five runs or more, the runs' values are compared; else blocks of time are, and `--run-spread` must say how much runs differ:
/// else all is indeterminate. Exit codes: 0 if all
/// metrics are the same or better, 3 if one is worse, 4 if none is worse and one is indeterminate; with `--fail-on never` 0, or 4
/// if nothing could be compared. `rtrace help comparisons` defines each number.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace diff old.dat new.dat --run-spread 10% --html new.html
  rtrace diff --metric 'p99(wait(nginx))' old?.dat -- new?.dat
  rtrace diff --markdown base.json -- new.dat
  rtrace diff --paired old?.dat -- new?.dat
  rtrace diff --metric 'mean(syscall(openat))' --json old?.dat -- new?.dat | jq .verdict")]
pub(crate) struct DiffArgs {
    /// Recordings or saved summaries to compare with; of two files without `--` the second one is NEW
    #[arg(value_name = "BASE", required = true, value_hint = clap::ValueHint::FilePath)]
    base: Vec<PathBuf>,
    /// Recordings or saved summaries that are new
    #[arg(value_name = "NEW", last = true, value_hint = clap::ValueHint::FilePath)]
    new: Vec<PathBuf>,
    #[command(flatten)]
    compare: CompareArgs,
    /// Outcome that ends with 3: a metric that is worse, or one that changed at all; what is indeterminate then ends with 4
    #[arg(long, value_name = "OUTCOME", value_enum, default_value_t = FailOn::Worse)]
    fail_on: FailOn,
    #[command(flatten)]
    page: PageArgs,
}

pub(crate) fn run(args: &DiffArgs) -> Result<Exit, Failure> {
    let (base, new) = match (args.base.as_slice(), args.new.as_slice()) {
        ([base, new], []) => (std::slice::from_ref(base), std::slice::from_ref(new)),
        (_, []) => {
            let error = anyhow!("NEW is missing: which recordings are to be compared with these?");
            let failure = Failure::new(Exit::Usage, error);
            let listed = args.base.iter().find_map(|word| {
                let (word, between) = (word.to_str()?, if word.to_str()?.contains(',') { "," } else { ".." });
                let parts: Vec<&str> = word.split(between).collect();
                let are_files = parts.len() > 1 && parts.iter().all(|part| std::path::Path::new(part).exists());
                are_files.then(|| format!("a blank is between two files: `rtrace diff {}`.", parts.join(" ")))
            });
            let both =
                || "`rtrace diff BASE NEW` compares two files, `rtrace diff BASE... -- NEW...` several.".to_owned();
            return Err(failure.hint(listed.unwrap_or_else(both)));
        }
        both => both,
    };
    args.page.check()?;
    let mut page = args.page.path().map(ComparisonPage::new);
    let look = &mut |events: &QueryEvents<'_>| page.as_mut().map_or(Ok(()), |page| page.look(events));
    let (base, new) = summaries(base, new, &args.compare, look)?;
    let report = report(&base, &new, &args.compare, args.fail_on)?;
    page.map_or(Ok(()), |page| page.write(&report))?;
    print(&report, &args.compare)
}

/// A look at the events of a recording, beside its summary.
pub(in crate::cli) type LookAtEvents<'l> = &'l mut dyn FnMut(&QueryEvents<'_>) -> Result<(), Failure>;

/// Both sides; `look` sees the recordings of the new one.
pub(in crate::cli) fn summaries(
    base: &[PathBuf],
    new: &[PathBuf],
    args: &CompareArgs,
    look: LookAtEvents<'_>,
) -> Result<(SavedRuns, SavedRuns), Failure> {
    let metrics = args.metrics().into_iter().map(|(metric, _)| metric);
    let metrics: Vec<Metric> = metrics.chain(args.adjust_for().cloned()).collect();
    let side = |paths: &[PathBuf], metrics: &[Metric], look: LookAtEvents<'_>| -> Result<SavedRuns, Failure> {
        let mut runs = Vec::new();
        for path in paths {
            runs.extend(runs_of(path, metrics, &args.part, look)?);
        }
        Ok(SavedRuns::new(runs))
    };
    let base = side(base, &metrics, &mut |_| Ok(()))?;
    let named = if args.metrics().is_empty() { named_metrics(&base)? } else { Vec::new() };
    let new = side(new, &[metrics, named].concat(), look)?;
    Ok((base, new))
}

/// The runs of a file: those it saved, or itself.
pub(in crate::cli) fn runs_of(
    path: &Path,
    metrics: &[Metric],
    part: &PartArgs,
    look: LookAtEvents<'_>,
) -> Result<Vec<SavedRun>, Failure> {
    match saved(path)? {
        Some(summary) => Ok(summary.runs),
        None => Ok(vec![summarise(path, metrics, part, look)?]),
    }
}

/// Quantities whose series every summary has if their events were recorded.
const ALWAYS: [&str; 6] = ["mean(wait())", "mean(preempted())", "mean(syscall())", "mean(irq())", "mean(io())", "busy"];
/// Calls, handlers and events that are rarer have no series of their own.
const LEAST_COUNT: u64 = 256;
/// Series of one kind at most, those with the greatest sum or number first.
const MOST_SERIES: usize = 12;

/// The summary of the recording at `path`, with the series that `metrics` need beside those that all have.
fn summarise(path: &Path, metrics: &[Metric], part: &PartArgs, look: LookAtEvents<'_>) -> Result<SavedRun, Failure> {
    let mut run = None;
    FileArgs::of_part(path, &part.window, part.threads).answer(|events, _| {
        run = Some(of_events(path, metrics, part, events)?);
        look(events)?;
        Ok(Exit::Success)
    })?;
    let mut run = run.ok_or_else(|| anyhow!("{}: nothing was read", path.display()))?;
    run.sha256 = sha256(path)?;
    Ok(run)
}

fn of_events(path: &Path, metrics: &[Metric], part: &PartArgs, events: &QueryEvents<'_>) -> Result<SavedRun, Failure> {
    let (query, buffer) = one_buffer(part.buffer.as_deref(), events)?;
    let input = &events.inputs[0];
    let trace = &input.trace;
    // What a flight recorder has of all CPUs.
    let late = query.late_begins()?.into_iter().map(|(_, time)| time).max();
    let (begin, _) = query.span_in_window()?.unwrap_or_default();
    let query = match late {
        Some(late) => query.since(Timestamp(begin.0.saturating_add(late))),
        None => query,
    };
    let (begin, end) = query.span_in_window()?.unwrap_or_default();
    let plan = CellPlan::new(begin.0, end.0, SavedRuns::CELLS);
    let formats: Vec<_> = input.formats().collect();
    let always = ALWAYS.iter().filter_map(|text| Metric::parse(text).ok());
    let all: Vec<Metric> = metrics.iter().cloned().chain(always).collect();
    let names = RecordingNames::of(input);
    let measurements =
        Measurements::new(&all, &formats, trace.abi, &input.symbols.comms, plan, &names).map_err(|error| {
            let hints = error.hints().to_vec();
            let failure = Failure::new(Exit::Usage, anyhow!("{}: {error}", path.display()));
            hints.into_iter().fold(failure, Failure::hint)
        })?;
    let counts = EventCells::new(formats.iter().copied(), trace.abi, plan);
    let (extents, coverage) = (Extents::new(formats.iter().copied(), trace.abi), trace.coverage(buffer));
    let ((extent, counts, findings), outcome) = query.analyse((extents, counts, measurements.measures(&coverage)))?;
    let in_ticks = query.sources().iter().any(|source| source.in_ticks);
    let unfinished = trace.spools.is_some();
    let conditions = Conditions {
        damaged: outcome.damage.count
            + outcome.unknown().len() as u64
            + trace.damage.len() as u64
            + u64::from(unfinished),
        unfinished,
        dropped: dropped(trace, &buffer.name),
        coverage,
        late: Vec::new(), // left out above
        in_ticks,
        min_samples: 1,
        allow_absent: false,
        names: &names,
    };
    let copied: HashSet<&EventName> = conditions.coverage.copied.iter().map(|(event, _)| event).collect();
    let mut run = SavedRun {
        file: path.to_string_lossy().into_owned(),
        sha256: String::new(),
        system: trace.option(OptionId::UNAME).map(|uname| system(&uname.text())),
        buffer: buffer.name.clone(),
        clock: buffer.clock.clone(),
        in_ticks,
        cpus: trace.cpu_count,
        limits: conditions.coverage.limits_of_runs(|event| copied.contains(event)),
        enabled: conditions.coverage.events.as_ref().map(|enabled| {
            let text = |(event, filter): &(EventName, Option<String>)| match filter {
                Some(filter) => format!("{event} if {filter}"),
                None => event.to_string(),
            };
            let mut events: Vec<String> = enabled.events.iter().map(text).collect();
            events.sort_unstable();
            events
        }),
        metrics: metrics.iter().map(ToString::to_string).collect(),
        options: part.window.to_text(),
        duration: plan.length(),
        events: extent.events,
        lost: extent.lost,
        gaps: extent.gaps,
        dropped: conditions.dropped,
        damaged: conditions.damaged,
        unfinished,
        cells: plan.count(),
        series: BTreeMap::new(),
        missing: BTreeMap::new(),
    };
    for (name, found) in measurements.series(&findings, &extent, &conditions) {
        match found {
            Ok(found) => {
                let series = CellSeries::new(&found.cells, found.missing, found.going_on);
                // A wait() without waits is no news, but a metric that was asked for is.
                run.series.insert(name, series);
            }
            Err(why) => {
                run.missing.insert(name, why);
            }
        }
    }
    for source in parts(&findings, &names) {
        if let Some((name, found)) = measurements.another(source, &findings, &names) {
            run.series.entry(name).or_insert_with(|| CellSeries::new(&found.cells, found.missing, found.going_on));
        }
    }
    run.series.extend(rates(&counts, &formats.iter().map(|f| (f.id, EventName::new(&f.system, &f.name))).collect()));
    Ok(run)
}

/// uname(1)'s words without the machine's name: `Linux 6.18.44 x86_64`.
fn system(uname: &str) -> String {
    let words: Vec<&str> = uname.split_whitespace().collect();
    let kept = words.iter().enumerate().filter(|(at, _)| *at != 1).map(|(_, word)| *word);
    kept.collect::<Vec<_>>().join(" ")
}

/// The calls that took longest together, kinds of interrupts, and operations of requests.
fn parts(findings: &[Finding], names: &dyn Names) -> Vec<DurationSource> {
    let mut sources = Vec::new();
    for finding in findings {
        match finding {
            Finding::Syscalls(report) => {
                let often = report.calls.iter().filter(|call| call.times.count() >= LEAST_COUNT);
                let named = often.filter_map(|call| call.name.clone().or_else(|| names.syscall(call.number)));
                sources.extend(named.take(MOST_SERIES).map(DurationSource::Syscall));
            }
            Finding::Irqs(report) => {
                let kinds: BTreeSet<&str> = report.sources.iter().map(|source| source.kind.name()).collect();
                sources.extend(kinds.into_iter().map(|kind| DurationSource::Irq(kind.to_owned())));
            }
            Finding::Io(report) => {
                let operations: BTreeSet<&str> = report.requests.iter().map(|one| one.operation.name()).collect();
                sources.extend(operations.into_iter().map(|operation| DurationSource::Io(operation.to_owned())));
            }
            _ => {}
        }
    }
    sources
}

/// Numbers of the most frequent events.
fn rates(counts: &BTreeMap<EventId, Cells>, names: &BTreeMap<EventId, EventName>) -> Vec<(String, CellSeries)> {
    let series = counts
        .iter()
        .filter_map(|(id, cells)| Some((names.get(id)?, CellSeries::new(cells, Missing::default(), Vec::new()))));
    let mut all: Vec<(&EventName, CellSeries)> = series.filter(|(_, series)| series.total() >= LEAST_COUNT).collect();
    all.sort_by_key(|(_, series)| std::cmp::Reverse(series.total()));
    all.truncate(MOST_SERIES);
    all.into_iter().map(|(name, series)| (format!("count({name})"), series)).collect()
}

/// The SHA-256 of a file, in hexadecimal digits.
fn sha256(path: &Path) -> anyhow::Result<String> {
    let failed = || format!("failed to read {}", path.display());
    let mut file = open_seekable(path).with_context(failed)?;
    let (mut digest, mut buffer) = (Sha256::new(), vec![0; 1 << 20]);
    loop {
        match file.read(&mut buffer).with_context(failed)? {
            0 => break,
            read => digest.update(&buffer[..read]),
        }
    }
    let mut text = String::new();
    for byte in digest.finalize() {
        write!(text, "{byte:02x}")?;
    }
    Ok(text)
}

// `--html`: the page of the new side, with the comparison above.

/// A page that is being made while the sides are read.
struct ComparisonPage<'p> {
    path: &'p Path,
    /// The first recording of the new side, and the mode of a file made of it.
    first: Option<(RecordingPage, u32)>,
}

impl<'p> ComparisonPage<'p> {
    fn new(path: &'p Path) -> Self {
        ComparisonPage { path, first: None }
    }

    /// Takes the answers about the first recording.
    fn look(&mut self, events: &QueryEvents<'_>) -> Result<(), Failure> {
        if self.first.is_none() {
            self.first = Some((answered(events)?.page, mode_like(&events.inputs[0].path)));
        }
        Ok(())
    }

    /// Writes it. Of a side that is only saved summaries the comparison is all there is.
    fn write(self, report: &Report<'_>) -> Result<(), Failure> {
        let (mut page, mode) = self.first.unwrap_or_else(|| {
            let title = report.new.runs.first().map_or_else(String::new, |run| run.file.clone());
            let notes = vec!["the new side is a saved summary, which has no events to show".to_owned()];
            (RecordingPage { title, notes, ..RecordingPage::default() }, PRIVATE)
        });
        if report.new.runs.len() > 1 {
            let all = report.new.runs.len();
            page.notes
                .push(format!("the comparison is of all {all} new runs, all else on this page of {}", page.title));
        }
        let mut words = Painted::default();
        write_text(report, None, &mut words)?;
        page.sections.insert(0, text_section("Comparison", &words.into_text()));
        write_file(self.path, &page.html(), mode)
    }
}
