//! Options that a command does not have, and those of it that do what was meant.

use super::line::GivenLine;
use super::others::{having, having_letter};
use super::own_options::{
    format_called, format_near, guess, help_of, is_negated, is_of_formats, near, options, takes_file, takes_value,
};
use super::table::{Misplaced, Remedy};
use super::whole_line::with_instance;
use clap::{Arg, Command};
use rtrace::syntax::nearest;

/// Most commands below one that a hint names.
const MOST_BELOW: usize = 10;

/// Options of `report` that choose a part of a recording's time, and those that show times otherwise.
const WINDOW: [&str; 3] = ["since", "until", "around"];
const TIMES: [&str; 6] = ["raw-ts", "nodate", "ts-offset", "ts2secs", "align", "align-ts"];

/// An option that its command does not have.
pub(in crate::cli) struct UnknownOption<'a> {
    /// As it was typed, without its value.
    pub(in crate::cli) word: &'a str,
    pub(in crate::cli) command: &'a Command,
    /// The command's path, as the table has it.
    pub(in crate::cli) path: &'a str,
    pub(in crate::cli) root: &'a Command,
    pub(in crate::cli) line: &'a GivenLine,
}

impl UnknownOption<'_> {
    /// What was meant by it; else the options that the command has.
    pub(in crate::cli) fn remedy(&self) -> Option<Remedy> {
        let of = |hint: String| Remedy { reason: None, hint };
        let typed = self.format_as_option().or_else(|| self.plural()).or_else(|| self.order());
        let format =
            self.word.strip_prefix("--").map(|name| name.trim_start_matches("to-").trim_start_matches("format-"));
        let format = || Some(format!("did you mean `{}`?", format_called(format?, self.command)?));
        let typed = typed.or_else(|| self.below()).or_else(|| self.of_latency()).or_else(format).map(of);
        let known = typed.or_else(|| self.listed("option")).or_else(|| self.of_report());
        match self.word.starts_with("--") {
            true => known.or_else(|| self.long()),
            false => known.or_else(|| self.letter()).or_else(|| self.all("").map(of)),
        }
    }

    fn name(&self) -> &str {
        self.word.trim_start_matches('-').split('=').next().unwrap_or_default()
    }

    fn value(&self) -> Option<&str> {
        self.line.value(self.word)
    }

    /// The names of the command, as they are typed.
    fn words(&self) -> String {
        format!("rtrace {}", self.path.replace('/', " ")).replace("rtrace rtrace", "rtrace")
    }

    /// True of an option of the command that its help shows.
    fn has(&self, long: &str) -> bool {
        self.command.get_arguments().any(|arg| arg.get_long() == Some(long) && !arg.is_hide_set())
    }

    /// The long options of the command that do not turn the meaning of this one round.
    fn longs(&self) -> Vec<&str> {
        let longs = self.command.get_arguments().filter(|arg| !arg.is_hide_set()).filter_map(Arg::get_long);
        let turned = is_negated(self.name());
        longs.chain(["help", "version"]).filter(|own| is_negated(own) == turned).collect()
    }

    /// What the table says of it.
    fn listed(&self, place: &str) -> Option<Remedy> {
        Misplaced { command: self.path, place, word: self.word, line: self.line }.remedy(&|name, value| {
            let short = name.strip_prefix('-').and_then(|letter| letter.chars().next());
            let mut args = self.command.get_arguments().filter(|arg| !arg.is_hide_set());
            let arg = args.find(|arg| arg.get_long() == Some(name) || short.is_some() && arg.get_short() == short)?;
            let long = arg.get_long()?;
            let dashed = if short.is_some() { name.to_owned() } else { format!("--{name}") };
            match value {
                Some(value) => takes_value(long, self.command)
                    .then(|| format!("did you mean `{dashed} {value}`?{}", help_of(long, self.command))),
                None if !self.is_meant(long) => None,
                None if place == "letter" => Some(self.in_full(arg)),
                None => {
                    let other = if long == "since" && self.has("until") { " `--until` is the other end." } else { "" };
                    Some(format!("did you mean `{dashed}`?{}{other}", help_of(long, self.command)))
                }
            }
        })
    }

    /// `-F, --select` and what it is.
    fn in_full(&self, arg: &Arg) -> String {
        let short = arg.get_short().map_or_else(String::new, |short| format!("-{short}, "));
        let long = arg.get_long().unwrap_or_default();
        format!("did you mean `{short}--{long}`?{}", help_of(long, self.command))
    }

    /// True of an option that may be meant, by its kind.
    fn is_meant(&self, long: &str) -> bool {
        let is_time = |value: &str| value.starts_with(|c: char| c.is_ascii_digit() || "+-t".contains(c));
        match long {
            // As a flag it is the buffer at the top.
            "top" => takes_value(long, self.command),
            // That of `record` is a machine.
            "to" => ["host", "server", "remote"].contains(&self.name()) != is_of_formats(long, self.command),
            "since" | "until" => self.value().is_some_and(is_time),
            _ => self.word.starts_with("--") && self.longs().contains(&long) || !self.word.starts_with("--"),
        }
    }

    /// The hint on an option for a format, if an option is called as the format is.
    fn format_as_option(&self) -> Option<String> {
        let is_of_format = ["format", "output-format", "type", "to", "style"].contains(&self.name());
        let value = self.value().filter(|_| is_of_format && !self.has("to") && !self.has("format"))?;
        self.has(value).then(|| format!("did you mean `--{value}`?{}", help_of(value, self.command)))
    }

    /// The option of which this is the plural, or the singular.
    fn plural(&self) -> Option<String> {
        let name = self.word.strip_prefix("--")?;
        let mut longs = self.command.get_arguments().filter(|arg| !arg.is_hide_set()).filter_map(Arg::get_long);
        let is_one = |long: &&str| long.strip_suffix('s') == Some(name) || name.strip_suffix('s') == Some(*long);
        // A flag is not meant where a number follows.
        let fits = |long: &&str| {
            takes_value(long, self.command) || self.value().is_none_or(|value| value.parse::<u64>().is_err())
        };
        // Threads of this program, where a task may be meant.
        let is_number = || self.value().is_some_and(|value| value.parse::<u64>().is_ok());
        longs
            .find(|long| is_one(long) && fits(long) && (*long != "threads" || is_number()))
            .map(|long| format!("did you mean `--{long}`?"))
    }

    /// The hint on `--sort -FIELD`.
    fn order(&self) -> Option<String> {
        let given = self.line.own().iter().find(|given| given.starts_with(self.word))?;
        self.line.before(given).filter(|before| *before == "--sort" && self.has("sort"))?;
        let key = match given.trim_start_matches('-') {
            "" | "hits" | "count" | "hit" => "hitcount",
            key => key,
        };
        Some(format!(
            "`{given}` is no value of `--sort`, which takes a name: `--sort {key}.desc` is the largest first."
        ))
    }

    /// The command below that is called so.
    fn below(&self) -> Option<String> {
        let mut below = self.command.get_subcommands().filter(|below| !below.is_hide_set());
        let name = below.find(|below| self.word.strip_prefix("--") == Some(below.get_name()))?.get_name();
        Some(format!("did you mean `{} {name}`?", self.words()))
    }

    /// The hint on events of `latency` as options.
    fn of_latency(&self) -> Option<String> {
        const BEGINS: [&str; 3] = ["--from", "--start", "--begin"];
        const ENDS: [&str; 3] = ["--to", "--end", "--of"];
        if self.path != "latency" || !BEGINS.iter().chain(&ENDS).any(|one| one == &self.word) {
            return None;
        }
        let event = |names: [&str; 3], other: &'static str| {
            let given = names.iter().find_map(|name| self.line.value(name)).filter(|event| !event.starts_with('-'));
            given.unwrap_or(other).to_owned()
        };
        let (from, to) = (event(BEGINS, "sched_waking"), event(ENDS, "sched_switch"));
        let file = self.line.recording().unwrap_or("run.dat");
        Some(format!(
            "events are arguments without an option: `rtrace latency {file} {from} {to} --by FIELD=FIELD`, as `--by pid=next_pid`."
        ))
    }

    /// Why a command has no such option of `report`, and which have it.
    fn of_report(&self) -> Option<Remedy> {
        const READERS: &str = "analyze why check diff baseline hist latency mem profile record stream dump split sql";
        let name = self.name();
        let command = self.path.split('/').next()?;
        let is_reader = READERS.split(' ').any(|one| one == command) && self.word.starts_with("--");
        let mut of_report = self.root.find_subcommand("report")?.get_arguments().filter(|_| is_reader);
        of_report.find(|arg| arg.get_long() == Some(name))?;
        let reason = match () {
            () if WINDOW.contains(&name) => "it chooses a part of a recording's time",
            () if TIMES.contains(&name) => "it changes times as they are shown; here they are as recorded",
            () => "it is about the output of `rtrace report`",
        };
        Some(Remedy { reason: Some(reason.to_owned()), hint: having(name, self.root)? })
    }

    /// What is meant by a long one that the table has not for all commands.
    fn long(&self) -> Option<Remedy> {
        let of = |hint: String| Remedy { reason: None, hint };
        let name = self.name();
        let wish = || self.listed("wish");
        let near = || wish().filter(|_| name.contains('-')).or_else(|| self.near().map(of));
        near()
            .or_else(|| self.place().map(of))
            .or_else(|| self.output().map(of))
            .or_else(|| self.after_command().map(of))
            .or_else(|| self.one_order().map(of))
            .or_else(wish)
            .or_else(|| self.part())
            .or_else(|| self.all(name).map(of))
    }

    /// Options that are called nearly so, or for files if it is one, or of which its first part is another name.
    fn near(&self) -> Option<String> {
        let (name, longs) = (self.name(), self.longs());
        if name.ends_with("-file") && nearest(name, longs.iter().copied()).is_empty() {
            let of_files = self.command.get_arguments().filter(|arg| takes_file(arg)).filter_map(Arg::get_long);
            let of_files: Vec<String> = of_files.map(|long| format!("`--{long}`")).collect();
            if !of_files.is_empty() {
                return Some(format!("options that take a file are {}.", of_files.join(", ")));
            }
        }
        let others: Vec<&str> = longs.into_iter().filter(|own| !self.is_given(own)).collect();
        let first = name.split('-').next().filter(|part| *part != name);
        let first = first.filter(|part| is_negated(name) || ["head", "tail"].contains(part));
        guess(&near(name, &others)).or_else(|| {
            let word = format!("--{}", first?);
            UnknownOption { word: &word, ..*self }.listed("option").map(|remedy| remedy.hint)
        })
    }

    /// The remedy of a part of its name, the last one first: `filter-user` is about users.
    fn part(&self) -> Option<Remedy> {
        let parts: Vec<String> = self.name().split(['-', '_']).rev().map(|part| format!("--{part}")).collect();
        let parts = parts.iter().filter(|_| parts.len() > 1 && !is_negated(self.name()));
        parts.into_iter().find_map(|word| {
            let of = UnknownOption { word, ..*self };
            of.listed("option").or_else(|| of.listed("wish"))
        })
    }

    /// True of an option that stands on the command line, so that another is meant.
    fn is_given(&self, long: &str) -> bool {
        let short = self.command.get_arguments().find(|arg| arg.get_long() == Some(long)).and_then(Arg::get_short);
        self.line.own().iter().any(|word| match word.strip_prefix("--") {
            Some(name) => name.split('=').next() == Some(long),
            None => short.is_some_and(|short| word.strip_prefix('-').is_some_and(|rest| rest.starts_with(short))),
        })
    }

    /// The argument without an option that is called so.
    fn place(&self) -> Option<String> {
        let name = self.name();
        let is_called = |arg: &&Arg| {
            let names = arg.get_value_names().unwrap_or_default();
            names.iter().flat_map(|names| names.split(['|', ' '])).any(|one| one.eq_ignore_ascii_case(name))
        };
        let place = self.command.get_positionals().filter(|arg| !arg.is_hide_set()).find(is_called)?;
        Some(format!("it is an argument without an option, as `{place}` in `{} ...`.", self.words()))
    }

    /// Where what is written goes.
    fn output(&self) -> Option<String> {
        if !["output", "out", "output-file", "save", "o"].contains(&self.name()) {
            return None;
        }
        if self.has("instance") {
            return Some(
                "`rtrace record -o FILE` writes a recording, `rtrace extract -o FILE` one of what a buffer holds."
                    .to_owned(),
            );
        }
        let own = |(option, what)| self.has(option).then(|| format!(" `--{option} FILE` writes {what}."));
        let files = [("junit", "JUnit XML"), ("html", "a page for a browser")];
        let files: String = files.into_iter().filter_map(own).collect();
        Some(format!("what is printed goes into a file with `> FILE`.{files}"))
    }

    /// The hint on an option of a command that stands before it.
    fn after_command(&self) -> Option<String> {
        let below = self.line.own().iter().find_map(|given| self.root.find_subcommand(given));
        let below = below.filter(|_| std::ptr::eq(self.command, self.root))?;
        let has = below.get_arguments().any(|arg| arg.get_long() == Some(self.name()));
        has.then(|| format!("options stand after the command: `rtrace {} ... --{}`.", below.get_name(), self.name()))
    }

    /// The hint on an order of rows where there is one only.
    fn one_order(&self) -> Option<String> {
        let is_order = ["order", "order-by", "sort", "sort-by", "desc", "asc", "sorted"].contains(&self.name());
        let has_rows = !["report", "convert", "stream", "record", "view"].contains(&self.path);
        (is_order && has_rows && self.has("json"))
            .then(|| "rows come in one order; `--json` prints them for `jq` and the like.".to_owned())
    }

    /// The commands that have it, and the options of this one.
    fn all(&self, name: &str) -> Option<String> {
        // Commands that steer tracing share their letters.
        let others = match options(self.command) {
            own if name.is_empty() && own.is_some() && !self.has("tracefs") => None,
            _ if name.is_empty() => having_letter(self.word, self.root),
            _ => having(name, self.root),
        };
        let own = options(self.command).map(|own| format!("`{}` has {own}.", self.words()));
        let said: Vec<String> = others.into_iter().chain(own).collect();
        (!said.is_empty()).then(|| said.join(" "))
    }

    /// What is meant by a letter: an option of the commands that trace, or of trace-cmd and perf.
    fn letter(&self) -> Option<Remedy> {
        let of = |hint: String| Remedy { reason: None, hint };
        let letter = self.name().chars().next()?;
        let own = self.operator().or_else(|| self.of_those_below(letter)).or_else(|| self.format(letter)).map(of);
        own.or_else(|| {
            let before = self.line.flag_before(self.word).filter(|_| letter.is_ascii_digit())?;
            Some(of(format!("`{before}` takes a number from 0 on.")))
        })
        .or_else(|| self.listed("letter"))
        .or_else(|| self.elsewhere(letter).map(of))
        .or_else(|| self.output().map(of))
    }

    /// An operator of the shell's `test`.
    fn operator(&self) -> Option<String> {
        let all = [("-lt", "<"), ("-gt", ">"), ("-le", "<="), ("-ge", ">="), ("-eq", "=="), ("-ne", "!=")];
        let is = |shells: &str| shells.starts_with(self.word) && self.line.own().iter().any(|given| given == shells);
        let (shells, own) = all.iter().find(|(shells, _)| is(shells))?;
        Some(format!("`{shells}` of the shell is written `{own}`, in quotes: `'FIELD {own} VALUE'`."))
    }

    /// The commands below this one that have it.
    fn of_those_below(&self, letter: char) -> Option<String> {
        let has = |below: &&Command| below.get_arguments().any(|arg| arg.get_short() == Some(letter));
        let below: Vec<&str> = self.command.get_subcommands().filter(has).map(Command::get_name).collect();
        let first = below.first().filter(|_| below.len() <= MOST_BELOW && !std::ptr::eq(self.command, self.root))?;
        let whole = with_instance(self.path, self.line).filter(|_| letter == 'B');
        whole.or_else(|| {
            let (words, below) = (self.words(), below.join(", "));
            Some(format!("it stands after the command: `{words} {first} ... -{letter}`; {below} have it."))
        })
    }

    /// The option for a format that `-f` or `-o` names, or nearly names.
    fn format(&self, letter: char) -> Option<String> {
        let value = self.value()?;
        let format = match letter {
            'f' => format_near(value, self.command),
            'o' => format_called(value, self.command),
            _ => None,
        };
        format.map(|format| format!("did you mean `{format}`?"))
    }

    /// The option that the letter is at another command.
    fn elsewhere(&self, letter: char) -> Option<String> {
        let others = self.root.get_subcommands().flat_map(Command::get_arguments);
        let mut others = others.filter(|arg| arg.get_short() == Some(letter)).filter_map(Arg::get_long);
        let long = others.find(|long| self.has(long) && self.is_meant(long))?;
        Some(self.in_full(self.command.get_arguments().find(|arg| arg.get_long() == Some(long))?))
    }
}
