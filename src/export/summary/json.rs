//! The summary as a JSON object.

use super::text::SummaryCounts;
use crate::base::wall_time::with_zone;
use crate::file::trace_dat::LatencyResult;
use serde_json::{Value, json};

/// Appends the object, of the tasks the `top` busiest.
pub(super) fn write(
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
