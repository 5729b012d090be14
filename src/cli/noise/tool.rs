//! Differences between osnoise and timerlat.

use super::args::{NoiseRunArgs, OsnoiseArgs, TimerlatArgs};
use crate::cli::analyze::noise::NoiseView;
use crate::cli::analyze::osnoise::osnoise_answer;
use crate::cli::analyze::timerlat::timerlat_answer;
use rtrace::abi::Abi;
use rtrace::analysis::{InOrder, Osnoise, OsnoiseReport, Timerlat, TimerlatReport};
use rtrace::event::Record;
use rtrace::format::EventFormat;
use rtrace::internal::table::Answer;
use rtrace::record::{TracerSettings, TracerTime};
use rtrace::units::{CpuId, grouped};
use std::time::Duration;

/// A threshold that was hit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ThresholdHit {
    pub(super) cpu: CpuId,
    /// Time of the record, in the clock's unit.
    pub(super) at: u64,
    /// `thread latency`, `single noise`, ...
    pub(super) what: &'static str,
    pub(super) nanoseconds: u64,
}

/// One of the two commands.
pub(super) trait NoiseTool {
    type Analysis: InOrder<Finding = Self::Report> + Clone;
    type Report;
    /// The tracer, and the word of `record --for` for its events.
    const TRACER: &'static str;

    fn run(&self) -> &NoiseRunArgs;
    fn settings(&self) -> TracerSettings;
    /// `tracing_thresh`, in microseconds.
    fn threshold(&self) -> Option<u64> {
        None
    }
    /// True if the threads are the kernel's.
    fn in_user(&self) -> bool {
        false
    }
    /// True if the kernel is to stop at a threshold.
    fn stops(&self) -> bool;
    fn analysis(&self, formats: &[EventFormat], abi: Abi) -> Self::Analysis;
    /// Limit that the kernel stops at, by the same comparison.
    fn hit(&self, analysis: &Self::Analysis, record: &Record<'_>) -> Option<ThresholdHit>;
    /// Losses, samples, first and last time.
    fn window(report: &Self::Report) -> (u64, Option<(u64, u64)>);
    /// Tables of `top` rows, 0 for all, and what the kernel stopped at.
    fn answer(&self, view: &NoiseView<'_, Self::Report>, top: usize) -> Answer;
}

impl ThresholdHit {
    fn of(record: &Record<'_>, what: &'static str, nanoseconds: u64) -> Self {
        ThresholdHit { cpu: record.cpu, at: record.timestamp.0, what, nanoseconds }
    }

    /// `CPU 1: thread latency of 54 us`.
    pub(super) fn text(&self) -> String {
        let (whole, rest) = (self.nanoseconds / 1000, self.nanoseconds % 1000);
        format!("CPU {}: {} of {}.{rest:03} us", self.cpu.0, self.what, grouped(whole))
    }
}

impl NoiseTool for TimerlatArgs {
    type Analysis = Timerlat;
    type Report = TimerlatReport;
    const TRACER: &'static str = "timerlat";

    fn run(&self) -> &NoiseRunArgs {
        &self.run
    }

    fn settings(&self) -> TracerSettings {
        let times = [
            (TracerTime::TimerlatPeriod, self.period),
            (TracerTime::StopTracing, Some(self.stop_irq.unwrap_or(0))),
            (TracerTime::StopTracingTotal, Some(self.stop.unwrap_or(0))),
            (TracerTime::PrintStack, Some(self.stack.or(self.stop).unwrap_or(0))),
        ];
        // Without the kernel's own threads, which a thread of user space takes the place of.
        let user = if self.user_threads { vec![("OSNOISE_WORKLOAD".to_owned(), false)] } else { Vec::new() };
        TracerSettings {
            times: times.into_iter().filter_map(|(time, value)| Some((time, value?))).collect(),
            cpus: self.run.cpus.clone(),
            options: user,
            hwlat_mode: None,
        }
    }

    fn in_user(&self) -> bool {
        self.user_threads
    }

    fn stops(&self) -> bool {
        self.stop.or(self.stop_irq).is_some_and(|stop| stop > 0)
    }

    fn analysis(&self, formats: &[EventFormat], abi: Abi) -> Timerlat {
        // The kernel compares whole microseconds, and stops at the threshold itself.
        let beyond = self.stop.filter(|stop| *stop > 0).map(|stop| stop.saturating_mul(1000).saturating_sub(1));
        Timerlat::new(formats, abi, beyond)
    }

    fn hit(&self, analysis: &Timerlat, record: &Record<'_>) -> Option<ThresholdHit> {
        let (context, latency) = analysis.latency(record)?;
        let (what, stop) = match context {
            0 => ("interrupt latency", self.stop_irq),
            1 => ("thread latency", self.stop),
            _ => ("latency of the return to user space", self.stop),
        };
        let stop = stop.filter(|stop| *stop > 0)?;
        (latency / 1000 >= stop).then(|| ThresholdHit::of(record, what, latency))
    }

    fn window(report: &TimerlatReport) -> (u64, Option<(u64, u64)>) {
        (report.losses, report.window)
    }

    fn answer(&self, view: &NoiseView<'_, TimerlatReport>, top: usize) -> Answer {
        timerlat_answer(view, self.stop.filter(|stop| *stop > 0).map(Duration::from_micros), top)
    }
}

impl NoiseTool for OsnoiseArgs {
    type Analysis = Osnoise;
    type Report = OsnoiseReport;
    const TRACER: &'static str = "osnoise";

    fn run(&self) -> &NoiseRunArgs {
        &self.run
    }

    fn settings(&self) -> TracerSettings {
        let times = [
            (TracerTime::OsnoisePeriod, self.period),
            (TracerTime::OsnoiseRuntime, self.runtime),
            (TracerTime::StopTracing, Some(self.stop.unwrap_or(0))),
            (TracerTime::StopTracingTotal, Some(self.stop_total.unwrap_or(0))),
        ];
        TracerSettings {
            times: times.into_iter().filter_map(|(time, value)| Some((time, value?))).collect(),
            cpus: self.run.cpus.clone(),
            ..TracerSettings::default()
        }
    }

    fn threshold(&self) -> Option<u64> {
        self.threshold
    }

    fn stops(&self) -> bool {
        self.stop.or(self.stop_total).is_some_and(|stop| stop > 0)
    }

    fn analysis(&self, formats: &[EventFormat], abi: Abi) -> Osnoise {
        Osnoise::new(formats, abi, self.stop.filter(|stop| *stop > 0).map(|stop| stop.saturating_mul(1000)))
    }

    fn hit(&self, analysis: &Osnoise, record: &Record<'_>) -> Option<ThresholdHit> {
        let (of_period, noise) = analysis.noise(record)?;
        let (what, stop) = if of_period { ("noise of a period", self.stop_total) } else { ("single noise", self.stop) };
        let stop = stop.filter(|stop| *stop > 0)?;
        (noise > stop.saturating_mul(1000)).then(|| ThresholdHit::of(record, what, noise))
    }

    fn window(report: &OsnoiseReport) -> (u64, Option<(u64, u64)>) {
        (report.losses, report.window)
    }

    fn answer(&self, view: &NoiseView<'_, OsnoiseReport>, top: usize) -> Answer {
        osnoise_answer(view, self.stop.filter(|stop| *stop > 0).map(Duration::from_micros), top)
    }
}
