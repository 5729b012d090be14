//! The coverage of a recording's buffers: in a few lines, and as JSON.

use crate::cli::query::ClockUnit;
use rtrace::events::EventName;
use rtrace::internal::trace_dat::{Buffer, Cgroups, Coverage, CoveredTasks, FileError, OptionId, TimeOptions, Trace};
use rtrace::units::{ClockTick, CpuId, RecordedClock, Timestamp, counted, grouped};
use serde_json::{Value, json};

/// The most events, tasks or CPUs that a line names.
const MOST: usize = 8;

/// The coverage of one buffer.
struct BufferCoverage<'t> {
    trace: &'t Trace,
    buffer: &'t Buffer,
    coverage: Coverage,
    /// The times of the first and the last event of each CPU; `None` without any.
    times: Vec<(CpuId, Option<(Timestamp, Timestamp)>)>,
}

/// The limits of a buffer of `trace` that matter to whoever reads these events, each a sentence.
pub(crate) fn limits(trace: &Trace, buffer: &str, reads: impl Fn(&EventName) -> bool) -> Vec<String> {
    let found = trace.buffers.iter().find(|one| one.name == buffer);
    found.map(|buffer| trace.coverage(buffer).limits(reads)).unwrap_or_default()
}

/// True if the file says what it holds.
pub(crate) fn is_stored(trace: &Trace) -> bool {
    trace.option(OptionId::RTRACE_COVERAGE).is_some() || trace.option(OptionId::RTRACE_EVENTS).is_some()
}

/// The coverage of each buffer of `trace`, a few lines each; `with_times`: the times of events too, which lie in their chunks.
pub(crate) fn text(trace: &Trace, with_times: bool) -> String {
    let mut text = String::new();
    for one in BufferCoverage::all(trace, with_times) {
        let of = if one.buffer.name.is_empty() { String::new() } else { format!(" of instance {}", one.buffer.name) };
        text.push_str(&format!("Recorded{of}:\n"));
        if let Some(line) = command_line(trace).filter(|_| one.buffer.name.is_empty()) {
            text.push_str(&format!("  command {line}\n"));
        }
        for (name, value) in one.lines().into_iter().filter(|(name, _)| with_times || *name != "time") {
            text.push_str(&format!("  {name:<7} {value}\n"));
        }
        if one.buffer.name.is_empty()
            && let Some(cgroups) = trace.cgroups(&TimeOptions::default())
        {
            text.push_str(&format!("  cgroups {}\n", cgroups_in_words(&cgroups)));
        }
        for limit in one.coverage.limits(|_| true) {
            text.push_str(&format!("  limit   {limit}\n"));
        }
    }
    text
}

/// The command line that made the recording, in one line, if the file says it.
pub(crate) fn command_line(trace: &Trace) -> Option<String> {
    let stored = trace.option(OptionId::RTRACE_COMMAND)?.text();
    let shown = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    Some(stored.trim_end_matches('\0').chars().map(shown).collect())
}

fn cgroups_in_words(cgroups: &Cgroups) -> String {
    let hierarchy = match cgroups.hierarchy() {
        "" => "v2".to_owned(),
        controllers => format!("v1 ({controllers})"),
    };
    let only: Vec<&str> = cgroups.followed().collect();
    let only = if only.is_empty() { String::new() } else { format!("; only {} and below", some(only.iter())) };
    let until = if cgroups.until().is_some() { ", not to the end" } else { "" };
    let containers: Vec<&str> = cgroups.containers().into_iter().collect();
    let containers =
        if containers.is_empty() { String::new() } else { format!("; containers {}", some(containers.iter())) };
    format!("of {} tasks, {hierarchy}{until}{only}{containers}", grouped(cgroups.tasks() as u64))
}

/// The coverage of each buffer of `trace`, for programs.
pub(crate) fn json(trace: &Trace, with_times: bool) -> Value {
    BufferCoverage::all(trace, with_times).map(|one| one.json()).collect()
}

impl<'t> BufferCoverage<'t> {
    fn all(trace: &'t Trace, with_times: bool) -> impl Iterator<Item = BufferCoverage<'t>> {
        trace.buffers.iter().map(move |buffer| {
            // Damage is told of by whoever reads the events.
            let span = |number| trace.span(buffer, number, &TimeOptions::default(), &mut |_| {}).unwrap_or_default();
            let cpus = buffer.cpus.iter().enumerate().filter(|_| with_times);
            let times = cpus.map(|(number, data)| (data.cpu, span(number))).collect();
            BufferCoverage { trace, buffer, coverage: trace.coverage(buffer), times }
        })
    }

    fn lines(&self) -> [(&'static str, String); 6] {
        [
            ("events", self.events()),
            ("tasks", self.tasks()),
            ("CPUs", self.cpus()),
            ("time", self.time()),
            ("state", self.state()),
            ("clock", self.clock()),
        ]
    }

    fn events(&self) -> String {
        let Some(enabled) = &self.coverage.events else { return "not known".to_owned() };
        let mut events: Vec<_> = enabled.events.iter().collect();
        events.sort_by_key(|(_, filter)| filter.is_none());
        let name = |(event, filter): &&(EventName, Option<String>)| match filter {
            Some(filter) => format!("{event} ({filter})"),
            None => event.to_string(),
        };
        match events.len() {
            0 => "none".to_owned(),
            count => format!("{}: {}", grouped(count as u64), some(events.iter().map(name))),
        }
    }

    fn tasks(&self) -> String {
        let Coverage { tasks, joined, excluded, left_out, left_out_interrupts, .. } = &self.coverage;
        let mut text = match tasks {
            None => "not known".to_owned(),
            Some(CoveredTasks::All) => "all".to_owned(),
            Some(CoveredTasks::Only { pids, children }) => {
                let children = if *children { " and what they fork" } else { "" };
                match (pids.is_empty(), *joined) {
                    (true, 0) => "none".to_owned(),
                    (true, joined) => format!("{} that came meanwhile{children}", grouped(joined)),
                    (false, _) => format!("{}{children}", some(pids.iter())),
                }
            }
        };
        let is_said = matches!(tasks, Some(CoveredTasks::Only { pids, .. }) if pids.is_empty());
        if *joined > 0 && !is_said {
            text.push_str(&format!(", {} that came meanwhile", grouped(*joined)));
        }
        if !excluded.is_empty() {
            text.push_str(&format!(", but not {}", some(excluded.iter())));
        }
        if !left_out.is_empty() {
            let interrupts = if *left_out_interrupts { ", with the interrupts of their time" } else { "" };
            text.push_str(&format!(", but not rtrace's own threads {}{interrupts}", some(left_out.iter())));
        }
        text
    }

    fn cpus(&self) -> String {
        let mut text = match (&self.coverage.cpus, &self.coverage.tasks) {
            (Some(cpus), _) => some(cpus.iter()),
            (None, Some(_)) => "all".to_owned(),
            (None, None) => "not known".to_owned(),
        };
        if let Some(offline) = self.trace.offline_cpus() {
            text.push_str(&format!(", offline {offline}"));
        }
        let empty: Vec<CpuId> = self.times.iter().filter(|(_, time)| time.is_none()).map(|(cpu, _)| *cpu).collect();
        if !empty.is_empty() {
            text.push_str(&format!(", no events of {}", some(empty.iter())));
        }
        text
    }

    fn unit(&self) -> ClockUnit {
        ClockUnit::of(!RecordedClock::of(&self.buffer.clock).counts_nanoseconds())
    }

    fn time(&self) -> String {
        let spans = || self.times.iter().filter_map(|(_, span)| *span);
        let (Some(first), Some(last)) = (spans().map(|span| span.0).min(), spans().map(|span| span.1).max()) else {
            return "no events".to_owned();
        };
        let mut text = format!("{} to {}", self.unit().micros(first.0), self.unit().micros(last.0));
        let late = self.times.iter().filter_map(|(cpu, span)| Some((cpu, span.as_ref()?.0)));
        let late = late.filter(|(cpu, begin)| self.coverage.shortened.contains(cpu) && *begin > first);
        let late: Vec<String> =
            late.map(|(cpu, begin)| format!("CPU {cpu} from {}", self.unit().micros(begin.0))).collect();
        if !late.is_empty() {
            text.push_str(&format!(", {}", some(late.iter())));
        }
        text
    }

    /// Sentences about events that are not in the file.
    fn missing(&self) -> Vec<String> {
        let damage = self.trace.damage.iter();
        let unsaved = damage.filter_map(|found| match found {
            FileError::Unsaved(unsaved) if unsaved.buffer == self.buffer.name => Some(unsaved.to_string()),
            _ => None,
        });
        unsaved.collect()
    }

    /// Number of places that are damaged.
    fn damaged(&self) -> u64 {
        let is_damage = |found: &&FileError| !matches!(found, FileError::Unsaved(_) | FileError::Changed(_));
        self.trace.damage.iter().filter(is_damage).count() as u64
    }

    fn state(&self) -> String {
        let mut text = if self.trace.spools.is_some() { "unfinished".to_owned() } else { "finished".to_owned() };
        let damaged = self.damaged();
        if damaged > 0 {
            text.push_str(&format!(", damaged in {}", counted(damaged, "place")));
        }
        let missing = self.missing();
        if !missing.is_empty() {
            text.push_str(&format!("; {}", some(missing.iter())));
        }
        text
    }

    fn clock(&self) -> String {
        let (clock, name) = (RecordedClock::of(&self.buffer.clock), self.buffer.clock.as_str());
        let name = if name.is_empty() { "local" } else { name };
        let unit = match clock.tick {
            ClockTick::Nanosecond => "nanoseconds".to_owned(),
            ClockTick::Nanoseconds(length) => format!("units of {} ns", grouped(length)),
            ClockTick::Cycle => "cycles of the CPU's counter".to_owned(),
            ClockTick::Event => "events, no time".to_owned(),
        };
        let across = if clock.spans_cpus { "" } else { ", may differ between CPUs" };
        format!("{name}: {unit}{across}")
    }

    fn json(&self) -> Value {
        let Coverage {
            events,
            tasks,
            cpus,
            joined,
            excluded,
            left_out,
            left_out_interrupts,
            shortened,
            changes,
            copied,
            ..
        } = &self.coverage;
        let filtered =
            |(event, filter): &(EventName, Option<String>)| json!({"event": event.to_string(), "filter": filter});
        let pids = |pids: &[rtrace::units::Pid]| pids.iter().map(|pid| pid.0).collect::<Vec<_>>();
        let ids = |cpus: &[CpuId]| cpus.iter().map(|cpu| cpu.0).collect::<Vec<_>>();
        let only = match tasks {
            Some(CoveredTasks::Only { pids: only, .. }) => json!(pids(only)),
            _ => Value::Null,
        };
        let time = |(cpu, span): &(CpuId, Option<(Timestamp, Timestamp)>)| json!({"cpu": cpu.0, "first": span.map(|(first, _)| first.0), "last": span.map(|(_, last)| last.0)});
        let clock = RecordedClock::of(&self.buffer.clock);
        json!({
            "buffer": self.buffer.name,
            "events": events.as_ref().map(|enabled| enabled.events.iter().map(filtered).collect::<Vec<_>>()),
            "copied": copied.iter().map(filtered).collect::<Vec<_>>(),
            "tasks": tasks.as_ref().map(|_| json!({
                "only": only,
                "children": self.coverage.follows_forks(),
                "joined": joined,
                "not": pids(excluded),
                "own": pids(left_out),
                "own_interrupts": left_out_interrupts,
            })),
            "cpus": cpus.as_ref().map(|cpus| ids(cpus)),
            "offline": self.trace.offline_cpus().map(|cpus| cpus.to_string()),
            "times": self.times.iter().map(time).collect::<Vec<_>>(),
            "shortened": ids(shortened),
            "unfinished": self.trace.spools.is_some(),
            "damaged": self.damaged(),
            "missing": self.missing(),
            "changed": changes.iter().map(ToString::to_string).collect::<Vec<_>>(),
            "clock": {"name": self.buffer.clock, "unit": self.unit().name(), "across_cpus": clock.spans_cpus},
            "limits": self.coverage.limits(|_| true),
        })
    }
}

/// The first of them, and how many more there are.
fn some(all: impl ExactSizeIterator<Item = impl ToString>) -> String {
    let more = all.len().saturating_sub(MOST);
    let more = if more > 0 { format!(" and {} more", grouped(more as u64)) } else { String::new() };
    let shown = all.take(MOST).map(|one| one.to_string()).collect::<Vec<_>>().join(", ");
    format!("{shown}{more}")
}
