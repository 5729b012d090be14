//! Features of this kernel, by the files it has; and the CONFIG of each.
//! The kernel's own types, where they lie.

use super::{Error, Tracefs};
use crate::base::syntax::nearest;
use crate::base::sys;
use std::ops::Deref;

/// Something a kernel can or cannot do.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Feature {
    /// A tracer listed in `available_tracers`.
    Tracer(String),
    /// A trace option, a file of `options`.
    TraceOption(String),
    /// `hist:` triggers.
    HistTriggers,
    /// `synthetic_events`.
    SyntheticEvents,
    /// `kprobe_events`.
    Kprobes,
    /// `uprobe_events`.
    Uprobes,
    /// Function entry and exit probes with BTF arguments (`f:`, since Linux 6.5).
    Fprobes,
    /// Probes on other events (`e:`, since Linux 5.15).
    EventProbes,
    /// `snapshot`, the second buffer.
    Snapshot,
    /// `set_ftrace_filter`.
    FunctionFilter,
    /// The stack tracer.
    StackTracer,
    /// `function_profile_enabled`.
    FunctionProfiler,
    /// `buffer_subbuf_size_kb` (since Linux 6.8).
    SubBufferSize,
    /// `syscall_user_buf_size`: texts and data that system calls are given by address (Linux 6.19 and later).
    SyscallData,
    /// `options/copy_trace_marker` in an instance (Linux 6.16 and later).
    CopyTraceMarker,
    /// `set_event_pid`.
    EventPids,
    /// Events that programs write (`user_events_data`, since Linux 6.4).
    UserEvents,
    /// Monitors of runtime verification (`rv`, since Linux 6.0).
    Monitors,
    /// Ring buffers of hypervisors and firmware (`remotes`, since Linux 7.0).
    Remotes,
}

impl Feature {
    /// The features that are neither tracers nor trace options.
    pub const ALL: [Feature; 17] = [
        Feature::HistTriggers,
        Feature::SyntheticEvents,
        Feature::Kprobes,
        Feature::Uprobes,
        Feature::Fprobes,
        Feature::EventProbes,
        Feature::Snapshot,
        Feature::FunctionFilter,
        Feature::StackTracer,
        Feature::FunctionProfiler,
        Feature::SubBufferSize,
        Feature::SyscallData,
        Feature::CopyTraceMarker,
        Feature::EventPids,
        Feature::UserEvents,
        Feature::Monitors,
        Feature::Remotes,
    ];

    /// The tracer whose name is nearly `name`, and its CONFIG.
    pub(super) fn tracer_near(name: &str) -> Option<(&'static str, &'static str)> {
        let near = *nearest(name, TRACERS).first()?;
        Some((near, tracer_config(near)?))
    }

    /// The usual name of the feature.
    pub fn name(&self) -> String {
        match self {
            Feature::Tracer(name) => return format!("tracer `{name}`"),
            Feature::TraceOption(name) => return format!("trace option `{name}`"),
            Feature::HistTriggers => "hist triggers",
            Feature::SyntheticEvents => "synthetic events",
            Feature::Kprobes => "kprobe events",
            Feature::Uprobes => "uprobe events",
            Feature::Fprobes => "fprobe events",
            Feature::EventProbes => "event probes",
            Feature::Snapshot => "snapshot buffer",
            Feature::FunctionFilter => "function filters",
            Feature::StackTracer => "stack tracer",
            Feature::FunctionProfiler => "function profiler",
            Feature::SubBufferSize => "configurable sub-buffer size",
            Feature::SyscallData => "texts and data of system calls",
            Feature::CopyTraceMarker => "copying of trace_marker into instances",
            Feature::EventPids => "event pid filter",
            Feature::UserEvents => "user events",
            Feature::Monitors => "monitors of runtime verification",
            Feature::Remotes => "trace remotes",
        }
        .to_owned()
    }

    /// The configuration (or the version, where it is not a question of configuration) that brings it.
    pub fn config(&self) -> Option<&'static str> {
        Some(match self {
            Feature::Tracer(name) => return tracer_config(name),
            Feature::TraceOption(name) => return option_config(name),
            Feature::HistTriggers => "CONFIG_HIST_TRIGGERS",
            Feature::SyntheticEvents => "CONFIG_SYNTH_EVENTS",
            Feature::Kprobes => "CONFIG_KPROBE_EVENTS",
            Feature::Uprobes => "CONFIG_UPROBE_EVENTS",
            Feature::Fprobes => "CONFIG_FPROBE_EVENTS",
            Feature::EventProbes => "CONFIG_PROBE_EVENTS",
            Feature::Snapshot => "CONFIG_TRACER_SNAPSHOT",
            Feature::FunctionFilter => "CONFIG_DYNAMIC_FTRACE",
            Feature::StackTracer => "CONFIG_STACK_TRACER",
            Feature::FunctionProfiler => "CONFIG_FUNCTION_PROFILER",
            Feature::SubBufferSize => "Linux 6.8",
            Feature::SyscallData => "Linux 6.19",
            Feature::CopyTraceMarker => "Linux 6.16",
            Feature::EventPids => "CONFIG_EVENT_TRACING",
            Feature::UserEvents => "CONFIG_USER_EVENTS",
            Feature::Monitors => "CONFIG_RV",
            Feature::Remotes => "CONFIG_TRACE_REMOTE",
        })
    }

    /// True if the kernel of `tracefs` has it.
    pub fn is_in(&self, tracefs: &Tracefs) -> bool {
        let top = tracefs.top();
        let readme = |syntax: &str| top.read("README").is_ok_and(|text| text.contains(syntax));
        match self {
            Feature::Tracer(name) => top.tracers().is_ok_and(|tracers| tracers.contains(name)),
            Feature::TraceOption(name) => top.has(&format!("options/{name}")),
            Feature::HistTriggers => readme("hist:keys="),
            Feature::SyntheticEvents => top.has("synthetic_events"),
            Feature::Kprobes => top.has("kprobe_events"),
            Feature::Uprobes => top.has("uprobe_events"),
            Feature::Fprobes => readme(" f[:[<group>/]"),
            Feature::EventProbes => readme(" e[:[<group>/]"),
            Feature::Snapshot => top.has("snapshot"),
            Feature::FunctionFilter => top.has("set_ftrace_filter"),
            Feature::StackTracer => top.has("stack_trace"),
            Feature::FunctionProfiler => top.has("function_profile_enabled"),
            Feature::SubBufferSize => top.has("buffer_subbuf_size_kb"),
            Feature::SyscallData => top.has("syscall_user_buf_size"),
            Feature::CopyTraceMarker => top.has("options/copy_trace_marker"),
            Feature::EventPids => top.has("set_event_pid"),
            Feature::UserEvents => top.has("user_events_data"),
            Feature::Monitors => top.has("rv/available_monitors"),
            Feature::Remotes => top.has("remotes"),
        }
    }
}

impl Tracefs {
    /// Asks for a feature before relying on it.
    ///
    /// # Errors
    /// [`Error::NoFeature`] with the missing CONFIG.
    pub fn require(&self, feature: &Feature) -> Result<(), Error> {
        if feature.is_in(self) {
            Ok(())
        } else {
            Err(Error::NoFeature { what: feature.name(), config: feature.config() })
        }
    }

    /// Says why a trace option that was not found is missing, if some kernels have it. Names that no kernel has are for
    /// the caller to answer, who knows what there is.
    ///
    /// # Errors
    /// [`Error::NoFeature`] with the missing CONFIG.
    pub fn explain_missing_option(&self, name: &str) -> Result<(), Error> {
        let option = Feature::TraceOption(name.to_owned());
        if option.config().is_some() { self.require(&option) } else { Ok(()) }
    }
}

/// Tracers that not every kernel has.
const TRACERS: [&str; 13] = [
    "function",
    "function_graph",
    "irqsoff",
    "preemptoff",
    "preemptirqsoff",
    "wakeup",
    "wakeup_rt",
    "wakeup_dl",
    "hwlat",
    "osnoise",
    "timerlat",
    "blk",
    "mmiotrace",
];

fn tracer_config(name: &str) -> Option<&'static str> {
    Some(match name {
        "function" => "CONFIG_FUNCTION_TRACER",
        "function_graph" => "CONFIG_FUNCTION_GRAPH_TRACER",
        "irqsoff" => "CONFIG_IRQSOFF_TRACER",
        "preemptoff" | "preemptirqsoff" => "CONFIG_PREEMPT_TRACER",
        "wakeup" | "wakeup_rt" | "wakeup_dl" => "CONFIG_SCHED_TRACER",
        "hwlat" => "CONFIG_HWLAT_TRACER",
        "osnoise" => "CONFIG_OSNOISE_TRACER",
        "timerlat" => "CONFIG_TIMERLAT_TRACER",
        "blk" => "CONFIG_BLK_DEV_IO_TRACE",
        "mmiotrace" => "CONFIG_MMIOTRACE",
        _ => return None,
    })
}

/// The CONFIG of the options that not every kernel has.
fn option_config(name: &str) -> Option<&'static str> {
    Some(match name {
        "funcgraph-retval" | "funcgraph-retval-hex" | "funcgraph-retval-trim" => "CONFIG_FUNCTION_GRAPH_RETVAL",
        "funcgraph-retaddr" => "CONFIG_FUNCTION_GRAPH_RETADDR",
        "funcgraph-args" | "func-args" => "CONFIG_FUNCTION_TRACE_ARGS",
        "func_stack_trace" | "func-no-repeats" | "function-fork" | "function-trace" => "CONFIG_FUNCTION_TRACER",
        "funcgraph-abstime" | "funcgraph-cpu" | "funcgraph-duration" | "funcgraph-irqs" | "funcgraph-overhead"
        | "funcgraph-overrun" | "funcgraph-proc" | "funcgraph-tail" | "graph-time" | "sleep-time" => {
            "CONFIG_FUNCTION_GRAPH_TRACER"
        }
        "blk_cgname" | "blk_cgroup" | "blk_classic" => "CONFIG_BLK_DEV_IO_TRACE",
        "branch" => "CONFIG_BRANCH_TRACER",
        "stacktrace" => "CONFIG_STACKTRACE",
        _ => return None,
    })
}

/// The bytes of `/sys/kernel/btf/vmlinux`.
#[derive(Debug)]
pub struct KernelTypes(KernelTypeBytes);

#[derive(Debug)]
enum KernelTypeBytes {
    Mapped(sys::MappedKernelTypes),
    Read(Vec<u8>),
}

impl Deref for KernelTypes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            KernelTypeBytes::Mapped(types) => types,
            KernelTypeBytes::Read(types) => types,
        }
    }
}

impl Tracefs {
    /// [`Tracefs::kernel_btf`] for who only looks through it: mapped where the kernel can (since Linux 6.16). It hands out
    /// these megabytes page by page otherwise.
    ///
    /// # Errors
    /// As [`Tracefs::kernel_btf`].
    pub fn kernel_types(&self) -> Result<KernelTypes, Error> {
        match sys::MappedKernelTypes::map() {
            Ok(types) => Ok(KernelTypes(KernelTypeBytes::Mapped(types))),
            Err(_) => self.kernel_btf().map(|types| KernelTypes(KernelTypeBytes::Read(types))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_mapped_is_what_is_read() {
        let pair = std::fs::read("/sys/kernel/btf/vmlinux").and_then(|read| Ok((read, sys::MappedKernelTypes::map()?)));
        match pair {
            Ok((read, mapped)) => assert!(mapped[..] == read[..]),
            Err(e) => {
                let why = format!("not run: mapping the kernel's types (Linux 6.16): {e}\n");
                let _ = std::io::Write::write_all(&mut std::io::stderr(), why.as_bytes());
            }
        }
    }
}
