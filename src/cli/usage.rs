//! clap's refusals of a command line in the program's own words: one prefix, names in backquotes, a hint, and the command
//! that explains more.

use super::{elsewhere, helper_programs};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};
use rtrace::internal::trace_dat::is_recording;
use rtrace::syntax::did_you_mean;
use std::error::Error;
use std::num::ParseIntError;
use std::path::Path;

/// Most values that an error names; of more, the nearest alone.
const MOST_NAMED: usize = 24;

/// Commands that change what is traced: none is ever a guess.
const CHANGING: [&str; 6] = ["start", "set", "stop", "restart", "clear", "reset"];

/// Words of other programs for `remove`.
const REMOVE: [&str; 4] = ["delete", "del", "rm", "destroy"];

/// Words of other programs for commands, with those of rtrace.
const MEANT: [(&[&str], &str); 5] = [
    (
        &["top", "watch"],
        "`rtrace stream` prints events as they happen, `rtrace top` and `profile` what tasks do meanwhile.",
    ),
    (
        &["view", "timeline", "tui", "gui"],
        "`rtrace view FILE` shows a recording in the terminal, `rtrace convert FILE OUT.pftrace` is for a browser.",
    ),
    (&["script", "print", "cat"], "`rtrace report FILE` prints a recording."),
    (&["info", "summary"], "`rtrace report --summary FILE` says what a recording holds."),
    (&["flamegraph", "flamegraphs"], "did you mean `flame`?"),
];

/// The same below `rtrace analyze`.
const MEANT_BY_ANALYSIS: [(&[&str], &str); 2] = [
    (
        &["offcpu", "off-cpu", "wakeup", "wakeups"],
        "`rtrace analyze sched` says how long tasks were off a CPU and waited for one, `rtrace flame --off-cpu` where.",
    ),
    (
        &["wait", "waits", "latency", "late"],
        "`rtrace analyze sched` has waits for a CPU, `rtrace why` takes one apart.",
    ),
];

/// Options by names that others have for them.
const OTHER_NAMES: [(&str, &str); 3] = [("task", "comm"), ("name", "comm"), ("process", "pid")];

/// The message for standard error, with its line feed. `root` is the command line as clap knows it.
pub(crate) fn message(answer: &clap::Error, root: &Command) -> String {
    let rendered = answer.render().to_string();
    let (mut command, mut words) = (root, vec![helper_programs::name()]);
    for word in std::env::args().skip(1) {
        let Some(next) = command.find_subcommand(&word) else { break };
        words.push(next.get_name());
        command = next;
    }
    let more = format!("  Hint: `{} --help` shows all it takes.\n", words.join(" "));
    let at = words.get(1).copied().unwrap_or_default();
    let Some((what, hint)) = worded(answer, command, (at, root)) else {
        let text = as_rendered(answer, &rendered);
        let says_more = text.contains("Hint: ") || text.contains("  rtrace ") || text.contains("Usage: ");
        return if says_more { text } else { text + &more };
    };
    let mut text = format!("rtrace: {what}\n");
    if let Some(hint) = hint {
        text.push_str(&format!("  Hint: {hint}\n"));
    }
    // With what was left out clap's usage shows where it goes; else it is about the mistake.
    let is_short = matches!(answer.kind(), ErrorKind::MissingRequiredArgument | ErrorKind::WrongNumberOfValues);
    if let Some(usage) = one(answer, ContextKind::Usage).filter(|_| is_short) {
        text.push_str(&format!("  {}\n", usage.trim_end().replace('\n', "\n  ")));
    }
    text + &more
}

/// The hint after a recording in the place of a command: `name` is that of the command before it.
fn of_recording(name: &str, file: &str) -> String {
    match name {
        "synth" => format!("`rtrace synth sql -i {file} 'SELECT ...'` asks a recording."),
        "baseline" => format!("`rtrace baseline save {file} -o baseline.json` makes a summary of a recording."),
        _ => format!(
            "it is a recording: `rtrace report {file}` prints it, `rtrace analyze all {file}` says what is in it."
        ),
    }
}

/// The answer to an option that the command does not have, found among the words of CMD.
pub(crate) fn unknown_option(word: &str) -> clap::Error {
    let mut answer = clap::Error::new(ErrorKind::UnknownArgument);
    answer.insert(ContextKind::InvalidArg, ContextValue::String(word.to_owned()));
    answer
}

/// The mistake, and the name that was probably meant; `None` if the rendered message has to do. `name` is that of the command
/// below `root`.
fn worded(answer: &clap::Error, command: &Command, (name, root): (&str, &Command)) -> Option<(String, Option<String>)> {
    let arg = || one(answer, ContextKind::InvalidArg);
    Some(match answer.kind() {
        ErrorKind::UnknownArgument => {
            let word = arg()?;
            if let Some((reason, hint)) = elsewhere::found(&word, name, root) {
                return Some((format!("unknown option `{word}`: {reason}"), Some(hint)));
            }
            let what = if word.starts_with('-') { "unknown option" } else { "unexpected argument" };
            (format!("{what} `{word}`"), near_option(&word, command))
        }
        ErrorKind::InvalidSubcommand => {
            let word = one(answer, ContextKind::InvalidSubcommand)?;
            let names =
                command.get_subcommands().filter(|c| !c.is_hide_set()).flat_map(Command::get_name_and_visible_aliases);
            let meant = MEANT.iter().find(|(words, _)| words.contains(&word.as_str()));
            let meant = match name {
                "analyze" => MEANT_BY_ANALYSIS.iter().find(|(words, _)| words.contains(&word.as_str())),
                _ => meant.filter(|_| std::ptr::eq(command, root)),
            };
            let hint = meant.map(|(_, hint)| (*hint).to_owned());
            let removes = REMOVE.contains(&word.as_str()) && command.find_subcommand("remove").is_some();
            let hint = hint.or_else(|| removes.then(|| "did you mean `remove`?".to_owned()));
            let hint = hint.or_else(|| did_you_mean(&word, names.filter(|name| !CHANGING.contains(name))));
            let reads = is_recording(Path::new(&word));
            let hint = hint.or_else(|| reads.then(|| of_recording(name, &word)));
            (format!("unknown command `{word}`"), hint)
        }
        ErrorKind::InvalidValue => {
            let (word, name) = (one(answer, ContextKind::InvalidValue)?, name_of(&arg()?));
            let valid = list(answer, ContextKind::ValidValue);
            let what = match word.as_str() {
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
                near.or_else(|| {
                    (command.get_name() == "help").then(|| "`rtrace help` lists the commands and topics.".to_owned())
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
            (format!("invalid value `{word}` for {name}:{between}{why}"), None)
        }
        ErrorKind::ArgumentConflict => {
            let (name, others) = (arg()?, list(answer, ContextKind::PriorArg));
            let others: Vec<String> = others.iter().map(|other| name_of(other)).collect();
            match others[..] == [name_of(&name)] {
                true => (format!("{} is given more than once", name_of(&name)), None),
                false => (format!("{} cannot be used with {}", name_of(&name), others.join(", ")), None),
            }
        }
        ErrorKind::MissingRequiredArgument => {
            let missing = list(answer, ContextKind::InvalidArg);
            let named: Vec<String> = missing.iter().map(|name| name_of(name)).collect();
            if named.is_empty() {
                return None;
            }
            let verb = if named.len() == 1 { "is" } else { "are" };
            (format!("{} {verb} missing", named.join(" and ")), None)
        }
        ErrorKind::WrongNumberOfValues | ErrorKind::TooFewValues => {
            let number = |kind| match answer.get(kind) {
                Some(ContextValue::Number(number)) => Some(*number),
                _ => None,
            };
            let expected = number(ContextKind::ExpectedNumValues).or_else(|| number(ContextKind::MinValues))?;
            let given = number(ContextKind::ActualNumValues)?;
            (format!("{} needs {expected} values, and {given} was given", name_of(&arg()?)), None)
        }
        ErrorKind::MissingSubcommand => ("a command is missing".to_owned(), None),
        _ => return None,
    })
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

/// Options of the command near to `word`, which is a long one.
fn near_option(word: &str, command: &Command) -> Option<String> {
    let name = word.split('=').next()?.strip_prefix("--")?;
    let mut other = OTHER_NAMES.iter().filter(|(other, _)| *other == name).map(|(_, own)| *own);
    let has = |own: &&str| command.get_arguments().any(|arg| arg.get_long() == Some(*own));
    if let Some(own) = other.find(has) {
        return Some(format!("did you mean `--{own}`?"));
    }
    let options = command.get_arguments().filter(|arg| !arg.is_hide_set()).filter_map(Arg::get_long);
    did_you_mean(name, options.chain(["help", "version"]))
        .map(|hint| hint.replacen(" `", " `--", 1).replace(", `", ", `--").replace("or `", "or `--"))
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
