//! The kernel configuration of each file of the tracing directory.

/// The kernel configuration that brings a file of the tracing directory, named without its directory.
pub fn missing_config(file: &str) -> Option<&'static str> {
    Some(match file {
        "hist" | "hist_debug" => "CONFIG_HIST_TRIGGERS",
        "synthetic_events" => "CONFIG_SYNTH_EVENTS",
        "kprobe_events" | "kprobe_profile" => "CONFIG_KPROBE_EVENTS",
        "uprobe_events" | "uprobe_profile" => "CONFIG_UPROBE_EVENTS",
        "dynamic_events" => "CONFIG_DYNAMIC_EVENTS",
        "snapshot" | "snapshot_raw" => "CONFIG_TRACER_SNAPSHOT",
        "set_ftrace_filter" | "set_ftrace_notrace" | "available_filter_functions" | "enabled_functions" => {
            "CONFIG_DYNAMIC_FTRACE"
        }
        "set_ftrace_pid" | "set_ftrace_notrace_pid" => "CONFIG_FUNCTION_TRACER",
        "set_graph_function" | "set_graph_notrace" | "max_graph_depth" => "CONFIG_FUNCTION_GRAPH_TRACER",
        "function_profile_enabled" | "trace_stat" => "CONFIG_FUNCTION_PROFILER",
        "stack_trace" | "stack_max_size" | "stack_trace_filter" => "CONFIG_STACK_TRACER",
        "tracing_max_latency" => "CONFIG_TRACER_MAX_TRACE",
        "hwlat_detector" => "CONFIG_HWLAT_TRACER",
        "osnoise" => "CONFIG_OSNOISE_TRACER",
        "user_events_data" | "user_events_status" => "CONFIG_USER_EVENTS",
        "vmlinux" => "CONFIG_DEBUG_INFO_BTF",
        "trigger" | "filter" | "set_event" => "CONFIG_EVENT_TRACING",
        _ => return None,
    })
}
