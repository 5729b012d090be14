//! Settings of the tracers hwlat, osnoise and timerlat (kernel/trace/trace_hwlat.c, trace_osnoise.c): files of the top level,
//! of which there is one for all instances.

use super::{PlanError, RecordError};
use crate::base::units::grouped;
use crate::control::tracefs::{Error, Feature, Instance, Journal, Tracefs};
use crate::language::filter::CpuList;
use std::collections::BTreeMap;

/// Settings of the tracers hwlat, osnoise and timerlat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TracerSettings {
    /// Times in microseconds.
    pub times: BTreeMap<TracerTime, u64>,
    /// The threads of hwlat (`hwlat_detector/mode`, since Linux 5.14): `none`, `round-robin` (one, which changes its CPU each
    /// window), `per-cpu`.
    pub hwlat_mode: Option<String>,
    /// CPUs that osnoise and timerlat measure (`osnoise/cpus`).
    pub cpus: Option<CpuList>,
    /// Options of osnoise and timerlat (`osnoise/options`, since Linux 6.2), on or off: `OSNOISE_WORKLOAD`, ...
    pub options: Vec<(String, bool)>,
}

/// A time that a tracer is set with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TracerTime {
    /// The part of each window for which hwlat samples, with interrupts disabled.
    HwlatWidth,
    /// The window of hwlat.
    HwlatWindow,
    /// The part of each period for which osnoise samples.
    OsnoiseRuntime,
    /// The period of osnoise.
    OsnoisePeriod,
    /// A single noise, or timerlat's interrupt latency, from which on tracing stops; 0 for never.
    StopTracing,
    /// The noise of a period, or timerlat's thread latency, from which on tracing stops; 0 for never.
    StopTracingTotal,
    /// Time between two timers of timerlat.
    TimerlatPeriod,
    /// Offset between the timers of two CPUs, with the option `TIMERLAT_ALIGN`.
    TimerlatAlign,
    /// Thread latency of timerlat from which on the stack at the interrupt is recorded; 0 for never.
    PrintStack,
}

/// A time that is not to be longer than another: the kernel refuses such a write.
const WITHIN: [(TracerTime, TracerTime); 2] =
    [(TracerTime::HwlatWidth, TracerTime::HwlatWindow), (TracerTime::OsnoiseRuntime, TracerTime::OsnoisePeriod)];

impl TracerTime {
    /// Its file at the top level, in microseconds.
    pub fn file(self) -> &'static str {
        match self {
            TracerTime::HwlatWidth => "hwlat_detector/width",
            TracerTime::HwlatWindow => "hwlat_detector/window",
            TracerTime::OsnoiseRuntime => "osnoise/runtime_us",
            TracerTime::OsnoisePeriod => "osnoise/period_us",
            TracerTime::StopTracing => "osnoise/stop_tracing_us",
            TracerTime::StopTracingTotal => "osnoise/stop_tracing_total_us",
            TracerTime::TimerlatPeriod => "osnoise/timerlat_period_us",
            TracerTime::TimerlatAlign => "osnoise/timerlat_align_us",
            TracerTime::PrintStack => "osnoise/print_stack",
        }
    }

    /// The least and the greatest value that the kernel takes, or that makes sense to its thread, in microseconds.
    fn bounds(self) -> (u64, Option<u64>) {
        match self {
            TracerTime::HwlatWidth
            | TracerTime::HwlatWindow
            | TracerTime::OsnoiseRuntime
            | TracerTime::OsnoisePeriod => (1, None),
            TracerTime::TimerlatPeriod => (100, Some(1_000_000)),
            TracerTime::StopTracing
            | TracerTime::StopTracingTotal
            | TracerTime::TimerlatAlign
            | TracerTime::PrintStack => (0, None),
        }
    }
}

impl TracerSettings {
    /// Refuses what the kernel would refuse, before anything is changed.
    ///
    /// # Errors
    /// [`PlanError::TracerSetting`] with the bound; [`Error`] of a file that this kernel lacks.
    pub(super) fn check(&self, tracefs: &Tracefs) -> Result<(), RecordError> {
        let top = tracefs.top();
        let wrong = |file: &'static str, why: String| Err(PlanError::TracerSetting { file, why }.into());
        for (&time, &value) in &self.times {
            read(&top, time.file())?;
            let (least, most) = time.bounds();
            if value < least || most.is_some_and(|most| value > most) {
                let up_to = most.map_or(" or more".to_owned(), |most| format!(" to {} us", grouped(most)));
                return wrong(time.file(), format!("it takes {least} us{up_to}, not {} us", grouped(value)));
            }
        }
        for (part, whole) in WITHIN {
            if ![part, whole].iter().any(|time| self.times.contains_key(time)) {
                continue;
            }
            let value = |time: TracerTime| match self.times.get(&time) {
                Some(&value) => Ok(Some(value)),
                None => read(&top, time.file()).map(|said| said.trim().parse().ok()),
            };
            if let (Some(short), Some(long)) = (value(part)?, value(whole)?)
                && short > long
            {
                let (short, long) = (grouped(short), grouped(long));
                return wrong(part.file(), format!("{short} us is longer than {} of {long} us", whole.file()));
            }
        }
        if let Some(mode) = &self.hwlat_mode {
            let said = read(&top, "hwlat_detector/mode")?;
            let known: Vec<&str> = said.split_whitespace().map(|word| word.trim_matches(['[', ']'])).collect();
            if !known.contains(&mode.as_str()) {
                return wrong("hwlat_detector/mode", format!("it takes {}, not {mode}", known.join(", ")));
            }
        }
        if let Some(cpus) = &self.cpus {
            read(&top, "osnoise/cpus")?;
            let known = top.cpus()?;
            if let Some(cpu) = cpus.iter().find(|cpu| !known.iter().any(|known| known.0 == *cpu)) {
                return wrong("osnoise/cpus", format!("this machine has no CPU {cpu}"));
            }
        }
        if !self.options.is_empty() {
            let said = read(&top, "osnoise/options")?;
            let known: Vec<&str> =
                said.split_whitespace().map(|word| word.strip_prefix("NO_").unwrap_or(word)).collect();
            if let Some((name, _)) = self.options.iter().find(|(name, _)| !known.contains(&name.as_str())) {
                return wrong("osnoise/options", format!("it has {}, not {name}", known.join(", ")));
            }
        }
        Ok(())
    }

    /// Sets them, each so that no value is out of bounds on the way: of a pair the longer first where both grow.
    pub(super) fn set(&self, journal: &mut Journal) -> Result<(), Error> {
        let top = journal.tracefs().top();
        let mut times = self.times.clone();
        for (part, whole) in WITHIN {
            let Some(&long) = times.get(&whole) else { continue };
            let now: Option<u64> = top.read(whole.file())?.trim().parse().ok();
            if now.is_some_and(|now| long > now) {
                journal.set(&top, whole.file(), &long.to_string())?;
                times.remove(&whole);
            }
            if let Some(short) = times.remove(&part) {
                journal.set(&top, part.file(), &short.to_string())?;
            }
        }
        for (time, value) in times {
            journal.set(&top, time.file(), &value.to_string())?;
        }
        if let Some(mode) = &self.hwlat_mode {
            journal.set(&top, "hwlat_detector/mode", mode)?;
        }
        if let Some(cpus) = &self.cpus {
            journal.set(&top, "osnoise/cpus", &cpus.to_string())?;
        }
        for (name, on) in &self.options {
            let text = |on: bool| if on { name.clone() } else { format!("NO_{name}") };
            let said = top.read("osnoise/options")?;
            if !said.split_whitespace().any(|word| word == text(*on)) {
                journal.append(&top, "osnoise/options", &text(*on), &text(!on))?;
            }
        }
        Ok(())
    }
}

/// Contents of a file; the error names the configuration or the version that would bring it.
fn read(top: &Instance, file: &'static str) -> Result<String, Error> {
    if top.has(file) {
        return top.read(file);
    }
    let (tracer, since) = match file {
        "osnoise/options" => ("osnoise", Some("Linux 6.2")),
        "hwlat_detector/mode" => ("hwlat", Some("Linux 5.14")),
        file if file.starts_with("hwlat") => ("hwlat", None),
        _ => ("osnoise", None),
    };
    let without_tracer = !top.has(file.split('/').next().unwrap_or(file));
    let config = if without_tracer { Feature::Tracer(tracer.to_owned()).config() } else { since };
    Err(Error::NoFeature { what: file.to_owned(), config })
}
