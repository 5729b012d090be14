//! `record -A`: the agents on a command line, and what may be asked of one.
//!
//! All options after `-A HOST`, up to the next `-A` or `-B`, are that machine's, as with trace-cmd. They are put together into
//! the value of `-A` before the command line is parsed ([`gathered`]).

use super::{Args, clocks};
use crate::cli::command_words::takes_next;
use crate::cli::exit::{Exit, Failure};
use crate::cli::record_error::refused;
use crate::cli::terminal::{note, say};
use clap::parser::ValueSource;
use clap::{Args as _, Command, FromArgMatches};
use rtrace::network::control::{Guest, GuestError, GuestSummary, GuestTarget, HostFacts};
use rtrace::record::{self, Compression, Plan};
use rtrace::tracefs::Tracefs;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// Between the words of the value of `-A`.
const SEPARATOR: char = '\u{1f}';

const SYNC: &str = "--tsync-interval";

/// Options that are the controller's wherever they stand.
const OURS: [&str; 11] = [
    "-o",
    "--output",
    "-q",
    "--quiet",
    "--json",
    "--summary-json",
    "--no-fifos",
    "--nofifos",
    "--max-lost",
    "-h",
    "--help",
];

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
    "subbuf-size",
    "hook",
    "pids",
    "children",
    "ignore_unknown",
    "verbose",
    "max_graph_depth",
    "cmdlines_size",
    "threshold",
    "no_functions",
    "no_ftrace",
    "all_formats",
    "quiet",
    "duration",
    "top",
    "own_threads",
    "priority",
    "compression",
    "date",
    "ts_offset",
    "nosplice",
    "poll",
    "sleep",
    "proc_map",
    "tsc2nsec",
    "devices",
];

/// The command line with each `-A` and the options after it as one word.
pub(crate) fn gathered(words: Vec<OsString>, root: fn() -> Command) -> Vec<OsString> {
    let is_agent = |word: &OsString| word.to_str().is_some_and(|word| word.starts_with("-A"));
    if words.get(1).is_none_or(|word| word != "record") || !words.iter().any(is_agent) {
        return words;
    }
    let root = root();
    let Some(command) = root.find_subcommand("record") else { return words };
    let mut words = words.into_iter().peekable();
    let mut out: Vec<OsString> = words.by_ref().take(2).collect();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy().into_owned();
        match text.strip_prefix("-A") {
            Some(place) => {
                let place = if place.is_empty() { words.next().unwrap_or_default() } else { place.into() };
                let (guest, ours) = guest_words(&mut words, command);
                out.extend(ours);
                out.push("-A".into());
                let mut value = place;
                for word in guest {
                    value.push(SEPARATOR.to_string());
                    value.push(word);
                }
                out.push(value);
            }
            None => {
                let takes = takes_next(command, &text);
                out.push(word);
                match takes {
                    Some(true) => out.extend(words.next()),
                    Some(false) if text != "--" => {}
                    // CMD begins.
                    _ => out.extend(words.by_ref()),
                }
            }
        }
    }
    out
}

/// The words after `-A HOST` that belong to it, and those among them that are the controller's.
fn guest_words(
    words: &mut std::iter::Peekable<impl Iterator<Item = OsString>>,
    command: &Command,
) -> (Vec<OsString>, Vec<OsString>) {
    let (mut guest, mut ours) = (Vec::new(), Vec::new());
    while let Some(word) = words.peek() {
        let text = word.to_string_lossy().into_owned();
        let takes = takes_next(command, &text);
        if text == "--" || text.starts_with("-A") || text.starts_with("-B") || takes.is_none() {
            break;
        }
        let name = text.split('=').next().unwrap_or_default();
        let to = if OURS.contains(&name) { &mut ours } else { &mut guest };
        to.extend(words.next());
        if takes == Some(true) {
            to.extend(words.next());
        }
    }
    (guest, ours)
}

/// The value of `-A`.
pub(super) fn target(text: &str) -> Result<GuestTarget, String> {
    let mut words = text.split(SEPARATOR);
    let place = words.next().filter(|place| !place.is_empty()).ok_or("a host or an address is needed")?.to_owned();
    let mut target = GuestTarget { place, name: None, args: Vec::new(), sync_every: Some(Duration::ZERO) };
    while let Some(word) = words.next() {
        let (option, value) = word.split_once('=').map_or((word, None), |(option, value)| (option, Some(value)));
        let mut value = || value.or_else(|| words.next()).ok_or_else(|| format!("{option} needs a value"));
        match option {
            "--name" => target.name = Some(value()?.to_owned()),
            SYNC => target.sync_every = sync_interval(value()?)?,
            _ => target.args.push(word.to_owned()),
        }
    }
    Ok(target)
}

/// The value of `--tsync-interval`: milliseconds. 0 is at the beginning and at the end only, a negative one never.
fn sync_interval(text: &str) -> Result<Option<Duration>, String> {
    let millis: i64 = text.parse().map_err(|_| format!("{SYNC} takes a number of milliseconds, not `{text}`"))?;
    Ok(u64::try_from(millis).ok().map(Duration::from_millis))
}

/// The plan of what a controller asks for with `words`; else why this machine does not do it.
pub(crate) fn plan_for_controller(words: &[String]) -> Result<Plan, String> {
    let told = |error: clap::Error| error.to_string().trim().trim_start_matches("error: ").to_owned();
    let command = Args::augment_args(Command::new("record").no_binary_name(true));
    let matches = command.try_get_matches_from(words).map_err(told)?;
    let given = |id: &&str| matches.value_source(id) == Some(ValueSource::CommandLine);
    let ids = matches.ids().map(|id| id.as_str());
    // Groups stand among the ids, without a source that could be asked for.
    let known = |id: &&str| matches.try_contains_id(id).is_ok();
    if let Some(other) = ids.filter(known).filter(given).find(|id| !OF_AGENTS.contains(id) && !is_group(id)) {
        return Err(match other {
            // An option that record does not know begins a command, too.
            "command" => match words.iter().find(|word| word.starts_with("--") && *word != "--" && is_unknown(word)) {
                Some(option) => format!("record has no option {option}"),
                None => "an agent runs no commands".to_owned(),
            },
            other => format!("an agent does not take the option `{}` of record", other.replace('_', "-")),
        });
    }
    let args = Args::from_arg_matches(&matches).map_err(told)?;
    let mut plan = args.plan().map_err(told)?;
    plan.compression = Compression::None;
    plan.check().map_err(|error| told(refused(&error, "record")).lines().next().unwrap_or_default().to_owned())?;
    super::remote::check_for_trace_cmd(&plan, "the controller")?;
    Ok(plan)
}

/// True if record has no long option of this name.
fn is_unknown(word: &str) -> bool {
    let name = word.trim_start_matches('-').split('=').next().unwrap_or_default();
    let command = Args::augment_args(Command::new("record"));
    !command.get_arguments().any(|arg| arg.get_long_and_visible_aliases().is_some_and(|names| names.contains(&name)))
}

/// True for the groups that clap makes of structs of arguments.
fn is_group(id: &str) -> bool {
    id.starts_with(|first: char| first.is_ascii_uppercase())
}

/// Asks all agents to record along.
pub(super) fn connect(args: &Args, plan: &mut Plan, tracefs: &Tracefs) -> Result<Vec<Guest>, Failure> {
    let file = |target: &GuestTarget| target.file(&plan.output);
    let taken =
        |(nth, target): (usize, &GuestTarget)| args.agents[..nth].iter().any(|other| file(other) == file(target));
    if let Some((_, twice)) = args.agents.iter().enumerate().find(|of| taken(*of)) {
        let error = anyhow::anyhow!("two agents' recordings would go to {}", file(twice).display());
        return Err(Failure::new(Exit::Usage, error).hint("`--name NAME` after an -A names its guest, and its file."));
    }
    let id = record::trace_id();
    plan.id = Some(id);
    let clock = plan.buffers.first().and_then(|main| main.clock.clone());
    let mut guests: Vec<Guest> = Vec::new();
    if plan.date && args.agents.iter().any(|target| target.sync_every.is_some()) {
        plan.known_date = clocks::date(args, plan, tracefs);
    }
    for target in &args.agents {
        let mut target = target.clone();
        let says =
            |short: &str, long: &str| target.args.iter().any(|arg| arg.starts_with(short) || arg.starts_with(long));
        if let Some(clock) = clock.as_ref().filter(|_| !says("-C", "--clock")) {
            target.args.splice(0..0, ["-C".to_owned(), clock.clone()]);
        }
        if plan.date && !target.args.iter().any(|arg| arg == "--date") {
            target.args.push("--date".to_owned());
        }
        let max_size = args.max_size.map(|size| size.0);
        let host = HostFacts { id, path: &plan.output, date: plan.known_date, max_size };
        match Guest::connect(&target, host, clocks::host_clock(args, &target, plan, tracefs)) {
            Ok(guest) => guests.push(guest),
            Err(error) => {
                guests.into_iter().for_each(Guest::give_up);
                return Err(unanswered(error, &target));
            }
        }
    }
    plan.guests = guests.iter().map(|guest| guest.facts().clone()).collect();
    Ok(guests)
}

fn unanswered(error: GuestError, target: &GuestTarget) -> Failure {
    let refused =
        matches!(&error, GuestError::Connect { source, .. } if source.kind() == std::io::ErrorKind::ConnectionRefused);
    let failure = Failure::new(Exit::Failed, error);
    if refused {
        return failure.hint(format!("on {}, `rtrace agent -N CONTROLLER` waits for this.", target.name()));
    }
    failure
}

/// Says at once that a guest is gone, while recording goes on.
pub(super) fn gone(name: &str, why: &str) {
    note!("rtrace: warning: guest {name}: {why}; recording goes on without it");
}

/// Prints how the guests' recordings went, unless `quiet`; gives the failure if one of them lacks something.
pub(super) fn tell(summaries: &[GuestSummary], quiet: bool) -> Result<(), Failure> {
    if !quiet {
        for summary in summaries {
            say(format_args!("{summary}\n"));
        }
    }
    let lacks = |summary: &&GuestSummary| summary.incomplete.is_some();
    match summaries.iter().find(lacks) {
        None => Ok(()),
        Some(GuestSummary { name, incomplete, .. }) => {
            let why = incomplete.as_deref().unwrap_or_default();
            let error = anyhow::anyhow!("the recording of guest {name} lacks something: {why}");
            Err(Failure::new(Exit::Incomplete, error))
        }
    }
}

/// True if `-` is the output, which a guest's file cannot stand beside.
pub(super) fn has_no_place(output: &Path) -> bool {
    crate::cli::piped::is_stdout(output)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> String {
        let words = text.split(' ').map(OsString::from).collect();
        let words = gathered(words, crate::cli::bare_command_line);
        let shown = |word: &OsString| word.to_string_lossy().replace(SEPARATOR, "|");
        words.iter().map(shown).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn options_after_an_agent_are_its_own() {
        for (given, expected) in [
            ("rtrace record -e a -A h -e b -f x<1 ls -A", "rtrace record -e a -A h|-e|b|-f|x<1 ls -A"),
            ("rtrace record -Ah -e b -A i -e c -- ls", "rtrace record -A h|-e|b -A i|-e|c -- ls"),
            ("rtrace record -A h -e b -B inst -e c ls", "rtrace record -A h|-e|b -B inst -e c ls"),
            ("rtrace record -A h -o f.dat --name vm -e b", "rtrace record -o f.dat -A h|--name|vm|-e|b"),
            ("rtrace record -e a ls -A h", "rtrace record -e a ls -A h"),
            ("rtrace record -A", "rtrace record -A "),
            ("rtrace stream -A h -e b", "rtrace stream -A h -e b"),
        ] {
            assert_eq!(line(given), expected);
        }
        let target = target("h\u{1f}--name\u{1f}vm\u{1f}-e\u{1f}b").unwrap();
        assert_eq!((target.name(), target.args), ("vm".to_owned(), vec!["-e".to_owned(), "b".to_owned()]));
        assert!(super::target("").is_err() && super::target("h\u{1f}--name").is_err());
    }

    #[test]
    fn an_agent_records_and_does_nothing_else() {
        let plan = |line: &str| plan_for_controller(&line.split(' ').map(str::to_owned).collect::<Vec<_>>());
        let made = plan("-C mono -e sched -f pid==1 -b 512 -O nooverwrite --date --quiet -e irq").unwrap();
        assert_eq!((made.buffers[0].events.len(), made.compression, made.date), (2, Compression::None, true));
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
    }
}
