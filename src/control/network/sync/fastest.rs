//! The offset of two clocks from the stamps of probes.

use crate::control::network::wire::ProbeStamp;
use std::collections::HashMap;

/// One measurement of the agent's clock against the controller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::control::network) struct ClockMeasurement {
    /// The agent's time when it was made.
    pub(in crate::control::network) time: u64,
    /// To be added to the agent's times.
    pub(in crate::control::network) offset: i64,
    /// The most by which it can be wrong, if that is known.
    pub(in crate::control::network) error: Option<u64>,
}

/// The probe that was back first decides. `there` are the controller's stamps; `here` the agent's: when the probe left, when it
/// was back. `None` without a probe that all three know.
pub(super) fn fastest(here: &HashMap<u32, (u64, u64)>, there: &[ProbeStamp]) -> Option<ClockMeasurement> {
    let complete = there.iter().filter_map(|stamp| {
        let &(left, back) = here.get(&stamp.number)?;
        Some((left, back.checked_sub(left)?, stamp.time))
    });
    let (left, trip, time) = complete.min_by_key(|(_, trip, _)| *trip)?;
    let middle = left.wrapping_add(trip / 2);
    Some(ClockMeasurement {
        time: middle,
        offset: time.wrapping_sub(middle).cast_signed(),
        error: Some(trip.div_ceil(2)),
    })
}

/// The most by which the result of a series can be wrong, from the controller's `stamps` alone: a probe leaves after the one
/// before it was stamped, and is back before the next one is.
pub(super) fn bound(stamps: &[u64]) -> Option<u64> {
    let trips = stamps.windows(3).filter_map(|three| three[2].checked_sub(three[0]));
    // That of the fastest: its trip is not longer than the shortest of these.
    trips.min().map(|trip| trip.div_ceil(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fastest_probe_decides() {
        // The controller is 1,000 ahead; the way there takes 30 and back 10, then 5 and 5.
        let here = HashMap::from([(1, (100, 140)), (2, (200, 210)), (3, (300, 290))]);
        let stamp = |number: u32, time: u64| ProbeStamp { number, time };
        let there = [stamp(1, 1130), stamp(2, 1205), stamp(3, 1300), stamp(4, 1400)];
        assert_eq!(fastest(&here, &there), Some(ClockMeasurement { time: 205, offset: 1000, error: Some(5) }));
        let slow = fastest(&here, &there[..1]).unwrap();
        assert_eq!((slow.offset, slow.error), (1010, Some(20)));
        assert_eq!(fastest(&here, &there[2..]), None);
        // One that is behind.
        let behind = fastest(&HashMap::from([(1, (10_000, 10_003))]), &[stamp(1, 2)]).unwrap();
        assert_eq!((behind.offset, behind.error), (-9999, Some(2)));
    }

    #[test]
    fn a_bound_from_one_side() {
        assert_eq!(bound(&[10, 20, 31, 40, 62]), Some(10));
        assert_eq!(bound(&[10, 20]), None);
    }
}
