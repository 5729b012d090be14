//! clap's refusals of a command line in the program's own words: one prefix, names in backquotes, a hint, and the command
//! that explains more.

use super::machine::RecordingMachine;
use super::{elsewhere, helper_programs, meant, meant_options};
use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use rtrace::internal::trace_dat::is_recording;
use rtrace::syntax::did_you_mean;
use std::error::Error;
use std::num::ParseIntError;

/// Most values that an error names; of more, the nearest alone.
const MOST_NAMED: usize = 24;

/// The message for standard error, with its line feed. `root` is the command line as clap knows it; `refused`
/// gives hints on lines of a hint that would be refused.
pub(crate) fn message(answer: &clap::Error, root: &Command, refused: &dyn Fn(&str) -> Vec<String>) -> String {
    let rendered = answer.render().to_string();
    let (mut command, mut words) = (root, vec![helper_programs::name()]);
    for word in std::env::args().skip(1) {
        let Some(next) = command.find_subcommand(&word) else { break };
        words.push(next.get_name());
        command = next;
    }
    let more = format!("  Hint: `{} --help` shows all it takes.\n", words.join(" "));
    let at = words.get(1).copied().unwrap_or_default();
    let Some((what, hint)) = worded(answer, command, (at, root), &words.join(" ")) else {
        let text = as_rendered(answer, &rendered);
        let says_more = text.contains("Hint: ") || text.contains("  rtrace ") || text.contains("Usage: ");
        return if says_more { text } else { text + &more };
    };
    let mut text = format!("rtrace: {what}\n");
    if let Some(hint) = hint {
        text.push_str(&format!("  Hint: {hint}\n"));
        refused(&hint).iter().for_each(|hint| text.push_str(&format!("  Hint: {hint}\n")));
    }
    // With what was left out clap's usage shows where it goes; else it is about the mistake.
    let is_short = matches!(answer.kind(), ErrorKind::MissingRequiredArgument | ErrorKind::WrongNumberOfValues);
    if let Some(usage) = one(answer, ContextKind::Usage).filter(|_| is_short) {
        text.push_str(&format!("  {}\n", usage.trim_end().replace('\n', "\n  ")));
    }
    text + &more
}

/// The answer to an option that the command does not have, found among the words of CMD.
pub(crate) fn unknown_option(word: &str) -> clap::Error {
    let mut answer = clap::Error::new(ErrorKind::UnknownArgument);
    answer.insert(ContextKind::InvalidArg, ContextValue::String(word.to_owned()));
    answer
}

/// The mistake, and the name that was probably meant; `None` if the rendered message has to do. `name` is that of the command
/// below `root`, and `words` are those that name the command.
fn worded(
    answer: &clap::Error,
    command: &Command,
    (name, root): (&str, &Command),
    words: &str,
) -> Option<(String, Option<String>)> {
    let arg = || one(answer, ContextKind::InvalidArg);
    Some(match answer.kind() {
        ErrorKind::UnknownArgument => {
            let word = arg()?;
            let hint = meant_options::format_as_option(&word, command);
            if let Some(hint) = hint.or_else(|| meant_options::typed(&word, command)) {
                return Some((format!("unknown option `{word}`"), Some(hint)));
            }
            if let Some(hint) = elsewhere::of_another_program(&word, name) {
                return Some((format!("unknown option `{word}`"), Some(hint)));
            }
            if meant_options::word_before(&std::env::args().find(|given| given.starts_with(&word)).unwrap_or_default())
                .is_some_and(|before| before == "--sort")
            {
                let given = std::env::args().find(|given| given.starts_with(&word)).unwrap_or_default();
                let key = match given.trim_start_matches('-') {
                    "" | "hits" | "count" | "hit" => "hitcount",
                    key => key,
                };
                let hint = format!("`--sort` takes a name: `--sort {key}.desc` is the largest first.");
                return Some((format!("`{given}` is no value of `--sort`"), Some(hint)));
            }
            if std::ptr::eq(command, root) && word.starts_with('-') && !word.starts_with("--") {
                let hint = "a command comes first: `rtrace record -e EVENT -- CMD`; of strace, `rtrace stream --for syscalls -- CMD`.";
                return Some((format!("unknown option `{word}`"), Some(hint.to_owned())));
            }
            if let Some((reason, hint)) = elsewhere::found(&word, name, root) {
                return Some((format!("unknown option `{word}`: {reason}"), Some(hint)));
            }
            let what = if word.starts_with('-') { "unknown option" } else { "unexpected argument" };
            if name == "check" && std::path::Path::new(&word).is_file() && asserts() {
                let hint = "one recording at a time: `for f in A.dat B.dat; do rtrace check \"$f\" --assert '...' || exit; done`; `rtrace diff` compares several.";
                return Some((format!("{what} `{word}`"), Some(hint.to_owned())));
            }
            if name == "check" && std::path::Path::new(&word).is_file() {
                let hint = "an assertion follows `--assert`: `rtrace check FILE --assert 'max(wait()) < 5ms'`.";
                return Some((format!("{what} `{word}`"), Some(hint.to_owned())));
            }
            (
                format!("{what} `{word}`"),
                meant_options::option(&word, command, root, words)
                    .or_else(|| meant::argument(&word, (name, command), words)),
            )
        }
        ErrorKind::InvalidSubcommand => {
            let word = one(answer, ContextKind::InvalidSubcommand)?;
            let hint = meant::command(&word, command, (name, root));
            (format!("unknown command `{word}`"), hint)
        }
        ErrorKind::InvalidValue => {
            let (word, name) = (one(answer, ContextKind::InvalidValue)?, name_of(&arg()?));
            let valid = list(answer, ContextKind::ValidValue);
            let what = match word.as_str() {
                "" if arg()?.contains('<') && valid.is_empty() => format!("{name} needs a value: `{}`", arg()?),
                "" => format!("{name} needs a value"),
                _ => format!("invalid value `{word}` for {name}"),
            };
            let known = if valid.is_empty() || valid.len() > MOST_NAMED {
                String::new()
            } else {
                format!(": expected {}", either(&valid))
            };
            let near = did_you_mean(&word, valid.iter().map(String::as_str));
            (
                what + &known,
                meant::topic(&word).filter(|_| command.get_name() == "help").or(near).or_else(|| {
                    let is_graph = word.is_empty() && name == "`--graph-function`";
                    is_graph.then(|| {
                        let stacks = "it names a function; `-R stacktrace` after `-e EVENT` records call stacks.";
                        let mut words = std::env::args().skip_while(|word| word != "-F").skip(1);
                        match words.next().is_some_and(|rate| rate.parse::<u64>().is_ok()) {
                            true => format!("{stacks} Nothing is sampled at a rate; `--for offcpu` records where tasks leave their CPU."),
                            false => stacks.to_owned(),
                        }
                    })
                })
                .or_else(|| {
                    let is_late = ["latency", "sched", "delay", "late"].contains(&word.as_str());
                    let is_off = is_late || ["sleep", "blocked", "block", "wait", "io", "runqueue", "runq", "queue", "cpu"].contains(&word.as_str());
                    let off = "`--worst off-cpu` is the longest time off a CPU for any reason; `--worst wakeup` that from a wakeup to the CPU.";
                    let is_call = RecordingMachine::of_this().is_some_and(|machine| machine.calls().any(|(_, name)| name == word));
                    let call = is_call.then(|| format!("`--worst syscall --call {word}` is the longest of these calls."));
                    let several = word.parse::<u64>().is_ok().then(|| format!("`--intervals {word}` is the number of the longest."));
                    several.or(call).or(is_off.then(|| off.to_owned())).filter(|_| command.get_name() == "why" && name == "`--worst`")
                })
                .or_else(|| {
                    let is_of_event = word.is_empty() && name == "`--event`";
                    is_of_event.then(|| "as in `-e sched:sched_switch`; `-e all` are all, `rtrace list -e` shows them.".to_owned())
                })
                .or_else(|| {
                    let is_sql = ["sqlite", "sqlite3", "sql", "db", "duckdb"].contains(&word.as_str());
                    let tables = "`rtrace sql FILE 'QUERY'` asks a recording, `--to parquet` writes tables for databases.";
                    (is_sql && name == "`--to`").then(|| tables.to_owned())
                })
                .or_else(|| {
                    let convert = root.find_subcommand("convert")?.get_arguments().find(|arg| arg.get_long() == Some("to"))?;
                    let is_one = name == "`--format`" && convert.get_possible_values().iter().any(|format| format.get_name() == word);
                    is_one.then(|| format!("`rtrace convert FILE OUT --to {word}` writes that."))
                })
                .or_else(|| {
                    let pprof = "`folded`, `speedscope` and `firefox` are of call stacks, too.";
                    let frames = "`--to parquet` is what pandas, polars and DuckDB read, `--to csv` what all read.";
                    let is_frame = ["pandas", "polars", "dataframe", "feather", "numpy", "excel", "xlsx"].contains(&word.as_str());
                    let hint = if is_frame { frames } else { pprof };
                    (name == "`--to`" && (is_frame || word == "pprof")).then(|| hint.to_owned())
                })
                .or_else(|| {
                    let event = word.contains(['_', ':']).then(|| format!(" `rtrace list -F {word}` shows an event."));
                    (command.get_name() == "help")
                        .then(|| format!("`rtrace help` lists the commands and topics.{}", event.unwrap_or_default()))
                }),
            )
        }
        ErrorKind::ValueValidation => {
            let (word, name) = (one(answer, ContextKind::InvalidValue)?, name_of(&arg()?));
            let source = answer.source()?;
            let why = match source.is::<ParseIntError>() {
                true if name_is_pid(&arg()?) => "a process id is wanted, a number".to_owned(),
                true => "a number is wanted".to_owned(),
                false => source.to_string(),
            };
            let between = if why.starts_with('\n') { "" } else { " " };
            let is_name = source.is::<ParseIntError>() && name_is_pid(&arg()?);
            let hint = is_name.then(|| meant::task(&word, command));
            let all = || {
                matches!(word.as_str(), "all" | "max" | "unlimited" | "none")
                    .then(|| meant_options::all(&arg()?, command))?
            };
            let part = || meant_options::part_of_time(&word, &arg()?);
            let ring = || meant_options::ring(&word, &arg()?);
            let meaning = || meant_options::meaning(&arg()?, command).filter(|_| source.is::<ParseIntError>());
            let hint = hint.or_else(all).or_else(part).or_else(ring).or_else(meaning);
            (format!("invalid value `{word}` for {name}:{between}{why}"), hint)
        }
        ErrorKind::ArgumentConflict if one(answer, ContextKind::InvalidSubcommand).is_some() => {
            let below = one(answer, ContextKind::InvalidSubcommand)?;
            let others: Vec<String> = list(answer, ContextKind::PriorArg).iter().map(|other| name_of(other)).collect();
            let hint = format!("options stand after the command: `{words} {below} ...`.");
            (format!("{} stands before `{below}`", others.join(", ")), Some(hint))
        }
        ErrorKind::ArgumentConflict if arg()?.starts_with("--stop ") => {
            let hint = "it ends a recorder that runs; `--stop-if 'CONDITION'` ends this recording, `rtrace timerlat --stop 100us` at a latency.";
            (format!("{} stands alone", name_of(&arg()?)), Some(hint.to_owned()))
        }
        ErrorKind::ArgumentConflict => {
            let (name, others) = (arg()?, list(answer, ContextKind::PriorArg));
            let others: Vec<String> = others.iter().map(|other| name_of(other)).collect();
            match others[..] == [name_of(&name)] {
                true => (format!("{} is given more than once", name_of(&name)), None),
                false => {
                    let place = [&name]
                        .into_iter()
                        .chain(&list(answer, ContextKind::PriorArg))
                        .find(|one| !one.starts_with('-'))
                        .cloned();
                    let assertion = || meant_options::assertion(command.get_name());
                    let of_trigger = [&name]
                        .into_iter()
                        .chain(&list(answer, ContextKind::PriorArg))
                        .any(|one| one.contains("TRIGGER"));
                    let value = || meant_options::value_of_hist(command.get_name()).filter(|_| of_trigger);
                    let all: Vec<String> = others.iter().cloned().chain([name_of(&name)]).collect();
                    let sent = || {
                        let is = ["`--to`", "`--output`"].iter().all(|one| all.iter().any(|name| name == one));
                        is.then(|| "leave out `-o`: who listens at HOST names the file.".to_owned())
                    };
                    let hint = assertion()
                        .or_else(value)
                        .or_else(sent)
                        .or_else(|| place.and_then(|place| meant_options::value_of_flag(&place, command)));
                    (format!("{} cannot be used with {}", name_of(&name), others.join(", ")), hint)
                }
            }
        }
        ErrorKind::MissingRequiredArgument => {
            let missing = list(answer, ContextKind::InvalidArg);
            let named: Vec<String> = missing.iter().map(|name| name_of(name)).collect();
            if named.is_empty() {
                return None;
            }
            let verb = if named.len() == 1 { "is" } else { "are" };
            let hint = meant::missing(&missing, name);
            (format!("{} {verb} missing", named.join(" and ")), hint)
        }
        ErrorKind::WrongNumberOfValues | ErrorKind::TooFewValues => {
            let number = |kind| match answer.get(kind) {
                Some(ContextValue::Number(number)) => Some(*number),
                _ => None,
            };
            let expected = number(ContextKind::ExpectedNumValues).or_else(|| number(ContextKind::MinValues))?;
            let given = number(ContextKind::ActualNumValues)?;
            let between =
                |word: &String| name == "latency" && (word.contains(',') || word.contains("->")) && !word.contains('(');
            let events = std::env::args().find(between).map(|word| {
                let events: Vec<&str> = word.split([',', '-', '>', ' ']).filter(|part| !part.is_empty()).collect();
                format!("a blank is between two events: `{}`.", events.join(" "))
            });
            let file = || {
                let file = std::env::args().skip(1).find(|word| is_recording(std::path::Path::new(word)))?;
                let is_named = std::env::args().any(|word| word == "-i" || word == "--input");
                (name == "trigger" && !is_named).then(|| format!("`-i {file}` names the recording."))
            };
            let pair = || {
                let whole = std::env::args().find(|word| word.starts_with("latency("));
                let parts = whole.as_deref().map(|word| word.trim_start_matches("latency(").trim_end_matches(')'));
                if let Some([from, to, key]) =
                    parts.map(|parts| parts.split(',').map(str::trim).collect::<Vec<_>>()).as_deref()
                {
                    return Some(format!("as words: `{from} {to} --by {key}`."));
                }
                (name == "latency").then(|| {
                    "two events: `rtrace latency run.dat sched_waking sched_switch --by pid=next_pid`.".to_owned()
                })
            };
            let hint = events.or_else(file).or_else(pair);
            (format!("{} needs {expected} values, not {given}", name_of(&arg()?)), hint)
        }
        ErrorKind::MissingSubcommand => ("a command is missing".to_owned(), None),
        _ => return None,
    })
}

/// True if an assertion stands on the command line.
fn asserts() -> bool {
    std::env::args().any(|word| word == "-a" || word == "--assert" || word.starts_with("--assert=") || word == "--spec")
}

/// clap's words with the program's prefix.
fn as_rendered(answer: &clap::Error, rendered: &str) -> String {
    if answer.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return rendered.to_owned();
    }
    let text = rendered.strip_prefix("error: ").unwrap_or(rendered);
    let more = text.find("\nFor more information, try").map_or(text, |at| &text[..at]);
    let lines: Vec<String> = more
        .trim_end()
        .lines()
        .map(|line| match line.trim_start().strip_prefix("tip: ") {
            Some(tip) => format!("  Hint: {tip}"),
            None => line.to_owned(),
        })
        .collect();
    format!("rtrace: {}\n", lines.join("\n"))
}

/// `--name <VALUE>` and `<NAME>...` without their values: the argument's name in backquotes.
fn name_of(shown: &str) -> String {
    let name = match shown.starts_with('-') {
        true => shown.split([' ', '=', '[']).next().unwrap_or(shown),
        false => shown,
    };
    format!("`{name}`")
}

/// True of `--pid <PID>` and the like.
fn name_is_pid(shown: &str) -> bool {
    shown.contains("<PID")
}

/// `a, b or c`.
fn either(names: &[String]) -> String {
    match names {
        [all @ .., last] if !all.is_empty() => format!("{} or {last}", all.join(", ")),
        _ => names.concat(),
    }
}

fn one(answer: &clap::Error, kind: ContextKind) -> Option<String> {
    match answer.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::StyledStr(text) => Some(text.to_string()),
        _ => None,
    }
}

fn list(answer: &clap::Error, kind: ContextKind) -> Vec<String> {
    match answer.get(kind) {
        Some(ContextValue::Strings(all)) => all.clone(),
        Some(ContextValue::String(text)) => vec![text.clone()],
        _ => Vec::new(),
    }
}
