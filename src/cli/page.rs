//! The answers about one recording as a page: `convert --to html`, `--html` of other commands, `P` of view.

use crate::cli::analyze::{BufferLimits, html_sections};
use crate::cli::exit::Failure;
use crate::cli::flame::picture;
use crate::cli::page_args::PageSection;
use crate::cli::query::{ClockUnit, QueryEvents};
use crate::cli::trace_file::mode_like;
use crate::cli::unfinished::write_file;
use crate::cli::why::WhyTree;
use rtrace::analysis::{Extents, Timeline, TimelineFinding, TimelineWait};
use rtrace::internal::answers::put_html;
use rtrace::internal::page::{PageTimeline, PageWait, RecordingPage};
use rtrace::internal::trace_dat::{FileError, Trace};
use rtrace::units::{Timestamp, counted, grouped};
use std::path::Path;

/// Slices of the timeline at most: with their JSON some 1.5 MB.
const SLICES: usize = 100_000;
/// Waits that are taken apart.
const WAITS: usize = 10;

/// The page of a recording, with what it cannot show.
pub(crate) struct AnsweredPage {
    pub(crate) page: RecordingPage,
    /// Number of the recording's events.
    pub(crate) events: u64,
    pub(crate) left_out: Vec<String>,
}

/// Writes the page of one recording's events at `path`. The part of an answer comes first, in place of one of its name.
pub(crate) fn write_page(path: &Path, events: &QueryEvents<'_>, answer: Option<PageSection>) -> Result<(), Failure> {
    let mut made = answered(events)?;
    if let Some(answer) = answer {
        made.page.sections.retain(|(name, _)| *name != answer.0);
        made.page.sections.insert(0, answer);
    }
    write_file(path, &made.page.html(), mode_like(&events.inputs[0].path))
}

/// Lines of text as a part of a page.
pub(crate) fn text_section(heading: &str, lines: &str) -> PageSection {
    let mut html = "<pre>".to_owned();
    put_html(lines, &mut html);
    html.push_str("</pre>");
    (heading.to_owned(), html)
}

/// The page of the events of one recording.
pub(crate) fn answered(events: &QueryEvents<'_>) -> Result<AnsweredPage, Failure> {
    let input = &events.inputs[0];
    let sources = events.query.sources();
    let source = sources.iter().position(|source| !source.cpus.is_empty()).unwrap_or_default();
    let unit = events.unit_of(&events.query);
    let timeline = Timeline::new(input.trace.formats(), input.trace.abi, source, SLICES);
    // The timeline looks at some events only; what is said is how many there are.
    let extents = Extents::new(input.trace.formats(), input.trace.abi);
    let ((extent, found), outcome) = events.analysed((extents, timeline))?;
    let window = events.query.span_in_window()?.map(|(begin, end)| (begin.0, end.0)).unwrap_or_default();

    let mut page = RecordingPage { title: input.label(), ..RecordingPage::default() };
    let length = unit.long(window.1.saturating_sub(window.0));
    page.facts = vec![
        ("events".to_owned(), grouped(extent.events)),
        ("window".to_owned(), format!("{} to {}", unit.point(window.0), unit.point(window.1))),
        ("length".to_owned(), format!("{length} {}", unit.long_name())),
        ("lost".to_owned(), lost(outcome.lost, outcome.gaps)),
    ];
    let mut left_out = vec!["the events one by one, which `--to perfetto` and `rtrace view` show".to_owned()];
    let others = sources.iter().filter(|source| !source.cpus.is_empty()).count().saturating_sub(1);
    if others > 0 {
        left_out.push(format!("the timeline of {}", counted(others as u64, "other buffer")));
    }
    if let Some(of) = sources.get(source) {
        let buffer = &input.trace.buffers[of.buffer];
        let coverage = input.trace.coverage(buffer);
        page.notes = BufferLimits::of(&events.query, input, of)?.sentences(|_| true);
        page.notes.extend(missing(&input.trace, outcome.lost + outcome.gaps > 0));
        let switches = coverage.limits(|event| event.system == "sched" && event.name == "sched_switch");
        let is_known = switches.is_empty() && found.lanes.values().any(|lane| !lane.tasks.is_empty());
        if is_known {
            // Of its own threads the recorder leaves out what others do not need.
            let is_whole = |wait: &&TimelineWait| {
                found.threads.get(wait.task).is_some_and(|thread| !coverage.left_out.contains(&thread.tid))
            };
            let longest: Vec<TimelineWait> = found.waits.iter().filter(is_whole).take(WAITS).copied().collect();
            page.waits = waits(events, &buffer.name, (&found, &longest), unit)?;
            let begin = unit.point(window.0);
            if found.least > 0 {
                let least = unit.short(found.least);
                left_out.push(format!("slices of the timeline below {least} {}, which are joined", unit.short_name()));
            }
            page.timeline = Some(PageTimeline { found, window, begin, unit: unit.name() });
        } else {
            left_out.push("the timeline, without all of sched_switch".to_owned());
        }
    }
    page.sections = html_sections(events)?.into_iter().map(|(name, html)| (name.to_owned(), html)).collect();
    page.flame = picture(events)?;
    Ok(AnsweredPage { page, events: extent.events, left_out })
}

/// What may lie where nothing is shown, each a sentence.
fn missing(trace: &Trace, lost: bool) -> Vec<String> {
    let unfinished = "the recording is unfinished: its recorder runs or was killed, and what came last is not shown";
    let damaged = "the file is damaged: what could not be read is not shown";
    let losses = "events were lost: nothing across a gap is shown, and waits may have been longer than the longest";
    let is_damaged = trace.damage.iter().any(|found| !matches!(found, FileError::Changed(_) | FileError::Unsaved(_)));
    let all = [(trace.spools.is_some(), unfinished), (is_damaged, damaged), (lost, losses)];
    all.into_iter().filter(|(is_so, _)| *is_so).map(|(_, words)| words.to_owned()).collect()
}

/// `none`, `12`, `12 and an unknown number in 3 gaps`.
fn lost(lost: u64, gaps: u64) -> String {
    match (lost, gaps) {
        (0, 0) => "none".to_owned(),
        (lost, 0) => grouped(lost),
        (lost, gaps) => format!("{} and an unknown number in {}", grouped(lost), counted(gaps, "gap")),
    }
}

/// The longest waits, each taken apart as `rtrace why` does it.
fn waits(
    events: &QueryEvents<'_>,
    buffer: &str,
    (found, longest): (&TimelineFinding, &[TimelineWait]),
    unit: ClockUnit,
) -> Result<Vec<PageWait>, Failure> {
    let of = |wait: &TimelineWait| -> Result<Option<PageWait>, Failure> {
        let Some(thread) = found.threads.get(wait.task) else { return Ok(None) };
        // What led to it lies before, and who ran then may have begun long before.
        let around = wait.time.saturating_mul(4).max(50_000_000);
        let mut near = events.clone();
        let (from, to) = (wait.at.saturating_sub(around), wait.at.saturating_add(wait.time).saturating_add(around));
        near.query = near.query.since(Timestamp(from)).until(Timestamp(to));
        // Where that wait cannot be taken apart, the page says why and has all else.
        let tree = WhyTree::around(&near, buffer, thread.tid, wait.at.saturating_add(wait.time / 2));
        let tree = tree.unwrap_or_else(|failure| WhyTree { title: failure.text(), lines: Vec::new() });
        let name = String::from_utf8_lossy(&thread.name);
        let title = format!(
            "{} {}: {name} [{}] from {}",
            unit.short(wait.time),
            unit.short_name(),
            thread.tid.0,
            unit.point(wait.at)
        );
        let lines = [tree.title].into_iter().chain(tree.lines.into_iter().map(|(line, _)| line)).collect();
        Ok(Some(PageWait { title, lines, place: (wait.at, wait.time) }))
    };
    longest.iter().filter_map(|wait| of(wait).transpose()).collect()
}
