//! Results of a recording, in numbers.

use super::child::Ended;
use super::chunk::PackingEffort;
use super::error::{RecordError, in_full};
use super::limits::Reached;
use super::saver::SavesMade;
use super::worker::Drained;
use crate::base::units::{ByteSize, CpuId, counted, grouped, seconds};
use crate::control::tracefs::CpuStats;
use crate::file::trace_dat::{CpuRanges, LatencyResult, SettingChange};
use serde::Serialize;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The outcome of a recording that made a file.
#[derive(Debug)]
pub struct RecordSummary {
    /// The file; `-` if it went to standard output.
    pub output: PathBuf,
    /// Data of before was removed by somebody else, so that the file holds the rest.
    pub is_rest: bool,
    /// The name that the file has now which stood there before, if one did.
    pub former: Option<PathBuf>,
    /// Its size in bytes.
    pub file_size: u64,
    /// Each ring buffer, the main one first.
    pub buffers: Vec<BufferSummary>,
    /// CPUs that were offline and have no events.
    pub offline: CpuRanges,
    /// Duration of tracing.
    pub tracing_on: Duration,
    /// Duration of the session without tracing, until the command's end if there is one, because a limit or a failure
    /// had switched tracing off. Events of that time are in no counter. `None` if tracing was on until the end.
    pub untraced: Option<Duration>,
    /// Time after which tracing was found switched off by a trigger of the recording; `None` if it was on at the end.
    pub switched_off: Option<Duration>,
    /// The command's end, if there was one and it was waited for.
    pub command: Option<Ended>,
    /// True if `--timeout` ended the command.
    pub timed_out: bool,
    /// The limit that ended the recording, if one did.
    pub limit: Option<Reached>,
    /// Why a [`Sentry`](super::Sentry) ended it, if one did: `--stop-if`.
    pub stopped: Option<String>,
    /// True if only the newest was kept (`--ring`, `--ring-time`).
    pub kept_newest: bool,
    /// The saves that were made meanwhile.
    pub saves: SavesMade,
    /// User and system time of the threads that drain no ring, by name.
    pub threads: Vec<(&'static str, Duration)>,
    /// Why a CPU's data ends early, if one's does: a full disk, for one.
    pub failures: Vec<String>,
    /// The failure at the end: the file is not complete, is gone, or not everything could be put back.
    pub error: Option<RecordError>,
}

/// One ring buffer.
#[derive(Clone, Debug)]
pub struct BufferSummary {
    /// Its instance's name as the file has it; empty for the top buffer.
    pub name: String,
    /// The size that the kernel granted, in KiB per CPU, where all have the same.
    pub kib_per_cpu: Option<u64>,
    /// Each CPU.
    pub cpus: Vec<CpuSummary>,
    /// The result of a latency tracer, which leaves a text instead of events.
    pub latency: Option<LatencyResult>,
    /// True if a trigger or a command on functions was to swap the ring into the snapshot: a ring that was cleared is there.
    pub snapshots: bool,
    /// Settings that were changed while it was recorded.
    pub changes: Vec<SettingChange>,
}

/// One CPU of one ring buffer.
#[derive(Clone, Debug, Serialize)]
pub struct CpuSummary {
    /// The CPU.
    pub cpu: u32,
    /// True if it was offline and has no events.
    pub offline: bool,
    /// Events in the file.
    pub events: u64,
    /// Events taken from the ring that are not in the file: beyond a limit, dropped by a flight recorder, or not written
    /// because that failed.
    pub events_discarded: u64,
    /// Events that were overwritten before they could be read.
    pub overrun: u64,
    /// Events that interrupts could not commit in a ring that was full.
    pub commit_overrun: u64,
    /// Events that the kernel refused because the ring was full.
    pub dropped: u64,
    /// Events that others read out of the ring (`trace_pipe`, another recorder).
    pub read_by_others: u64,
    /// True if somebody cleared the ring while it was recorded, or swapped it for a snapshot.
    pub cleared: bool,
    /// Events that were in it then, at least.
    pub cleared_events: u64,
    /// Events left in the ring, because it could not be read.
    pub unread: u64,
    /// Bytes taken from the ring.
    pub bytes_raw: u64,
    /// Bytes they have in the file.
    pub bytes_written: u64,
    /// Times the recording thread woke up.
    pub wakeups: u64,
    /// The most of the ring that was full, in bytes: what was found in it, or all of it if events were lost.
    pub peak_fill: u64,
    /// User and system time of the recording thread, in seconds.
    pub cpu_seconds: f64,
    /// Bytes taken from the ring that are not in the file: beyond a limit, or dropped by a flight recorder.
    pub bytes_discarded: u64,
    /// Chunks that were compressed.
    pub chunks_compressed: u64,
    /// Chunks that were only stored because the ring was filling up.
    pub chunks_stored: u64,
    /// The changes between the two, the first 256.
    pub effort: Vec<EffortChange>,
}

/// From here on chunks were made so.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct EffortChange {
    /// Nanoseconds since tracing was switched on.
    pub at_ns: u64,
    /// The effort.
    pub effort: PackingEffort,
}

impl CpuSummary {
    /// From the thread's report and the counters of its ring of `ring` bytes before and after. Events are those that the
    /// thread counted, or else those that the kernel says were read. Without counters after it nothing is known of losses.
    pub(crate) fn new(
        drained: &Drained,
        ring: u64,
        since: Instant,
        before: &CpuStats,
        after: Option<&CpuStats>,
    ) -> Self {
        let after = after.unwrap_or(before);
        let change = |&(at, effort): &(Instant, PackingEffort)| EffortChange {
            at_ns: at.saturating_duration_since(since).as_nanos() as u64,
            effort,
        };
        let tally = &drained.tally;
        let (chunks_compressed, chunks_stored) = drained.efforts.counts();
        let others = &drained.interference;
        // Of counters that were cleared meanwhile, what they were before that adds up.
        let grown = |after: u64, before: u64, cleared: u64| match others.cleared {
            true => (after + cleared).saturating_sub(before),
            false => after.saturating_sub(before),
        };
        let [overrun, commit_overrun, dropped] = others.before;
        let overrun = grown(after.overrun, before.overrun, overrun);
        let commit_overrun = grown(after.commit_overrun, before.commit_overrun, commit_overrun);
        let dropped = grown(after.dropped, before.dropped, dropped);
        let overflowed = overrun + commit_overrun + dropped > 0;
        CpuSummary {
            cpu: drained.cpu.0,
            offline: drained.offline,
            events: tally
                .events
                .unwrap_or(after.read.saturating_sub(before.read))
                .saturating_sub(tally.events_discarded),
            events_discarded: tally.events_discarded,
            overrun,
            commit_overrun,
            dropped,
            read_by_others: others.read,
            cleared: others.cleared,
            cleared_events: others.cleared_events,
            unread: if drained.error.is_some() { after.entries } else { 0 },
            bytes_raw: tally.bytes,
            bytes_written: drained.spool.len(),
            wakeups: drained.wakeups,
            peak_fill: (drained.peak as u64).max(if overflowed { ring } else { 0 }),
            cpu_seconds: drained.cpu_time.as_secs_f64(),
            bytes_discarded: tally.bytes_discarded,
            chunks_compressed,
            chunks_stored,
            effort: drained.efforts.changes().iter().map(change).collect(),
        }
    }

    /// Number of the CPU.
    pub fn cpu(&self) -> CpuId {
        CpuId(self.cpu)
    }

    /// Events that the ring had no room for.
    pub fn overflowed(&self) -> u64 {
        self.overrun.saturating_add(self.commit_overrun).saturating_add(self.dropped)
    }

    /// Events that happened and never left the ring for the recorder.
    pub fn lost(&self) -> u64 {
        [self.read_by_others, self.cleared_events, self.unread]
            .iter()
            .fold(self.overflowed(), |a, b| a.saturating_add(*b))
    }
}

/// Sums over all CPUs of all buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Events in the file.
    pub events: u64,
    /// Events taken from the rings that are not in the file, because of a limit, a flight recorder or a failure.
    pub events_discarded: u64,
    /// Events that happened and never left the rings for the recorder.
    pub lost: u64,
    /// Bytes taken from the rings.
    pub bytes_raw: u64,
    /// Bytes they have in the file.
    pub bytes_written: u64,
    /// Bytes taken from the rings that are not in the file.
    pub bytes_discarded: u64,
    /// Times that recording threads woke up.
    pub wakeups: u64,
    /// User and system time of all threads, in seconds.
    #[serde(skip)]
    pub cpu_time: Duration,
}

impl RecordSummary {
    /// The sums.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        for cpu in self.buffers.iter().flat_map(|b| &b.cpus) {
            totals.events += cpu.events;
            totals.events_discarded += cpu.events_discarded;
            totals.lost += cpu.lost();
            totals.bytes_raw += cpu.bytes_raw;
            totals.bytes_written += cpu.bytes_written;
            totals.bytes_discarded += cpu.bytes_discarded;
            totals.wakeups += cpu.wakeups;
            totals.cpu_time += Duration::from_secs_f64(cpu.cpu_seconds);
        }
        totals.cpu_time += self.threads.iter().map(|(_, time)| *time).sum::<Duration>();
        totals
    }

    /// Interference by others, if there was any: a sentence without its full stop.
    pub fn interference(&self) -> Option<String> {
        let cpus = || self.buffers.iter().flat_map(|b| &b.cpus);
        let read: u64 = cpus().map(|cpu| cpu.read_by_others).sum();
        if self.was_cleared() {
            let events = counted(cpus().map(|cpu| cpu.cleared_events).sum(), "event");
            return Some(format!("a ring buffer was cleared while it was recorded, with {events} in it at least"));
        }
        (read > 0).then(|| format!("another process read {} out of the ring buffers", counted(read, "event")))
    }

    /// Settings that were changed while it was recorded, if there are any: a sentence without its full stop.
    pub fn changes(&self) -> Option<String> {
        let changed: Vec<String> =
            self.buffers.iter().filter_map(|buffer| SettingChange::all_in_words(&buffer.changes)).collect();
        (!changed.is_empty()).then(|| changed.join("; "))
    }

    /// Results of latency tracers.
    pub fn latencies(&self) -> impl Iterator<Item = &LatencyResult> {
        self.buffers.iter().filter_map(|buffer| buffer.latency.as_ref())
    }

    /// True if a ring was cleared meanwhile: then the events lost are more than those counted.
    pub fn was_cleared(&self) -> bool {
        self.buffers.iter().filter(|buffer| !buffer.snapshots).flat_map(|b| &b.cpus).any(|cpu| cpu.cleared)
    }

    /// Advice to lose less: the knob and its value, if a ring was too small.
    pub fn hint(&self) -> Option<String> {
        let lost = |b: &&BufferSummary| b.cpus.iter().map(CpuSummary::overflowed).sum::<u64>();
        let buffer = self.buffers.iter().filter(|b| lost(b) > 0).max_by_key(lost)?;
        // A reader that sleeps as long again and again needs that much more room; the kernel says only that there was
        // not enough.
        let size = larger(buffer.kib_per_cpu);
        let place = if buffer.name.is_empty() { String::new() } else { format!(" after `-B {}`", buffer.name) };
        Some(format!("try a ring buffer four times as large: `-b {size}`{place}"))
    }

    /// For people: one line, and one more for each CPU that lost events.
    pub fn text(&self) -> String {
        let totals = self.totals();
        // A file that could not be completed holds less than its spools.
        let of_events = match totals.bytes_written <= self.file_size {
            true => format!(" ({} of it events)", ByteSize(totals.bytes_written)),
            false => String::new(),
        };
        let name =
            if self.output.as_os_str() == "-" { "standard output".into() } else { self.output.to_string_lossy() };
        let latencies: Vec<String> = self.latencies().map(LatencyResult::to_string).collect();
        let (time, written) = (seconds(self.tracing_on), ByteSize(self.file_size));
        let mut text = if !latencies.is_empty() && latencies.len() == self.buffers.len() {
            format!("{name}: {}; in {time}, {written} written", latencies.join("; "))
        } else {
            let mut text = format!(
                "{name}: {} in {time}{}, {} raw, {written} written{of_events}; {} lost",
                counted(totals.events, "event"),
                self.sizes(),
                ByteSize(totals.bytes_raw),
                if totals.lost == 0 { "none".to_owned() } else { grouped(totals.lost) },
            );
            latencies.iter().for_each(|latency| text.push_str(&format!("; {latency}")));
            text
        };
        if let Some(limit) = self.limit {
            let _ = write!(text, "; stopped: {limit}");
        }
        if let Some(why) = &self.stopped {
            let _ = write!(text, "; stopped: {why}");
        }
        if totals.bytes_discarded > 0 {
            let (events, bytes) = (counted(totals.events_discarded, "event"), ByteSize(totals.bytes_discarded));
            let _ = match (self.limit, self.kept_newest) {
                (Some(_), _) => write!(text, "; {events} ({bytes} raw) after that discarded"),
                (None, true) => write!(text, "; kept the newest, {events} ({bytes} raw) before them dropped"),
                (None, false) => write!(text, "; {events} ({bytes} raw) not written"),
            };
        }
        if let Some(after) = self.switched_off {
            let _ = write!(text, "; a trigger switched tracing off after {}", seconds(after));
        }
        if let Some(untraced) = self.untraced {
            let _ = write!(text, "; nothing traced after {}", seconds(self.tracing_on));
            if self.command.is_some() {
                let _ = write!(text, ", {} before CMD ended", seconds(untraced));
            }
        }
        if self.saves.all > 0 {
            let failed = self.saves.failed;
            let failed = if failed == 0 { String::new() } else { format!(", {} of which failed", grouped(failed)) };
            let _ = write!(text, "; {}{failed}", counted(self.saves.all, "save"));
        }
        if let Some(former) = &self.former {
            let _ = write!(text, "; the file before it is {} now", former.display());
        }
        text.push('\n');
        for buffer in &self.buffers {
            for cpu in buffer.cpus.iter().filter(|cpu| cpu.lost() > 0 || cpu.cleared) {
                let instance = if buffer.name.is_empty() { String::new() } else { format!("{}: ", buffer.name) };
                let causes =
                    [("overrun", cpu.overrun), ("commit overrun", cpu.commit_overrun), ("dropped", cpu.dropped)];
                let more = [("read by another process", cpu.read_by_others), ("left in the ring", cpu.unread)];
                let causes = causes.into_iter().chain(more).filter(|(_, n)| *n > 0);
                let by = if buffer.snapshots { "swapped into the snapshot" } else { "cleared by another process" };
                let cleared = format!("{by}, {} or more", grouped(cpu.cleared_events));
                let causes = causes.map(|(name, n)| format!("{name} {}", grouped(n)));
                let causes: Vec<String> = causes.chain(cpu.cleared.then_some(cleared)).collect();
                let _ = writeln!(
                    text,
                    "  {instance}cpu {}: {} lost ({})",
                    cpu.cpu,
                    counted(cpu.lost(), "event"),
                    causes.join(", ")
                );
            }
        }
        for change in self.buffers.iter().flat_map(|buffer| &buffer.changes) {
            let _ = writeln!(text, "  {change}");
        }
        if !self.offline.is_empty() {
            let (s, were) = if self.offline.is_one() { ("", "was") } else { ("s", "were") };
            let _ = writeln!(text, "  cpu{s} {} {were} offline", self.offline);
        }
        if let Some(hint) = self.hint() {
            let _ = writeln!(text, "  Hint: {hint}.");
        }
        text
    }

    /// ` through 1.4 MiB per CPU`: of each ring buffer where there are several.
    fn sizes(&self) -> String {
        let size =
            |b: &BufferSummary| b.kib_per_cpu.map_or("various sizes".to_owned(), |kib| ByteSize(kib << 10).to_string());
        match self.buffers.as_slice() {
            [] => String::new(),
            [one] if one.kib_per_cpu.is_none() => String::new(),
            [one] => format!(" through {} per CPU", size(one)),
            many => {
                let named = |b: &BufferSummary| {
                    if b.name.is_empty() { size(b) } else { format!("{} ({})", size(b), b.name) }
                };
                format!(" through {} per CPU", many.iter().map(named).collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// For programs: one JSON object, schema `rtrace.record.summary`, version 1.
    pub fn json(&self) -> serde_json::Value {
        let buffers: Vec<_> = self
            .buffers
            .iter()
            .map(|b| {
                serde_json::json!({
                    "name": b.name, "buffer_size_kb": b.kib_per_cpu, "cpus": b.cpus, "latency": b.latency,
                    "changes": b.changes.iter().map(|c| serde_json::json!({"file": c.file, "from": c.from, "to": c.to})).collect::<Vec<_>>(),
                })
            })
            .collect();
        let threads: Vec<_> = self
            .threads
            .iter()
            .map(|(name, time)| serde_json::json!({ "name": name, "cpu_seconds": time.as_secs_f64() }))
            .collect();
        serde_json::json!({
            "schema": "rtrace.record.summary",
            "version": 1,
            "file": self.output.to_string_lossy(),
            "file_size": self.file_size,
            "tracing_on_ns": self.tracing_on.as_nanos() as u64,
            "untraced_ns": self.untraced.map(|time| time.as_nanos() as u64),
            "totals": self.totals(),
            "buffers": buffers,
            "offline": self.offline.to_string(),
            "command_status": self.command.map(Ended::code),
            "timed_out": self.timed_out,
            "limit": self.limit.map(|limit| match limit {
                Reached::MaxSize => "max-size",
                Reached::MinFree => "min-free",
            }),
            "stopped": self.stopped,
            "kept_newest": self.kept_newest,
            "cpu_seconds": self.totals().cpu_time.as_secs_f64(),
            "threads": threads,
            "saves": self.saves.latest,
            "saves_made": self.saves.all - self.saves.failed,
            "saves_failed": self.saves.failed,
            "hint": self.hint(),
            "interference": self.interference(),
            "failures": self.failures,
            "error": self.error.as_ref().map(|error| in_full(error)),
        })
    }
}

/// A ring buffer four times as large as one of `kib` KiB per CPU, as `-b` takes it.
pub(super) fn larger(kib: Option<u64>) -> String {
    let kib = kib.unwrap_or(1408) * 4;
    if kib < 1024 { format!("{kib}K") } else { format!("{}M", kib.div_ceil(1024).next_power_of_two()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(overrun: u64) -> RecordSummary {
        let cpu = CpuSummary {
            cpu: 1,
            offline: false,
            events: 1_234_567,
            events_discarded: 0,
            overrun,
            commit_overrun: 0,
            dropped: 0,
            read_by_others: 0,
            cleared: false,
            cleared_events: 0,
            unread: 0,
            bytes_raw: 5 << 20,
            bytes_written: 600 << 10,
            wakeups: 3,
            peak_fill: 8192,
            cpu_seconds: 0.25,
            bytes_discarded: 0,
            chunks_compressed: 5,
            chunks_stored: 1,
            effort: vec![EffortChange { at_ns: 9, effort: PackingEffort::Stored }],
        };
        RecordSummary {
            output: PathBuf::from("trace.dat"),
            is_rest: false,
            former: None,
            file_size: 1 << 20,
            buffers: vec![BufferSummary {
                name: String::new(),
                kib_per_cpu: Some(1408),
                cpus: vec![cpu],
                latency: None,
                snapshots: false,
                changes: Vec::new(),
            }],
            offline: CpuRanges::default(),
            tracing_on: Duration::from_millis(1500),
            untraced: None,
            switched_off: None,
            command: Some(Ended::Signal(15)),
            timed_out: false,
            limit: None,
            stopped: None,
            kept_newest: false,
            saves: SavesMade::default(),
            threads: vec![("main", Duration::from_millis(250))],
            failures: Vec::new(),
            error: None,
        }
    }

    #[test]
    fn text_names_losses_by_cpu_and_cause() {
        assert_eq!(
            summary(0).text(),
            "trace.dat: 1,234,567 events in 1.500 s through 1.4 MiB per CPU, 5.0 MiB raw, 1.0 MiB written (600.0 KiB of it events); none lost\n"
        );
        assert!(summary(1200).text().ends_with(
            "; 1,200 lost\n  cpu 1: 1,200 events lost (overrun 1,200)\n  \
             Hint: try a ring buffer four times as large: `-b 8M`.\n"
        ));
    }

    #[test]
    fn interference_is_a_loss_with_a_name() {
        let mut others = summary(0);
        others.buffers[0].cpus[0].read_by_others = 12;
        assert!(others.text().ends_with("; 12 lost\n  cpu 1: 12 events lost (read by another process 12)\n"));
        assert_eq!(others.interference().unwrap(), "another process read 12 events out of the ring buffers");
        let cpu = &mut others.buffers[0].cpus[0];
        (cpu.read_by_others, cpu.cleared, cpu.cleared_events) = (0, true, 1000);
        assert!(others.text().ends_with("  cpu 1: 1,000 events lost (cleared by another process, 1,000 or more)\n"));
        assert!(others.was_cleared() && others.interference().unwrap().contains("with 1,000 events in it at least"));
        others.buffers[0].snapshots = true;
        assert!(others.text().ends_with("  cpu 1: 1,000 events lost (swapped into the snapshot, 1,000 or more)\n"));
        assert!(!others.was_cleared() && others.interference().is_none());
        assert_eq!(summary(3).interference(), None);
    }

    #[test]
    fn each_buffer_has_its_size() {
        let mut summary = summary(0);
        let mut one = summary.buffers[0].clone();
        (one.name, one.kib_per_cpu, one.cpus) = ("one".to_owned(), Some(64), Vec::new());
        summary.buffers.push(one);
        assert!(summary.text().contains(" through 1.4 MiB, 64.0 KiB (one) per CPU, "), "{}", summary.text());
    }

    #[test]
    fn a_latency_stands_in_place_of_events() {
        let mut summary = summary(0);
        let text = b"# tracer: irqsoff\n# latency: 4053 us, #4/4, CPU#1 | (M:preempt)\n";
        (summary.buffers[0].cpus, summary.buffers[0].latency) = (Vec::new(), LatencyResult::parse(text));
        assert_eq!(
            summary.text(),
            "trace.dat: irqsoff: longest latency 4,053 us on CPU 1, 4 lines; in 1.500 s, 1.0 MiB written\n"
        );
        assert_eq!(summary.json()["buffers"][0]["latency"]["longest"]["latency_us"], 4053);
        summary.buffers.push(BufferSummary { name: "one".to_owned(), latency: None, ..summary.buffers[0].clone() });
        assert!(summary.text().contains("; none lost; irqsoff: longest latency 4,053 us"), "{}", summary.text());
    }

    #[test]
    fn limits_are_reported() {
        let mut limited = summary(0);
        limited.limit = Some(Reached::MaxSize);
        assert!(limited.text().ends_with("; none lost; stopped: the file is as large as --max-size allows\n"));
        assert_eq!(limited.json()["limit"], "max-size");
        let mut ring = summary(0);
        ring.kept_newest = true;
        (ring.buffers[0].cpus[0].bytes_discarded, ring.buffers[0].cpus[0].events_discarded) = (3 << 20, 4321);
        let discarded =
            |summary: &RecordSummary| summary.text().split_once("; none lost").unwrap().1.trim_end().to_owned();
        assert_eq!(discarded(&ring), "; kept the newest, 4,321 events (3.0 MiB raw) before them dropped");
        ring.limit = limited.limit;
        let stopped = "; stopped: the file is as large as --max-size allows";
        assert_eq!(discarded(&ring), format!("{stopped}; 4,321 events (3.0 MiB raw) after that discarded"));
        (ring.limit, ring.kept_newest) = (None, false);
        assert_eq!(discarded(&ring), "; 4,321 events (3.0 MiB raw) not written");
        assert_eq!(ring.json()["totals"]["events_discarded"], 4321);
    }

    #[test]
    fn cpus_that_were_offline_are_named() {
        let mut summary = summary(0);
        summary.offline = CpuRanges::parse("2").unwrap();
        assert!(summary.text().ends_with("; none lost\n  cpu 2 was offline\n"));
        summary.offline = CpuRanges::parse("2,4-7").unwrap();
        assert!(summary.text().ends_with("; none lost\n  cpus 2,4-7 were offline\n"));
        assert_eq!(summary.json()["offline"], "2,4-7");
    }

    #[test]
    fn the_time_without_tracing_is_named() {
        let mut full = summary(0);
        assert_eq!(full.json()["untraced_ns"], serde_json::Value::Null);
        full.untraced = Some(Duration::from_millis(250));
        assert!(full.text().ends_with("; none lost; nothing traced after 1.500 s, 0.250 s before CMD ended\n"));
        assert_eq!(full.json()["untraced_ns"], 250_000_000);
        full.command = None;
        assert!(full.text().ends_with("; none lost; nothing traced after 1.500 s\n"));
    }

    #[test]
    fn json_has_a_schema_and_the_sums() {
        let json = summary(7).json();
        assert_eq!((json["schema"].as_str(), json["version"].as_u64()), (Some("rtrace.record.summary"), Some(1)));
        assert_eq!((json["totals"]["lost"].as_u64(), json["command_status"].as_u64()), (Some(7), Some(143)));
        let cpu = &json["buffers"][0]["cpus"][0];
        assert_eq!(cpu["bytes_written"].as_u64(), Some(600 << 10));
        assert_eq!((&cpu["effort"][0]["effort"], cpu["chunks_stored"].as_u64()), (&"stored".into(), Some(1)));
        assert_eq!((json["cpu_seconds"].as_f64(), &json["threads"][0]["name"]), (Some(0.5), &"main".into()));
        assert!(json["hint"].as_str().is_some_and(|hint| hint.contains("-b 8M")));
    }
}
