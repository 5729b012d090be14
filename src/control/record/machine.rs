//! Settings of a recording for the whole machine.
//! Settings of the tracers hwlat, osnoise and timerlat (kernel/trace/trace_hwlat.c, trace_osnoise.c): files of the top level,
//! of which there is one for all instances.

use super::error::{PlanError, RecordError};
use super::plan::BufferPlan;
use crate::base::units::grouped;
use crate::control::tracefs::{Error, Feature, FunctionList, Instance, Journal, Tracefs};
use crate::language::filter::CpuList;
use nix::errno::Errno;
use std::collections::BTreeMap;

/// Settings of which there is one, whatever instance is recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MachineSettings {
    /// Depth of calls that function_graph follows.
    pub graph_depth: Option<u32>,
    /// Number of task names that the kernel keeps.
    pub saved_cmdlines: Option<u32>,
    /// From which latency on tracers report, in microseconds.
    pub threshold: Option<u64>,
    /// Settings of hwlat, osnoise and timerlat.
    pub tracers: TracerSettings,
    /// The latency, in microseconds, above which latency tracers trace; `None` for any.
    pub latency_floor: Option<u64>,
    /// `-d`: latency tracers do not trace functions.
    pub no_functions: bool,
    /// Block devices that the blk tracer shall see; all disks if empty.
    pub block_devices: Vec<String>,
    /// `-D`: nothing traces functions (false); `--ftrace`: they may be traced (true).
    pub ftrace: Option<bool>,
    /// Monitors of runtime verification to enable, by name or glob; all if empty and a buffer records their errors.
    pub monitors: Vec<String>,
}

/// A monitor whose model the kernel's documentation calls wrong (monitor_wwnr.rst): it is enabled by name only.
const WRONG_MODEL: &str = "wwnr";

/// Tracers that keep the worst case as text instead of filling the ring buffer.
const LATENCY: [&str; 6] = ["irqsoff", "preemptoff", "preemptirqsoff", "wakeup", "wakeup_rt", "wakeup_dl"];

/// True if a tracer's result is the text of its longest latency.
pub(super) fn is_latency_tracer(tracer: &str) -> bool {
    LATENCY.contains(&tracer)
}

impl MachineSettings {
    /// Sets what there is one of, for a recording of `buffers`. Gives warnings.
    pub(super) fn set(&self, journal: &mut Journal, buffers: &[BufferPlan]) -> Result<Vec<String>, RecordError> {
        if let Some(depth) = self.graph_depth {
            journal.set_graph_depth(depth)?;
        }
        if let Some(count) = self.saved_cmdlines {
            journal.set_saved_cmdlines(count)?;
        }
        if let Some(micros) = self.threshold {
            journal.set_threshold(micros)?;
        }
        self.tracers.set(journal)?;
        if let Some(on) = self.ftrace {
            journal.switch_ftrace(on)?;
        }
        if self.monitors.is_empty() && !buffers.iter().any(|buffer| buffer.monitors) {
            return Ok(Vec::new());
        }
        self.enable_monitors(journal)
    }

    /// Enables the monitors that are named; or else all that the kernel can run at once, and says which are left out.
    fn enable_monitors(&self, journal: &mut Journal) -> Result<Vec<String>, RecordError> {
        let mut warnings = Vec::new();
        let available = journal.tracefs().monitors()?;
        if self.monitors.is_empty() {
            let mut left_out = Vec::new();
            for name in available.iter().filter(|name| *name != WRONG_MODEL) {
                match journal.enable_monitor(name) {
                    // As many monitors of tasks as it was built for, or more than it has memory for.
                    Err(error) if matches!(error.errno(), Some(Errno::EBUSY | Errno::ENOMEM)) => {
                        left_out.push(name.as_str())
                    }
                    other => other?,
                }
            }
            if !left_out.is_empty() {
                let left_out = left_out.join(", ");
                warnings.push(format!(
                    "not enabled: {left_out}: this kernel runs no more monitors at once (--monitor names some)"
                ));
            }
        }
        for pattern in &self.monitors {
            let names = journal.tracefs().monitors_of(pattern)?;
            if names.is_empty() {
                return Err(PlanError::NoMonitor { name: pattern.clone(), available }.into());
            }
            names.iter().try_for_each(|name| journal.enable_monitor(name))?;
        }
        Ok(warnings)
    }

    /// Sets the tracer of one buffer, with all that belongs to it. Gives the lists of functions that have become empty by
    /// what was taken out of them.
    pub(super) fn set_tracer(
        &self,
        journal: &mut Journal,
        instance: &Instance,
        buffer: &BufferPlan,
    ) -> Result<Vec<FunctionList>, RecordError> {
        let mut emptied = Vec::new();
        let tracer = buffer.tracer.as_deref();
        if (self.no_functions || self.ftrace == Some(false)) && instance.has("options/function-trace") {
            journal.set_option(instance, "function-trace", false)?;
        }
        if !buffer.functions.is_empty() {
            let running = instance.current_tracer()?;
            emptied = buffer.functions.set(journal, instance, tracer.unwrap_or(&running))?;
        }
        let latencies = tracer.is_some_and(is_latency_tracer) || (tracer.is_none() && self.latency_floor.is_some());
        if latencies && instance.has("tracing_max_latency") {
            journal.set_max_latency(instance, self.latency_floor.unwrap_or(0))?;
        }
        let sees_devices = instance.current_tracer().is_ok_and(|running| running == "blk");
        if let Some(tracer) = tracer {
            journal.set_tracer(instance, tracer)?;
        }
        if buffer.traces_block_devices() || (tracer.is_none() && sees_devices && !self.block_devices.is_empty()) {
            self.set_block_devices(journal)?;
        } else if tracer.is_some() && sees_devices {
            journal.leave_block_devices()?;
        }
        Ok(emptied)
    }

    /// Lets the blk tracer see the devices that are named, by their names or paths, or else every disk.
    fn set_block_devices(&self, journal: &mut Journal) -> Result<(), RecordError> {
        let there = journal.tracefs().block_devices()?;
        let mut names: Vec<&str> = Vec::new();
        for name in &self.block_devices {
            let bare = name.strip_prefix("/dev/").unwrap_or(name);
            if !there.iter().any(|(known, _)| known == bare) {
                let available = there.into_iter().map(|(known, _)| known).collect();
                return Err(PlanError::NoDevice { name: name.clone(), available }.into());
            }
            names.push(bare);
        }
        if names.is_empty() {
            names.extend(there.iter().filter(|(_, disk)| *disk).map(|(name, _)| name.as_str()));
        }
        names.into_iter().try_for_each(|name| journal.trace_block_device(name)).map_err(RecordError::from)
    }
}

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
    fn set(&self, journal: &mut Journal) -> Result<(), Error> {
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
