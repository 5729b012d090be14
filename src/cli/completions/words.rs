//! The words of a line that is completed.
//! The place of the word that is completed.
//! A word that may be completed to, and its meaning.
//! Words that a recording knows: its tasks and fields. Nothing is said of one that cannot be read.

use clap::{Arg, Command};
use rtrace::export::CsvColumn;
use rtrace::internal::safe_file::open_seekable;
use rtrace::internal::trace_dat::Trace;
use rtrace::symbols::Comms;
use rtrace::units::Pid;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The words before the cursor, without quotes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct CompletionLine {
    /// The whole words, the program's name first.
    pub(super) before: Vec<String>,
    /// The word that is completed, up to the cursor.
    pub(super) current: String,
    /// The bytes of it that the shell keeps: completions are printed without them.
    pub(super) cut: usize,
}

/// The characters after which bash takes a new word to begin, of its COMP_WORDBREAKS, within a word of a command line.
const BREAKS: [char; 2] = [':', '='];

impl CompletionLine {
    /// A line of bash, as typed up to the cursor.
    ///
    /// Bash replaces what follows an open quote, or else what follows the last `:` or `=`.
    pub(super) fn of_bash(text: &str) -> Self {
        let mut line = CompletionLine::default();
        let (mut quote, mut escaped, mut begun) = (None, false, false);
        for c in text.chars() {
            match (quote, c) {
                _ if escaped => {
                    line.current.push(c);
                    escaped = false;
                }
                (None | Some('"'), '\\') => escaped = true,
                (Some(open), _) if open == c => quote = None,
                (None, '\'' | '"') => {
                    quote = Some(c);
                    line.cut = line.current.len();
                }
                (None, ' ' | '\t') => {
                    if begun {
                        line.before.push(std::mem::take(&mut line.current));
                    }
                    begun = false;
                    line.cut = 0;
                    continue;
                }
                _ => line.current.push(c),
            }
            begun = true;
            if quote.is_none() && BREAKS.contains(&c) {
                line.cut = line.current.len();
            }
        }
        line
    }

    /// The words as zsh and fish have split them, the last one perhaps with its open quote.
    pub(super) fn of_words(words: &[String]) -> Self {
        let unquoted = |word: &String| {
            let open = word.chars().next().filter(|c| matches!(c, '\'' | '"'));
            let inner = open.map_or(word.as_str(), |open| word.trim_start_matches(open));
            open.map_or(inner, |open| inner.trim_end_matches(open)).to_owned()
        };
        match words.split_last() {
            Some((current, before)) => {
                CompletionLine { before: before.iter().map(unquoted).collect(), current: unquoted(current), cut: 0 }
            }
            None => CompletionLine::default(),
        }
    }
}

/// A place in the command line, with what was found on the way there.
pub(super) enum CompletionPlace<'a> {
    /// A command or a subcommand of this one, an option of it, or its first argument.
    Word(CompletionContext<'a>),
    /// The value of an option; the bytes of the word before it (`--event=`).
    Value(CompletionContext<'a>, &'a Arg, usize),
    /// A word of the command that is run, which begins at this word of the line.
    Foreign(usize),
}

/// The command, and the values given to it so far.
pub(super) struct CompletionContext<'a> {
    pub(super) command: &'a Command,
    /// Options and their values, in their order.
    pub(super) options: Vec<(&'a Arg, String)>,
    /// Arguments without a dash.
    pub(super) arguments: Vec<String>,
}

impl CompletionContext<'_> {
    /// The last value of an option.
    pub(super) fn last(&self, long: &str) -> Option<&str> {
        self.options.iter().rev().find(|(arg, _)| arg.get_long() == Some(long)).map(|(_, value)| value.as_str())
    }
}

/// The option with this long name, or with it as another name.
fn option<'a>(command: &'a Command, name: &str) -> Option<&'a Arg> {
    command.get_arguments().find(|arg| arg.get_long_and_visible_aliases().is_some_and(|names| names.contains(&name)))
}

/// Finds the place of `current` after the words `before`, of which the first is the program.
pub(super) fn place<'a>(root: &'a Command, before: &[String], current: &str) -> CompletionPlace<'a> {
    let mut context = CompletionContext { command: root, options: Vec::new(), arguments: Vec::new() };
    let mut waiting: Option<&Arg> = None;
    for (number, word) in before.iter().enumerate().skip(1) {
        if let Some(option) = waiting.take() {
            context.options.push((option, word.clone()));
        } else if word == "--" {
            return if has_command(context.command) {
                CompletionPlace::Foreign(number + 1)
            } else {
                CompletionPlace::Word(context)
            };
        } else if let Some(long) = word.strip_prefix("--") {
            let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            let found = option(context.command, name);
            match (found.filter(|arg| takes_value(arg)), value) {
                (Some(option), Some(value)) => context.options.push((option, value.to_owned())),
                (Some(option), None) => waiting = Some(option),
                (None, _) => {}
            }
        } else if let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            for (at, letter) in letters.char_indices() {
                let found = context.command.get_arguments().find(|arg| arg.get_short() == Some(letter));
                let Some(option) = found.filter(|arg| takes_value(arg)) else { continue };
                match letters.get(at + letter.len_utf8()..).filter(|rest| !rest.is_empty()) {
                    Some(rest) => context.options.push((option, rest.to_owned())),
                    None => waiting = Some(option),
                }
                break;
            }
        } else if let Some(command) = context.command.find_subcommand(word).filter(|_| context.arguments.is_empty()) {
            context = CompletionContext { command, options: Vec::new(), arguments: Vec::new() };
        } else if runs_first_argument(context.command) {
            return CompletionPlace::Foreign(number);
        } else {
            context.arguments.push(word.clone());
        }
    }
    if let Some(option) = waiting {
        return CompletionPlace::Value(context, option, 0);
    }
    if let Some((name, _)) = current.strip_prefix("--").and_then(|long| long.split_once('=')) {
        let found = option(context.command, name);
        if let Some(option) = found {
            return CompletionPlace::Value(context, option, name.len() + 3);
        }
    }
    if !current.is_empty()
        && !current.starts_with('-')
        && runs_first_argument(context.command)
        && !context.command.has_subcommands()
    {
        return CompletionPlace::Foreign(before.len());
    }
    CompletionPlace::Word(context)
}

/// True if the option has a value that may stand in the next word.
fn takes_value(arg: &Arg) -> bool {
    arg.get_num_args().is_some_and(|count| count.takes_values()) && !arg.is_require_equals_set()
}

/// True if a command may follow after `--`.
fn has_command(command: &Command) -> bool {
    command.get_positionals().any(|arg| arg.is_last_set() || arg.is_trailing_var_arg_set())
}

/// True if the first argument is the command to run: `rtrace record ls`.
pub(super) fn runs_first_argument(command: &Command) -> bool {
    command.get_positionals().next().is_some_and(Arg::is_trailing_var_arg_set)
}

/// A completion.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) word: String,
    pub(super) meaning: String,
}

impl Candidate {
    pub(super) fn new(word: impl Into<String>, meaning: impl Into<String>) -> Self {
        Candidate { word: word.into(), meaning: meaning.into() }
    }
}

/// The recording that a command line is about: opened without what only decoding needs.
pub(super) struct RecordedNames {
    trace: Trace,
}

impl RecordedNames {
    /// The file of `--input`, the last argument that is a file, or trace.dat.
    pub(super) fn of(context: &CompletionContext<'_>) -> Option<Self> {
        let named = context.last("input").into_iter().chain(context.arguments.iter().rev().map(String::as_str));
        let path = named.map(Path::new).find(|path| path.is_file()).unwrap_or(Path::new("trace.dat"));
        Some(RecordedNames { trace: Trace::open_lazily(open_seekable(path).ok()?, false).ok()? })
    }

    /// The tasks that the recorder stored, thousands at times: a table by pid costs more than the list.
    fn named(&self) -> impl Iterator<Item = (Pid, &[u8])> {
        Comms::lines(&self.trace.saved_cmdlines).filter(|(pid, _)| pid.0 != 0)
    }

    /// The names of its tasks, each once, with the pids of that name.
    pub(super) fn tasks(&self) -> Vec<Candidate> {
        let mut pids: BTreeMap<&[u8], Vec<Pid>> = BTreeMap::new();
        for (pid, name) in self.named() {
            pids.entry(name).or_default().push(pid);
        }
        let meaning = |mut pids: Vec<Pid>| {
            pids.sort_unstable();
            match pids.len() {
                0..=4 => format!("pid {}", pids.iter().map(Pid::to_string).collect::<Vec<_>>().join(", ")),
                count => format!("{count} tasks"),
            }
        };
        pids.into_iter().map(|(name, pids)| Candidate::new(String::from_utf8_lossy(name), meaning(pids))).collect()
    }

    /// The pids of its tasks, with the first name of each.
    pub(super) fn pids(&self) -> Vec<Candidate> {
        let mut named: Vec<(Pid, &[u8])> = self.named().collect();
        named.sort_by_key(|(pid, _)| *pid);
        named.dedup_by_key(|(pid, _)| *pid);
        named.into_iter().map(|(pid, name)| Candidate::new(pid.to_string(), String::from_utf8_lossy(name))).collect()
    }

    /// The columns of CSV: those that all events have, and the fields of its events.
    pub(super) fn columns(&self) -> Vec<Candidate> {
        let fixed = CsvColumn::FIXED.iter().map(|(name, _)| Candidate::new(*name, "of every event"));
        let fields = self.trace.formats().flat_map(|format| &format.fields);
        let names: BTreeSet<&str> = fields.map(|field| field.name.as_str()).collect();
        fixed.chain(names.into_iter().map(|name| Candidate::new(name, "field"))).collect()
    }
}

/// The recordings in the current folder: files whose names end in `.dat`.
pub(super) fn recordings() -> Vec<Candidate> {
    let entries = std::fs::read_dir(".").into_iter().flatten().flatten();
    let names = entries.filter(|entry| entry.path().extension().is_some_and(|end| end == "dat"));
    let mut names: Vec<String> = names.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names.into_iter().map(|name| Candidate::new(name, "recording")).collect()
}

/// The processes that run now, with their names; with `threads`, all their threads.
pub(super) fn running(threads: bool) -> Vec<Candidate> {
    let numbers = |dir: PathBuf| {
        let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut numbers: Vec<u32> = names.filter_map(|name| name.parse().ok()).collect();
        numbers.sort_unstable();
        numbers
    };
    let named = |dir: PathBuf, id: u32| {
        let name = std::fs::read(dir.join(id.to_string()).join("comm")).unwrap_or_default();
        Candidate::new(id.to_string(), String::from_utf8_lossy(name.trim_ascii_end()))
    };
    let processes = numbers(PathBuf::from("/proc"));
    let tasks = |pid: u32| PathBuf::from(format!("/proc/{pid}/task"));
    match threads {
        false => processes.into_iter().map(|pid| named(PathBuf::from("/proc"), pid)).collect(),
        true => {
            let all = processes.into_iter().map(tasks);
            all.flat_map(|dir| numbers(dir.clone()).into_iter().map(move |tid| named(dir.clone(), tid))).collect()
        }
    }
}

/// `current` with its last word completed to one of the quantities of assertions: functions at its begin, then what they are of,
/// and tasks where one belongs.
pub(super) fn quantities(context: &CompletionContext<'_>, current: &str) -> Vec<Candidate> {
    use rtrace::internal::assertion::{DURATIONS, QUANTITIES};
    let begin = current.rfind(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))).map_or(0, |at| at + 1);
    let head = &current[..begin];
    let within = head.trim_end().strip_suffix('(').map(|outer| {
        let name = outer.rfind(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))).map_or(0, |at| at + 1);
        &outer[name..]
    });
    let calls = |names: &[&str]| names.iter().map(|name| Candidate::new(format!("{head}{name}("), "")).collect();
    match within {
        Some("wait" | "preempted" | "run" | "life" | "live" | "busy") => {
            let tasks = RecordedNames::of(context).map(|names| names.tasks()).unwrap_or_default();
            tasks.into_iter().map(|task| Candidate::new(format!("{head}{}", task.word), task.meaning)).collect()
        }
        Some("count" | "min" | "max" | "mean" | "trimmed" | "sum" | "p50" | "p90" | "p99" | "p99.9" | "errors") => {
            calls(&DURATIONS)
        }
        Some(_) => Vec::new(),
        None => {
            let plain = ["lost", "duration"].map(|name| Candidate::new(format!("{head}{name}"), ""));
            let functions =
                QUANTITIES.iter().filter(|name| !["lost", "duration"].contains(name) && !DURATIONS.contains(name));
            plain.into_iter().chain(functions.map(|name| Candidate::new(format!("{head}{name}("), ""))).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bash_keeps_what_stands_before_a_break_or_a_quote() {
        let line = |text| {
            let line = CompletionLine::of_bash(text);
            (line.before.join("|"), line.current, line.cut)
        };
        assert_eq!(line("rtrace rec"), ("rtrace".into(), "rec".into(), 0));
        assert_eq!(line("rtrace record -e sched:sched_sw"), ("rtrace|record|-e".into(), "sched:sched_sw".into(), 6));
        assert_eq!(line("rtrace record -f 'a == 1 && ne"), ("rtrace|record|-f".into(), "a == 1 && ne".into(), 0));
        assert_eq!(line("rtrace record --event=sch"), ("rtrace|record".into(), "--event=sch".into(), 8));
        assert_eq!(line("rtrace report a\\ b '' "), ("rtrace|report|a b|".into(), String::new(), 0));
    }
}
