//! The command line with each `-A` and the options after it as one word.

use super::target::{PROXY, SEPARATOR};
use crate::cli::command_words::takes_next;
use crate::cli::exit::{Exit, Failure};
use crate::cli::terminal::{note, say};
use clap::Command;
use rtrace::internal::network::control::GuestSummary;
use std::ffi::OsString;

/// Options that are the controller's wherever they stand.
const OURS: [&str; 11] = [
    "-o",
    "--output",
    "-q",
    "--quiet",
    "--json",
    "--summary-json",
    "--no-fifos",
    "--nofifos",
    "--max-lost",
    "-h",
    "--help",
];

/// The command line with each `-A` and the options after it as one word.
pub(crate) fn gathered(words: Vec<OsString>, root: fn() -> Command) -> Vec<OsString> {
    let is_agent = |word: &OsString| word.to_str().is_some_and(|word| agent(word).is_some());
    if words.get(1).is_none_or(|word| word != "record") || !words.iter().any(is_agent) {
        return words;
    }
    let root = root();
    let Some(command) = root.find_subcommand("record") else { return words };
    let mut words = words.into_iter().peekable();
    let mut out: Vec<OsString> = words.by_ref().take(2).collect();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy().into_owned();
        match agent(&text) {
            Some((is_host, place)) => {
                let place = place.map_or_else(|| words.next().unwrap_or_default(), OsString::from);
                let place = if is_host { [OsString::from(PROXY), place].into_iter().collect() } else { place };
                let (guest, ours) = guest_words(&mut words, command);
                out.extend(ours);
                out.push("-A".into());
                let mut value = place;
                for word in guest {
                    value.push(SEPARATOR.to_string());
                    value.push(word);
                }
                out.push(value);
            }
            None => {
                let takes = takes_next(command, &text);
                out.push(word);
                match takes {
                    Some(true) => out.extend(words.next()),
                    Some(false) if text != "--" => {}
                    // CMD begins.
                    _ => out.extend(words.by_ref()),
                }
            }
        }
    }
    out
}

/// True for `--proxy`, and the place that is part of the word, if `word` begins an agent's words.
fn agent(word: &str) -> Option<(bool, Option<&str>)> {
    match word {
        "--proxy" => Some((true, None)),
        "-A" => Some((false, None)),
        _ => {
            let proxy = word.strip_prefix("--proxy=").map(|place| (true, Some(place)));
            proxy.or_else(|| word.strip_prefix("-A").map(|place| (false, Some(place))))
        }
    }
}

/// The words after `-A HOST` that belong to it, and those among them that are the controller's.
fn guest_words(
    words: &mut std::iter::Peekable<impl Iterator<Item = OsString>>,
    command: &Command,
) -> (Vec<OsString>, Vec<OsString>) {
    let (mut guest, mut ours) = (Vec::new(), Vec::new());
    while let Some(word) = words.peek() {
        let text = word.to_string_lossy().into_owned();
        let takes = takes_next(command, &text);
        if text == "--" || agent(&text).is_some() || text.starts_with("-B") || takes.is_none() {
            break;
        }
        let name = text.split('=').next().unwrap_or_default();
        let to = if OURS.contains(&name) { &mut ours } else { &mut guest };
        to.extend(words.next());
        if takes == Some(true) {
            to.extend(words.next());
        }
    }
    (guest, ours)
}

/// Says at once that a guest is gone, while recording goes on.
pub(in crate::cli::record) fn gone(name: &str, why: &str) {
    note!("rtrace: warning: guest {name}: {why}; recording goes on without it");
}

/// Prints how the guests' recordings went, unless `quiet`; gives the failure if one of them lacks something.
pub(in crate::cli::record) fn tell(summaries: &[GuestSummary], quiet: bool) -> Result<(), Failure> {
    if !quiet {
        for summary in summaries {
            say(format_args!("{summary}\n"));
        }
    }
    let lacks = |summary: &&GuestSummary| summary.incomplete.is_some();
    match summaries.iter().find(lacks) {
        None => Ok(()),
        Some(GuestSummary { name, incomplete, .. }) => {
            let why = incomplete.as_deref().unwrap_or_default();
            let error = anyhow::anyhow!("the recording of guest {name} lacks something: {why}");
            Err(Failure::new(Exit::Incomplete, error))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> String {
        let words = text.split(' ').map(OsString::from).collect();
        let words = gathered(words, crate::cli::command::bare_command_line);
        let shown = |word: &OsString| word.to_string_lossy().replace(SEPARATOR, "|");
        words.iter().map(shown).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn options_after_an_agent_are_its_own() {
        for (given, expected) in [
            ("rtrace record -e a -A h -e b -f x<1 ls -A", "rtrace record -e a -A h|-e|b|-f|x<1 ls -A"),
            ("rtrace record -Ah -e b -A i -e c -- ls", "rtrace record -A h|-e|b -A i|-e|c -- ls"),
            ("rtrace record -A h -e b -B inst -e c ls", "rtrace record -A h|-e|b -B inst -e c ls"),
            ("rtrace record -A h -o f.dat --name vm -e b", "rtrace record -o f.dat -A h|--name|vm|-e|b"),
            ("rtrace record -e a ls -A h", "rtrace record -e a ls -A h"),
            ("rtrace record -A", "rtrace record -A "),
            ("rtrace stream -A h -e b", "rtrace stream -A h -e b"),
        ] {
            assert_eq!(line(given), expected);
        }
    }
}
