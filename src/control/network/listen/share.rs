//! Descriptors, data ports and places of a listener: no machine gets more than half of them, so that others are served whatever one
//! of them asks for.

use crate::control::network::transport::Host;
use nix::sys::resource::{Resource, getrlimit};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Descriptors that belong to no session: the listener's own, its log, those of a file that is being completed.
const OWN: u64 = 64;
/// Descriptors of each session beside those of its rings: two of its control connection, its file.
const PER_SESSION: u64 = 4;

/// More descriptors than any sessions need together.
const MOST: u64 = 1 << 14;

/// Things of which there is a limited number.
#[derive(Debug)]
pub(super) struct Shares {
    what: &'static str,
    most: usize,
    held: Mutex<HashMap<Host, usize>>,
}

impl Shares {
    /// `most` of `what`.
    pub(super) fn new(what: &'static str, most: usize) -> Self {
        Shares { what, most, held: Mutex::default() }
    }

    /// The descriptors that this process may open for the rings of `sessions`.
    pub(super) fn of_descriptors(sessions: usize) -> Self {
        let limit = getrlimit(Resource::RLIMIT_NOFILE).map_or(1024, |(soft, _)| soft);
        let others = OWN.saturating_add((sessions as u64).saturating_mul(PER_SESSION));
        // A quarter, however many sessions there may be; and no more than any machine has rings for, as each is a file as well.
        let most = limit.saturating_sub(others).max(limit / 4).min(MOST);
        Shares::new("open files", usize::try_from(most).unwrap_or(usize::MAX))
    }

    /// Takes `count` of them for a session of `host`, until the share is dropped.
    ///
    /// # Errors
    /// The reason: `host` would have more than half, or not so many are left.
    pub(super) fn take(&self, host: &Host, count: usize) -> Result<Share<'_>, String> {
        let host = host.canonical();
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let (own, all) = (held.get(&host).copied().unwrap_or(0), held.values().sum::<usize>());
        let (half, left) = (self.most / 2, self.most.saturating_sub(all));
        if own.saturating_add(count) > half || count > left {
            let what = self.what;
            return Err(format!(
                "it needs {count} {what}: one machine gets {half} at once, of which it has {own}, and {left} are left"
            ));
        }
        held.insert(host, own + count);
        Ok(Share { of: self, host, count })
    }
}

/// A part of [`Shares`], given back when it is dropped.
#[derive(Debug)]
pub(super) struct Share<'a> {
    of: &'a Shares,
    host: Host,
    count: usize,
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        let mut held = self.of.held.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = held.get_mut(&self.host) {
            *own = own.saturating_sub(self.count);
            if *own == 0 {
                held.remove(&self.host);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_machine_gets_half_and_others_the_rest() {
        let host = |text: &str| Host::Ip(text.parse().unwrap());
        let (one, other, third) = (host("10.0.0.1"), host("10.0.0.2"), host("10.0.0.3"));
        let shares = Shares::new("ports", 10);
        let first = shares.take(&one, 4).unwrap();
        let why = shares.take(&host("::ffff:10.0.0.1"), 2).unwrap_err();
        assert_eq!(why, "it needs 2 ports: one machine gets 5 at once, of which it has 4, and 6 are left");
        let _second = shares.take(&other, 5).unwrap();
        assert!(shares.take(&third, 2).is_err(), "one is left");
        drop(first);
        let _third = shares.take(&third, 5).unwrap();
        assert!(shares.take(&one, 1).is_err() && shares.take(&one, usize::MAX).is_err());
        assert!(Shares::of_descriptors(64).most > 0 && Shares::of_descriptors(usize::MAX).most > 0);
    }
}
