//! Words that were taken for CMD and are no program: what was meant, by the words before them and what they are made of.

use super::line::{GivenLine, quoted};
use super::settings::of_setting;
use super::table::Misplaced;
use rtrace::syntax::did_you_mean;
use rtrace::units::parse_duration;
use std::path::Path;

/// The hint on `word`, which is no program.
pub(in crate::cli) fn no_program(word: &str, line: &GivenLine) -> Option<String> {
    let steers = line.words().get(1).is_some_and(|verb| verb == "set" || verb == "start");
    Misplaced { command: "*", place: "CMD", word, line }
        .hint()
        .or_else(|| file_of_option(word, line))
        .or_else(|| duration(word, line))
        .or_else(|| predicate(word))
        .or_else(|| shell_line(word))
        .or_else(|| of_setting(word).filter(|_| steers && word.contains('=')))
        .or_else(|| variable(word))
        .or_else(|| after_flag(word, line))
        .or_else(|| near_program(word))
}

/// The hint on a program's name that `-o` took for its file.
fn file_of_option(word: &str, line: &GivenLine) -> Option<String> {
    let file = line.before(word).filter(|file| !file.contains('.'))?;
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let is_program = std::env::split_paths(&folders).any(|folder| folder.join(file).is_file());
    let is_of_output = line.before(file).is_some_and(|word| word == "-o" || word == "--output");
    (is_program && is_of_output).then(|| format!("`-o` took `{file}` for its file: `-o FILE -- {file} {word}`."))
}

/// The hint on a time, in one word or in two.
fn duration(word: &str, line: &GivenLine) -> Option<String> {
    let before = line.before(word).filter(|number| number.parse::<f64>().is_ok());
    if let Some((number, unit)) = before.zip(unit_of(word)) {
        return Some(format!("a time is one word: `{number}{unit}`."));
    }
    let unit = if word.bytes().all(|byte| byte.is_ascii_digit()) { "s" } else { "" };
    let is_given = line.own().iter().any(|word| word == "-d" || word.starts_with("--duration"));
    let is_time = !is_given && !Path::new(word).exists() && parse_duration(&format!("{word}{unit}")).is_ok();
    is_time.then(|| format!("`{word}` is taken for the command, as no option before it takes it; did you mean `--duration {word}{unit}`?"))
}

/// The hint on a filter of bpftrace's, `/pid == 1/`, whose `pid` is that of the process.
fn predicate(word: &str) -> Option<String> {
    let text = word.strip_prefix('/')?.strip_suffix('/').filter(|text| text.contains(['=', '<', '>']))?;
    let (filter, task) = match text.split_once("==").map(|(name, value)| (name.trim(), value.trim())) {
        Some(("pid" | "tid", value)) => (format!("common_pid == {value}"), format!(", `-P {value}` a process")),
        _ => (text.to_owned(), String::new()),
    };
    Some(format!("`-f '{filter}'` after the `-e` is a filter{task}; options stand before CMD."))
}

/// The hint on a line for a shell in one word.
fn shell_line(word: &str) -> Option<String> {
    let (program, rest) = word.split_once(' ')?;
    Some(match word.contains(['|', ';', '&', '<', '>', '$', '`']) {
        true => format!("a shell runs it: `-- sh -c {}`.", quoted(word)),
        false => format!("without the quotes `{program}` is run with its arguments: `-- {program} {rest}`."),
    })
}

/// The hint on a variable of the environment before CMD.
fn variable(word: &str) -> Option<String> {
    let is_name = |name: &str| !name.is_empty() && name.bytes().all(|one| one.is_ascii_alphanumeric() || one == b'_');
    word.split_once('=').filter(|(name, _)| is_name(name))?;
    Some(format!("`-- env {word} CMD` sets a variable for CMD."))
}

/// The hint on a word behind a flag that takes none.
fn after_flag(word: &str, line: &GivenLine) -> Option<String> {
    let flag = line.flag_before(word)?;
    let meaning = if flag == "-F" { " (it is --follow: only events of CMD)" } else { "" };
    Some(format!("`{flag}` takes no value{meaning}, so that `{word}` is the command.{}", meant_number(flag, word)))
}

/// A sentence on what a number after a flag was meant for.
pub(in crate::cli) fn meant_number(flag: &str, number: &str) -> String {
    match flag {
        "--keep" => format!(" `--keep-saves {number}` is how many files stay."),
        "-c" | "-C" => format!(" `--cpu {number}` is a CPU."),
        "-T" => format!(
            " A time is `--duration {number}`, a bound of latencies `--stop-if 'latency(sched_waking, sched_switch, pid=next_pid) > {number}'`."
        ),
        "-d" | "-D" => format!(" A time is `--duration {number}`."),
        _ => String::new(),
    }
}

/// The hint on a word that a program is called nearly.
fn near_program(word: &str) -> Option<String> {
    if word.contains('/') || word.len() < 3 {
        return None;
    }
    let folders = std::env::var_os("PATH")?;
    let entries = std::env::split_paths(&folders).filter_map(|folder| folder.read_dir().ok()).flatten().flatten();
    let names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    did_you_mean(word, names.iter().map(String::as_str))
}

/// The unit of time that `word` means, after its number.
pub(in crate::cli) fn unit_of(word: &str) -> Option<&'static str> {
    let units = [("ms", "mil"), ("us", "mic"), ("s", "sec"), ("m", "min"), ("h", "hour")];
    units.into_iter().find(|(unit, begin)| word == *unit || word.starts_with(begin)).map(|(unit, _)| unit)
}
