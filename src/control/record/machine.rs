//! Settings of a recording for the whole machine.

use super::error::{PlanError, RecordError};
use super::plan::BufferPlan;
use super::tracer_settings::TracerSettings;
use crate::control::tracefs::{FunctionList, Instance, Journal};
use nix::errno::Errno;

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
