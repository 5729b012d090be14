//! The text that a latency tracer leaves instead of events: the longest latency, and what happened in it.
//!
//! ```text
//! # tracer: irqsoff
//! # latency: 4053 us, #4/4, CPU#1 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:2)
//! #    | task: exe-95 (uid:0 nice:0 policy:0 rt_prio:0)
//! #  => started at: exc_page_fault
//! #  => ended at:   irqentry_exit_to_user_mode
//! ```
//!
//! Written by `print_trace_header` and the tracers' `print_header` (kernel/trace/trace.c). A tracer that found nothing leaves
//! the first line alone; `wakeup*` say neither where it started nor ended.

use crate::base::units::grouped;
use serde::Serialize;
use std::fmt;

/// The result of a latency tracer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LatencyResult {
    /// `irqsoff`, `wakeup_rt`, ...
    pub tracer: String,
    /// The longest latency; `None` if it found none.
    pub longest: Option<LongestLatency>,
}

/// The longest latency that a tracer found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LongestLatency {
    /// Microseconds.
    pub latency_us: u64,
    /// The CPU.
    pub cpu: u32,
    /// The name of the task that ran then, or that was woken.
    pub comm: Option<String>,
    /// Thread id of the task.
    pub pid: Option<i32>,
    /// The function that began it.
    pub started_at: Option<String>,
    /// The function that ended it.
    pub ended_at: Option<String>,
    /// Entries of the kernel's text: functions and events on the way.
    pub lines: u64,
    /// Entries that the ring buffer had no more capacity for.
    pub lines_lost: u64,
}

impl LatencyResult {
    /// Parses the text; `None` if it names no tracer.
    pub fn parse(text: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(text);
        let head = || text.lines().take_while(|line| line.starts_with('#'));
        let after = |key: &str| head().find_map(|line| Some(line.split_once(key)?.1.trim()));
        let tracer = after("# tracer: ")?.to_owned();
        let longest = || {
            let mut facts = after("# latency: ")?.split(", ");
            let latency_us = facts.next()?.strip_suffix(" us")?.parse().ok()?;
            let (lines, written) = facts.next()?.strip_prefix('#')?.split_once('/')?;
            let (lines, written): (u64, u64) = (lines.parse().ok()?, written.parse().ok()?);
            let cpu = facts.next()?.strip_prefix("CPU#")?.split(' ').next()?.parse().ok()?;
            let task = after("| task: ").and_then(|task| task.rsplit_once(" (uid:")?.0.rsplit_once('-'));
            Some(LongestLatency {
                latency_us,
                cpu,
                comm: task.map(|(comm, _)| comm.to_owned()),
                pid: task.and_then(|(_, pid)| pid.parse().ok()),
                started_at: after("=> started at:").map(str::to_owned),
                ended_at: after("=> ended at:").map(str::to_owned),
                lines,
                lines_lost: written.saturating_sub(lines),
            })
        };
        Some(LatencyResult { tracer, longest: longest() })
    }
}

/// `irqsoff: longest latency 4,053 us on CPU 1 in exe [95], from exc_page_fault to irqentry_exit_to_user_mode, 4 lines`.
impl fmt::Display for LatencyResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(longest) = &self.longest else { return write!(f, "{}: no latency found", self.tracer) };
        write!(f, "{}: longest latency {} us on CPU {}", self.tracer, grouped(longest.latency_us), longest.cpu)?;
        if let (Some(comm), Some(pid)) = (&longest.comm, longest.pid) {
            write!(f, " in {comm} [{pid}]")?;
        }
        if let Some(started) = &longest.started_at {
            write!(f, ", from {started}")?;
        }
        if let Some(ended) = &longest.ended_at {
            write!(f, " to {ended}")?;
        }
        write!(f, ", {}", crate::base::units::counted(longest.lines, "line"))?;
        match longest.lines_lost {
            0 => Ok(()),
            lost => write!(f, " ({} lost)", grouped(lost)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_kernels_wrote() {
        let irqsoff = "# tracer: irqsoff\n#\n# irqsoff latency trace v1.1.5 on 6.12.117-rtrace\n# ----\n\
            # latency: 4053 us, #4/6, CPU#1 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:2)\n#    -----------------\n\
            #    | task: my-task-95 (uid:0 nice:0 policy:0 rt_prio:0)\n#    -----------------\n\
            #  => started at: exc_page_fault\n#  => ended at:   irqentry_exit_to_user_mode\n#\n#\n\
            \x20    exe-95        1d....    0us#: exc_page_fault # latency: 5 us\n";
        let found = LatencyResult::parse(irqsoff.as_bytes()).unwrap();
        assert_eq!(
            found.to_string(),
            "irqsoff: longest latency 4,053 us on CPU 1 in my-task [95], from exc_page_fault to irqentry_exit_to_user_mode, 4 lines (2 lost)"
        );
        let wakeup = "# tracer: wakeup_rt\n#\n# latency: 1140 us, #6/6, CPU#0 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:2)\n\
            #    | task: rt-62 (uid:0 nice:0 policy:1 rt_prio:50)\n";
        let found = LatencyResult::parse(wakeup.as_bytes()).unwrap();
        assert_eq!(found.to_string(), "wakeup_rt: longest latency 1,140 us on CPU 0 in rt [62], 6 lines");
        let none = LatencyResult::parse(b"# tracer: preemptoff\n#\n").unwrap();
        assert_eq!(none.to_string(), "preemptoff: no latency found");
        assert_eq!(LatencyResult::parse(b""), None);
    }
}
