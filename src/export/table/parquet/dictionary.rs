//! The different values of a column chunk, by the order in which they came first.

use foldhash::fast::RandomState;
use std::hash::BuildHasher;

/// Number of different values above which pages hold their values themselves.
const MOST: usize = 1 << 15;
/// The same in bytes of text.
const MOST_BYTES: usize = 1 << 20;

/// A dictionary of numbers: a hash table with open addressing.
pub(super) struct NumberDictionary {
    pub(super) values: Vec<u64>,
    /// The index of a value, plus one; 0 is free. Its length is a power of two, at least twice the number of values.
    slots: Vec<u32>,
    /// Odd, and another one each time: values of a recording cannot be chosen to share a slot.
    factor: u64,
}

impl NumberDictionary {
    pub(super) fn new() -> Self {
        NumberDictionary { values: Vec::new(), slots: vec![0; 16], factor: RandomState::default().hash_one(0) | 1 }
    }

    /// The index of the value, which is added if it is new.
    #[inline]
    pub(super) fn index(&mut self, value: u64) -> u32 {
        let mut slot = self.slot(value);
        while let Some(index) = self.slots[slot].checked_sub(1) {
            if self.values[index as usize] == value {
                return index;
            }
            slot = (slot + 1) & (self.slots.len() - 1);
        }
        self.add(value, slot)
    }

    /// The slot at which a value is looked for first.
    #[inline]
    fn slot(&self, value: u64) -> usize {
        (value.wrapping_mul(self.factor) >> (u64::BITS - self.slots.len().trailing_zeros())) as usize
    }

    #[cold]
    fn add(&mut self, value: u64, slot: usize) -> u32 {
        self.values.push(value);
        self.slots[slot] = self.values.len() as u32;
        if self.values.len() * 2 > self.slots.len() {
            self.grow();
        }
        self.values.len() as u32 - 1
    }

    fn grow(&mut self) {
        let len = self.slots.len() * 4;
        self.slots.clear();
        self.slots.resize(len, 0);
        for (index, value) in self.values.iter().enumerate() {
            let mut slot = self.slot(*value);
            while self.slots[slot] != 0 {
                slot = (slot + 1) & (len - 1);
            }
            self.slots[slot] = index as u32 + 1;
        }
    }

    /// The values of these indices, each once.
    pub(super) fn named_by(&self, indices: &[u32]) -> Vec<u64> {
        let mut is_there = vec![false; self.values.len()];
        indices.iter().for_each(|index| is_there[*index as usize] = true);
        self.values.iter().zip(is_there).filter(|(_, is_there)| *is_there).map(|(value, _)| *value).collect()
    }

    pub(super) fn is_full(&self) -> bool {
        self.values.len() > MOST
    }
}

/// A dictionary of texts or bytes: a hash table as that of [`NumberDictionary`].
pub(super) struct Texts {
    /// All of them, each after its length in four bytes.
    pub(super) plain: Vec<u8>,
    /// Begin and end of each in `plain`.
    places: Vec<(usize, usize)>,
    slots: Vec<u32>,
    hash: RandomState,
    last: u32,
}

impl Texts {
    pub(super) fn new() -> Self {
        Texts { plain: Vec::new(), places: Vec::new(), slots: vec![0; 16], hash: RandomState::default(), last: 0 }
    }

    /// The index of the value, which is added if it is new.
    #[inline]
    pub(super) fn index(&mut self, value: &[u8]) -> u32 {
        if self.places.get(self.last as usize).is_some_and(|(from, to)| self.plain[*from..*to] == *value) {
            return self.last;
        }
        self.last = self.find(value);
        self.last
    }

    fn find(&mut self, value: &[u8]) -> u32 {
        let mask = self.slots.len() - 1;
        let mut slot = self.hash.hash_one(value) as usize & mask;
        while let Some(index) = self.slots[slot].checked_sub(1) {
            let (from, to) = self.places[index as usize];
            if self.plain[from..to] == *value {
                return index;
            }
            slot = (slot + 1) & mask;
        }
        self.plain.extend_from_slice(&(value.len() as u32).to_le_bytes());
        self.plain.extend_from_slice(value);
        self.places.push((self.plain.len() - value.len(), self.plain.len()));
        let index = self.places.len() as u32;
        self.slots[slot] = index;
        if self.places.len() * 2 > self.slots.len() {
            self.grow();
        }
        index - 1
    }

    fn grow(&mut self) {
        self.slots = vec![0; self.slots.len() * 4];
        let mask = self.slots.len() - 1;
        for (index, (from, to)) in self.places.iter().enumerate() {
            let mut slot = self.hash.hash_one(&self.plain[*from..*to]) as usize & mask;
            while self.slots[slot] != 0 {
                slot = (slot + 1) & mask;
            }
            self.slots[slot] = index as u32 + 1;
        }
    }

    /// The least and the largest of the values of these indices: each value is compared once, however often it comes.
    pub(super) fn ends(&self, indices: &[u32]) -> Option<(&[u8], &[u8])> {
        let mut is_there = vec![false; self.places.len()];
        indices.iter().for_each(|index| is_there[*index as usize] = true);
        let there = self.places.iter().zip(is_there).filter(|(_, is_there)| *is_there);
        let mut values = there.map(|((from, to), _)| &self.plain[*from..*to]);
        let first = values.next()?;
        Some(values.fold((first, first), |(least, largest), value| (least.min(value), largest.max(value))))
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn is_full(&self) -> bool {
        self.places.len() > MOST || self.plain.len() > MOST_BYTES
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn indices_are_in_the_order_of_first_values() {
        let mut numbers = NumberDictionary::new();
        let values = (0..100_000u64).map(|at| at * at % 40_009);
        let mut expected = HashMap::new();
        for value in values {
            let next = expected.len() as u32;
            assert_eq!(numbers.index(value), *expected.entry(value).or_insert(next));
        }
        assert!(numbers.values.iter().enumerate().all(|(index, value)| expected[value] == index as u32));
        assert_eq!((numbers.values[0], NumberDictionary::new().index(0)), (0, 0));

        let mut texts = Texts::new();
        let found: Vec<u32> = ["", "a", "", "b", "a", "a"].iter().map(|text| texts.index(text.as_bytes())).collect();
        assert_eq!(found, [0, 1, 0, 2, 1, 1]);
        assert_eq!(texts.plain, b"\0\0\0\0\x01\0\0\0a\x01\0\0\0b");
        assert_eq!(texts.ends(&[1, 2, 1]), Some((&b"a"[..], &b"b"[..])));
        assert_eq!((texts.ends(&[0]), texts.ends(&[])), (Some((&b""[..], &b""[..])), None));
        let many: Vec<u32> = (0..2000).map(|value| texts.index(format!("t{}", value % 1000).as_bytes())).collect();
        assert!(many.iter().enumerate().all(|(at, index)| *index == 3 + at as u32 % 1000));
    }
}
