//! Values that an option does not take, and options that do not go together.

use super::line::GivenLine;
use super::own_options::{help_of, takes_value};
use super::table::Misplaced;
use clap::Command;
use rtrace::internal::assertion::Assertion;
use rtrace::syntax::did_you_mean;
use rtrace::units::parse_duration;

/// A value that the option shown as `shown` does not take.
#[derive(Clone, Copy)]
pub(in crate::cli) struct WrongValue<'a> {
    pub(in crate::cli) word: &'a str,
    /// As in `--cpu <LIST>`.
    pub(in crate::cli) shown: &'a str,
    pub(in crate::cli) command: &'a Command,
    pub(in crate::cli) path: &'a str,
    pub(in crate::cli) root: &'a Command,
    pub(in crate::cli) line: &'a GivenLine,
}

impl WrongValue<'_> {
    fn option(&self) -> &str {
        self.shown.split([' ', '=', '[']).next().unwrap_or(self.shown)
    }

    fn listed(&self, place: &str) -> Option<String> {
        Misplaced { command: self.path, place, word: self.word, line: self.line }.hint()
    }

    /// The hint on a word that is none of the `valid` ones.
    pub(in crate::cli) fn of_names(&self, valid: &[String]) -> Option<String> {
        let is_help = self.command.get_name() == "help";
        let topic = || Misplaced { command: "rtrace", place: "command", word: self.word, line: self.line }.hint();
        let topic = || topic().filter(|_| is_help && !self.word.contains([':', '{']));
        let is_file = self.word.contains('.') && self.option() == "--to";
        let near = || did_you_mean(self.word, valid.iter().map(String::as_str)).filter(|_| !is_file);
        let of_convert = || {
            let to = self.root.find_subcommand("convert")?.get_arguments().find(|arg| arg.get_long() == Some("to"))?;
            let is_one = to.get_possible_values().iter().any(|format| format.get_name() == self.word);
            (is_one && self.option() == "--format")
                .then(|| format!("`rtrace convert FILE OUT --to {}` writes that.", self.word))
        };
        let help = || {
            let event =
                self.word.contains(['_', ':']).then(|| format!(" `rtrace list -F {}` shows an event.", self.word));
            is_help.then(|| format!("`rtrace help` lists the commands and topics.{}", event.unwrap_or_default()))
        };
        // A name that says more: `firefox-profiler`.
        let part = || {
            let is_part = |name: &&String| self.word.split(['-', '_', ' ', '.']).any(|part| part == name.as_str());
            let part = valid.iter().find(is_part).filter(|_| !is_file && !is_help);
            part.map(|name| format!("did you mean `{name}`?"))
        };
        topic().or_else(near).or_else(part).or_else(|| self.listed(self.option())).or_else(of_convert).or_else(help)
    }

    /// The hint on a value that is not of the option's kind; `is_number` if that is a number.
    pub(in crate::cli) fn of_kind(&self, is_number: bool) -> Option<String> {
        let word = self.word;
        if is_number && self.shown.contains("<PID") {
            return Some(self.task());
        }
        let help = self.option().strip_prefix("--").map(|long| help_of(long, self.command)).unwrap_or_default();
        let is_all = matches!(word, "all" | "max" | "unlimited" | "none") && help.contains("0 for all");
        let all = || is_all.then(|| format!("`{} 0` stands for all.", self.option()));
        let point = || {
            let dotted = word.replace(',', ".");
            let is_time = self.shown.contains("<TIME>") && dotted != word && parse_duration(&dotted).is_ok();
            is_time.then(|| format!("did you mean `{dotted}`?"))
        };
        let meaning = || (is_number && !help.is_empty()).then(|| format!("`{}`:{help}", self.shown));
        all().or_else(point).or_else(|| self.listed(self.option())).or_else(meaning)
    }

    /// The hint on a name where a process id is wanted.
    fn task(&self) -> String {
        let word = self.word;
        let has = |option: &str| self.command.get_arguments().any(|arg| arg.get_long() == Some(option));
        self.listed("PID").unwrap_or_else(|| match has("comm") {
            true => format!("`--comm {word}` takes tasks by name."),
            false if has("event") && has("filter") => format!(
                "`-e EVENT -f 'COMM == \"{word}\"'` are events of all tasks of that name, `-P $(pgrep -xo '{word}')` is the eldest of them."
            ),
            false => format!("`$(pgrep -xo '{word}')` is the id of the eldest process of that name."),
        })
    }
}

/// The hint on `names`, options and arguments that do not go together.
pub(in crate::cli) fn conflict(names: &[String], command: &Command, line: &GivenLine) -> Option<String> {
    let name = command.get_name();
    if names.first().is_some_and(|first| first.starts_with("--stop ")) {
        return Some("it ends a recorder that runs; `--stop-if 'CONDITION'` ends this recording, `rtrace timerlat --stop 100us` at a latency.".to_owned());
    }
    let is_sent = ["--to ", "--output "].iter().all(|one| names.iter().any(|name| name.starts_with(one)));
    let sent = || is_sent.then(|| "leave out `-o`: who listens at HOST names the file.".to_owned());
    let of_trigger = names.iter().any(|one| one.contains("TRIGGER"));
    let field = line.after("-v").filter(|_| name == "hist" && of_trigger);
    let field = || {
        field.map(|field| format!("`-v` is --verbose, and `{field}` is taken for a trigger: `--val {field}` sums it."))
    };
    let place = || names.iter().find(|one| !one.starts_with('-'));
    assertion(line)
        .filter(|_| name == "check")
        .or_else(field)
        .or_else(sent)
        .or_else(|| value_of_flag(place()?, command, line))
}

/// The hint on an assertion without `--assert`.
fn assertion(line: &GivenLine) -> Option<String> {
    let is_of_option = |word: &str| line.before(word).is_some_and(|word| word.starts_with("--") || word == "-a");
    let is_one =
        |word: &&String| word.contains(['<', '>', '=']) && !is_of_option(word) && Assertion::parse(word).is_ok();
    Some(format!("`--assert '{}'` asserts that.", line.words().iter().find(is_one)?))
}

/// The hint on a word after an option that takes none, which clap took as the argument `place`.
fn value_of_flag(place: &str, command: &Command, line: &GivenLine) -> Option<String> {
    line.words().windows(2).find_map(|pair| {
        let [option, word] = pair else { return None };
        let name = option.strip_prefix("--").filter(|_| !word.starts_with('-'))?;
        let is_own = command.get_arguments().any(|arg| arg.get_long() == Some(name)) && !takes_value(name, command);
        let others = ["limit", "max", "first"].into_iter().filter(|_| name == "top");
        let other = others
            .filter(|other| takes_value(other, command))
            .map(|other| format!(" `--{other}` takes a value:{}", help_of(other, command)));
        is_own.then(|| {
            format!(
                "`--{name}` takes no value, and `{word}` is taken as `{place}`.{}",
                other.take(1).collect::<String>()
            )
        })
    })
}

/// The hint on too few or too many words of an option or argument.
pub(in crate::cli) fn number_of_values(path: &str, line: &GivenLine) -> Option<String> {
    let is_latency = path == "latency";
    let is_several = |word: &&String| word.contains(',') || word.contains("->");
    let whole = line.words().iter().find(|word| word.starts_with("latency(")).filter(|_| is_latency);
    let parts = whole.map(|word| word.trim_start_matches("latency(").trim_end_matches(')').split(',').map(str::trim));
    if let Some([from, to, key]) = parts.map(Iterator::collect::<Vec<_>>).as_deref() {
        return Some(format!("as words: `{from} {to} --by {key}`."));
    }
    let several = line.words().iter().find(|word| is_several(word) && !word.contains('(')).filter(|_| is_latency);
    if let Some(several) = several {
        let events: Vec<&str> = several.split([',', '-', '>', ' ']).filter(|part| !part.is_empty()).collect();
        return Some(format!("a blank is between two events: `{}`.", events.join(" ")));
    }
    let is_named = line.has("-i") || line.has("--input");
    let file = line.recording().filter(|_| path.starts_with("trigger") && !is_named);
    let pair = "two events: `rtrace latency run.dat sched_waking sched_switch --by pid=next_pid`.";
    file.map(|file| format!("`-i {file}` names the recording.")).or_else(|| is_latency.then(|| pair.to_owned()))
}
