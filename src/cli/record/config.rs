//! `record --config FILE`: every option under its long name, in TOML.
//!
//! The file becomes the words of a command line, which are parsed as such: what an option takes, and which exclude each
//! other, is said in one place. Options whose order matters stand in the order of the file.

use crate::cli::exit::{Exit, Failure};
use anyhow::{Context, anyhow};
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, ArgAction, Args, Command, FromArgMatches};
use rtrace::syntax::{Diagnostic, Span, did_you_mean};
use std::ffi::OsString;
use std::ops::Range;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The command, as CMD on the command line.
const COMMAND: &str = "command";
/// Tables of options that belong together, one after the other.
const IN_ORDER: &str = "in-order";
/// Options that are about a command line.
const NOT_IN_FILES: [&str; 7] = ["config", "check", "stop", "daemonize", "daemonized", "dry-run", "help"];

/// A word of the command line, and where the file has it.
struct ConfigWord {
    word: String,
    place: Range<usize>,
}

/// The options of the file at `path`.
///
/// # Errors
/// With the line and a caret: what is no TOML, no option, or a value that the option does not take.
pub(super) fn read<A: Args + FromArgMatches>(path: &Path) -> Result<A, Failure> {
    let text = std::fs::read_to_string(path).with_context(|| format!("failed to read {}", path.display()))?;
    parse(&text).map_err(|error| {
        let line = text.get(..error.span.start).unwrap_or_default().matches('\n').count() + 1;
        let hints = error.hints().to_vec();
        let failure = Failure::new(Exit::Usage, anyhow!("{}:{line}: {error}", path.display()));
        hints.into_iter().fold(failure, Failure::hint)
    })
}

fn parse<A: Args + FromArgMatches>(text: &str) -> Result<A, Diagnostic> {
    let wrong = |place: Range<usize>, message: String| Diagnostic::new("config", text, span(&place), message);
    let table = DeTable::parse(text).map_err(|error| {
        wrong(error.span().unwrap_or(0..0), error.message().lines().next().unwrap_or_default().to_owned())
    })?;
    let command = A::augment_args(Command::new("record").no_binary_name(true));
    let mut options = ConfigOptions { command: &command, text, words: Vec::new(), traced: Vec::new() };
    options.add(table.get_ref())?;
    let ConfigOptions { words, traced, .. } = options;
    let line = words.iter().map(|word| &word.word).chain(&traced).map(OsString::from);
    let parsed = command.clone().try_get_matches_from(line).and_then(|matches| A::from_arg_matches(&matches));
    parsed.map_err(|error| {
        let named = |kind| match error.get(kind) {
            Some(ContextValue::String(text)) => Some(text.as_str()),
            Some(ContextValue::Strings(texts)) => texts.first().map(String::as_str),
            _ => None,
        };
        let (arg, value) = (named(ContextKind::InvalidArg), named(ContextKind::InvalidValue));
        let option = arg.and_then(|arg| arg.split([' ', '=']).next()).unwrap_or_default();
        let is_of = |word: &&ConfigWord| word.word.split('=').next() == Some(option);
        let has = |word: &&ConfigWord| value.is_none_or(|value| word.word.ends_with(value));
        let word = words.iter().filter(is_of).find(has).or(words.iter().find(is_of));
        let rendered = error.render().to_string();
        let said = rendered.lines().next().unwrap_or_default();
        let said = said.strip_prefix("error: ").unwrap_or(said).replace("--", "");
        wrong(word.map_or(0..0, |word| word.place.clone()), said)
    })
}

fn span(place: &Range<usize>) -> Span {
    Span::new(place.start, place.end)
}

/// The words of a file, as far as it was read.
struct ConfigOptions<'a> {
    command: &'a Command,
    text: &'a str,
    words: Vec<ConfigWord>,
    /// The command to be traced.
    traced: Vec<String>,
}

impl ConfigOptions<'_> {
    fn wrong(&self, place: &Range<usize>, message: String) -> Diagnostic {
        Diagnostic::new("config", self.text, span(place), message)
    }

    /// Adds the options of a table in the order in which they stand.
    fn add(&mut self, table: &DeTable<'_>) -> Result<(), Diagnostic> {
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in entries {
            match (key.get_ref().as_ref(), value.get_ref()) {
                (COMMAND, DeValue::Array(words)) => {
                    self.traced.push("--".to_owned());
                    for word in words {
                        let text = self.text_of(word, "a word of the command")?;
                        self.traced.push(text);
                    }
                }
                (COMMAND, _) => {
                    return Err(
                        self.wrong(&value.span(), "the command is a list of words: [\"ls\", \"-l\"]".to_owned())
                    );
                }
                (IN_ORDER, DeValue::Array(tables)) => {
                    for one in tables {
                        match one.get_ref() {
                            DeValue::Table(table) => self.add(table)?,
                            _ => return Err(self.wrong(&one.span(), format!("`{IN_ORDER}` has tables of options"))),
                        }
                    }
                }
                (name, _) => self.option((name, &key.span()), value)?,
            }
        }
        Ok(())
    }

    fn option(&mut self, (name, place): (&str, &Range<usize>), value: &Spanned<DeValue<'_>>) -> Result<(), Diagnostic> {
        let Some((arg, option)) = self.find(name) else {
            let names =
                self.command.get_arguments().filter_map(Arg::get_long).filter(|long| !NOT_IN_FILES.contains(long));
            let error = self.wrong(place, format!("there is no option `{name}` of record"));
            return Err(error.hint_opt(did_you_mean(name, names)));
        };
        let takes_value = arg.get_action().takes_values();
        let is_list = matches!(arg.get_action(), ArgAction::Append);
        let mut add = |word: String, place: Range<usize>| self.words.push(ConfigWord { word, place });
        match value.get_ref() {
            DeValue::Boolean(true) if !takes_value => add(option, place.clone()),
            DeValue::Boolean(false) if !takes_value => {}
            _ if !takes_value => return Err(self.wrong(&value.span(), format!("`{name}` is true or false"))),
            DeValue::Array(values) if is_list => {
                for value in values {
                    let text = self.text_of(value, "a value")?;
                    self.words.push(ConfigWord { word: format!("{option}={text}"), place: value.span() });
                }
            }
            DeValue::Array(_) => return Err(self.wrong(&value.span(), format!("`{name}` takes one value"))),
            _ => {
                let text = self.text_of(value, &format!("the value of `{name}`"))?;
                self.words.push(ConfigWord { word: format!("{option}={text}"), place: value.span() });
            }
        }
        Ok(())
    }

    /// The option of this name, and how it is written.
    fn find(&self, name: &str) -> Option<(Arg, String)> {
        let is_it = |arg: &&Arg| {
            let letter = arg.get_short().map(String::from);
            arg.get_long() == Some(name) || arg.get_long().is_none() && letter.as_deref() == Some(name)
        };
        let arg = self.command.get_arguments().find(is_it).filter(|_| !NOT_IN_FILES.contains(&name))?;
        Some((arg.clone(), if arg.get_long().is_some() { format!("--{name}") } else { format!("-{name}") }))
    }

    fn text_of(&self, value: &Spanned<DeValue<'_>>, what: &str) -> Result<String, Diagnostic> {
        match value.get_ref() {
            DeValue::String(text) => Ok(text.clone().into_owned()),
            DeValue::Integer(number) => Ok(number.to_string()),
            DeValue::Float(number) => Ok(number.to_string()),
            _ => Err(self.wrong(&value.span(), format!("{what} is a text in quotes or a number"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::RecordArgs;
    use super::*;
    use rtrace::events::EventSelection;

    fn refused(text: &str) -> String {
        parse::<RecordArgs>(text).err().expect("an error").to_string()
    }

    #[test]
    fn a_file_is_a_command_line() {
        let text = "output = \"/var/lib/rtrace/web.dat\"\nring = \"64M\"\nkeep-saves = 5\nquiet = true\nall-formats = false\n\
                    event = [\"sched:sched_switch\", \"irq\"]\ncommand = [\"ls\", \"-l\"]\n\
                    [[in-order]]\nevent = \"syscalls:sys_enter_write\"\nfilter = \"fd == 1\"\n\
                    [[in-order]]\ninstance = \"web\"\nevent = \"timer\"\nbuffer-size = \"1M\"\n";
        let args = parse::<RecordArgs>(text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(
            (args.output.to_str(), args.quiet, args.all_formats),
            (Some("/var/lib/rtrace/web.dat"), true, false)
        );
        let plan = args.plan().unwrap();
        let names = |at: usize| plan.buffers[at].events.iter().map(|event| event.selection.clone()).collect::<Vec<_>>();
        let selected =
            |names: &[&str]| names.iter().map(|name| EventSelection::new((*name).to_owned())).collect::<Vec<_>>();
        assert_eq!(names(0), selected(&["sched:sched_switch", "irq", "syscalls:sys_enter_write"]));
        assert_eq!(plan.buffers[0].events[2].filters, ["fd == 1"]);
        assert_eq!((names(1), plan.buffers.len()), (selected(&["timer"]), 2));
        assert_eq!((plan.saves.keep, plan.command.map(|words| words.len())), (Some(5), Some(2)));
    }

    #[test]
    fn mistakes_have_a_place() {
        for (text, message, caret) in [
            ("rign = \"1M\"", "there is no option `rign` of record", "config: rign"),
            ("quiet = \"yes\"", "`quiet` is true or false", "        ^~~~~"),
            ("ring = true", "the value of `ring` is a text", "        ^~~~"),
            ("output = [\"a\"]", "`output` takes one value", "^"),
            ("a = \"1\"\nring = \"x\"", "there is no option `a`", "config: a"),
            ("event = \"sched\"\nring = \"lots\"", "lots", "config: ring = \"lots\""),
            ("config = \"x\"", "there is no option `config`", "config: config"),
            ("event = [1, true]", "a value is a text", "^~~~"),
            ("command = \"ls -l\"", "a list of words", "^"),
            ("ring = ", "", "config: ring = "),
            ("ring = \"1M\"\nmax-size = \"1M\"", "cannot be used with", "^"),
        ] {
            let said = refused(text);
            assert!(said.contains(message) && said.contains(caret), "{text}: {said}");
        }
        assert!(parse::<RecordArgs>("rign = \"1M\"").err().unwrap().hints()[0].contains("ring"));
    }
}
