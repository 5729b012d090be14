//! The clocks of two machines, compared while both record: trace-cmd's protocol `ptp`.
//!
//! On a connection of its own the controller asks for rounds: one before tracing is on, one from time to time, one after
//! CLOSE. In a round the agent sends probes for each of its CPUs ([`Prober`]), which the controller sends back at once and
//! stamps ([`Answerer`]). Stamps are readings of the trace clocks. A probe leaves at `s`, is stamped `c` at the controller, and
//! is back at `r`: `c` lies between, so that `c - (s + r) / 2`, to be added to the agent's times, is wrong by `(r - s) / 2` at
//! most. The fastest probe of a series counts.

mod answering;
mod fastest;
mod probing;

pub(super) use answering::{Answerer, Compared};
pub(super) use probing::Prober;

use crate::units::clock_counts_nanoseconds;

/// The reason why times of the clock `guest` cannot be converted to the clock `host`, if they cannot.
pub(super) fn incomparable(guest: &str, host: &str) -> Option<String> {
    match () {
        () if !counts_time(host) => Some(format!("the host's clock {host} does not count time")),
        () if !counts_time(guest) => Some(format!("its clock {guest} does not count time")),
        // Counters of ticks: the measurements say how fast one runs by the other.
        () if guest == host => None,
        () if clock_counts_nanoseconds(guest) && clock_counts_nanoseconds(host) => None,
        () => Some(format!("its clock is {guest}, the host's is {host}")),
    }
}

/// True unless `clock` counts events, or jiffies, which are too coarse for probes.
pub(super) fn counts_time(clock: &str) -> bool {
    !matches!(clock, "counter" | "uptime")
}

#[cfg(test)]
mod tests {
    use super::incomparable;

    #[test]
    fn clocks_that_can_be_compared() {
        for (guest, host) in [("local", "local"), ("mono", "boot"), ("x86-tsc", "x86-tsc")] {
            assert_eq!(incomparable(guest, host), None);
        }
        for (guest, host) in [("counter", "counter"), ("uptime", "mono"), ("mono", "counter"), ("x86-tsc", "local")] {
            assert!(incomparable(guest, host).is_some(), "{guest} {host}");
        }
    }
}
