//! The value of `-A`: a host, and the options that are its own.

use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use rtrace::internal::network::Address;
use rtrace::internal::network::agent::AGENT_PORT;
use rtrace::internal::network::control::GuestTarget;
use std::ffi::OsStr;
use std::time::Duration;

/// Between the words of the value of `-A`.
pub(super) const SEPARATOR: char = '\u{1f}';

/// In front of the place of `--proxy`.
pub(super) const PROXY: &str = "\u{1e}";

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
    #[test]
    fn options_follow_the_host() {
        let target = super::target("h\u{1f}--name\u{1f}vm\u{1f}-e\u{1f}b").unwrap();
        assert_eq!((target.name(), target.args), ("vm".to_owned(), vec!["-e".to_owned(), "b".to_owned()]));
        assert!(["", "h\u{1f}--name", "h\u{1f}--name="].into_iter().all(|text| super::target(text).is_err()));
    }
}
