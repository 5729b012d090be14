//! Which events are worth looking at.

use crate::abi::Abi;

/// Drops records by their event's id, before they are merged: a selective filter then costs little more than walking
/// the pages.
#[derive(Clone, Debug)]
pub struct Sieve {
    abi: Abi,
    /// A bit per id.
    ids: Box<[u64; 1024]>,
}

impl Sieve {
    /// Lets the records of these events pass, which have their id in the first two bytes.
    pub fn new(abi: Abi, ids: impl IntoIterator<Item = u16>) -> Self {
        let mut bits = Box::new([0; 1024]);
        for id in ids {
            bits[usize::from(id >> 6)] |= 1 << (id & 63);
        }
        Sieve { abi, ids: bits }
    }

    /// Whether the record passes. One that is too short for an id has id 0.
    #[inline(always)]
    pub(crate) fn passes(&self, record: Option<&[u8]>) -> bool {
        let id = record.and_then(|r| r.first_chunk::<2>()).map_or(0, |id| self.abi.u16(*id));
        self.ids[usize::from(id >> 6)] >> (id & 63) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_what_is_named() {
        let sieve = Sieve::new(Abi::HOST, [0, 63, 64, 65535]);
        let passing = (0..=u16::MAX).filter(|id| sieve.passes(Some(&id.to_ne_bytes())));
        assert_eq!(passing.collect::<Vec<_>>(), [0, 63, 64, 65535]);
        assert!(sieve.passes(Some(&[1])) && sieve.passes(None) && !sieve.passes(Some(&[1, 0, 0])));
    }
}
