//! `rtrace analyze timerlat`.

use super::answers::{AnalysisAnswer, AnswerArgs, Outline, Question};
use super::noise::{self, NoiseView};
use super::words::{function, many};
use crate::cli::query::{ClockUnit, QueryInput};
use rtrace::analysis::{
    CpuTimer, Durations, NOISE_NEEDS, Needs, Noise, RowSubject, Timerlat, TimerlatReport, TimerlatSample,
};
use rtrace::internal::answers::TextTable;
use rtrace::internal::table::{
    Answer, AnswerCell as Cell, AnswerColumn as Column, AnswerTable as Table, ColumnDefinition, ColumnKind as Kind,
};
use rtrace::units::{CpuId, parse_duration};
use std::time::Duration;

/// Latencies of timers and the threads that they wake, as the tracer timerlat measures them, and the parts of one of them
///
/// From the tracer's own entries, and the events osnoise:*_noise as far as they are recorded. The sample whose thread was latest
/// is taken apart. `rtrace help analyses` defines each number.
#[derive(clap::Args, Default)]
pub(super) struct AnalyzeTimerlatArgs {
    #[command(flatten)]
    pub(super) shown: AnswerArgs,
    /// Take the first sample apart whose thread was later than this, not the latest
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    beyond: Option<Duration>,
}

impl Question for AnalyzeTimerlatArgs {
    type Analysis = Timerlat;
    const PURPOSE: &'static str = "timerlat";
    const LACKING: &'static str = "samples of timerlat";
    const NEEDS: &'static [Needs] = NOISE_NEEDS;

    fn shown(&self) -> &AnswerArgs {
        &self.shown
    }

    fn analysis(&self, input: &QueryInput) -> Option<Timerlat> {
        let beyond = self.beyond.map(noise::nanoseconds);
        let timerlat = Timerlat::new(input.trace.formats().collect::<Vec<_>>(), input.trace.abi, beyond);
        timerlat.has_events().then_some(timerlat)
    }

    fn outline(report: &TimerlatReport) -> Option<Outline> {
        let samples = report.cpus.iter().map(|(_, cpu)| cpu.irq.count()).fold(0, u64::saturating_add);
        let unfinished = report.cpus.iter().map(|(_, cpu)| cpu.unfinished).fold(0, u64::saturating_add);
        let late = (unfinished > 0).then(|| format!("{} without the thread's part", many(unfinished, "sample")));
        (!report.cpus.is_empty()).then(|| Outline {
            window: report.window,
            extent: vec![many(report.cpus.len() as u64, "CPU"), many(samples, "sample")],
            lost: report.losses > 0,
            notes: noise::losses(report.losses).into_iter().chain(late).collect(),
        })
    }

    fn answer(&self, found: &AnalysisAnswer<'_, TimerlatReport>, top: usize) -> Answer {
        timerlat_answer(&NoiseView::of(found, &found.known()), self.beyond, top)
    }

    fn definitions() -> Vec<ColumnDefinition> {
        let tables = [facts().definitions(), cpus().definitions(), contexts().definitions()];
        [tables.concat(), noise::interferences().definitions()].concat()
    }
}

/// Tables, and the sample that is taken apart; `beyond` is the limit that is asked for.
pub(in crate::cli) fn timerlat_answer(
    found: &NoiseView<'_, TimerlatReport>,
    beyond: Option<Duration>,
    top: usize,
) -> Answer {
    let (report, known) = (found.report, found.known);
    let mut interferences = noise::interferences().grid(&report.sources, top, known);
    if !report.sources.is_empty() {
        interferences = interferences.part(noise::TITLE);
    }
    let lines = match (&report.sample, beyond) {
        (Some(one), beyond) => sample_lines(found, one, beyond, top),
        (None, Some(beyond)) => {
            vec![String::new(), format!("No thread was later than {} us.", noise::short(beyond))]
        }
        (None, None) => Vec::new(),
    };
    let of_contexts = report.cpus.iter().flat_map(|(cpu, of)| ContextRow::all(*cpu, of));
    Answer::of([
        facts().grid([TimerlatFacts { found, top }], 0, known).into(),
        cpus().grid(&report.cpus, 0, known).into(),
        contexts().grid(of_contexts, 0, known).part("Latencies from the time that the timer was set for (us)").into(),
        interferences.into(),
        lines.into(),
    ])
}

/// An answer, and the number of causes to tell.
struct TimerlatFacts<'a> {
    found: &'a NoiseView<'a, TimerlatReport>,
    top: usize,
}

fn facts<'a>() -> Table<TimerlatFacts<'a>> {
    type Of<'a> = Column<TimerlatFacts<'a>>;
    let sample = |of: &TimerlatFacts<'a>| {
        let sample = of.found.report.sample.as_ref();
        sample.map(|one| sample_cell(of.found, one, of.top)).into()
    };
    let losses = |of: &TimerlatFacts<'a>| of.found.report.losses.into();
    let meaning = "The sample that is taken apart, with parts and causes; null without one.";
    Table::new(
        "",
        vec![
            Of::new("losses", Kind::Count, "Places where events were lost.", losses),
            Of::new("sample", Kind::Data, meaning, sample),
        ],
    )
}

/// The latencies of a CPU in a context of timerlat's samples.
struct ContextRow<'a> {
    cpu: CpuId,
    context: &'static str,
    times: &'a Durations,
    last: Option<u64>,
}

impl<'a> ContextRow<'a> {
    /// Those that occurred.
    fn all(cpu: CpuId, of: &'a CpuTimer) -> impl Iterator<Item = ContextRow<'a>> {
        let all = ["irq", "thread", "user"].into_iter().zip([&of.irq, &of.thread, &of.user]).zip(of.last);
        let row = move |((context, times), last)| ContextRow { cpu, context, times, last };
        all.map(row).filter(|row| row.times.count() > 0)
    }
}

type CpuRow<'a> = &'a (CpuId, CpuTimer);

fn cpus<'a>() -> Table<CpuRow<'a>> {
    type Of<'a> = Column<CpuRow<'a>>;
    let contexts = |of: &CpuRow<'a>| {
        let context = |row: ContextRow<'_>| {
            (row.context, Cell::record([("times", row.times.into()), ("last", row.last.map(Cell::Time).into())]))
        };
        Cell::record(ContextRow::all(of.0, &of.1).map(context))
    };
    let meaning = "Nanoseconds by context (irq, thread, user): times, a distribution, and the last of them.";
    Table::new(
        "cpus",
        vec![
            Of::new("cpu", Kind::Count, "CPU.", |of| of.0.0.into()),
            Of::new("contexts", Kind::Data, meaning, contexts),
            Of::new("unfinished", Kind::Count, "Samples without the thread's part.", |of| of.1.unfinished.into()),
        ],
    )
    .about(|of| RowSubject::Cpu(of.0))
}

fn contexts<'a>() -> Table<ContextRow<'a>> {
    type Of<'a> = Column<ContextRow<'a>>;
    let last = |row: &ContextRow<'a>| row.last.map_or(Cell::Undefined, Cell::Time);
    let least = |row: &ContextRow<'a>| Cell::Time(row.times.distribution().least);
    Table::new(
        "cpus",
        vec![
            Of::new("", Kind::Count, "CPU.", |row| row.cpu.0.into()).text("CPU").csv("cpu"),
            Of::new("", Kind::Text, "irq, thread or user.", |row| row.context.into()).text("CONTEXT").csv("context"),
            Of::new("contexts.times.count", Kind::Count, "Samples.", |row| row.times.count().into())
                .text("samples")
                .csv("samples"),
            Of::new("contexts.last", Kind::Time, "The last latency.", last).text("last").csv("last"),
            Of::new("contexts.times.min", Kind::Time, "The least latency.", least).text("min").csv("min"),
            Of::new("contexts.times", Kind::Distribution, "Latencies.", |row| row.times.into()).text("").csv(""),
        ],
    )
    .about(|row| RowSubject::Cpu(row.cpu))
    .no_json()
    .csv(true)
}

fn sample_cell(found: &NoiseView<'_, TimerlatReport>, one: &TimerlatSample, top: usize) -> Cell {
    let parts = TimerlatParts::of(one, found.clock);
    let delay = parts.irq_delay.is_none().then_some(("irq_delay", Cell::Absent));
    let known = parts.known().into_iter().map(|(name, time)| (name, Cell::Time(time))).chain(delay);
    let known = Cell::record(known.chain([("rest", Cell::Signed(parts.rest))]));
    let name = |cause: &Noise| noise::name(&cause.source);
    let stack =
        |stack: &Vec<u64>| Cell::List(stack.iter().map(|address| function(found.kallsyms, *address).into()).collect());
    Cell::record([
        ("seq", one.seq.into()),
        ("cpu", one.cpu.0.into()),
        ("irq_at", Cell::Point(one.irq_at)),
        ("thread_at", Cell::Point(one.thread_at)),
        ("irq_latency", Cell::Time(one.irq)),
        ("thread_latency", Cell::Time(one.thread)),
        ("timer_irq", one.timer_irq().map(name).into()),
        ("blocking", one.blocking().map(name).into()),
        ("parts", (!found.report.sources.is_empty()).then_some(known).into()),
        ("causes", noise::cause_cells(&one.causes, top)),
        ("stack", one.stack.as_ref().map(stack).into()),
        ("partial", Cell::Flag(one.partial)),
    ])
}

/// A sample and its parts.
fn sample_lines(
    found: &NoiseView<'_, TimerlatReport>,
    one: &TimerlatSample,
    beyond: Option<Duration>,
    top: usize,
) -> Vec<String> {
    let unit = ClockUnit::Nanoseconds;
    let which = beyond.map_or_else(
        || "The latest thread".to_owned(),
        |beyond| format!("The first thread beyond {} us", noise::short(beyond)),
    );
    let (late, seq, cpu, at) = (unit.short(one.thread), one.seq, one.cpu.0, found.unit.point(one.thread_at));
    let title = format!("{which}: {late} us late, sample {seq} of CPU {cpu}, written at {at}");
    let mut lines = vec![String::new(), title];
    lines.extend(one.partial.then(|| noise::PARTIAL.to_owned()));
    lines.push(format!("The interrupt was {} us late as it took the time.", unit.short(one.irq)));
    if found.report.sources.is_empty() {
        lines.push("No interferences were recorded, without which its parts are unknown.".to_owned());
    } else {
        lines.extend(part_lines(found, one));
    }
    if let Some(stack) = &one.stack {
        lines.push("Stack of the interrupted task, innermost first:".to_owned());
        lines.extend(stack.iter().map(|address| format!("  {}", function(found.kallsyms, *address))));
    }
    if !one.causes.is_empty() {
        lines.push("Interferences between interrupt and thread, as they ended:".to_owned());
    }
    lines.extend(noise::causes(&one.causes, top));
    lines
}

fn part_lines(found: &NoiseView<'_, TimerlatReport>, one: &TimerlatSample) -> Vec<String> {
    let parts = TimerlatParts::of(one, found.clock);
    let mut table = TextTable::new(1, ["PART", "us", "%"]);
    let mut row = |part: String, time: i64| {
        table.row([part, noise::signed(time), format!("{:.1}", time as f64 * 100.0 / one.thread.max(1) as f64)]);
    };
    for (name, time) in parts.known().into_iter().filter(|(_, time)| *time > 0) {
        row(part_name(one, name), i64::try_from(time).unwrap_or(i64::MAX));
    }
    row("rest: no event tells".to_owned(), parts.rest);
    row("thread latency".to_owned(), i64::try_from(one.thread).unwrap_or(i64::MAX));
    table.lines()
}

/// Nanoseconds of a thread's latency; they add up to it.
struct TimerlatParts {
    /// Up to the begin of the timer's interrupt; `None` where that is not known, and part of `rest`.
    irq_delay: Option<u64>,
    /// The timer's interrupt.
    timer_irq: u64,
    /// The task that it interrupted.
    blocking: u64,
    nmi: u64,
    irq: u64,
    softirq: u64,
    thread: u64,
    /// Time without an event: the scheduler, the idle state, tracing itself. Negative where parts overlap its edges.
    rest: i64,
}

impl TimerlatParts {
    /// Of a sample of a recording whose clock is `clock`.
    fn of(sample: &TimerlatSample, clock: &str) -> Self {
        let (timer, blocking) = (sample.timer_irq(), sample.blocking());
        let is = |one: Option<&Noise>, noise: &Noise| one.is_some_and(|one| std::ptr::eq(one, noise));
        let others = || sample.causes.iter().filter(|noise| !is(timer, noise) && !is(blocking, noise));
        let sum = |kind| noise::sum(others(), kind);
        let duration = |one: Option<&Noise>| one.map_or(0, |noise| noise.duration);
        // An interrupt's begin is in this clock, and comparable with the time of an event in no other.
        let irq_delay = if matches!(clock, "" | "local") { sample.irq_delay() } else { None };
        let mut parts = TimerlatParts {
            irq_delay,
            timer_irq: duration(timer),
            blocking: duration(blocking),
            nmi: sum("nmi"),
            irq: sum("irq"),
            softirq: sum("softirq"),
            thread: sum("thread"),
            rest: 0,
        };
        let known = parts.known().into_iter().fold(0i128, |all, (_, part)| all.saturating_add(part.into()));
        parts.rest = i64::try_from(i128::from(sample.thread).saturating_sub(known)).unwrap_or(i64::MIN);
        parts
    }

    /// All but the rest, with their names in JSON.
    fn known(&self) -> Vec<(&'static str, u64)> {
        let others = [
            ("timer_irq", self.timer_irq),
            ("blocking", self.blocking),
            ("nmi", self.nmi),
            ("irq", self.irq),
            ("softirq", self.softirq),
            ("thread", self.thread),
        ];
        self.irq_delay.map(|delay| ("irq_delay", delay)).into_iter().chain(others).collect()
    }
}

/// A part of [`TimerlatParts::known`] in words.
fn part_name(one: &TimerlatSample, name: &str) -> String {
    let of = |cause: Option<&Noise>| cause.map(|cause| noise::name(&cause.source)).unwrap_or_default();
    match name {
        "irq_delay" => "delay of the timer's interrupt".to_owned(),
        "timer_irq" => format!("timer's interrupt: {}", of(one.timer_irq())),
        "blocking" => format!("interrupted task: {}", of(one.blocking())),
        "nmi" => "NMIs".to_owned(),
        "irq" => "other interrupts".to_owned(),
        "softirq" => "soft interrupts".to_owned(),
        _ => "other tasks".to_owned(),
    }
}
