//! clap's refusals of a command line in the program's own words: one prefix, names in backquotes, a hint, and the command
//! that explains more.

use super::helper_programs;
use super::hints::{
    GivenLine, Remedy, UnknownOption, WrongValue, argument, command, conflict, missing, number_of_values,
};
use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::error::Error;
use std::num::ParseIntError;

/// Most values that an error names; of more, the nearest alone.
const MOST_NAMED: usize = 24;

/// The message for standard error, with its line feed. `root` is the command line as clap knows it; `checked`
/// makes of a hint what is printed of it.
pub(crate) fn message(answer: &clap::Error, root: &Command, checked: &dyn Fn(&str) -> Vec<String>) -> String {
    let rendered = answer.render().to_string();
    let line = GivenLine::of_this();
    let (mut command, mut words) = (root, vec![helper_programs::name()]);
    for word in line.words().iter().skip(1) {
        let Some(next) = command.find_subcommand(word) else { break };
        words.push(next.get_name());
        command = next;
    }
    let more = format!("  Hint: `{} --help` shows all it takes.\n", words.join(" "));
    let path = words.get(1..).filter(|names| !names.is_empty()).map_or("rtrace".to_owned(), |names| names.join("/"));
    let refusal = Refusal { answer, command, path: &path, root, line: &line };
    let Some((what, hint)) = refusal.worded() else {
        let text = as_rendered(answer, &rendered);
        let says_more = text.contains("Hint: ") || text.contains("  rtrace ") || text.contains("Usage: ");
        return if says_more { text } else { text + &more };
    };
    let mut text = format!("rtrace: {what}\n");
    if let Some(hint) = hint {
        checked(&hint).iter().for_each(|hint| text.push_str(&format!("  Hint: {hint}\n")));
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

/// clap's refusal of a command line.
struct Refusal<'a> {
    answer: &'a clap::Error,
    command: &'a Command,
    /// The command's names, with a slash between them.
    path: &'a str,
    root: &'a Command,
    line: &'a GivenLine,
}

impl Refusal<'_> {
    fn one(&self, kind: ContextKind) -> Option<String> {
        one(self.answer, kind)
    }

    fn number(&self, kind: ContextKind) -> Option<isize> {
        match self.answer.get(kind) {
            Some(ContextValue::Number(number)) => Some(*number),
            _ => None,
        }
    }

    /// The mistake, and what was probably meant; `None` if the rendered message has to do.
    fn worded(&self) -> Option<(String, Option<String>)> {
        let arg = || self.one(ContextKind::InvalidArg);
        match self.answer.kind() {
            ErrorKind::UnknownArgument => Some(self.unknown(&arg()?)),
            ErrorKind::InvalidSubcommand => {
                let word = self.one(ContextKind::InvalidSubcommand)?;
                let hint = command(&word, self.command, (self.path, self.root), self.line);
                Some((format!("unknown command `{word}`"), hint))
            }
            ErrorKind::InvalidValue => Some(self.value(&self.one(ContextKind::InvalidValue)?, &arg()?)),
            ErrorKind::ValueValidation => self.kind_of_value(&self.one(ContextKind::InvalidValue)?, &arg()?),
            ErrorKind::ArgumentConflict => self.conflict(),
            ErrorKind::MissingRequiredArgument => {
                let lacking = list(self.answer, ContextKind::InvalidArg);
                let named: Vec<String> = lacking.iter().map(|name| name_of(name)).collect();
                let verb = if named.len() == 1 { "is" } else { "are" };
                let hint = missing(&lacking, self.path, self.line);
                (!named.is_empty()).then(|| (format!("{} {verb} missing", named.join(" and ")), hint))
            }
            ErrorKind::WrongNumberOfValues | ErrorKind::TooFewValues => {
                let expected = self.number(ContextKind::ExpectedNumValues).or(self.number(ContextKind::MinValues))?;
                let given = self.number(ContextKind::ActualNumValues)?;
                let what = format!("{} needs {expected} values, not {given}", name_of(&arg()?));
                Some((what, number_of_values(self.path, self.line)))
            }
            ErrorKind::TooManyValues => {
                let (flag, word) = (arg()?, self.one(ContextKind::InvalidValue)?);
                let unknown = UnknownOption {
                    word: &format!("{flag}={word}"),
                    command: self.command,
                    path: self.path,
                    root: self.root,
                    line: self.line,
                };
                Some((
                    format!("{} takes no value: `{word}`", name_of(&flag)),
                    unknown.remedy().map(|remedy| remedy.hint),
                ))
            }
            ErrorKind::MissingSubcommand => Some(("a command is missing".to_owned(), None)),
            _ => None,
        }
    }

    fn unknown(&self, word: &str) -> (String, Option<String>) {
        let Refusal { command, path, root, line, .. } = *self;
        if !word.starts_with('-') {
            return (format!("unexpected argument `{word}`"), argument(word, command, path, line));
        }
        match (UnknownOption { word, command, path, root, line }).remedy() {
            Some(Remedy { reason: Some(reason), hint }) => (format!("unknown option `{word}`: {reason}"), Some(hint)),
            remedy => (format!("unknown option `{word}`"), remedy.map(|remedy| remedy.hint)),
        }
    }

    fn wrong<'w>(&'w self, word: &'w str, shown: &'w str) -> WrongValue<'w> {
        WrongValue { word, shown, command: self.command, path: self.path, root: self.root, line: self.line }
    }

    fn value(&self, word: &str, shown: &str) -> (String, Option<String>) {
        let (name, valid) = (name_of(shown), list(self.answer, ContextKind::ValidValue));
        let what = match word {
            "" if shown.contains('<') && valid.is_empty() => format!("{name} needs a value: `{shown}`"),
            "" => format!("{name} needs a value"),
            _ => format!("invalid value `{word}` for {name}"),
        };
        let is_list = !valid.is_empty() && valid.len() <= MOST_NAMED;
        let known = if is_list { format!(": expected {}", either(&valid)) } else { String::new() };
        (what + &known, self.wrong(word, shown).of_names(&valid))
    }

    fn kind_of_value(&self, word: &str, shown: &str) -> Option<(String, Option<String>)> {
        let source = self.answer.source()?;
        let is_number = source.is::<ParseIntError>();
        let why = match is_number {
            true if shown.contains("<PID") => "a process id is wanted, a number".to_owned(),
            true => "a number is wanted".to_owned(),
            false => source.to_string(),
        };
        let between = if why.starts_with('\n') { "" } else { " " };
        let what = format!("invalid value `{word}` for {}:{between}{why}", name_of(shown));
        Some((what, self.wrong(word, shown).of_kind(is_number)))
    }

    fn conflict(&self) -> Option<(String, Option<String>)> {
        let others = list(self.answer, ContextKind::PriorArg);
        let named = others.iter().map(|other| name_of(other)).collect::<Vec<_>>().join(", ");
        if let Some(below) = self.one(ContextKind::InvalidSubcommand) {
            let words = self.path.replace('/', " ");
            let hint = format!("options stand after the command: `rtrace {words} {below} ...`.");
            return Some((format!("{named} stands before `{below}`"), Some(hint)));
        }
        let shown = self.one(ContextKind::InvalidArg)?;
        let name = name_of(&shown);
        if name == named {
            return Some((format!("{name} is given more than once"), None));
        }
        let hint = conflict(&[std::slice::from_ref(&shown), others.as_slice()].concat(), self.command, self.line);
        match name.as_str() {
            "`--stop`" => Some((format!("{name} stands alone"), hint)),
            _ => Some((format!("{name} cannot be used with {named}"), hint)),
        }
    }
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
