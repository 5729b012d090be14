//! The summary as tables of text.

use super::numbers::{SummaryBuffer, SummaryCounts};
use crate::base::syntax::widest;
use crate::base::units::{ByteSize, counted, grouped};
use crate::base::wall_time::local_second;

macro_rules! line {
    ($out:expr, $($words:tt)*) => { $out.extend_from_slice(format!($($words)*).as_bytes()) };
}

/// Appends the tables, of the tasks the `top` busiest.
pub(super) fn write(numbers: &SummaryCounts<'_>, top: usize, out: &mut Vec<u8>) {
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
    line!(out, "\n{:width$} {:>12} {:>14} {:>11}\n", "EVENT", "COUNT", "PER SECOND", "SIZE");
    for (name, tally) in &events {
        let rate = numbers.seconds().map_or("-".to_owned(), |s| format!("{:.1}", tally.count as f64 / s));
        line!(out, "{name:width$} {:>12} {rate:>14} {:>11}\n", grouped(tally.count), ByteSize(tally.bytes).to_string());
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
