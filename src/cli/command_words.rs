//! `hist` and `latency` take the command to run as `record` does, without `--` before it: here it is put there. The options
//! of `diff` may stand after `--` and its files: here they are put before it.
//! Options of rtrace that stand after CMD, where they are arguments of CMD.
//!
//! Their options may follow their events, so clap cannot tell where CMD begins. It begins at the first word that is neither
//! an option, nor an option's value, nor an event or trigger.
//!
//! A recording as their first word, of `split` and of `analyze` is the input; after `-i` of `profile`, too. `-e` before the event
//! of `hist` and `latency` goes.
//!
//! `--top N` of these and of `profile` is `--limit N`, as of `analyze`: `--top` alone is the top-level buffer.

use super::hints::{GivenLine, meant_number, unit_of};
use clap::{Arg, ArgAction, Args, Command};
use rtrace::internal::trace_dat::is_recording;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The command line with `--` before CMD, a number of rows by one name, and no options of `diff` after `--`.
pub(crate) fn separated(mut words: Vec<OsString>, root: fn() -> Command) -> Vec<OsString> {
    let Some(name) = words.get(1).and_then(|word| word.to_str()).map(str::to_owned) else { return words };
    if name == "synth" && words.get(2).is_some_and(|word| word == "sql") {
        name_last_input(&mut words);
    }
    if name == "analyze" && words.len() > 3 && is_recording(Path::new(&words[2])) {
        let root = root();
        let of_analyze = root.find_subcommand("analyze");
        if of_analyze.is_some_and(|analyze| analyze.find_subcommand(&words[3]).is_some()) {
            words.swap(2, 3);
        }
    }
    if matches!(name.as_str(), "hist" | "latency") && words.get(2).is_some_and(|word| word == "-e" || word == "--event")
    {
        words.remove(2); // as of the commands that take many events
    }
    if matches!(name.as_str(), "hist" | "latency" | "profile" | "split" | "analyze") {
        name_input(&mut words, &name);
    }
    if !matches!(name.as_str(), "hist" | "latency" | "profile" | "diff") {
        return words;
    }
    let root = root();
    let Some(command) = root.find_subcommand(&name) else { return words };
    if name == "diff" {
        return options_first(words, command);
    }
    let is_event: fn(usize, &str) -> bool = match name.as_str() {
        "hist" => |before, word| before == 0 || before == 1 && word.starts_with("hist:"),
        "latency" => |before, word| before < 2 || word.contains(':') && !word.contains('/'),
        _ => |_, _| false,
    };
    if name != "profile" {
        name_later_input(&mut words, command, is_event);
    }
    name_rows(&mut words, command, is_event);
    // The others leave it to clap.
    if name != "profile"
        && let Some(at) = beginning(&words[2..], command, is_event)
    {
        words.insert(at + 2, "--".into());
    }
    words
}

/// Names a recording after the statement of `synth sql` as its input.
fn name_last_input(words: &mut Vec<OsString>) {
    let is_named = words
        .iter()
        .any(|word| word.to_str().is_some_and(|word| word.starts_with("-i") || word.starts_with("--input")));
    let last = words.len().saturating_sub(1);
    let is_value =
        words.get(last.saturating_sub(1)).and_then(|word| word.to_str()).is_some_and(|word| word.starts_with('-'));
    if !is_named && !is_value && last > 3 && words.get(last).is_some_and(|word| is_recording(Path::new(word))) {
        words.insert(last, "--input".into());
    }
}

/// Names the first recording among the events of `latency` and `hist`, or in the place of CMD, as the input.
fn name_later_input(words: &mut Vec<OsString>, command: &Command, is_event: fn(usize, &str) -> bool) {
    let (mut at, mut events) = (2, 0);
    while let Some(word) = words.get(at) {
        let text = word.to_string_lossy();
        if text == "--" || text == "--input" || text.starts_with("--input=") || text.starts_with("-i") {
            return;
        }
        match takes_next(command, &text) {
            Some(takes_next) => at += usize::from(takes_next),
            None if command.find_subcommand(word).is_some() => return,
            None if is_recording(Path::new(word)) => return words.insert(at, "--input".into()),
            None if is_event(events, &text) => events += 1,
            // What follows is the command's own.
            None => return,
        }
        at += 1;
    }
}

/// A recording as the first word after the command's name and `-q` is its input, where FILE is otherwise an option's value; of
/// `analyze`, with all its questions. A number is a time to `split`.
fn name_input(words: &mut Vec<OsString>, name: &str) {
    let is_time = |word: &OsString| name == "split" && word.to_str().is_some_and(|word| word.parse::<f64>().is_ok());
    let at = words.iter().skip(2).take_while(|word| *word == "-q" || *word == "--quiet").count() + 2;
    // `-i` of `profile` is another option, which no FILE follows.
    let (letter, file) = (words.get(at).is_some_and(|word| word == "-i"), words.get(at + 1));
    if name == "profile" && letter && file.is_some_and(|file| is_recording(Path::new(file))) {
        words[at] = "--input".into();
    } else if name == "analyze" && words.get(at).is_some_and(is_option_of_all) {
        words.insert(2, "all".into());
    } else if words.get(at).is_some_and(|word| !is_time(word) && is_recording(Path::new(word))) {
        match name {
            "analyze" => words.insert(2, "all".into()),
            _ => words.insert(at, "--input".into()),
        }
    }
}

/// True of an option that the analyses have and `analyze` itself does not.
fn is_option_of_all(word: &OsString) -> bool {
    const OWN: [&str; 4] = ["-h", "--help", "-q", "--quiet"];
    word.to_str().is_some_and(|word| word.starts_with('-') && !OWN.contains(&word))
}

/// Makes `--top N`, `--top=N` before CMD `--limit=N`.
fn name_rows(words: &mut Vec<OsString>, command: &Command, is_event: fn(usize, &str) -> bool) {
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let (mut at, mut events, mut command) = (2, 0, command);
    let runs = |command: &Command| command.get_arguments().any(|arg| arg.get_id() == "command");
    while let Some(word) = words.get(at).map(|word| word.to_string_lossy().into_owned()) {
        let next = words.get(at + 1).map(|word| word.to_string_lossy().into_owned());
        if word == "--" {
            return;
        }
        if let Some(rows) = word.strip_prefix("--top=").filter(|rows| is_number(rows)) {
            words[at] = format!("--limit={rows}").into();
        } else if let Some(rows) = next.filter(|next| word == "--top" && is_number(next)) {
            words.splice(at..=at + 1, [format!("--limit={rows}").into()]);
        } else {
            match takes_next(command, &word) {
                Some(true) => at += 1,
                Some(false) => {}
                None if events == 0 && command.find_subcommand(&word).is_some() => {
                    command = command.find_subcommand(&word).unwrap_or(command);
                }
                None if is_event(events, &word) || !runs(command) => events += 1,
                None => return,
            }
        }
        at += 1;
    }
}

/// The options after `--` before it.
fn options_first(mut words: Vec<OsString>, command: &Command) -> Vec<OsString> {
    let Some(at) = words.iter().position(|word| word == "--") else { return words };
    let mut after = words.split_off(at).into_iter();
    let mut files: Vec<OsString> = after.next().into_iter().collect();
    while let Some(word) = after.next() {
        match takes_next(command, &word.to_string_lossy()) {
            Some(takes_next) => {
                words.push(word);
                if takes_next {
                    words.extend(after.next());
                }
            }
            None => files.push(word),
        }
    }
    words.append(&mut files);
    words
}

/// The place of CMD among the words after the command's name; `None` if there is none, or if it is marked already. Where a
/// recording is asked nothing is run.
fn beginning(words: &[OsString], command: &Command, is_event: fn(usize, &str) -> bool) -> Option<usize> {
    let (mut at, mut events) = (0, 0);
    while let Some(word) = words.get(at) {
        let word = word.to_string_lossy();
        if word == "--" || events == 0 && command.find_subcommand(OsStr::new(&*word)).is_some() {
            return None;
        }
        if word == "--input" || word.starts_with("--input=") || word.starts_with("-i") {
            return None;
        }
        match takes_next(command, &word) {
            Some(true) => at += 1,
            Some(false) => {}
            None if is_event(events, &word) => events += 1,
            None => return Some(at),
        }
        at += 1;
    }
    None
}

/// True if `word` is an option whose value is the next word; `None` if it is no option.
pub(crate) fn takes_next(command: &Command, word: &str) -> Option<bool> {
    if let Some(long) = word.strip_prefix("--") {
        let name = long.split('=').next().unwrap_or(long);
        let found =
            command.get_arguments().find(|arg| arg.get_long_and_visible_aliases().unwrap_or_default().contains(&name));
        return Some(!long.contains('=') && found.is_some_and(has_value));
    }
    let letters = word.strip_prefix('-').filter(|rest| !rest.is_empty())?;
    Some(before_value(command, letters) == Some(letters.len()))
}

/// Number of bytes of `letters`, short options in one word, before the value of the first that has one.
pub(crate) fn before_value(command: &Command, letters: &str) -> Option<usize> {
    let takes_value =
        |letter: &char| command.get_arguments().any(|arg| arg.get_short() == Some(*letter) && has_value(arg));
    letters.char_indices().find(|(_, letter)| takes_value(letter)).map(|(at, letter)| at + letter.len_utf8())
}

/// True of an option whose value is a word. One that follows `=` only, as that of --follow, is none.
fn has_value(arg: &Arg) -> bool {
    !arg.is_require_equals_set() && matches!(arg.get_action(), ArgAction::Set | ArgAction::Append)
}

/// A sentence on the first of the arguments of `words`, CMD, that is one of the options `A`, unless `--` stands before CMD.
pub(crate) fn note<A: Args>(words: &[OsString]) -> Option<String> {
    let line = GivenLine::of_this();
    if line.has("--") && !words.iter().any(|word| word == "--") {
        return None;
    }
    of(&A::augment_args(Command::new("rtrace")), words, &line)
}

/// True if an option is among the arguments of `words`, CMD, that hardly another program has.
pub(crate) fn is_of_ours_alone(words: &[OsString]) -> bool {
    const OURS: [&str; 6] = ["--assert", "--stop-if", "--max-lost", "--ring-time", "--summary-json", "--subbuf-size"];
    let name = |word: &OsString| word.to_string_lossy().split('=').next().unwrap_or_default().to_owned();
    words.iter().skip(1).any(|word| OURS.contains(&name(word).as_str()))
}

fn of(command: &Command, words: &[OsString], line: &GivenLine) -> Option<String> {
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let (program, arguments) = words.split_first()?;
    if let Some((number, unit)) = line.before(program).filter(|word| word.parse::<f64>().is_ok()).zip(unit_of(program))
    {
        return Some(format!("a number and its unit are one word: `{number}{unit}`; `{program}` is the command here."));
    }
    let at = arguments.iter().position(|word| is_option(command, word))?;
    let option = arguments.get(at)?;
    let value = arguments.get(at.saturating_add(1)).filter(|_| takes_next(command, option) == Some(true));
    let option = value.map_or_else(|| option.clone(), |value| format!("{option} {value}"));
    let is_number = program.starts_with(|c: char| c.is_ascii_digit());
    if let Some(flag) = line.flag_at_end(words.len()).filter(|_| is_number) {
        return Some(format!(
            "`{flag}` takes no value, so that `{program}` is the command and `{option}` is given to it.{}",
            meant_number(flag, program)
        ));
    }
    Some(format!(
        "`{option}` stands after the command `{program}` and was given to it; options of rtrace stand before CMD."
    ))
}

/// True of an option of the command with a value, which is hardly meant for another program by chance.
fn is_option(command: &Command, word: &str) -> bool {
    let has_value = |arg: &&Arg| arg.get_action().takes_values();
    let mut options = command.get_arguments().filter(has_value);
    match (word.strip_prefix("--"), word.strip_prefix('-')) {
        (Some(long), _) => {
            let long = long.split('=').next().unwrap_or(long);
            options.any(|arg| arg.get_long() == Some(long))
        }
        (None, Some(letter)) => {
            let mut letters = letter.chars();
            let (first, rest) = (letters.next(), letters.next());
            rest.is_none() && options.any(|arg| arg.get_short().is_some() && arg.get_short() == first)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::record::RecordArgs;

    fn line(text: &str) -> String {
        let words = text.split(' ').map(OsString::from).collect();
        let words = separated(words, crate::cli::command::bare_command_line);
        words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_command_begins_after_events_and_options() {
        for (given, expected) in [
            ("rtrace hist sched_switch -k next_comm ls -l", "rtrace hist sched_switch -k next_comm -- ls -l"),
            ("rtrace hist -k next_comm sched_switch ls", "rtrace hist -k next_comm sched_switch -- ls"),
            ("rtrace hist a hist:keys=b --duration 1 ls -k x", "rtrace hist a hist:keys=b --duration 1 -- ls -k x"),
            ("rtrace hist a --key=b --json ls", "rtrace hist a --key=b --json -- ls"),
            ("rtrace hist a -k b -- ls", "rtrace hist a -k b -- ls"),
            ("rtrace hist start a -k b", "rtrace hist start a -k b"),
            ("rtrace hist -e a -k b ls", "rtrace hist a -k b -- ls"),
            ("rtrace hist -i run.dat a -k b", "rtrace hist -i run.dat a -k b"),
            ("rtrace latency a b --by c=d make -j8", "rtrace latency a b --by c=d -- make -j8"),
            ("rtrace latency s:a s:b s:c --by d --ns ls", "rtrace latency s:a s:b s:c --by d --ns -- ls"),
            ("rtrace latency -i run.dat a b c --by d", "rtrace latency -i run.dat a b c --by d"),
            ("rtrace latency --input=run.dat a b c --by d", "rtrace latency --input=run.dat a b c --by d"),
            ("rtrace latency a b --by d grep -i c", "rtrace latency a b --by d -- grep -i c"),
            ("rtrace latency s:a s:b --by d ./a:b", "rtrace latency s:a s:b --by d -- ./a:b"),
            ("rtrace hist a -k b --follow -i run.dat", "rtrace hist a -k b --follow -i run.dat"),
            ("rtrace hist a -k b --follow ls -l", "rtrace hist a -k b --follow -- ls -l"),
            ("rtrace hist a -k b --top 3", "rtrace hist a -k b --limit=3"),
            ("rtrace hist a -k b --top=3 ls --top 4", "rtrace hist a -k b --limit=3 -- ls --top 4"),
            ("rtrace hist a -k b --top ls", "rtrace hist a -k b --top -- ls"),
            ("rtrace hist show --top 3", "rtrace hist show --limit=3"),
            ("rtrace hist -i run.dat a -k b --top 3", "rtrace hist -i run.dat a -k b --limit=3"),
            ("rtrace profile --top 3 -F make --top 4", "rtrace profile --limit=3 -F make --top 4"),
            ("rtrace profile functions --duration 1 --top 3", "rtrace profile functions --duration 1 --limit=3"),
            ("rtrace profile functions -- ls --top 3", "rtrace profile functions -- ls --top 3"),
            ("rtrace profile --top make", "rtrace profile --top make"),
            ("rtrace diff a -- b --json", "rtrace diff a --json -- b"),
            ("rtrace diff a -- -m lost b --json c", "rtrace diff a -m lost --json -- b c"),
            ("rtrace diff a b --paired", "rtrace diff a b --paired"),
            ("rtrace record -e a ls", "rtrace record -e a ls"),
            ("rtrace", "rtrace"),
        ] {
            assert_eq!(line(given), expected);
        }
    }

    #[test]
    fn options_after_the_command_are_named() {
        let command = RecordArgs::augment_args(Command::new("rtrace"));
        let said = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            of(&command, &words, &GivenLine::of_this())
        };
        let says = |line: &str, begin: &str| assert!(said(line).is_some_and(|text| text.starts_with(begin)), "{line}");
        says("sleep 0.3 -o out.dat", "`-o out.dat` stands after the command `sleep`");
        says("sleep 0.2 -e sched_switch", "`-e sched_switch` stands");
        says("sleep 0.2 --duration=3", "`--duration=3` stands");
        assert_eq!(said("ls -a /"), None);
        assert_eq!(said("sleep 1"), None);
    }
}
