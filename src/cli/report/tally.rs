//! `--count` and `--summary`.

use super::events::Run;
use super::input::Input;
use crate::cli::exit::Failure;
use rtrace::event::Record;
use rtrace::export::{Summary, Tally};
use rtrace::format::EventFormat;
use rtrace::merge::ahead::{self, Commit, Work};
use rtrace::ring_buffer::Item;
use rtrace::units::{ByteSize, Pid};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::Write;

/// Numbers instead of events.
#[derive(clap::Args, Clone, Copy)]
pub(crate) struct TallyArgs {
    /// How many of each event there are, instead of the events
    #[arg(long, conflicts_with = "summary")]
    count: bool,
    /// How many events of what kind, on which CPU, by which task, instead of the events
    #[arg(long)]
    summary: bool,
    /// How many of the busiest tasks --summary shows
    #[arg(long, value_name = "N", default_value_t = 20)]
    top_tasks: usize,
    /// --count, --summary or --profile as one JSON object
    #[arg(long)]
    pub(super) json: bool,
}

impl TallyArgs {
    pub(super) fn any(self) -> bool {
        self.count || self.summary
    }
}

/// Counts the events and prints the numbers.
pub(super) fn print(run: &mut Run<'_>, out: &mut (impl Write + Send)) -> Result<(), Failure> {
    let args = run.args.tally;
    let pid_at = |input: &Input| {
        let pid = formats(input).next().and_then(|f| f.common.iter().find(|f| f.name == "common_pid"));
        pid.map_or(4, |f| f.offset)
    };
    let mut summaries: Vec<Summary> =
        run.sources.iter().map(|s| Summary::new(run.inputs[s.file].trace.abi, pid_at(&run.inputs[s.file]))).collect();
    if args.count && run.shows_everything() {
        summaries = run.tally(&Counts { only_events: true, none: summaries })?;
    } else if run.is_whole() {
        let none = summaries.iter().map(Summary::of_none).collect();
        let counts = Counts { only_events: args.count, none };
        summaries = run.all_to(&counts, summaries, out)?;
    } else if args.count {
        run.each(|merge| {
            let record = merge.record();
            summaries[record.buffer].count(record.data);
            Ok(())
        })?;
    } else {
        run.each(|merge| {
            let record = merge.record();
            summaries[record.buffer].add(&record);
            Ok(())
        })?;
    }
    let numbers = Numbers { run, summaries: &summaries };
    match (args.count, args.json) {
        (true, false) => numbers.count_text(out),
        (true, true) => numbers.count_json(out),
        (false, false) => numbers.summary_text(args.top_tasks, out),
        (false, true) => numbers.summary_json(args.top_tasks, out),
    }
}

/// Counts of the events of each source.
struct Counts {
    only_events: bool,
    /// Of nothing.
    none: Vec<Summary>,
}

impl ahead::Tally for Counts {
    type State = Vec<Summary>;

    fn nothing(&self) -> Vec<Summary> {
        self.none.clone()
    }

    fn records(&self, summaries: &mut Vec<Summary>, buffer: usize, items: &[Item], data: &[u8]) {
        let summary = &mut summaries[buffer];
        for item in items {
            summary.count(data.get(item.start..item.start + item.len).unwrap_or_default());
        }
    }

    fn add(&self, known: &mut Vec<Summary>, more: Vec<Summary>) {
        known.iter_mut().zip(&more).for_each(|(known, more)| known.add_later(more));
    }
}

impl Work for Counts {
    type State = Vec<Summary>;

    fn fork(&self, known: &Vec<Summary>, _: Option<Vec<Summary>>) -> Vec<Summary> {
        known.iter().map(Summary::of_none).collect()
    }

    #[inline]
    fn record<'n>(
        &self,
        record: &Record<'_>,
        _: impl FnOnce() -> Option<Record<'n>>,
        summaries: &mut Vec<Summary>,
        _: &mut Vec<u8>,
    ) -> bool {
        let summary = &mut summaries[record.buffer];
        if self.only_events {
            summary.count(record.data);
        } else {
            summary.add(record);
        }
        false
    }

    fn commit(&self, known: &mut Vec<Summary>, done: &mut Vec<Summary>, _: &mut Vec<u8>) -> Commit {
        known.iter_mut().zip(done.iter()).for_each(|(known, done)| known.add_later(done));
        Commit::Accept
    }
}

fn formats(input: &Input) -> impl Iterator<Item = &EventFormat> {
    input.trace.formats()
}

struct Numbers<'a, 'r> {
    run: &'a Run<'r>,
    summaries: &'a [Summary],
}

impl Numbers<'_, '_> {
    /// All events by name, the most frequent first.
    fn events(&self) -> Vec<(String, Tally)> {
        let mut by_name: HashMap<String, Tally> = HashMap::new();
        for (file, input) in self.run.inputs.iter().enumerate() {
            let names: HashMap<u16, String> =
                formats(input).map(|f| (f.id.0, format!("{}:{}", f.system, f.name))).collect();
            for (source, summary) in self.run.sources.iter().zip(self.summaries).filter(|(s, _)| s.file == file) {
                debug_assert_eq!(source.file, file);
                for (id, tally) in summary.events() {
                    let name = names.get(&id).cloned().unwrap_or_else(|| format!("(unknown event {id})"));
                    *by_name.entry(name).or_default() += tally;
                }
            }
        }
        let mut events: Vec<_> = by_name.into_iter().collect();
        events.sort_by(|a, b| b.1.count.cmp(&a.1.count).then_with(|| a.0.cmp(&b.0)));
        events
    }

    /// All tasks, the busiest first, at most `top`; and how many there are.
    fn tasks(&self, top: usize) -> (Vec<(usize, Pid, Tally)>, usize) {
        let mut by_task: HashMap<(usize, Pid), Tally> = HashMap::new();
        for (source, summary) in self.run.sources.iter().zip(self.summaries) {
            for &(pid, tally) in summary.tasks() {
                *by_task.entry((source.file, pid)).or_default() += tally;
            }
        }
        let mut tasks: Vec<_> = by_task.into_iter().map(|((file, pid), tally)| (file, pid, tally)).collect();
        tasks.sort_by_key(|&(file, pid, tally)| (std::cmp::Reverse(tally.count), file, pid));
        let all = tasks.len();
        tasks.truncate(top);
        (tasks, all)
    }

    fn total(&self) -> Tally {
        let mut total = Tally::default();
        self.summaries.iter().for_each(|s| total += s.total());
        total
    }

    /// The first and last time of all.
    fn span(&self) -> Option<(u64, u64)> {
        let spans = || self.summaries.iter().filter_map(Summary::span);
        Some((spans().map(|s| s.0.0).min()?, spans().map(|s| s.1.0).max()?))
    }

    /// How long that is, in seconds; `None` in ticks, or if it is no time at all.
    fn seconds(&self) -> Option<f64> {
        let (first, last) = self.span()?;
        let in_ticks = self.run.sources.iter().any(|s| s.in_ticks);
        (!in_ticks && last > first).then(|| (last - first) as f64 / 1e9)
    }

    fn count_text(&self, out: &mut impl Write) -> Result<(), Failure> {
        for (name, tally) in self.events() {
            writeln!(out, "{:>12} {name}", tally.count)?;
        }
        writeln!(out, "{:>12} in all", self.total().count)?;
        Ok(())
    }

    fn count_json(&self, out: &mut impl Write) -> Result<(), Failure> {
        let events: serde_json::Map<String, Value> =
            self.events().into_iter().map(|(name, tally)| (name, tally.count.into())).collect();
        let count = json!({
            "schema": "rtrace.count", "version": 1, "total": self.total().count, "events": events,
        });
        writeln!(out, "{count}")?;
        Ok(())
    }

    fn summary_text(&self, top: usize, out: &mut impl Write) -> Result<(), Failure> {
        let total = self.total();
        write!(out, "{} events, {}", total.count, ByteSize(total.bytes))?;
        match self.seconds() {
            Some(seconds) => writeln!(out, ", {seconds:.6} s")?,
            None => writeln!(out)?,
        }
        let events = self.events();
        let width = events.iter().map(|e| e.0.len()).max().unwrap_or(0).max(5);
        writeln!(out, "\n{:width$} {:>12} {:>14} {:>11}", "EVENT", "COUNT", "PER SECOND", "SIZE")?;
        for (name, tally) in &events {
            let rate = self.seconds().map_or("-".to_owned(), |s| format!("{:.1}", tally.count as f64 / s));
            writeln!(out, "{name:width$} {:>12} {rate:>14} {:>11}", tally.count, ByteSize(tally.bytes).to_string())?;
        }
        writeln!(out, "\n{:>5} {:>12} {:>12} {:>20} {:>20} BUFFER", "CPU", "EVENTS", "LOST", "FIRST", "LAST")?;
        for (source, summary) in self.run.sources.iter().zip(self.summaries) {
            for cpu in summary.cpus() {
                let (first, last) = cpu.span.unwrap_or_default();
                let lost = match (cpu.lost, cpu.lost_unknown) {
                    (0, 0) => "0".to_owned(),
                    (0, _) => "some".to_owned(),
                    (count, 0) => count.to_string(),
                    (count, _) => format!("{count}+"),
                };
                writeln!(
                    out,
                    "{:>5} {:>12} {lost:>12} {:>20} {:>20} {}",
                    cpu.cpu.0,
                    cpu.events.count,
                    time(first.0, source.in_ticks),
                    time(last.0, source.in_ticks),
                    self.place(source.file, source.buffer),
                )?;
            }
        }
        let (tasks, all) = self.tasks(top);
        writeln!(out, "\n{:>16} {:>8} {:>12} {:>7} {:>11}", "TASK", "PID", "EVENTS", "SHARE", "SIZE")?;
        for &(file, pid, tally) in &tasks {
            let comm = self.run.inputs[file].symbols.comms.name(pid);
            let pad = 16_usize.saturating_sub(String::from_utf8_lossy(comm).chars().count());
            let share = 100.0 * tally.count as f64 / total.count.max(1) as f64;
            let size = ByteSize(tally.bytes).to_string();
            write!(out, "{:pad$}", "")?;
            out.write_all(comm)?;
            writeln!(out, " {pid:>8} {:>12} {share:>6.1}% {size:>11}", tally.count)?;
        }
        if all > tasks.len() {
            writeln!(out, "{:>16} {} more tasks", "", all - tasks.len())?;
        }
        Ok(())
    }

    /// Which file and buffer, as far as there are several.
    fn place(&self, file: usize, buffer: usize) -> String {
        let input = &self.run.inputs[file];
        let name = &input.trace.buffers[buffer].name;
        match (self.run.inputs.len() > 1, name.as_str()) {
            (false, "") => "-".to_owned(),
            (false, name) => name.to_owned(),
            (true, "") => input.label(),
            (true, name) => format!("{}:{name}", input.label()),
        }
    }

    fn summary_json(&self, top: usize, out: &mut impl Write) -> Result<(), Failure> {
        let several = self.run.inputs.len() > 1;
        let label = |file: usize| several.then(|| self.run.inputs[file].label());
        let seconds = self.seconds();
        let events: Vec<Value> = self
            .events()
            .into_iter()
            .map(|(event, tally)| {
                let rate = seconds.map(|s| tally.count as f64 / s);
                json!({"event": event, "count": tally.count, "per_second": rate, "bytes": tally.bytes})
            })
            .collect();
        let mut cpus = Vec::new();
        for (source, summary) in self.run.sources.iter().zip(self.summaries) {
            let buffer = &self.run.inputs[source.file].trace.buffers[source.buffer].name;
            for cpu in summary.cpus() {
                cpus.push(json!({
                    "source": label(source.file),
                    "buffer": if buffer.is_empty() { None } else { Some(buffer) },
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
        let (tasks, all_tasks) = self.tasks(top);
        let tasks: Vec<Value> = tasks
            .into_iter()
            .map(|(file, pid, tally)| {
                let comm = self.run.inputs[file].symbols.comms.get(pid).map(String::from_utf8_lossy);
                json!({"source": label(file), "pid": pid.0, "comm": comm, "events": tally.count, "bytes": tally.bytes})
            })
            .collect();
        let total = self.total();
        let summary = json!({
            "schema": "rtrace.summary", "version": 1,
            "total": {"events": total.count, "bytes": total.bytes, "seconds": seconds},
            "events": events, "cpus": cpus, "tasks": tasks, "task_count": all_tasks,
        });
        writeln!(out, "{summary}")?;
        Ok(())
    }
}

fn time(time: u64, in_ticks: bool) -> String {
    if in_ticks { time.to_string() } else { format!("{}.{:09}", time / 1_000_000_000, time % 1_000_000_000) }
}
