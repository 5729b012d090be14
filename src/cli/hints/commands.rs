//! Words in the place of a command or of an argument that it has not, and arguments that are missing.

use super::hists::of_hist;
use super::line::GivenLine;
use super::own_options::{guess, options, takes_value};
use super::settings::of_setting;
use super::table::Misplaced;
use super::whole_line::in_full;
use crate::cli::pair_fields;
use clap::Command;
use rtrace::internal::assertion::Assertion;
use rtrace::internal::trace_dat::is_recording;
use rtrace::syntax::did_you_mean;
use std::path::Path;

/// Most commands below a command that a hint names.
const MOST_COMMANDS: usize = 24;

/// Commands that change what is traced: none is ever a guess.
const CHANGING: [&str; 6] = ["start", "set", "stop", "restart", "clear", "reset"];

/// The hint on the unknown command `word` below `command`, whose path is `path`.
pub(in crate::cli) fn command(
    word: &str,
    command: &Command,
    (path, root): (&str, &Command),
    line: &GivenLine,
) -> Option<String> {
    let is_top = std::ptr::eq(command, root);
    let below = || command.get_subcommands().filter(|below| !below.is_hide_set());
    let own = |name: &str, _: Option<&str>| {
        below().find(|one| one.get_name() == name).map(|_| format!("did you mean `{name}`?"))
    };
    let listed = || Some(Misplaced { command: path, place: "command", word, line }.remedy(&own)?.hint);
    let of_analyze = || {
        let analysis = analysis(word, root, line).filter(|_| is_top)?;
        Some(format!(
            "`rtrace analyze {analysis} FILE` says that of a recording, `rtrace record --for {analysis}` makes one."
        ))
    };
    let names = || below().map(Command::get_name).filter(|name| !CHANGING.contains(name));
    let near = || {
        let aliases = below().flat_map(Command::get_name_and_visible_aliases).filter(|name| !CHANGING.contains(name));
        let begun = || {
            names().find(|name| name.len() > 3 && word.starts_with(name)).map(|name| format!("did you mean `{name}`?"))
        };
        did_you_mean(word, aliases).or_else(begun)
    };
    let all = || {
        let names: Vec<&str> = below().map(Command::get_name).filter(|name| *name != "help").collect();
        (names.len() <= MOST_COMMANDS).then(|| format!("`rtrace {}` has {}.", path.replace('/', " "), names.join(", ")))
    };
    let program = || {
        let folders = std::env::var_os("PATH").unwrap_or_default();
        let is_one = is_top && std::env::split_paths(&folders).any(|folder| folder.join(word).is_file());
        is_one.then(|| format!("`rtrace record -e EVENT -- {word} ...` runs that program and records it."))
    };
    let whole = || in_full(word, path, line).filter(|_| !is_top);
    listed().or_else(of_analyze).or_else(near).or_else(program).or_else(whole).or_else(all)
}

/// The analysis that another program has as a command of its own.
pub(in crate::cli) fn analysis<'r>(word: &str, root: &'r Command, line: &GivenLine) -> Option<&'r str> {
    let analyze = root.find_subcommand("analyze")?;
    let find = |name: &str| analyze.find_subcommand(name).map(|found| found.get_name().to_owned());
    let own = |name: &str, _: Option<&str>| find(name);
    let other = || Some(Misplaced { command: "analyze", place: "command", word, line }.remedy(&own)?.hint);
    let name = find(word).or_else(other)?;
    analyze.find_subcommand(name).map(Command::get_name)
}

/// The hint on the argument `word` for which `command`, whose path is `path`, has no place.
pub(in crate::cli) fn argument(word: &str, command: &Command, path: &str, line: &GivenLine) -> Option<String> {
    let (name, is_file) = (path.split('/').next()?, is_recording(Path::new(word)));
    let has = |option: &str| command.get_arguments().any(|arg| arg.get_long() == Some(option));
    let listed = Misplaced { command: path, place: "argument", word, line }.hint();
    if listed.is_some() || word.starts_with('-') {
        return listed;
    }
    let wrong = || {
        let wrong = Assertion::parse(word).err().filter(|_| name == "check" && word.contains(['<', '>', '=']))?;
        let (at, hints) = (wrong.span.of(word), wrong.hints().join(" "));
        let at = if at.is_empty() { String::new() } else { format!(" at `{at}`") };
        Some(format!("`--assert ASSERTION` takes it, and as one it is wrong{at}: {}. {hints}", wrong.message))
    };
    let no_reader = || {
        let reads = has("input") || name == "dump";
        (is_file && !reads).then(|| format!("it is a recording: `rtrace report --summary {word}` says what is in it; `rtrace {name}` reads no recordings."))
    };
    let option = || has(word).then(|| guess(&[word]))?;
    let filter = || {
        let is = has("filter") && name != "check" && word.contains(['<', '>', '=', '~', '&']);
        is.then(|| format!("`--filter '{word}'` is the condition."))
    };
    let files = || line.words().iter().filter(|given| Path::new(given).exists()).count();
    let globbed = || {
        let is = Path::new(word).exists() && files() > 3;
        is.then(|| format!("`{word}` is a file here; quotes keep the shell from making files of a `*`: `'*'`."))
    };
    wrong()
        .or_else(|| after_flag(command, line))
        .or_else(no_reader)
        .or_else(option)
        .or_else(filter)
        .or_else(|| of_setting(word).filter(|_| name == "instance"))
        .or_else(globbed)
        .or_else(|| places(word, command, path))
}

/// What a command takes in the place of `word`.
fn places(word: &str, command: &Command, path: &str) -> Option<String> {
    let words = format!("rtrace {}", path.replace('/', " "));
    let places = command.get_positionals().filter(|arg| !arg.is_hide_set());
    let places: Vec<String> = places.map(|arg| arg.to_string()).collect();
    let has_instance = command.get_arguments().any(|arg| arg.get_long() == Some("instance"));
    Some(match places.is_empty() {
        true if has_instance => format!("`-B {word}` names an instance; `{words}` takes options alone."),
        true => format!("`{words}` takes options alone: {}.", options(command)?),
        false => format!("its arguments are `{words} {}`.", places.join(" ")),
    })
}

/// The hint on a word behind a flag that takes none, so that it was taken for an argument.
fn after_flag(command: &Command, line: &GivenLine) -> Option<String> {
    line.own().windows(2).find_map(|pair| {
        let [flag, value] = pair else { return None };
        let long = flag.strip_prefix("--")?;
        let is_option = command.get_arguments().any(|arg| arg.get_long() == Some(long));
        let is_value = !value.starts_with('-') && !is_recording(Path::new(value)) && !takes_value(long, command);
        let into = matches!(long, "json" | "csv" | "markdown").then(|| format!(" `> {value}` writes what is printed."));
        (is_option && is_value)
            .then(|| format!("`{flag}` takes no value: `{value}` stands alone.{}", into.unwrap_or_default()))
    })
}

/// The hint on what is missing of the command at `path`, where something else was meant.
pub(in crate::cli) fn missing(missing: &[String], path: &str, line: &GivenLine) -> Option<String> {
    let is_missing = |name: &str| missing.iter().any(|one| one.starts_with(name));
    let listed = || missing.iter().find_map(|word| Misplaced { command: path, place: "missing", word, line }.hint());
    let own = match path {
        "latency" => of_latency(is_missing("--by"), line),
        "synth/create" => fields_of_event(line),
        "hist" => of_hist(is_missing("--key"), line),
        _ => None,
    };
    own.or_else(listed)
}

/// The hint on a file that is not there, or on the fields by which two events belong together.
fn of_latency(lacks_by: bool, line: &GivenLine) -> Option<String> {
    let mut words = line.words().iter().skip(2);
    let lost = words.find(|word| word.ends_with(".dat") && !Path::new(word).exists());
    let lost = lost.map(|file| format!("there is no file `{file}`; what stands after two events is CMD."));
    lost.or_else(|| lacks_by.then(pair_fields::hint))
}

/// The hint on a synthetic event whose fields are given where two events are wanted.
fn fields_of_event(line: &GivenLine) -> Option<String> {
    let mut words = line.words().iter().skip(3);
    let whole = words.find(|word| word.contains([' ', ';']) && !word.starts_with('-'))?;
    let (event, fields) = whole.split_once(' ').unwrap_or((whole, "FIELDS"));
    Some(format!("`rtrace synth define {event} '{fields}'` makes an event of those fields."))
}
