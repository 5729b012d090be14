//! Words that were taken for a file's name, and are something else.

use super::line::GivenLine;
use super::table::Misplaced;
use rtrace::units::parse_duration;

/// The hint on `word`, which is no file.
pub(in crate::cli) fn no_file(word: &str, line: &GivenLine) -> Option<String> {
    let listed = || Misplaced { command: "*", place: "file", word, line }.hint();
    seconds(word).or_else(|| time_of_two(word, line)).or_else(listed).or_else(|| after_flag(word, line))
}

/// The hint on a number of seconds.
fn seconds(word: &str) -> Option<String> {
    let number = word.trim_start_matches('+');
    let is_one = number.contains('.') && number.parse::<f64>().is_ok();
    is_one.then(|| format!("it is taken for a file; `--since +{number}` begins so long after the first event."))
}

/// The hint on the unit of a time in two words.
fn time_of_two(word: &str, line: &GivenLine) -> Option<String> {
    let is_unit = word.bytes().all(|byte| byte.is_ascii_alphabetic()) && parse_duration(&format!("1{word}")).is_ok();
    let number = line.before(word).filter(|_| is_unit)?;
    number.trim_start_matches(['+', '-']).parse::<f64>().ok()?;
    Some(format!("it is taken for a file; a time is one word: `{number}{word}`."))
}

/// The hint on a word behind a flag that takes none.
fn after_flag(word: &str, line: &GivenLine) -> Option<String> {
    let is_meant = word.ends_with(".dat");
    let flag = line.flag_before(word).filter(|flag| flag.starts_with("--") && *flag != "--input" && !is_meant)?;
    Some(format!("`{flag}` takes no value, so that `{word}` is taken for a file."))
}
