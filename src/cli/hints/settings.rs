//! Files of the tracing directory where an option is meant.

use rtrace::syntax::nearest;

/// The hint on the name of a file of tracefs in the place of CMD.
pub(in crate::cli) fn of_setting(word: &str) -> Option<String> {
    let (file, value) = word.split_once('=').unwrap_or((word, ""));
    if let Some(option) = file.strip_prefix("options/") {
        let no = if value == "0" { "no" } else { "" };
        return Some(format!(
            "a trace option is set as in `-O {no}{option}`, if there is one of that name: `rtrace list -o` shows all."
        ));
    }
    if let Some(event) = file.strip_prefix("events/").and_then(|path| path.rsplit_once('/')) {
        let name = event.0.replace('/', ":");
        return Some(match (event.1, value) {
            ("filter", _) => format!("`rtrace filter set {name} 'FILTER'` sets a filter."),
            ("trigger", _) => format!("`rtrace trigger add {name} TRIGGER` sets a trigger."),
            (_, "0") => format!("`-v -e {name}` disables events."),
            _ => format!("`-e {name}` enables events."),
        });
    }
    let near = nearest(file, SETTINGS.iter().map(|(name, _)| *name));
    let file = near.first().copied().unwrap_or(file);
    SETTINGS.iter().find(|(name, _)| *name == file).map(|(_, hint)| (*hint).to_owned())
}

/// Files of the tracing directory, and the options that set them.
const SETTINGS: &[(&str, &str)] = &[
    ("buffer_size_kb", "`-b KIB` sets the size of each CPU's ring."),
    ("current_tracer", "`-p TRACER` sets a tracer, `-p nop` none."),
    ("trace_clock", "`-C CLOCK` sets the clock."),
    ("tracing_cpumask", "`-M MASK` sets the CPUs."),
    ("set_event_pid", "`-P PID` sets the processes."),
    ("set_ftrace_filter", "`-l FUNC` sets the functions."),
    ("tracing_on", "`rtrace restart` and `rtrace stop` switch tracing on and off."),
];
