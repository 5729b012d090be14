//! The command line with each `-A` and the options after it as one word.

use crate::cli::command_words::takes_next;
use crate::cli::exit::{Exit, Failure};
use crate::cli::terminal::{note, say};
use clap::Command;
use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use rtrace::internal::network::Address;
use rtrace::internal::network::agent::AGENT_PORT;
use rtrace::internal::network::control::{GuestSummary, GuestTarget};
use std::ffi::{OsStr, OsString};
use std::time::Duration;

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

// The value of `-A`: a host, and the options that are its own.

/// Between the words of the value of `-A`.
const SEPARATOR: char = '\u{1f}';

/// In front of the place of `--proxy`.
const PROXY: &str = "\u{1e}";

const SYNC: &str = "--tsync-interval";

/// Reads the value of `-A`. Its errors name the option that is wrong, not the value, which the user did not write so.
#[derive(Clone, Copy, Debug)]
pub(in crate::cli::record) struct TargetParser;

impl TypedValueParser for TargetParser {
    type Value = GuestTarget;

    fn parse_ref(&self, _: &clap::Command, _: Option<&clap::Arg>, text: &OsStr) -> Result<GuestTarget, clap::Error> {
        target(&text.to_string_lossy()).map_err(|why| clap::Error::raw(ErrorKind::ValueValidation, why))
    }
}

fn target(text: &str) -> Result<GuestTarget, String> {
    let mut words = text.split(SEPARATOR);
    let place = words.next().filter(|place| !place.is_empty()).ok_or("-A needs a host or an address")?.to_owned();
    let mut target = GuestTarget { place, sync_every: Some(Duration::ZERO), ..GuestTarget::default() };
    if let Some(place) = target.place.strip_prefix(PROXY) {
        target.is_host = true;
        target.place = format!("@{place}");
        if !matches!(Address::vsock(&target.place, Some(AGENT_PORT.into())), Some(Ok(_))) {
            return Err(format!("--proxy takes CID or CID:PORT in numbers, not `{}`", &target.place[1..]));
        }
    }
    while let Some(word) = words.next() {
        let (option, value) = word.split_once('=').map_or((word, None), |(option, value)| (option, Some(value)));
        let mut value = || value.or_else(|| words.next()).ok_or_else(|| format!("{option} needs a value"));
        match option {
            "--name" => match value()? {
                "" => return Err("--name needs a name".to_owned()),
                name => target.name = Some(name.to_owned()),
            },
            SYNC => target.sync_every = sync_interval(value()?)?,
            _ => target.args.push(word.to_owned()),
        }
    }
    Ok(target)
}

/// The value of `--tsync-interval`: milliseconds. 0 is at the beginning and at the end only, a negative one never.
fn sync_interval(text: &str) -> Result<Option<Duration>, String> {
    let millis: i64 = text.parse().map_err(|_| format!("{SYNC} takes a number of milliseconds, not `{text}`"))?;
    Ok(u64::try_from(millis).ok().map(Duration::from_millis))
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

    #[test]
    fn options_follow_the_host() {
        let target = super::target("h\u{1f}--name\u{1f}vm\u{1f}-e\u{1f}b").unwrap();
        assert_eq!((target.name(), target.args), ("vm".to_owned(), vec!["-e".to_owned(), "b".to_owned()]));
        assert!(["", "h\u{1f}--name", "h\u{1f}--name="].into_iter().all(|text| super::target(text).is_err()));
    }
}
