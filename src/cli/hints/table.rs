//! The table of mistakes, and the one way to look something up in it. Its head says how it is written.

use super::line::{GivenLine, quoted};
use crate::cli::machine::RecordingMachine;
use rtrace::events::glob_matches;
use rtrace::filter::CpuList;
use rtrace::internal::assertion::Assertion;
use rtrace::internal::trace_dat::is_recording;
use rtrace::units::{ByteSize, parse_duration};
use std::path::Path;

const TABLE: &str = include_str!("table.txt");

/// A word that was not understood, with its place.
#[derive(Clone, Copy)]
pub(in crate::cli) struct Misplaced<'a> {
    /// The command, and the one below it after a slash; `rtrace` where none stands.
    pub(in crate::cli) command: &'a str,
    /// The kind of place, or the option whose value it is.
    pub(in crate::cli) place: &'a str,
    pub(in crate::cli) word: &'a str,
    pub(in crate::cli) line: &'a GivenLine,
}

/// What the table says of a word.
pub(in crate::cli) struct Remedy {
    /// What the message itself says, too.
    pub(in crate::cli) reason: Option<String>,
    pub(in crate::cli) hint: String,
}

/// A line of the table.
struct MistakeRow<'t> {
    commands: &'t str,
    place: &'t str,
    words: &'t str,
    says: &'t str,
}

fn rows() -> impl Iterator<Item = MistakeRow<'static>> {
    TABLE.lines().filter(|line| !line.starts_with(['#', '@']) && !line.is_empty()).filter_map(|line| {
        let mut columns = line.splitn(4, " | ").map(str::trim);
        Some(MistakeRow {
            commands: columns.next()?,
            place: columns.next()?,
            words: columns.next()?,
            says: columns.next()?,
        })
    })
}

/// The sentences of all rows.
#[cfg(test)]
pub(in crate::cli) fn sentences() -> impl Iterator<Item = &'static str> {
    rows().map(|row| row.says)
}

/// The words of a list that the table's head defines as `name`.
fn list(name: &str) -> Option<&'static str> {
    let mut lists = TABLE.lines().filter(|line| line.starts_with('@')).filter_map(|line| line.split_once(" = "));
    lists.find(|(own, _)| *own == name).map(|(_, words)| words)
}

impl Misplaced<'_> {
    /// The sentence of the first row that fits.
    pub(in crate::cli) fn hint(&self) -> Option<String> {
        self.remedy(&|_, _| None).map(|remedy| remedy.hint)
    }

    /// The same; `own` is the hint on a name of a row, with the value it is to have, if there is one of that name.
    pub(in crate::cli) fn remedy(&self, own: &dyn Fn(&str, Option<&str>) -> Option<String>) -> Option<Remedy> {
        rows().filter(|row| row.place == self.place && self.is_at(row.commands)).find_map(|row| {
            let with = self.matched(row.words)?;
            let Some(names) = row.says.strip_prefix("= ") else {
                let (reason, hint) = match row.says.split_once(" :: ") {
                    Some((reason, hint)) => (Some(reason.to_owned()), hint),
                    None => (None, row.says),
                };
                return Some(Remedy { reason, hint: self.filled(hint, &with) });
            };
            let value = || self.line.value(self.word).unwrap_or_default().to_owned();
            let hint = names.split(' ').find_map(|name| match name.split_once('=') {
                _ if name == "*" => own(&value(), None),
                Some((name, "")) => own(name, Some(&value())),
                Some((name, value)) => own(name, Some(value)),
                None => own(name, None),
            });
            Some(Remedy { reason: None, hint: hint? })
        })
    }

    fn is_at(&self, commands: &str) -> bool {
        let first = self.command.split('/').next();
        let mut commands = commands.split(' ').flat_map(|one| list(one).unwrap_or(one).split(' '));
        commands.any(|one| one == "*" || one == self.command || Some(one) == first)
    }

    /// The words of the line that a row wants beside the word; `None` if the row does not fit.
    fn matched(&self, words: &str) -> Option<String> {
        let (words, with) = words.split_once(" with ").unwrap_or((words, ""));
        let (words, after) = words.split_once(" after ").unwrap_or((words, ""));
        let before = || self.line.before(self.word).unwrap_or_default();
        let fits = words.split(' ').any(|one| self.is(one))
            && (after.is_empty() || after.split(' ').any(|one| self.is_word(one, before())));
        if !fits || with.is_empty() {
            return fits.then(String::new);
        }
        let wanted: Vec<&str> = with.split(' ').collect();
        let mut runs = self.line.words().windows(wanted.len());
        let run = runs.find(|run| wanted.iter().zip(*run).all(|(one, word)| self.is_word(one, word)))?;
        Some(run.join(" "))
    }

    /// True if the word itself is meant by `wanted`; of an option `NAME=WORD` is about its value, too.
    fn is(&self, wanted: &str) -> bool {
        let is_option = ["option", "letter", "wish"].contains(&self.place);
        if !is_option {
            return self.is_word(wanted, self.word);
        }
        let (name, value) = wanted.split_once('=').map_or((wanted, None), |(name, value)| (name, Some(value)));
        let own = match self.word.strip_prefix("--") {
            Some(long) => long.split('=').next().unwrap_or(long),
            None => self.word.get(1..2).unwrap_or_default(),
        };
        let mut names = list(name).unwrap_or(name).split(' ');
        names.any(|name| self.is_word(name, own))
            && value.is_none_or(|wanted| self.line.value(self.word).is_some_and(|value| self.is_word(wanted, value)))
    }

    /// True if `word` is what `wanted` says.
    fn is_word(&self, wanted: &str, word: &str) -> bool {
        let all = |is: fn(u8) -> bool| !word.is_empty() && word.bytes().all(is);
        match wanted {
            "{word}" => word == self.word,
            "@none" => word.is_empty(),
            "@recording" => is_recording(Path::new(word)),
            "@file" => Path::new(word).is_file(),
            "@new" => !word.is_empty() && !Path::new(word).exists(),
            "@whole" => all(|byte| byte.is_ascii_digit()),
            "@number" => word.parse::<f64>().is_ok(),
            "@time" => parse_duration(word).is_ok(),
            "@size" => ByteSize::parse_with_unit(word, 1).is_ok(),
            "@cpus" => word.parse::<CpuList>().is_ok(),
            "@name" => {
                all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
                    && word.starts_with(|first: char| first.is_ascii_alphabetic())
            }
            "@assertion" => word.contains(['<', '>', '=']) && Assertion::parse(word).is_ok(),
            "@glob" => word.contains(['*', '?']),
            "@unexpanded" => word.contains(['*', '?']) && matches_files(word),
            "@clock" => word.contains(':') && all(|byte| byte.is_ascii_digit() || b":.".contains(&byte)),
            "@condition" => word.contains(' ') && word.split(' ').any(|part| self.is_word("@comparisons", part)),
            "@event" => word.contains(['_', ':']) && all(is_of_event),
            "@blank" => word.contains(' '),
            "@filter" => word.contains(['<', '>', '=', '~', '&']),
            "@call" => RecordingMachine::of_this().is_some_and(|this| this.calls().any(|(_, name)| name == word)),
            "@last" => self.line.own().last().is_some_and(|last| last == word),
            wanted => match list(wanted) {
                Some(names) => names.split(' ').any(|name| self.is_word(name, word)),
                None if wanted.contains(['*', '?']) && !wanted.contains('\\') => glob_matches(wanted, word),
                None => wanted.trim_start_matches('\\') == word,
            },
        }
    }

    /// The sentence with words of the line in its places.
    fn filled(&self, says: &str, with: &str) -> String {
        let mut parts = says.split('{');
        let mut text = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let (place, after) = part.split_once('}').unwrap_or((part, ""));
            let (name, other) = place.split_once('|').unwrap_or((place, ""));
            let word = self.word_of(name.trim_end_matches('\''), with);
            match name.ends_with('\'') {
                _ if word.is_empty() => text.push_str(other),
                true => text.push_str(&quoted(&word)),
                false => text.push_str(&word),
            }
            text.push_str(after);
        }
        text
    }

    /// The word of the line that stands in a sentence as `{name}`.
    fn word_of(&self, name: &str, with: &str) -> String {
        let text = |word: Option<&str>| word.unwrap_or_default().to_owned();
        let rest = |from: usize| -> String {
            self.line.rest(self.word).iter().skip(from).map(|word| format!(" {}", quoted(word))).collect()
        };
        match name {
            "word" => self.word.to_owned(),
            "option" if self.word.starts_with("--event") => "--select".to_owned(),
            "option" => self.word.to_owned(),
            "value" => text(self.line.value(self.word)),
            "before" => text(self.line.before(self.word)),
            "after" => text(self.line.after(self.word)),
            "with" => with.to_owned(),
            "first" => text(with.split(' ').next()),
            "recording" => text(self.line.recording()),
            "name" => text(self.command.split('/').next()),
            "rest" => rest(0),
            "tail" => rest(1),
            option => text(self.line.value(option)),
        }
    }
}

/// True if there are files whose names match a glob.
fn matches_files(glob: &str) -> bool {
    let (folder, name) = glob.rsplit_once('/').unwrap_or((".", glob));
    let mut files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    files.any(|file| file.file_name().to_str().is_some_and(|file| glob_matches(name, file)))
}

fn is_of_event(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_:*".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_lists_are_whole() {
        let lines = TABLE.lines().filter(|line| !line.starts_with(['#', '@']) && !line.is_empty());
        assert_eq!(rows().count(), lines.count());
        let root = crate::cli::command::bare_command_line();
        for row in rows() {
            for name in row.commands.split(' ').flat_map(|one| list(one).unwrap_or(one).split(' ')) {
                let mut path = name.split('/');
                let first = path.next().filter(|name| !["*", "rtrace"].contains(name));
                let command =
                    first.map(|name| root.find_subcommand(name).unwrap_or_else(|| panic!("no command {name}")));
                assert!(path.all(|below| command.is_some_and(|one| one.find_subcommand(below).is_some())), "{name}");
            }
        }
    }

    #[test]
    fn words_of_the_line_stand_in_sentences() {
        let line = |text: &str| GivenLine::of(text.split(' ').map(str::to_owned).collect());
        let hint = |command, place, word, text: &str| Misplaced { command, place, word, line: &line(text) }.hint();
        for (command, place, word, text, expected) in [
            ("trigger", "whole", "x", "rtrace trigger x a>b c", "`rtrace trigger add x 'a>b' c` sets"),
            ("trigger", "whole", "x", "rtrace trigger x", "`rtrace trigger add x TRIGGER` sets"),
            ("filter", "whole", "x", "rtrace filter x 0 -B y", "`rtrace filter clear x -B y` takes"),
            ("check", "argument", "<", "rtrace check -a lost < 3", "`--assert 'lost < 3'`"),
            ("record", "CMD", "7", "rtrace record -t 7", "`--thread 7` traces"),
            ("report", "file", "1", "rtrace report --cpu 0 1", "`--cpu 0,1`"),
            ("split", "option", "--size", "rtrace split --size 1", "it cuts by time"),
            ("mem", "wish", "--tui", "rtrace mem --tui", "is interactive"),
        ] {
            assert!(hint(command, place, word, text).is_some_and(|hint| hint.contains(expected)), "{text}");
        }
        assert_eq!(hint("report", "argument", "<", "rtrace report <"), None);
        assert_eq!(hint("record", "CMD", "x", "rtrace record -t x"), None);
    }
}
