//! Trace clocks whose times can be converted to each other.

use crate::base::units::RecordedClock;

/// The reason why times of the clock `guest` cannot be converted to the clock `host`, if they cannot.
pub fn incomparable_clocks(guest: &str, host: &str) -> Option<String> {
    let [of_guest, of_host] = [guest, host].map(RecordedClock::of);
    match () {
        () if !of_host.is_fine() => Some(format!("the host's clock {host} does not count time")),
        () if !of_guest.is_fine() => Some(format!("its clock {guest} does not count time")),
        // Counters of ticks: the measurements say how fast one runs by the other.
        () if guest == host => None,
        () if of_guest.counts_nanoseconds() && of_host.counts_nanoseconds() => None,
        () => Some(format!("its clock is {guest}, the host's is {host}")),
    }
}

#[cfg(test)]
mod tests {
    use super::incomparable_clocks;

    #[test]
    fn clocks_that_can_be_compared() {
        for (guest, host) in [("local", "local"), ("mono", "boot"), ("x86-tsc", "x86-tsc")] {
            assert_eq!(incomparable_clocks(guest, host), None);
        }
        for (guest, host) in [("counter", "counter"), ("uptime", "mono"), ("mono", "counter"), ("x86-tsc", "local")] {
            assert!(incomparable_clocks(guest, host).is_some(), "{guest} {host}");
        }
    }
}
