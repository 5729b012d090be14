//! The recording that a controller asks an agent for.

use crate::cli::record::{RecordArgs, remote};
use crate::cli::record_error::refused;
use clap::parser::ValueSource;
use clap::{Args as _, Command, FromArgMatches};
use rtrace::record::{Compression, Plan};

/// Options of record that an agent takes: what is recorded and how it gets into the ring, and nothing that writes files, runs
/// commands, or leaves something behind.
const OF_AGENTS: [&str; 42] = [
    "event",
    "for",
    "filter",
    "trigger",
    "invert",
    "buffer-size",
    "clock",
    "tracer",
    "option",
    "stack-trace",
    "function",
    "no-function",
    "graph-function",
    "module",
    "func-stack",
    "cpumask",
    "cpu",
    "subbuf-size",
    "syscall-bytes",
    "hook",
    "pids",
    "threads",
    "not_pids",
    "children",
    "ignore_unknown",
    "verbose",
    "max_latency",
    "all_formats",
    "quiet",
    "duration",
    "at",
    "own_threads",
    "compression",
    "date",
    "ts_offset",
    "nosplice",
    "sleep",
    "proc_map",
    "tsc2nsec",
    // The controller's own, which trace-cmd sends along.
    "name",
    "tsync_interval",
    "no_fifos",
];

/// Options that concern more than the recording: the buffer that others use, CPUs kept busy, settings of which the machine has
/// one of each. An agent takes them with `--whole-machine` only.
const OF_THE_MACHINE: [&str; 23] = [
    "top",
    "priority",
    "poll",
    "no_functions",
    "no_ftrace",
    "ftrace",
    "cmdlines_size",
    "max_graph_depth",
    "threshold",
    "devices",
    "monitors",
    "hwlat_width",
    "hwlat_window",
    "hwlat_mode",
    "osnoise_runtime",
    "osnoise_period",
    "osnoise_cpus",
    "osnoise_options",
    "stop_tracing",
    "stop_tracing_total",
    "timerlat_period",
    "timerlat_align",
    "print_stack",
];

/// The plan of what a controller asks for with `words`; else why this machine does not do it.
pub(crate) fn plan_for_controller(words: &[String], whole_machine: bool) -> Result<Plan, String> {
    let message = |error: clap::Error| error.to_string().trim().trim_start_matches("error: ").to_owned();
    let command = RecordArgs::augment_args(Command::new("record").no_binary_name(true));
    let matches = command.try_get_matches_from(words).map_err(message)?;
    let given = |id: &&str| matches.value_source(id) == Some(ValueSource::CommandLine);
    let ids = matches.ids().map(|id| id.as_str());
    // Groups stand among the ids, without a source that could be asked for.
    let known = |id: &&str| matches.try_contains_id(id).is_ok();
    let taken = |id: &&str| OF_AGENTS.contains(id) || is_group(id) || whole_machine && OF_THE_MACHINE.contains(id);
    if let Some(other) = ids.filter(known).filter(given).find(|id| !taken(id)) {
        return Err(match other {
            other if OF_THE_MACHINE.contains(&other) => {
                let other = other.replace('_', "-");
                format!(
                    "`{other}` concerns more than a recording: this agent takes it with its option --whole-machine only"
                )
            }
            // An option that record does not know begins a command, too.
            "command" => match words.iter().find(|word| word.starts_with("--") && *word != "--" && is_unknown(word)) {
                Some(option) => format!("record has no option {option}"),
                None => "an agent runs no commands".to_owned(),
            },
            other => format!("an agent does not take the option `{}` of record", other.replace('_', "-")),
        });
    }
    let args = RecordArgs::from_arg_matches(&matches).map_err(message)?;
    let mut plan = args.plan().map_err(message)?;
    plan.compression = Compression::None;
    plan.check()
        .map_err(|error| message(refused(&error, "record", None)).lines().next().unwrap_or_default().to_owned())?;
    remote::check_for_controller(&plan, "the controller")?;
    Ok(plan)
}

/// True if record has no long option of this name.
fn is_unknown(word: &str) -> bool {
    let name = word.trim_start_matches('-').split('=').next().unwrap_or_default();
    let command = RecordArgs::augment_args(Command::new("record"));
    !command.get_arguments().any(|arg| arg.get_long_and_visible_aliases().is_some_and(|names| names.contains(&name)))
}

/// True for the groups that clap makes of structs of arguments.
fn is_group(id: &str) -> bool {
    id.starts_with(|first: char| first.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_records_and_does_nothing_else() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let plan = |line: &str| plan_for_controller(&words(line), false);
        let made = plan("-C mono -e sched -f pid==1 -b 512 -O nooverwrite --date --quiet -e irq").unwrap();
        assert_eq!((made.buffers[0].events.len(), made.compression, made.date), (2, Compression::None, true));
        plan("-C local --name vm --tsync-interval -1 --nofifos -e sched").unwrap();
        for (line, says) in [
            ("-e sched ls", "runs no commands"),
            ("-e sched -F -- ls", "does not take the option `follow`"),
            ("-e sched -o /etc/passwd", "does not take the option `output`"),
            ("-e sched --summary-json /tmp/x", "does not take the option `summary-json`"),
            ("-e sched -k", "does not take the option `keep`"),
            ("-e sched --tracefs /tmp", "does not take the option `tracefs`"),
            ("-e sched -B more", "does not take the option `instance`"),
            ("-e sched -N 1.2.3.4:5", "does not take the option"),
            ("-e sched --no-such-option", "no-such-option"),
            ("--quiet", "no event is selected"),
        ] {
            let why = plan(line).unwrap_err();
            assert!(why.contains(says), "{line}: {why}");
        }
        for line in ["--top", "--poll", "-r 99", "-D", "--cmdlines-size 4096", "--threshold 5", "--max-graph-depth 2"] {
            let line = format!("-e sched {line}");
            let why = plan(&line).unwrap_err();
            assert!(why.contains("concerns more than a recording"), "{line}: {why}");
            plan_for_controller(&words(&line), true).unwrap();
        }
        assert!(plan_for_controller(&words("-e sched -k"), true).is_err());
    }
}
