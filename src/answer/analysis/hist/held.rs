//! The events that the ring buffer would have held.

use super::super::map::Map;
use crate::base::units::{CpuId, Timestamp};

/// The events that triggers would have let into the ring buffer.
#[derive(Clone, Debug, Default)]
pub struct Held {
    /// By event id: the events seen, and those of them let in.
    events: Map<u16, (u64, u64)>,
    /// By CPU: its events in their order, a bit each.
    bits: Map<CpuId, Bits>,
    /// Times while which the ring buffer took events: begin and end.
    spans: Vec<(Timestamp, Timestamp)>,
    is_open: bool,
}

#[derive(Clone, Debug, Default)]
struct Bits {
    words: Vec<u64>,
    count: u64,
}

impl Held {
    pub(super) fn note(&mut self, id: u16, cpu: CpuId, time: Timestamp, is_held: bool, is_on: bool) {
        let counts = self.events.entry(id).or_default();
        counts.0 = counts.0.saturating_add(1);
        counts.1 = counts.1.saturating_add(is_held.into());
        let bits = self.bits.entry(cpu).or_default();
        let at = bits.count % 64;
        if at == 0 {
            bits.words.push(0);
        }
        if let Some(word) = bits.words.last_mut() {
            *word |= u64::from(is_held) << at;
        }
        bits.count = bits.count.saturating_add(1);
        let was_open = std::mem::replace(&mut self.is_open, is_on);
        match self.spans.last_mut() {
            Some(last) if was_open => last.1 = time,
            _ if is_on || is_held => self.spans.push((time, time)),
            _ => {}
        }
    }

    /// Event ids with the number of events seen, and of those let in; ascending.
    pub fn counts(&self) -> Vec<(u16, u64, u64)> {
        let mut counts: Vec<_> = self.events.iter().map(|(id, (seen, held))| (*id, *seen, *held)).collect();
        counts.sort_unstable();
        counts
    }

    /// True if the event with this number of a CPU, from 0, was let in.
    pub fn contains(&self, cpu: CpuId, number: u64) -> bool {
        let word = self.bits.get(&cpu).and_then(|bits| bits.words.get(usize::try_from(number / 64).ok()?));
        word.is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// The times at which tracing was on, from the first event there to the last one.
    pub fn spans(&self) -> &[(Timestamp, Timestamp)] {
        &self.spans
    }
}
