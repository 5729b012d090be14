//! The summary as tables of text, and as a JSON object.

use super::{BufferCounts, EventTally};
use crate::base::abi::Abi;
use crate::base::syntax::widest;
use crate::base::units::{ByteSize, Pid, counted, grouped};
use crate::base::wall_time::{local_second, with_zone};
use crate::file::trace_dat::{CpuRanges, LatencyResult, WallClock};
use crate::kernel::event::Common;
use crate::kernel::format::EventFormat;
use crate::kernel::symbols::Comms;
use serde_json::{Value, json};
use std::collections::HashMap;

macro_rules! line {
    ($out:expr, $($words:tt)*) => { $out.extend_from_slice(format!($($words)*).as_bytes()) };
}

/// Appends the tables, of the tasks the `top` busiest; in lines of `limit` characters, as far as they can do without columns.
pub(super) fn write_text(numbers: &SummaryCounts<'_>, top: usize, limit: Option<usize>, out: &mut Vec<u8>) {
    let total = numbers.total();
    line!(out, "{}, {}", counted(total.count, "event"), ByteSize(total.bytes));
    match numbers.seconds() {
        Some(seconds) => line!(out, ", {seconds:.6} s\n"),
        None => line!(out, "\n"),
    }
    if let Some((begin, end, step)) = numbers.day() {
        let [(begin, _), (end, _)] = [begin, end].map(local_second);
        line!(out, "{begin} to {end} local time\n");
        if step != 0 {
            let (sign, by) = (if step < 0 { '-' } else { '+' }, step.unsigned_abs() / 1_000_000);
            line!(out, "the wall clock was set by {sign}{}.{:03} s meanwhile: ", by / 1000, by % 1000);
            line!(out, "local time here is by the clock as it was at the begin\n");
        }
    }
    let events = numbers.events();
    let width = widest(events.iter().map(|e| e.0.len())).max(5);
    let is_narrow = limit.is_some_and(|limit| width + 40 > limit);
    let rate_cell = |text: String| if is_narrow { String::new() } else { format!(" {text:>14}") };
    line!(out, "\n{:width$} {:>12}{} {:>11}\n", "EVENT", "COUNT", rate_cell("PER SECOND".to_owned()), "SIZE");
    for (name, tally) in &events {
        let rate = numbers.seconds().map_or("-".to_owned(), |s| format!("{:.1}", tally.count as f64 / s));
        let (count, size) = (grouped(tally.count), ByteSize(tally.bytes).to_string());
        line!(out, "{name:width$} {count:>12}{} {size:>11}\n", rate_cell(rate));
    }
    if is_narrow {
        line!(out, "(PER SECOND left out; a wider terminal shows it)\n");
    }
    line!(out, "\n{:>5} {:>12} {:>12} {:>20} {:>20} BUFFER\n", "CPU", "EVENTS", "LOST", "FIRST", "LAST");
    for (buffer, counts) in numbers.each() {
        for cpu in counts.cpus() {
            let (first, last) = cpu.span.unwrap_or_default();
            let lost = match (cpu.lost, cpu.lost_unknown) {
                (0, 0) => "0".to_owned(),
                (0, _) => "some".to_owned(),
                (count, 0) => grouped(count),
                (count, _) => format!("{}+", grouped(count)),
            };
            let (number, events) = (cpu.cpu.0, grouped(cpu.events.count));
            let (first, last) = (time(first.0, buffer.in_ticks), time(last.0, buffer.in_ticks));
            line!(out, "{number:>5} {events:>12} {lost:>12} {first:>20} {last:>20} {}\n", place(buffer));
        }
    }
    if numbers.each().any(|(_, counts)| counts.cpus().any(|cpu| cpu.lost_unknown > 0)) {
        line!(out, "LOST N+: N or more; the kernel does not say of every gap how many events it lost there\n");
    }
    for (of, cpus) in numbers.offline() {
        let (s, were) = if cpus.is_one() { ("", "was") } else { ("s", "were") };
        let source = of.source.map_or(String::new(), |source| format!("{source}: "));
        line!(out, "{source}cpu{s} {cpus} {were} offline\n");
    }
    let (tasks, all) = numbers.tasks(top);
    line!(out, "\n{:>16} {:>8} {:>12} {:>7} {:>11}\n", "TASK", "PID", "EVENTS", "SHARE", "SIZE");
    for &(of, pid, tally) in &tasks {
        let comm = of.comms.name(pid);
        let pad = 16_usize.saturating_sub(String::from_utf8_lossy(comm).chars().count());
        let share = 100.0 * tally.count as f64 / total.count.max(1) as f64;
        let size = ByteSize(tally.bytes).to_string();
        line!(out, "{:pad$}", "");
        out.extend_from_slice(comm);
        line!(out, " {pid:>8} {:>12} {share:>6.1}% {size:>11}\n", grouped(tally.count));
    }
    if all > tasks.len() {
        line!(out, "{:>16} {} more tasks\n", "", all - tasks.len());
    }
}

/// Recording and buffer, where there are several.
fn place(of: &SummaryBuffer<'_>) -> String {
    match (of.source, of.buffer) {
        (None, None) => "-".to_owned(),
        (None, Some(name)) => name.to_owned(),
        (Some(source), None) => source.to_owned(),
        (Some(source), Some(name)) => format!("{source}:{name}"),
    }
}

fn time(time: u64, in_ticks: bool) -> String {
    if in_ticks { time.to_string() } else { format!("{}.{:09}", time / 1_000_000_000, time % 1_000_000_000) }
}

/// One of the buffers whose records come.
#[derive(Clone, Debug)]
pub struct SummaryBuffer<'a> {
    /// The number of the buffer's recording: buffers of one recording have formats and tasks in common.
    pub recording: usize,
    /// The recorded kernel's ABI.
    pub abi: Abi,
    /// The formats of the recording.
    pub formats: Vec<&'a EventFormat>,
    /// The task names of the recording.
    pub comms: &'a Comms,
    /// The name of the recording, if there are several.
    pub source: Option<&'a str>,
    /// The instance's name; `None` for the top buffer.
    pub buffer: Option<&'a str>,
    /// True if time stamps count something other than nanoseconds.
    pub in_ticks: bool,
    /// The wall clock by its times, if it is known.
    pub wall: Option<WallClock>,
    /// CPUs of the recording that were offline.
    pub offline: Option<CpuRanges>,
}

/// Counts of all buffers.
pub(super) struct SummaryCounts<'n> {
    pub(super) buffers: &'n [SummaryBuffer<'n>],
    /// As long as `buffers`.
    pub(super) counts: &'n [BufferCounts],
}

impl<'n> SummaryCounts<'n> {
    /// Each buffer with its counts.
    fn each(&self) -> impl Iterator<Item = (&'n SummaryBuffer<'n>, &'n BufferCounts)> + use<'n> {
        self.buffers.iter().zip(self.counts)
    }

    /// The CPUs that were offline, with a buffer of each recording that names some.
    fn offline(&self) -> Vec<(&'n SummaryBuffer<'n>, &'n CpuRanges)> {
        let mut all: Vec<_> = self.buffers.iter().filter_map(|b| Some((b, b.offline.as_ref()?))).collect();
        all.dedup_by_key(|(buffer, _)| buffer.recording);
        all
    }

    /// All events by name, the most frequent first.
    pub(super) fn events(&self) -> Vec<(String, EventTally)> {
        let mut by_name: HashMap<String, EventTally> = HashMap::new();
        let mut names: HashMap<usize, HashMap<u16, String>> = HashMap::new();
        for (buffer, counts) in self.each() {
            let names = names.entry(buffer.recording).or_insert_with(|| {
                buffer.formats.iter().map(|f| (f.id.0, format!("{}:{}", f.system, f.name))).collect()
            });
            for (id, tally) in counts.events() {
                let name = names.get(&id).cloned().unwrap_or_else(|| format!("(unknown event {id})"));
                *by_name.entry(name).or_default() += tally;
            }
        }
        let mut events: Vec<_> = by_name.into_iter().collect();
        events.sort_by(|a, b| b.1.count.cmp(&a.1.count).then_with(|| a.0.cmp(&b.0)));
        events
    }

    /// All tasks, the busiest first, at most `top`, each with a buffer of its recording; and how many there are.
    fn tasks(&self, top: usize) -> (Vec<(&'n SummaryBuffer<'n>, Pid, EventTally)>, usize) {
        let mut by_task: HashMap<(usize, Pid), (&SummaryBuffer<'_>, EventTally)> = HashMap::new();
        for (buffer, counts) in self.each() {
            for &(pid, tally) in counts.tasks() {
                by_task.entry((buffer.recording, pid)).or_insert((buffer, EventTally::default())).1 += tally;
            }
        }
        let mut tasks: Vec<_> = by_task.into_iter().map(|((_, pid), (of, tally))| (of, pid, tally)).collect();
        tasks.sort_by_key(|&(of, pid, tally)| (std::cmp::Reverse(tally.count), of.recording, pid));
        let all = tasks.len();
        tasks.truncate(top);
        (tasks, all)
    }

    /// Everything counted.
    pub(super) fn total(&self) -> EventTally {
        let mut total = EventTally::default();
        self.counts.iter().for_each(|counts| total += counts.total());
        total
    }

    /// The wall clock of the first event and of the last, in nanoseconds since 1970, of the buffers where it is known; and by
    /// how much it was set meanwhile.
    fn day(&self) -> Option<(i64, i64, i64)> {
        let known = self.each().filter_map(|(buffer, counts)| {
            let (clock, span) = (buffer.wall?, counts.span()?);
            Some((clock.wall(span.0.0), clock.wall(span.1.0), clock.step()))
        });
        known.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1), if a.2 == 0 { b.2 } else { a.2 }))
    }

    /// The time from the first to the last event, in seconds; `None` in ticks, or if it is no time at all.
    fn seconds(&self) -> Option<f64> {
        let spans = || self.counts.iter().filter_map(BufferCounts::span);
        let (first, last) = (spans().map(|s| s.0.0).min()?, spans().map(|s| s.1.0).max()?);
        let in_ticks = self.buffers.iter().any(|buffer| buffer.in_ticks);
        (!in_ticks && last > first).then(|| (last - first) as f64 / 1e9)
    }
}

/// Counts of nothing for each of the buffers.
pub(super) fn no_counts(buffers: &[SummaryBuffer<'_>]) -> Vec<BufferCounts> {
    let pid_at = |buffer: &SummaryBuffer<'_>| Common::of_all(buffer.formats.iter().copied()).pid_offset();
    buffers.iter().map(|buffer| BufferCounts::new(buffer.abi, pid_at(buffer))).collect()
}

/// Appends the object, of the tasks the `top` busiest.
pub(super) fn write_json(
    numbers: &SummaryCounts<'_>,
    top: usize,
    (latencies, coverages): (&[LatencyResult], &[Value]),
    out: &mut Vec<u8>,
) {
    let seconds = numbers.seconds();
    let events: Vec<Value> = numbers
        .events()
        .into_iter()
        .map(|(event, tally)| {
            let rate = seconds.map(|s| tally.count as f64 / s);
            json!({"event": event, "count": tally.count, "per_second": rate, "bytes": tally.bytes})
        })
        .collect();
    let mut cpus = Vec::new();
    for (buffer, counts) in numbers.each() {
        for cpu in counts.cpus() {
            cpus.push(json!({
                "source": buffer.source,
                "buffer": buffer.buffer,
                "cpu": cpu.cpu.0,
                "events": cpu.events.count,
                "bytes": cpu.events.bytes,
                "lost": cpu.lost,
                "lost_unknown": cpu.lost_unknown,
                "first": cpu.span.map(|s| s.0.0),
                "last": cpu.span.map(|s| s.1.0),
            }));
        }
    }
    let offline = numbers.offline().into_iter();
    let offline: Vec<Value> =
        offline.map(|(of, cpus)| json!({"source": of.source, "cpus": cpus.to_string()})).collect();
    let (tasks, all_tasks) = numbers.tasks(top);
    let tasks: Vec<Value> = tasks
        .into_iter()
        .map(|(of, pid, tally)| {
            let comm = of.comms.get(pid).map(String::from_utf8_lossy);
            json!({"source": of.source, "pid": pid.0, "comm": comm, "events": tally.count, "bytes": tally.bytes})
        })
        .collect();
    let total = numbers.total();
    let mut summary = json!({
        "schema": "rtrace.summary", "version": 1,
        "total": {"events": total.count, "bytes": total.bytes, "seconds": seconds},
        "events": events, "cpus": cpus, "offline": offline, "tasks": tasks, "task_count": all_tasks,
    });
    if let Some((begin, end, step)) = numbers.day() {
        summary["wall"] = json!({"begin": with_zone(begin), "end": with_zone(end), "set_by_ns": step});
    }
    if !latencies.is_empty() {
        summary["latencies"] = json!(latencies);
    }
    if !coverages.is_empty() {
        summary["coverage"] = json!(coverages);
    }
    out.extend_from_slice(format!("{summary}\n").as_bytes());
}
