//! Options that a command does not have, and those of it that do what was meant.

use super::elsewhere;
use super::line_in_full::with_instance;
use super::meant_words::{ADVICE, CONCEPTS, LETTERS};
use clap::builder::PossibleValue;
use clap::{Arg, Command};
use rtrace::filter::CpuList;
use rtrace::internal::assertion::Assertion;
use rtrace::internal::trace_dat::is_recording;
use rtrace::syntax::nearest;
use rtrace::units::{ByteSize, parse_duration};
use std::path::Path;

/// Most commands below one that a hint names.
const MOST_BELOW: usize = 10;

/// Most options that a hint names.
const MOST_OPTIONS: usize = 32;

/// Parts of names that turn their meaning round.
const NEGATIONS: [&str; 11] =
    ["no", "not", "non", "without", "exclude", "ignore", "skip", "except", "hide", "invert", "disable"];

/// The options of the command that are meant by `word`, which is a long one; else those that it has. `words` are those of the
/// command line.
pub(super) fn option(word: &str, command: &Command, root: &Command, words: &str) -> Option<String> {
    if !word.starts_with('-') {
        return None;
    }
    if !word.starts_with("--") {
        let listed = || Some(format!("`{words}` has {}.", options(command)?));
        return short(word, command, root, words).or_else(listed).or_else(|| elsewhere::having_letter(word, root));
    }
    let name = word.split('=').next()?.strip_prefix("--")?;
    let negated = is_negated(name);
    let longs = command.get_arguments().filter(|arg| !arg.is_hide_set()).filter_map(Arg::get_long);
    let longs: Vec<&str> = longs.chain(["help", "version"]).filter(|own| is_negated(own) == negated).collect();
    let has = |own: &&str| longs.contains(own);
    // As a flag it is the buffer at the top.
    let is_time =
        || value_of(word).is_some_and(|value| value.starts_with(|c: char| c.is_ascii_digit() || "+-t".contains(c)));
    let is_meant = |own: &&str| {
        let fits = match *own {
            "top" => takes_value(own, command),
            // That of `record` is a machine.
            "to" => ["host", "server", "remote"].contains(&name) != is_of_formats(own, command),
            "since" | "until" => is_time(),
            _ => true,
        };
        fits && has(own)
    };
    let meant = |name: &str| {
        CONCEPTS.iter().filter(|(others, _)| others.contains(&name)).flat_map(|(_, own)| *own).copied().find(is_meant)
    };
    if let Some(below) = command.get_subcommands().find(|below| below.get_name() == name && !below.is_hide_set()) {
        return Some(format!("did you mean `{words} {}`?", below.get_name()));
    }
    if command.get_name() == "latency" && ["from", "to", "start", "end", "begin", "of"].contains(&name) {
        let given = |names: [&str; 3]| {
            names.iter().find_map(|name| value_of(&format!("--{name}"))).filter(|event| !event.starts_with('-'))
        };
        let from = given(["from", "start", "begin"]).unwrap_or_else(|| "sched_waking".to_owned());
        let to = given(["to", "end", "of"]).unwrap_or_else(|| "sched_switch".to_owned());
        let file = std::env::args().skip(1).find(|word| is_recording(Path::new(word)));
        let file = file.unwrap_or_else(|| "run.dat".to_owned());
        return Some(format!(
            "events are arguments without an option: `rtrace latency {file} {from} {to} --by FIELD=FIELD`, as `--by pid=next_pid`."
        ));
    }
    if ["window", "width", "margin", "context", "range"].contains(&name) && is_on_line("around", command) {
        let around = value_of("--around").unwrap_or_else(|| "TIME".to_owned());
        let width = value_of(word).unwrap_or_else(|| "5s".to_owned());
        return Some(format!("it stands behind the time: `--around {around}±{width}`, or `+-` for `±`."));
    }
    if name == "no-color" && takes_value("color", command) {
        return Some("did you mean `--color never`?".to_owned());
    }
    if name == "buffer" && has(&"instance") && has(&"buffer-size") {
        return Some("`--instance NAME` is a buffer of its own, `--buffer-size` its size.".to_owned());
    }
    let value = value_of(word).unwrap_or_default();
    if command.get_name() == "check" && value.contains(['<', '>', '=']) && Assertion::parse(&value).is_ok() {
        return Some(match name.contains("fail") || name.contains("err") {
            true => "what must hold is asserted: `--assert 'lost == 0'` fails where events were lost.".to_owned(),
            false => format!("`--assert '{value}'` asserts that."),
        });
    }
    if own_output(name) && value_of(word).is_some_and(|value| value.contains("junit")) {
        return Some("`rtrace check FILE --assert ASSERTION --junit OUT` writes JUnit XML.".to_owned());
    }
    if let Some(own) = meant(name) {
        let end = if own == "since" && has(&"until") { " `--until` is the other end." } else { "" };
        return Some(format!("did you mean `--{own}`?{}{end}", help_of(own, command)));
    }
    let of_format = name.strip_prefix("to-").or_else(|| name.strip_prefix("format-")).unwrap_or(name);
    if let Some(format) = format_called(of_format, command) {
        return Some(format!("did you mean `{format}`?"));
    }
    if matches!(name, "csv" | "tsv" | "yaml") && has(&"json") {
        return Some(format!("did you mean `--json`?{}", help_of("json", command)));
    }
    let advice = || ADVICE.iter().find(|(others, _)| others.contains(&name)).map(|(_, advice)| (*advice).to_owned());
    if let Some(advice) = advice().filter(|_| name.contains('-')) {
        return Some(advice);
    }
    if name.ends_with("-file") && nearest(name, longs.iter().copied()).is_empty() {
        let of_files = command.get_arguments().filter(|arg| takes_file(arg)).filter_map(Arg::get_long);
        let of_files: Vec<String> = of_files.map(|long| format!("`--{long}`")).collect();
        if !of_files.is_empty() {
            return Some(format!("options that take a file are {}.", of_files.join(", ")));
        }
    }
    let others: Vec<&str> = longs.iter().copied().filter(|own| !is_on_line(own, command)).collect();
    if let Some(hint) = guess(&near(name, &others)) {
        return Some(hint);
    }
    let first = name.split('-').next().filter(|part| *part != name && (negated || ["head", "tail"].contains(part)));
    if let Some(own) = first.and_then(meant) {
        return Some(format!("did you mean `--{own}`?{}", help_of(own, command)));
    }
    let of_place = command.get_positionals().filter(|arg| !arg.is_hide_set()).find(|arg| is_called(arg, name));
    if let Some(place) = of_place {
        return Some(format!("it is an argument without an option, as `{place}` in `{words} ...`."));
    }
    if matches!(name, "output" | "out" | "output-file" | "save") {
        if command.get_arguments().any(|arg| arg.get_long() == Some("instance")) {
            return Some(OUTPUT.to_owned());
        }
        let own = |(option, what)| has(&option).then(|| format!(" `--{option} FILE` writes {what}."));
        let files = [("junit", "JUnit XML"), ("html", "a page for a browser")];
        let files: String = files.into_iter().filter_map(own).collect();
        return Some(format!("what is printed goes into a file with `> FILE`.{files}"));
    }
    if std::ptr::eq(command, root)
        && let Some(below) = std::env::args().skip(1).find_map(|given| root.find_subcommand(given))
        && below.get_arguments().any(|arg| arg.get_long() == Some(name))
    {
        let below = below.get_name();
        return Some(format!("options stand after the command: `rtrace {below} ... --{name}`."));
    }
    const ORDERS: [&str; 7] = ["order", "order-by", "sort", "sort-by", "desc", "asc", "sorted"];
    let has_rows = !matches!(command.get_name(), "report" | "convert" | "stream" | "record" | "view");
    if ORDERS.contains(&name) && has(&"sort") {
        return Some(format!("did you mean `--sort`?{}", help_of("sort", command)));
    }
    if ORDERS.contains(&name) && has_rows && has(&"json") {
        return Some("rows come in one order; `--json` prints them for `jq` and the like.".to_owned());
    }
    if let Some(advice) = advice() {
        return Some(advice);
    }
    let others = elsewhere::having(name, root).map_or_else(String::new, |others| format!("{others} "));
    Some(format!("{others}`{words}` has {}.", options(command)?))
}

/// True of a long option of the command that its help shows.
fn is_shown(long: &str, command: &Command) -> bool {
    command.get_arguments().any(|arg| arg.get_long() == Some(long) && !arg.is_hide_set())
}

/// True of an option that stands on the command line, so that another is meant.
fn is_on_line(long: &str, command: &Command) -> bool {
    let short = command.get_arguments().find(|arg| arg.get_long() == Some(long)).and_then(Arg::get_short);
    std::env::args().take_while(|word| word != "--").any(|word| match word.strip_prefix("--") {
        Some(name) => name.split('=').next() == Some(long),
        None => short.is_some_and(|short| word.strip_prefix('-').is_some_and(|rest| rest.starts_with(short))),
    })
}

/// True of an option for a format by any name.
fn own_output(name: &str) -> bool {
    ["format", "output-format", "type", "to"].contains(&name)
}

/// True of a file that `rtrace convert` writes in the format of its ending.
fn is_of_convert(file: &str) -> bool {
    let ending = Path::new(file).extension().and_then(|ending| ending.to_str());
    matches!(ending, Some("parquet" | "arrow" | "pftrace" | "ctf" | "html" | "folded"))
}

/// The commands that write recordings.
const OUTPUT: &str = "`rtrace record -o FILE` writes a recording, `rtrace extract -o FILE` one of what a buffer holds.";

/// The command that makes a recording and checks it.
pub(super) const MAKES_ONE: &str =
    "it reads a recording; `rtrace record -e EVENT --assert 'ASSERTION' -- CMD` makes one and holds it against that.";

/// The option that is meant by an unknown letter: that of the commands that trace, or of trace-cmd and perf.
fn short(word: &str, command: &Command, root: &Command, words: &str) -> Option<String> {
    let letter = word.strip_prefix('-')?.chars().next()?;
    let value = value_of(word).unwrap_or_default();
    let operator = [("-lt", "<"), ("-gt", ">"), ("-le", "<="), ("-ge", ">="), ("-eq", "=="), ("-ne", "!=")];
    let is_given = |shells: &str| std::env::args().take_while(|given| given != "--").any(|given| given == shells);
    if let Some((shells, own)) = operator.iter().find(|(shells, _)| shells.starts_with(word) && is_given(shells)) {
        return Some(format!("`{shells}` of the shell is written `{own}`, in quotes: `'FIELD {own} VALUE'`."));
    }
    let has = |below: &&Command| below.get_arguments().any(|arg| arg.get_short() == Some(letter));
    let below: Vec<&str> = command.get_subcommands().filter(has).map(Command::get_name).collect();
    if !below.is_empty() && below.len() <= MOST_BELOW && !std::ptr::eq(command, root) {
        let first = below.first()?;
        if letter == 'B'
            && let Some(hint) = with_instance(words, &value)
        {
            return Some(hint);
        }
        return Some(format!(
            "it stands after the command: `{words} {first} ... -{letter}`; {} have it.",
            below.join(", ")
        ));
    }
    if command.get_name() == "check" && Assertion::parse(&value).is_ok() {
        return Some(format!("`--assert '{value}'` asserts that."));
    }
    if letter == 'f'
        && let Some(format) = format_near(&value, command)
    {
        return Some(format!("did you mean `{format}`?"));
    }
    if letter == 'i' && takes_value("instance", command) && !Path::new(&value).exists() {
        return Some(format!("an instance is `-B {value}`."));
    }
    if command.get_name() == "check" && std::env::args().any(|given| given == "--") {
        return Some(MAKES_ONE.to_owned());
    }
    let is_name = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if letter == 'o'
        && let Some(format) = format_called(&value, command)
    {
        return Some(format!("did you mean `{format}`?"));
    }
    if letter == 'o' && is_shown(&value, command) {
        return Some(format!("did you mean `--{value}`?"));
    }
    if letter == 'o' && is_name && takes_value("option", command) {
        return Some(format!("`-O {value}` sets a trace option."));
    }
    if letter == 'b' && is_name && takes_value("instance", command) && ByteSize::parse_with_unit(&value, 1).is_err() {
        return Some(format!("did you mean `-B {value}`?"));
    }
    if letter == 'o' && command.get_name() == "report" && is_of_convert(&value) {
        return Some(format!("`rtrace convert FILE -o {value}` writes that format."));
    }
    if letter == 'o' && command.get_arguments().any(|arg| arg.get_long() == Some("instance")) {
        return Some(OUTPUT.to_owned());
    }
    if letter.is_ascii_digit() {
        let before = flag_before(word)?;
        return Some(format!("`{before}` takes a number from 0 on."));
    }
    let is_of_cpus = value.parse::<CpuList>().is_ok() && is_shown("cpu", command);
    if letter == 'c' && is_of_cpus {
        return Some(format!("did you mean `--cpu {value}`?"));
    }
    let own = LETTERS.iter().find(|(other, _)| *other == letter).map_or(&[][..], |(_, own)| *own);
    // What the letter is elsewhere.
    let mut others = root.get_subcommands().flat_map(Command::get_arguments);
    let is_here = |long: &&str| command.get_arguments().any(|arg| arg.get_long() == Some(*long) && !arg.is_hide_set());
    let arg = own
        .iter()
        .filter(|own| **own != "top" || takes_value(own, command))
        .copied()
        .chain(others.by_ref().filter(|arg| arg.get_short() == Some(letter)).filter_map(Arg::get_long))
        .find(is_here)
        .and_then(|own| command.get_arguments().find(|arg| arg.get_long() == Some(own)));
    let Some(arg) = arg else {
        return match letter {
            'o' => Some("what is printed goes into a file with `> FILE`.".to_owned()),
            // Commands that steer tracing share their letters.
            _ if command.get_arguments().any(|arg| arg.get_long() == Some("tracefs")) => {
                let others = elsewhere::having_letter(word, root).map_or_else(String::new, |others| others + " ");
                Some(format!("{others}`{words}` has {}.", options(command)?))
            }
            _ => None,
        };
    };
    let name = arg.get_short().map_or_else(String::new, |short| format!("-{short}, "));
    Some(format!("did you mean `{name}--{}`?{}", arg.get_long()?, help_of(arg.get_long()?, command)))
}

/// The option of the command of which `word` is a typing mistake.
pub(super) fn typed(word: &str, command: &Command) -> Option<String> {
    let name = word.split('=').next()?.strip_prefix("--")?;
    let longs = command.get_arguments().filter(|arg| !arg.is_hide_set()).filter_map(Arg::get_long);
    longs
        .filter(|long| long.strip_suffix('s') == Some(name) || name.strip_suffix('s') == Some(long))
        // A flag is not meant where a number follows.
        .filter(|long| takes_value(long, command) || value_of(word).is_none_or(|value| value.parse::<u64>().is_err()))
        .map(|long| format!("did you mean `--{long}`?"))
        .next()
}

/// The value that stands after or in the unknown option `word`.
fn value_of(word: &str) -> Option<String> {
    let inside = word.split_once('=').map(|(_, value)| value.to_owned());
    inside.or_else(|| std::env::args().skip_while(|given| given != word).nth(1))
}

/// The hint on an unknown option for a format, if an option is called as the format is.
pub(super) fn format_as_option(word: &str, command: &Command) -> Option<String> {
    let name = word.split('=').next()?;
    let has = |long| command.get_arguments().any(|arg| arg.get_long() == Some(long));
    let of_format =
        !has("to") && !has("format") && ["--format", "--output-format", "--type", "--to", "--style"].contains(&name);
    let value = value_of(word).filter(|_| of_format)?;
    let is_there = command.get_arguments().any(|arg| arg.get_long() == Some(value.as_str()) && !arg.is_hide_set());
    is_there.then(|| format!("did you mean `--{value}`?{}", help_of(&value, command)))
}

/// The option for a format with the one that `value` is, or nearly is.
fn format_near(value: &str, command: &Command) -> Option<String> {
    let arg = ["to", "format"]
        .into_iter()
        .find_map(|long| command.get_arguments().find(|arg| arg.get_long() == Some(long)))?;
    let formats = arg.get_possible_values();
    let near = nearest(value, formats.iter().map(PossibleValue::get_name));
    Some(format!("--{} {}", arg.get_long()?, near.first()?))
}

/// The option for a format with the format of that name, as in `--format csv`.
fn format_called(name: &str, command: &Command) -> Option<String> {
    let of_formats = ["format", "to"].into_iter();
    let mut args = of_formats.filter_map(|long| command.get_arguments().find(|arg| arg.get_long() == Some(long)));
    let arg = args.find(|arg| arg.get_possible_values().iter().any(|value| value.get_name() == name))?;
    Some(format!("--{} {name}", arg.get_long()?))
}

/// True if a part of an option's name turns its meaning round.
fn is_negated(name: &str) -> bool {
    let is_no = |part: &str| {
        let rest = part.strip_prefix("no").unwrap_or_default();
        ["trace", "irq", "softirq", "date", "split", "splice", "color", "pager"].contains(&rest)
    };
    name.split('-').any(|part| NEGATIONS.contains(&part) || is_no(part))
}

/// The word before `word` on the command line.
pub(super) fn word_before(word: &str) -> Option<String> {
    let words: Vec<String> = std::env::args().collect();
    // Of two, the last one: a value of an option stands before what is taken for an argument.
    words.windows(2).rev().find(|pair| pair.get(1).is_some_and(|one| one == word))?.first().cloned()
}

/// The flag before `word` on the command line, where `word` is taken for something else than its value.
pub(super) fn flag_before(word: &str) -> Option<String> {
    // `--duration=5` and `-b4096` have their value.
    let has_value = |flag: &str| flag.contains('=') || flag.bytes().skip(1).any(|byte| byte.is_ascii_digit());
    word_before(word).filter(|before| before.starts_with('-') && before != "--" && !has_value(before))
}

/// A sentence on what a number after a flag was meant for.
pub(super) fn meant_number(flag: &str, number: &str) -> String {
    match flag {
        "--keep" => format!(" `--keep-saves {number}` is how many files stay."),
        "-d" | "-D" => format!(" A time is `--duration {number}`."),
        _ => String::new(),
    }
}

/// The hint on a word after an option that takes none, which clap took as the argument `place`.
pub(super) fn value_of_flag(place: &str, command: &Command) -> Option<String> {
    let words: Vec<String> = std::env::args().collect();
    let flags = || command.get_arguments().filter(|arg| !arg.get_action().takes_values());
    words.windows(2).find_map(|pair| {
        let [option, word] = pair else { return None };
        let name = option.strip_prefix("--").filter(|_| !word.starts_with('-'))?;
        flags().find(|arg| arg.get_long() == Some(name))?;
        let rows = CONCEPTS.iter().filter(|(_, own)| own.contains(&name)).flat_map(|(_, own)| *own);
        let other = rows
            .filter(|own| **own != name)
            .find(|own| takes_value(own, command))
            .map_or_else(String::new, |own| format!(" `--{own}` takes a value:{}", help_of(own, command)));
        Some(format!("`--{name}` takes no value, and `{word}` is taken as `{place}`.{other}"))
    })
}

/// The hint on `-v FIELD` of `rtrace hist`, where the field was taken for a trigger.
pub(super) fn value_of_hist(name: &str) -> Option<String> {
    let field = std::env::args().skip_while(|word| word != "-v").nth(1).filter(|_| name == "hist")?;
    Some(format!("`-v` is --verbose, and `{field}` is taken for a trigger: `--val {field}` sums it."))
}

/// The hint on an assertion without `--assert`, which was taken for the file of the command `name`.
pub(super) fn assertion(name: &str) -> Option<String> {
    let is_of_option = |word: &str| word_before(word).is_some_and(|before| before.starts_with("--") || before == "-a");
    let is_one =
        |word: &String| word.contains(['<', '>', '=']) && !is_of_option(word) && Assertion::parse(word).is_ok();
    let word = std::env::args().find(is_one).filter(|_| name == "check")?;
    Some(format!("`--assert '{word}'` asserts that."))
}

/// The options that the command's short help shows, in backquotes; `None` if they are too many for a hint.
pub(super) fn options(command: &Command) -> Option<String> {
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set() && !arg.is_hide_short_help_set());
    let names: Vec<String> = shown.filter_map(Arg::get_long).map(|long| format!("--{long}")).collect();
    (1..=MOST_OPTIONS).contains(&names.len()).then(|| names.join(", "))
}

/// Names with a typing mistake, or of which `name` is a part between dashes, or its begin.
fn near<'a>(name: &str, longs: &[&'a str]) -> Vec<&'a str> {
    let has = |whole: &str, part: &str| whole.split('-').any(|of| of == part);
    // One letter makes the contrary of `on-cpu`.
    let is_contrary = |long: &str| has(long, "off") != has(name, "off") && (has(name, "on") || has(long, "on"));
    let is_typed = |long: &str| long.len().abs_diff(name.len()) <= (name.len() / 3).max(1) && !is_contrary(long);
    let mut found = nearest(name, longs.iter().copied());
    // Each part is near, so that `keep-old` is not `keep-all`.
    let parts_are_near = |long: &&str| {
        let (own, other): (Vec<&str>, Vec<&str>) = (name.split('-').collect(), long.split('-').collect());
        own.len() != other.len() || own.iter().zip(&other).all(|(a, b)| !nearest(a, [*b]).is_empty())
    };
    found.retain(parts_are_near);
    found.retain(|long| is_typed(long));
    let is_within = |long: &&&str| {
        let begins = long.len() > 2 && name.strip_prefix(**long).is_some_and(|rest| rest.starts_with('-'));
        let ends = long.len() > 3 && name.strip_suffix(**long).is_some_and(|rest| rest.ends_with('-'));
        begins || (ends && !is_contrary(long))
    };
    let goes_on = |long: &&&str| name.split('-').all(|part| has(long, part));
    let last = name.rsplit('-').next().filter(|last| last.len() > 3 && *last != name);
    let ends_alike =
        |long: &&&str| last.is_some_and(|last| long.rsplit('-').next() == Some(last)) && !is_contrary(long);
    let alike = longs.iter().filter(ends_alike);
    let others: Vec<&str> =
        alike.chain(longs.iter().filter(|long| is_within(long) && !ends_alike(long))).copied().collect();
    if found.is_empty() && others.is_empty() {
        found.extend(longs.iter().filter(goes_on).take(3));
    }
    found.extend(others);
    found.dedup();
    found.truncate(3);
    found
}

/// `did you mean `--a` or `--b`?`
fn guess(names: &[&str]) -> Option<String> {
    let (last, before) = names.split_last()?;
    let before: Vec<String> = before.iter().map(|name| format!("`--{name}`")).collect();
    let or = if before.is_empty() { "" } else { " or " };
    Some(format!("did you mean {}{or}`--{last}`?", before.join(", ")))
}

/// The hint on `all` where a number is wanted, if 0 stands for all.
pub(super) fn all(shown: &str, command: &Command) -> Option<String> {
    let long = shown.split([' ', '=']).next()?.strip_prefix("--")?;
    let help = help_of(long, command);
    help.contains("0 for all").then(|| format!("`--{long} 0` stands for all."))
}

/// The hint on a time where `--first` or `--last` wants a number of events.
pub(super) fn part_of_time(word: &str, shown: &str) -> Option<String> {
    let is_time = word.ends_with('s') && parse_duration(word).is_ok();
    if shown.contains("<TIME>") && parse_duration(&word.replace(',', ".")).is_ok() && word.contains(',') {
        return Some(format!("did you mean `{}`?", word.replace(',', ".")));
    }
    match shown.split([' ', '=']).next()? {
        "--last" if is_time => Some(format!("`--since -{word}` is the last {word}.")),
        "--first" if is_time => Some(format!("`--until +{word}` is the first {word}.")),
        _ => None,
    }
}

/// The hint on a time where a flight recorder's size is wanted, and on a size for its time.
pub(super) fn ring(word: &str, shown: &str) -> Option<String> {
    match shown.split([' ', '=']).next()? {
        "--ring" if parse_duration(word).is_ok() => Some(format!("`--ring-time {word}` keeps the last {word}.")),
        "--ring-time" if ByteSize::parse_with_unit(word, 1).is_ok() => {
            Some(format!("`--ring {word}` keeps so many bytes on the disk."))
        }
        _ => None,
    }
}

/// True of an option for a file.
fn takes_file(arg: &Arg) -> bool {
    let names = arg.get_value_names().unwrap_or_default();
    arg.get_long().is_some() && !arg.is_hide_set() && names.iter().any(|name| matches!(name.as_str(), "FILE" | "PATH"))
}

/// True of an option whose values are names that are known.
fn is_of_formats(long: &str, command: &Command) -> bool {
    let found = command.get_arguments().find(|arg| arg.get_long() == Some(long));
    found.is_some_and(|arg| !arg.get_possible_values().is_empty())
}

/// True of an option of the command that has a value.
fn takes_value(long: &str, command: &Command) -> bool {
    command.get_arguments().any(|arg| arg.get_long() == Some(long) && arg.get_action().takes_values())
}

/// The first line of the option's help: the hint on a value that is no number.
pub(super) fn meaning(shown: &str, command: &Command) -> Option<String> {
    let long = shown.split([' ', '=']).next()?.strip_prefix("--")?;
    let help = help_of(long, command);
    (!help.is_empty()).then(|| format!("`--{long}`:{help}"))
}

/// The first line of an option's help, as a sentence.
fn help_of(long: &str, command: &Command) -> String {
    let arg = command.get_arguments().find(|arg| arg.get_long() == Some(long));
    arg.and_then(Arg::get_help).map_or_else(String::new, |help| format!(" {help}."))
}

/// True if the argument's name on a usage line is `name`.
fn is_called(arg: &Arg, name: &str) -> bool {
    let names = arg.get_value_names().unwrap_or_default();
    names.iter().flat_map(|names| names.split(['|', ' '])).any(|one| one.eq_ignore_ascii_case(name))
}
