//! `--pair`, `--counter`, `--hist` and requests (`--begin`, `--end`) of `--to perfetto`.

use super::progress::Course;
use crate::cli::analyze::words::many;
use crate::cli::analyze::{BufferLimits, left_out_requests};
use crate::cli::exit::{Exit, Failure};
use crate::cli::key_names::KeyNames;
use crate::cli::language::of_value;
use crate::cli::query::{QueryEvents, QueryInput};
use crate::cli::request_args::RequestArgs;
use anyhow::anyhow;
use rtrace::analysis::{HistSetup, HistTrigger, Histograms, RequestPlan, RequestTimes};
use rtrace::export::{CounterField, PerfettoCounters, perfetto_counter, perfetto_requests, perfetto_slices};
use rtrace::format::EventFormat;
use rtrace::hist::render::TableLayout;
use rtrace::hist::spec::HistSpec;
use rtrace::internal::assertion::Pair;
use rtrace::recording::BufferSource;
use rtrace::units::Pid;
use std::io::Write;

/// `SYSTEM:NAME:SYSTEM:NAME:KEY`, without systems where names are enough; or the pair as assertions have it.
fn pair(text: &str) -> Result<Pair, String> {
    let parts: Vec<&str> = text.split(':').collect();
    let (from, to, key) = match &parts[..] {
        _ if text.starts_with("latency(") => return parsed(text),
        [from, to, key] => ((*from).to_owned(), (*to).to_owned(), *key),
        [system, from, other, to, key] => (format!("{system}:{from}"), format!("{other}:{to}"), *key),
        _ => return Err("expected START:END:KEY, each event as NAME or both as SYSTEM:NAME".into()),
    };
    parsed(&format!("latency({from}, {to}, {key})"))
}

fn parsed(text: &str) -> Result<Pair, String> {
    Pair::parse(text).map_err(|error| of_value(&error))
}

/// `SYSTEM:NAME.FIELD`.
fn counter(text: &str) -> Result<CounterField, String> {
    match text.rsplit_once('.') {
        Some((event, field)) if event.contains(':') && !field.is_empty() => {
            Ok(CounterField { event: event.to_owned(), field: field.to_owned() })
        }
        _ => Err("expected SYSTEM:NAME.FIELD, as in `sched:sched_switch.next_prio`".into()),
    }
}

/// Tracks that are asked for beside the events.
#[derive(clap::Args)]
pub(super) struct TrackArgs {
    /// Time between two events as slices of perfetto, as in block:block_rq_issue:block:block_rq_complete:sector
    #[arg(long, value_name = "START:END:KEY", value_parser = pair)]
    pair: Vec<Pair>,
    /// Field of an event as a counter of perfetto, as in power:cpu_frequency.state
    #[arg(long, value_name = "EVENT.FIELD", value_parser = counter)]
    counter: Vec<CounterField>,
    /// Entries of a hist trigger's table as counters of perfetto, as in sched:sched_switch:keys=next_comm
    #[arg(long, value_name = "EVENT:TRIGGER", value_parser = hist)]
    hist: Vec<HistTrigger>,
    #[command(flatten)]
    requests: RequestArgs,
}

impl TrackArgs {
    pub(super) fn is_empty(&self) -> bool {
        self.pair.is_empty() && self.counter.is_empty() && self.hist.is_empty() && !self.requests.are_asked()
    }

    /// True if requests are to be shown.
    pub(super) fn has_requests(&self) -> bool {
        self.requests.are_asked()
    }
}

/// `SYSTEM:NAME:keys=KEY...`, the trigger with or without `hist:` before it.
fn hist(text: &str) -> Result<HistTrigger, String> {
    let mut parts = text.splitn(3, ':');
    let (Some(system), Some(event), Some(trigger)) = (parts.next(), parts.next(), parts.next()) else {
        return Err("expected SYSTEM:NAME:TRIGGER, as in sched:sched_switch:keys=next_comm".into());
    };
    let trigger = if trigger.starts_with("hist:") { trigger.to_owned() } else { format!("hist:{trigger}") };
    let spec = HistSpec::parse(&trigger).map_err(|error| format!("\n{}", error.diagnostic(&trigger)))?;
    Ok(HistTrigger { system: system.to_owned(), event: event.to_owned(), spec })
}

/// Appends the tracks that are asked for, of the recordings with these numbers, each a machine; gives what is left out.
pub(super) fn write(
    args: &TrackArgs,
    (events, machines): (&QueryEvents<'_>, &[usize]),
    out: &mut (impl Write + Send),
) -> Result<Vec<String>, Failure> {
    let TrackArgs { pair: pairs, counter: counters, hist, requests } = args;
    let mut left_out = Vec::new();
    for (machine, recording) in machines.iter().enumerate() {
        if pairs.is_empty() && hist.is_empty() && !requests.are_asked() {
            break;
        }
        // Pairs and tables are one machine's.
        let own = events.query.sources().iter().filter(|source| source.recording == *recording).cloned().collect();
        let own = QueryEvents { query: events.query.clone().of_sources(own), ..events.clone() };
        for (number, pair) in pairs.iter().enumerate() {
            left_out.extend(slices((machine, number), pair, &events.inputs[*recording], &own, out)?);
        }
        for (number, trigger) in hist.iter().enumerate() {
            left_out.extend(table((machine, number), trigger, &events.inputs[*recording], &own, out)?);
        }
        if requests.are_asked() {
            left_out.extend(requests_of(machine, requests, &events.inputs[*recording], &own, out)?);
        }
    }
    if !counters.is_empty() {
        let buffers = events.query.sources().iter().map(|source| {
            let input = &events.inputs[source.recording];
            let machine = machines.iter().position(|number| *number == source.recording).unwrap_or_default();
            (input.formats().collect(), input.trace.abi, machine)
        });
        let exporter = PerfettoCounters::new(counters.to_vec(), buffers);
        if let Some(none) = counters.iter().find(|counter| !exporter.has(counter)) {
            let mut formats = events.inputs.iter().flat_map(QueryInput::formats);
            let format = formats.find(|format| format!("{}:{}", format.system, format.name) == none.event);
            let failure = |error| Failure::new(Exit::Usage, error);
            return Err(match format {
                Some(format) => {
                    let names: Vec<&str> = format.fields.iter().map(|field| field.name.as_str()).collect();
                    failure(anyhow!("event {} has no number called `{}`", none.event, none.field))
                        .hint(format!("its fields are {}.", names.join(", ")))
                }
                None => failure(anyhow!("no recording has an event {}", none.event))
                    .hint(format!("`rtrace record -e {}` records it, if the kernel has it.", none.event)),
            });
        }
        events.query.export(&exporter, out).map_err(|error| anyhow!("{error}"))?;
    }
    Ok(left_out)
}

fn slices(
    (machine, number): (usize, usize),
    pair: &Pair,
    input: &QueryInput,
    events: &QueryEvents<'_>,
    out: &mut (impl Write + Send),
) -> Result<Vec<String>, Failure> {
    let formats: Vec<&EventFormat> = input.formats().collect();
    let pairs = pair.pairs(&formats, input.trace.abi, &input.symbols.comms).map_err(|error| {
        error.hints().iter().fold(Failure::new(Exit::Usage, anyhow!("{error}")), |failure, hint| failure.hint(hint))
    })?;
    let pairs = pairs.map_err(|missing| Failure::new(Exit::Usage, anyhow!("{}: {missing}", input.path.display())))?;
    let (mut report, _) = events.query.analyse(pairs.keep())?;
    let mut packets = Vec::new();
    perfetto_slices(&pair.text, (machine, number), &mut report.kept, &mut packets);
    out.write_all(&packets)?;
    let counts = [
        (report.begun_again, "starts that another one followed"),
        (report.without_begin, "ends without a start"),
        (report.unfinished, "starts without an end"),
        (report.censored, "starts before lost events"),
    ];
    let there = counts.iter().filter(|(count, _)| *count > 0);
    Ok(there.map(|(count, which)| format!("{count} {which} of {}", pair.text)).collect())
}

/// Requests of one machine, each buffer by itself.
fn requests_of(
    machine: usize,
    args: &RequestArgs,
    input: &QueryInput,
    events: &QueryEvents<'_>,
    out: &mut (impl Write + Send),
) -> Result<Vec<String>, Failure> {
    let missing = || Failure::new(Exit::Failed, anyhow!("{} holds no lines of trace_marker", input.path.display()));
    let plan = args.plan(input)?.ok_or_else(missing)?;
    let plan = RequestPlan { keep: usize::MAX, pieces: true, ..plan };
    let formats: Vec<&EventFormat> = input.formats().collect();
    let times = RequestTimes::new(formats, input.trace.abi, plan);
    let (mut left_out, mut requests) = (Vec::new(), Vec::new());
    for source in events.query.sources() {
        let query = events.query.clone().of_sources(vec![source.clone()]);
        let limits = BufferLimits::of(&query, input, source)?;
        let (report, _) = query.analyse(times.clone().covering(&limits.coverage))?;
        left_out.extend(left_out_requests(&report.counts));
        let censored = report.counts.censored;
        left_out.extend((censored > 0).then(|| format!("{} before lost events", many(censored, "request"))));
        // Where some begins or ends are missing by a filter, two that fit may be of different requests.
        match report.limits.is_empty() {
            true => requests.extend(report.longest),
            false => left_out.extend(report.limits),
        }
    }
    let task = |pid: Pid| {
        let comm = input.symbols.comms.get(pid).map_or_else(|| "?".into(), String::from_utf8_lossy);
        format!("{comm} [{}]", pid.0)
    };
    let mut packets = Vec::new();
    perfetto_requests("requests", machine, requests, task, &mut packets);
    out.write_all(&packets)?;
    Ok(left_out)
}

/// Entries of a table that become counters.
const MOST_ENTRIES: usize = 50;
/// Values of each, at most.
const INTERVALS: u64 = 256;

/// The hits of each entry of a table, rising with the time.
fn table(
    (machine, number): (usize, usize),
    trigger: &HistTrigger,
    input: &QueryInput,
    events: &QueryEvents<'_>,
    out: &mut (impl Write + Send),
) -> Result<Option<String>, Failure> {
    // The kernel counts the events of the instance that the trigger is set in.
    let is_top = |source: &&BufferSource| input.trace.buffers[source.buffer].name.is_empty();
    let top = events.query.sources().iter().filter(is_top).cloned().collect();
    let events = QueryEvents { query: events.query.clone().of_sources(top), ..events.clone() };
    let Some(course) = Course::of(&events)? else { return Ok(None) };
    let length = ((course.last.0 - course.first.0) / INTERVALS).max(1);
    let setup = HistSetup {
        triggers: vec![trigger.clone()],
        every: Some(length),
        uname: input.trace.uname(),
        ..HistSetup::default()
    };
    let formats: Vec<&EventFormat> = input.formats().collect();
    let histograms = Histograms::new(&setup, &formats, input.trace.abi, &input.symbols);
    let event = format!("{}:{}", trigger.system, trigger.event);
    let histograms = histograms.map_err(|error| {
        Failure::new(Exit::Usage, anyhow!("{}: --hist {event}:{}: {error}", input.path.display(), trigger.spec))
    })?;
    let findings = events.analyse(histograms)?;
    let found = findings.table(0, &KeyNames::of(input)).zip(findings.over_time(0));
    let (table, cells) = found.ok_or_else(|| anyhow!("the trigger has no table"))?;
    let mut rows: Vec<_> = table.entries.iter().zip(&cells).collect();
    rows.sort_by_key(|(_, cells)| std::cmp::Reverse(cells.iter().map(|cell| cell.1).sum::<u64>()));
    let layout = TableLayout::default();
    let mut packets = Vec::new();
    for (entry, (row, cells)) in rows.iter().take(MOST_ENTRIES).enumerate() {
        let key = row.keys.iter().map(|key| layout.key(key)).collect::<Vec<_>>().join(", ");
        let mut hits = 0u64;
        let rising = cells.iter().map(|(interval, more)| {
            hits = hits.saturating_add(*more);
            ((interval + 1).saturating_mul(length), hits)
        });
        let values = std::iter::once((course.first.0, 0)).chain(rising);
        perfetto_counter(&format!("hist {event} {key}"), (machine, number, entry), values, &mut packets);
    }
    out.write_all(&packets)?;
    let left = rows.len().saturating_sub(MOST_ENTRIES);
    Ok((left > 0).then(|| format!("{left} entries of hist {event} with the fewest hits")))
}
