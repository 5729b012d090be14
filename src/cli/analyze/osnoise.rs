//! `rtrace analyze osnoise`.

use super::answers::{AnalysisAnswer, AnswerArgs, Outline, Question};
use super::noise::{self, KINDS, NoiseView};
use super::words::many;
use crate::cli::query::{ClockUnit, QueryInput};
use rtrace::analysis::{CpuNoise, NOISE_NEEDS, Needs, NoiseSample, Osnoise, OsnoiseReport, RowSubject};
use rtrace::internal::table::{
    Answer, AnswerCell as Cell, AnswerColumn as Column, AnswerTable as Table, ColumnDefinition, ColumnKind as Kind,
};
use rtrace::units::{CpuId, parse_duration};
use std::time::Duration;

/// Noise of the operating system, as the tracer osnoise measures it: time available, noises and their causes
///
/// From the tracer's own entries, and the events osnoise:*_noise and osnoise:sample_threshold as far as they are recorded. The
/// longest noise is shown with the interferences in it. `rtrace help analyses` defines each number.
#[derive(clap::Args, Default)]
pub(super) struct AnalyzeOsnoiseArgs {
    #[command(flatten)]
    pub(super) shown: AnswerArgs,
    /// Explain the first noise longer than this, not the longest
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    beyond: Option<Duration>,
}

impl Question for AnalyzeOsnoiseArgs {
    type Analysis = Osnoise;
    const PURPOSE: &'static str = "osnoise";
    const LACKING: &'static str = "samples of osnoise";
    const NEEDS: &'static [Needs] = NOISE_NEEDS;

    fn shown(&self) -> &AnswerArgs {
        &self.shown
    }

    fn analysis(&self, input: &QueryInput) -> Option<Osnoise> {
        let beyond = self.beyond.map(noise::nanoseconds);
        let osnoise = Osnoise::new(input.trace.formats().collect::<Vec<_>>(), input.trace.abi, beyond);
        osnoise.has_events().then_some(osnoise)
    }

    fn outline(report: &OsnoiseReport) -> Option<Outline> {
        let periods = report.cpus.iter().map(|(_, cpu)| cpu.periods).fold(0, u64::saturating_add);
        (!report.cpus.is_empty()).then(|| Outline {
            window: report.window,
            extent: vec![many(report.cpus.len() as u64, "CPU"), many(periods, "period")],
            lost: report.losses > 0,
            notes: noise::losses(report.losses).into_iter().collect(),
        })
    }

    fn answer(&self, found: &AnalysisAnswer<'_, OsnoiseReport>, top: usize) -> Answer {
        osnoise_answer(&NoiseView::of(found, &found.known()), self.beyond, top)
    }

    fn definitions() -> Vec<ColumnDefinition> {
        [facts().definitions(), cpus().definitions(), noise::interferences().definitions()].concat()
    }
}

/// Tables, and the sample that is explained; `beyond` is the limit that is asked for.
pub(in crate::cli) fn osnoise_answer(
    found: &NoiseView<'_, OsnoiseReport>,
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
            let beyond = noise::short(beyond);
            vec![String::new(), format!("No noise recorded (sample_threshold) was longer than {beyond} us.")]
        }
        (None, None) => Vec::new(),
    };
    Answer::of([
        facts().grid([NoiseFacts { report, top }], 0, known).into(),
        cpus().grid(&report.cpus, 0, known).part("CPUs (times in us; counts of noises by cause)").into(),
        interferences.into(),
        lines.into(),
    ])
}

/// A report, and the number of causes to tell.
struct NoiseFacts<'a> {
    report: &'a OsnoiseReport,
    top: usize,
}

fn facts<'a>() -> Table<NoiseFacts<'a>> {
    type Of<'a> = Column<NoiseFacts<'a>>;
    let sample = |of: &NoiseFacts<'a>| of.report.sample.as_ref().map(|one| sample_cell(one, of.top)).into();
    Table::new(
        "",
        vec![
            Of::new("losses", Kind::Count, "Places where events were lost.", |of| of.report.losses.into()),
            Of::new("sample", Kind::Data, "The noise that is explained, with its causes; null without one.", sample),
        ],
    )
}

type CpuRow<'a> = &'a (CpuId, CpuNoise);

fn cpus<'a>() -> Table<CpuRow<'a>> {
    type Of<'a> = Column<CpuRow<'a>>;
    let available = |of: &CpuRow<'a>| {
        let CpuNoise { runtime, noise, .. } = of.1;
        let share = || runtime.saturating_sub(noise) as f64 * 100.0 / runtime as f64;
        if runtime > 0 { Cell::Decimal(share()) } else { Cell::Undefined }
    };
    Table::new(
        "cpus",
        vec![
            Of::new("cpu", Kind::Count, "CPU.", |of| of.0.0.into()).text("CPU").csv("cpu"),
            Of::new("periods", Kind::Count, "Periods that were measured.", |of| of.1.periods.into())
                .text("periods")
                .csv("periods")
                .minor(1),
            Of::new("runtime_us", Kind::Count, "Microseconds of measuring.", |of| of.1.runtime.into())
                .text("runtime")
                .csv("runtime_us"),
            Of::new("noise_us", Kind::Count, "Microseconds of noise.", |of| of.1.noise.into())
                .text("noise")
                .csv("noise_us"),
            Of::new("available_percent", Kind::Decimal(5), "Runtime without noise, in % of it.", available)
                .text("available %")
                .csv("available_percent"),
            Of::new("max_noise_us", Kind::Count, "The most microseconds of noise in a period.", |of| {
                of.1.max_noise.into()
            })
            .text("max noise")
            .csv("max_noise_us"),
            Of::new("max_single_us", Kind::Count, "Microseconds of the longest noise.", |of| of.1.max_single.into())
                .text("max single")
                .csv("max_single_us"),
            Of::new("hw", Kind::Count, "Noises without an interference.", |of| of.1.hw.into()).text("HW").csv("hw"),
            Of::new("nmi", Kind::Count, "NMIs.", |of| of.1.nmi.into()).text("NMI").csv("nmi").minor(2),
            Of::new("irq", Kind::Count, "Interrupts.", |of| of.1.irq.into()).text("IRQ").csv("irq").minor(2),
            Of::new("softirq", Kind::Count, "Soft interrupts.", |of| of.1.softirq.into())
                .text("softirq")
                .csv("softirq")
                .minor(2),
            Of::new("thread", Kind::Count, "Other tasks.", |of| of.1.thread.into())
                .text("thread")
                .csv("thread")
                .minor(2),
        ],
    )
    .about(|of| RowSubject::Cpu(of.0))
    .csv(true)
}

fn sample_cell(one: &NoiseSample, top: usize) -> Cell {
    let sums = KINDS.map(|kind| (kind, Cell::Time(noise::sum(&one.causes, kind))));
    Cell::record([
        ("at", Cell::Point(one.at)),
        ("cpu", one.cpu.0.into()),
        ("start", Cell::Point(one.start)),
        ("duration", Cell::Time(one.duration)),
        ("interferences", one.interferences.into()),
        ("parts", Cell::record(sums.into_iter().chain([("rest", Cell::Signed(rest(one)))]))),
        ("causes", noise::cause_cells(&one.causes, top)),
        ("partial", Cell::Flag(one.partial)),
    ])
}

/// Nanoseconds that no cause explains.
fn rest(one: &NoiseSample) -> i64 {
    let known = one.causes.iter().map(|cause| cause.duration).fold(0, u64::saturating_add);
    i64::try_from(i128::from(one.duration) - i128::from(known)).unwrap_or(i64::MIN)
}

/// A noise and its causes.
fn sample_lines(
    found: &NoiseView<'_, OsnoiseReport>,
    one: &NoiseSample,
    beyond: Option<Duration>,
    top: usize,
) -> Vec<String> {
    let unit = ClockUnit::Nanoseconds;
    let which = beyond.map_or_else(
        || "The longest noise".to_owned(),
        |beyond| format!("The first noise beyond {} us", noise::short(beyond)),
    );
    let (time, cpu, at) = (unit.short(one.duration), one.cpu.0, found.unit.point(one.at));
    let count = many(one.interferences, "interference");
    let title = format!("{which}: {time} us on CPU {cpu}, written at {at}; the kernel saw {count} in it");
    let mut lines = vec![String::new(), title];
    lines.extend(one.partial.then(|| noise::PARTIAL.to_owned()));
    let sums = KINDS.map(|kind| (kind, noise::sum(&one.causes, kind))).into_iter().filter(|(_, sum)| *sum > 0);
    lines.extend(sums.map(|(kind, sum)| format!("  {kind:<8} {} us", unit.short(sum))));
    let rest = noise::signed(rest(one));
    lines.push(format!("  {:<8} {rest} us (the hardware, a hypervisor, or tracing itself)", "rest"));
    lines.extend(noise::causes(&one.causes, top));
    lines
}
