//! The names by which a kernel is told at its boot what to trace: parameters of its command line
//! (Documentation/admin-guide/kernel-parameters.txt), keys of a bootconfig (Documentation/trace/boottime-trace.rst, Linux 5.6).

use std::fmt;

/// The form of what the kernel reads at its boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BootForm {
    /// One line of parameters.
    CommandLine,
    /// A tree of keys and values.
    BootConfig,
}

/// A setting that either form has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BootSetting {
    /// Size of each CPU's ring, in KiB.
    Size,
    /// Name of the trace clock.
    Clock,
    /// Trace options, each with `no` before it where it is off.
    Options,
    /// Names of events, which may be globs.
    Events,
    /// Functions to trace.
    Functions,
    /// Functions not to trace.
    LeftOut,
    /// Name of the tracer.
    Tracer,
    /// Functions whose calls are traced.
    Graph,
    /// Functions that are left out of calls with all that they call.
    GraphLeftOut,
    /// Depth of calls.
    Depth,
}

impl BootForm {
    /// The name of a setting: a parameter, or a key below the buffer's; of the last three, which are no buffer's, below
    /// `kernel`.
    pub fn name(self, setting: BootSetting) -> &'static str {
        let (parameter, key) = match setting {
            BootSetting::Size => ("trace_buf_size", "buffer_size"),
            BootSetting::Clock => ("trace_clock", "trace_clock"),
            BootSetting::Options => ("trace_options", "options"),
            BootSetting::Events => ("trace_event", "events"),
            BootSetting::Functions => ("ftrace_filter", "ftrace.filters"),
            BootSetting::LeftOut => ("ftrace_notrace", "ftrace.notraces"),
            BootSetting::Tracer => ("ftrace", "tracer"),
            BootSetting::Graph => ("ftrace_graph_filter", "fgraph_filters"),
            BootSetting::GraphLeftOut => ("ftrace_graph_notrace", "fgraph_notraces"),
            BootSetting::Depth => ("ftrace_graph_max_depth", "fgraph_max_depth"),
        };
        if self == BootForm::CommandLine { parameter } else { key }
    }
}

impl fmt::Display for BootForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BootForm::CommandLine => "the kernel's command line",
            BootForm::BootConfig => "a bootconfig",
        })
    }
}
