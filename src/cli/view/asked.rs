//! Questions about the task, the window or its events: texts in place of the events.
//! Call stacks among them are an indented text: a flame graph for a terminal.

use super::panes::{PaneLine, TextPane};
use super::source::{SEARCH, ViewSource, shown};
use super::time_words::{length, window_words};
use crate::cli::exit::{Exit, Failure};
use crate::cli::flame::FoldedLines;
use crate::cli::hist::find_format;
use crate::cli::key_names::KeyNames;
use crate::cli::page::write_page;
use crate::cli::piped::is_stdout;
use crate::cli::query::QueryEvents;
use crate::cli::trace_file::Overwrite;
use crate::cli::why::WhyTree;
use anyhow::anyhow;
use rtrace::analysis::{HistSetup, HistTrigger, Histograms, KeptPair, Sched, SpanPlan, TaskSpan, TimeIn};
use rtrace::export::FlameUnit;
use rtrace::hist::render::{TableLayout, text};
use rtrace::hist::spec::HistSpec;
use rtrace::internal::assertion::Pair;
use rtrace::recording::Query;
use rtrace::units::{CpuId, Pid, counted};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

/// Events around a moment, as estimated, that the question why reads to each side.
const AROUND: u64 = 500_000;
/// Events of a window, as estimated, of which a page is made while the user waits.
const PAGE: u64 = 20_000_000;
/// Outliers that are kept.
const OUTLIERS: usize = 50;

/// An interval that is longer than most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outlier {
    /// End of the interval.
    pub(super) at: u64,
    pub(super) time: u64,
    pub(super) words: String,
    pub(super) cpu: Option<CpuId>,
}

/// The window that questions are about.
#[derive(Clone, Copy)]
pub(super) struct AskedWindow<'s, 'a> {
    pub(super) source: &'s ViewSource<'a>,
    pub(super) from: u64,
    pub(super) to: u64,
}

impl AskedWindow<'_, '_> {
    /// The tree of the interval that a task is in.
    pub(super) fn why(&self, pid: Pid, at: u64) -> Result<TextPane, Failure> {
        let around = self.source.overview.time_of_events(at, AROUND);
        let mut events = self.source.events.clone();
        events.query = self.source.query(at.saturating_sub(around), at.saturating_add(around), None);
        let tree = WhyTree::around(&events, &self.source.sched_buffer().name, pid, at)?;
        let line = |(text, target): (String, Option<(u64, CpuId)>)| PaneLine {
            text: shown(&text),
            target: target.map(|(at, cpu)| (at, Some(cpu))),
        };
        Ok(TextPane::new(shown(&tree.title), tree.lines.into_iter().map(line).collect()))
    }

    /// The events of the window.
    fn events(&self) -> QueryEvents<'_> {
        QueryEvents { query: self.source.query(self.from, self.to, None), ..self.source.events.clone() }
    }

    /// Writes all events of the window as a page for a browser; no file is overwritten.
    pub(super) fn write_page(&self, path: &Path) -> Result<(), Failure> {
        if is_stdout(path) {
            return Err(Failure::new(Exit::Usage, anyhow!("a page is not written into the screen: name a file")));
        }
        let estimate = self.source.overview.estimate(self.from, self.to);
        if estimate > PAGE {
            let command =
                format!("rtrace convert FILE {}{}", path.display(), window_words(self.source, self.from, self.to));
            let error =
                anyhow!("about {} are too many to wait for: zoom in, or `{command}`", counted(estimate, "event"));
            return Err(Failure::new(Exit::Failed, error));
        }
        Overwrite::default().check(path)?;
        write_page(path, &self.events(), None)
    }

    /// The call stacks of the window.
    pub(super) fn flame(&self) -> Result<TextPane, Failure> {
        self.check_size()?;
        let lines = FoldedLines::folded(&self.events())?;
        if lines.text.is_empty() {
            let error =
                anyhow!("the window has no call stacks: `record -p function_graph` or `-R stacktrace` makes some");
            return Err(Failure::new(Exit::Failed, error));
        }
        let unit = self.source.unit;
        let total = |value| match lines.unit {
            FlameUnit::Time => length(unit, value),
            FlameUnit::Count(_) => counted(value, "stack"),
        };
        Ok(tree(&lines.text, &format!("flame: {}", lines.subject), total))
    }

    /// Refuses a window whose events are too many to be looked at while the user waits.
    fn check_size(&self) -> Result<(), Failure> {
        let estimate = self.source.overview.estimate(self.from, self.to);
        if estimate > SEARCH {
            let error = anyhow!("the window has about {}: zoom in to less than {SEARCH}", counted(estimate, "event"));
            return Err(Failure::new(Exit::Failed, error));
        }
        Ok(())
    }

    /// The window of the scheduler's buffer, if it is not too large.
    fn small_window(&self) -> Result<Query<'_>, Failure> {
        self.check_size()?;
        Ok(self.source.query(self.from, self.to, None).buffer(&self.source.sched_buffer().name))
    }

    /// The times between two events in the window, and the longest of them.
    pub(super) fn latency(&self, words: &str) -> Result<(TextPane, Vec<Outlier>), Failure> {
        let pair = Pair::parse(&format!("latency({words})")).map_err(|error| Failure::new(Exit::Usage, error))?;
        let (input, unit) = (self.source.input, self.source.unit);
        let formats: Vec<_> = input.formats().collect();
        let pairs = pair.pairs(&formats, input.trace.abi, &input.symbols.comms);
        let pairs = pairs.map_err(|error| Failure::new(Exit::Usage, error))?;
        let pairs = pairs.map_err(|missing| Failure::new(Exit::Failed, anyhow!(missing)))?;
        let (report, outcome) = self.small_window()?.analyse(pairs.keep())?;
        let all = report.times.distribution();
        let of = |time| length(unit, time);
        let mut lines = vec![format!(
            "{}  p50 {}  p90 {}  p99 {}  max {}",
            counted(all.count, "time"),
            of(all.p50),
            of(all.p90),
            of(all.p99),
            of(all.greatest)
        )];
        let without = report.unfinished + report.without_begin + report.censored;
        if without > 0 || outcome.lost > 0 || outcome.gaps > 0 {
            lines.push(format!(
                "not counted: {} without an end, {} without a begin, {} with losses within",
                report.unfinished, report.without_begin, report.censored
            ));
        }
        let mut kept: Vec<&KeptPair> = report.kept.iter().collect();
        kept.sort_by_key(|pair| (Reverse(pair.end - pair.begin), pair.begin));
        let outliers = kept.iter().take(OUTLIERS).map(|pair| Outlier {
            at: pair.end,
            time: pair.end - pair.begin,
            words: format!("key {}", shown(&String::from_utf8_lossy(&pair.key))),
            cpu: None,
        });
        Ok(self.with_outliers(format!("latency {words}"), lines, outliers.collect()))
    }

    /// The longest waits for a CPU in the window.
    pub(super) fn waits(&self) -> Result<(TextPane, Vec<Outlier>), Failure> {
        let input = self.source.input;
        let plan = SpanPlan { from: self.from, to: self.to, only: None };
        let sched = Sched::new(input.formats().collect::<Vec<_>>(), input.trace.abi);
        let (report, _) = self.small_window()?.analyse(sched.covering(&self.source.coverage()).with_spans(plan))?;
        let mut waits = Vec::new();
        let end = report.window.map_or(self.to, |(_, end)| end);
        for task in &report.tasks {
            // A wait that came to another CPU, or whose wakeup had two events, is in pieces.
            let is_wait = |span: &TaskSpan| matches!(span.state, TimeIn::Wait | TimeIn::Preempted);
            let goes_on = |a: &TaskSpan, b: &TaskSpan| is_wait(a) && a.state == b.state && a.end == b.begin;
            let spans: Vec<TaskSpan> = task.spans.iter().collect();
            for pieces in spans.chunk_by(goes_on).filter(|pieces| is_wait(&pieces[0])) {
                let (first, last) = (pieces[0], pieces[pieces.len() - 1]);
                let did = if first.state == TimeIn::Wait { "waited" } else { "was preempted" };
                let on = if last.end >= end { ", and does at the end" } else { "" };
                let comm = shown(&String::from_utf8_lossy(&task.comm));
                waits.push(Outlier {
                    at: last.end,
                    time: last.end - first.begin,
                    words: format!("{comm}-{} {did}{on}", task.pid.0),
                    cpu: last.cpu,
                });
            }
        }
        let count = counted(waits.len() as u64, "wait");
        waits.sort_by_key(|wait| (Reverse(wait.time), wait.at));
        waits.truncate(OUTLIERS);
        Ok(self.with_outliers("longest waits for a CPU".to_owned(), vec![count], waits))
    }

    fn with_outliers(&self, title: String, head: Vec<String>, outliers: Vec<Outlier>) -> (TextPane, Vec<Outlier>) {
        let unit = self.source.unit;
        let head = head.into_iter().map(|text| PaneLine { text, target: None });
        let line = |one: &Outlier| PaneLine {
            text: format!("{:>12}  until {}  {}", length(unit, one.time), unit.point(one.at), one.words),
            target: Some((one.at, one.cpu)),
        };
        let pane = TextPane::new(shown(&title), head.chain(outliers.iter().map(line)).collect());
        (pane, outliers)
    }

    /// The table that a hist trigger makes of the window: `EVENT hist:keys=...`.
    pub(super) fn hist(&self, words: &str) -> Result<TextPane, Failure> {
        let (event, trigger) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
        let trigger = trigger.trim();
        let trigger = if trigger.starts_with("hist") { trigger.to_owned() } else { format!("hist:{trigger}") };
        let failure = |error: &dyn std::fmt::Display| Failure::new(Exit::Usage, anyhow!("{error}"));
        let spec = HistSpec::parse(&trigger).map_err(|error| failure(&error.diagnostic(&trigger)))?;
        let format = find_format(self.source.input, event)?;
        let triggers = vec![HistTrigger { system: format.system.clone(), event: format.name.clone(), spec }];
        let setup = HistSetup { triggers, uname: self.source.input.trace.uname(), ..HistSetup::default() };
        let formats: Vec<_> = self.source.input.formats().collect();
        let (abi, symbols) = (self.source.input.trace.abi, &self.source.input.symbols);
        let analysis = Histograms::new(&setup, &formats, abi, symbols);
        let analysis = analysis.map_err(|error| failure(&error.problem.diagnostic(&trigger)))?;
        let (findings, _) = self.small_window()?.analyse(analysis)?;
        let table = findings.table(0, &KeyNames::of(self.source.input));
        let table = table.ok_or_else(|| failure(&"the trigger has no table"))?;
        let mut out = Vec::new();
        text(&table, &TableLayout { bar_width: 30, ..TableLayout::default() }, &mut out)?;
        let lines =
            String::from_utf8_lossy(&out).lines().map(|line| PaneLine { text: shown(line), target: None }).collect();
        Ok(TextPane::new(shown(&format!("{event} {trigger}")), lines))
    }
}

/// A function, and those that it called.
#[derive(Default)]
struct FlameFrame {
    value: u64,
    callees: BTreeMap<String, FlameFrame>,
}

/// Columns of the bars.
const BAR: usize = 10;
/// Lines at most, and the least part of the whole that has one.
const LINES: usize = 2000;
const LEAST: u64 = 500;

/// The tree of folded lines (`a;b;c 12`), the widest frame first; `total` words the whole.
pub(super) fn tree(folded: &[u8], title: &str, total: impl Fn(u64) -> String) -> TextPane {
    let mut root = FlameFrame::default();
    for line in String::from_utf8_lossy(folded).lines() {
        let Some((stack, value)) = line.rsplit_once(' ') else { continue };
        let value: u64 = value.parse().unwrap_or(0);
        root.value = root.value.saturating_add(value);
        let mut frame = &mut root;
        for name in stack.split(';') {
            frame = frame.callees.entry(name.to_owned()).or_default();
            frame.value = frame.value.saturating_add(value);
        }
    }
    let mut lines = vec![total(root.value)];
    let mut open = callees(&root, 0);
    let (mut narrow, whole) = (0u64, root.value.max(1));
    while let Some((name, frame, depth)) = open.pop() {
        if frame.value < whole.div_ceil(LEAST) || lines.len() > LINES {
            narrow += 1;
            continue;
        }
        let part = |of: u64| (u128::from(frame.value) * u128::from(of) / u128::from(whole)) as usize;
        let (share, bar) = (part(1000), part(BAR as u64).max(1));
        let bar = format!("{}{}", "█".repeat(bar), " ".repeat(BAR.saturating_sub(bar)));
        lines.push(format!("{:>3}.{} % {bar} {:depth$}{}", share / 10, share % 10, "", shown(name)));
        open.extend(callees(frame, depth + 1));
    }
    if narrow > 0 {
        lines.push(format!("left out: {narrow} narrow frames, with what they called"));
    }
    TextPane::new(title.to_owned(), lines.into_iter().map(|text| PaneLine { text, target: None }).collect())
}

/// The callees, the widest last.
fn callees(frame: &FlameFrame, depth: usize) -> Vec<(&str, &FlameFrame, usize)> {
    let mut all: Vec<_> = frame.callees.iter().map(|(name, frame)| (name.as_str(), frame, depth)).collect();
    all.sort_by_key(|(name, frame, _)| (frame.value, Reverse(*name)));
    all
}
