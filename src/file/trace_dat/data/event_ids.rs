//! Set of event ids; records of other events are dropped before merging.

use crate::base::abi::Abi;

/// Drops records by their event's id, before they are merged: a selective filter then costs little more than walking
/// the pages.
#[derive(Clone, Debug)]
pub struct EventIdSet {
    abi: Abi,
    /// A bit per id.
    ids: Box<[u64; 1024]>,
    keeps_losses: bool,
}

impl EventIdSet {
    /// Lets the records of these events pass, which have their id in the first two bytes.
    pub fn new(abi: Abi, ids: impl IntoIterator<Item = u16>) -> Self {
        let mut bits = Box::new([0; 1024]);
        for id in ids {
            if let Some(word) = bits.get_mut(usize::from(id >> 6)) {
                *word |= 1 << (id & 63);
            }
        }
        EventIdSet { abi, ids: bits, keeps_losses: false }
    }

    /// The same, which also lets pass whatever record follows a loss.
    pub fn keeping_losses(self) -> Self {
        EventIdSet { keeps_losses: true, ..self }
    }

    /// True if records that follow a loss pass.
    #[inline(always)]
    pub(crate) fn keeps_losses(&self) -> bool {
        self.keeps_losses
    }

    /// True if the record passes. One that is too short for an id has id 0.
    #[inline(always)]
    pub(crate) fn passes(&self, record: Option<&[u8]>) -> bool {
        let id = record.and_then(|r| r.first_chunk::<2>()).map_or(0, |id| self.abi.u16(*id));
        self.contains(id)
    }

    /// True if the event is one of them.
    #[inline(always)]
    pub fn contains(&self, id: u16) -> bool {
        self.ids.get(usize::from(id >> 6)).is_some_and(|word| word >> (id & 63) & 1 == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_what_is_named() {
        let sieve = EventIdSet::new(Abi::HOST, [0, 63, 64, 65535]);
        let passing = (0..=u16::MAX).filter(|id| sieve.passes(Some(&id.to_ne_bytes())));
        assert_eq!(passing.collect::<Vec<_>>(), [0, 63, 64, 65535]);
        assert!(sieve.passes(Some(&[1])) && sieve.passes(None) && !sieve.passes(Some(&[1, 0, 0])));
    }
}
