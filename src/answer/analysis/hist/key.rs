//! Keys of entries: their parts, and their bytes.

use super::moment::{TriggerEvent, put_stack};
use super::operand::TriggerOperand;
use crate::base::text::nul::until_nul;
use crate::kernel::event::FieldPlace;

/// A part of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum KeyColumn {
    Number(TriggerOperand),
    /// The power of two that the number is rounded up to (`hist_field_log2()`).
    Log2(TriggerOperand),
    /// The number rounded down to a multiple (`hist_field_bucket()`).
    Bucket(TriggerOperand, u64),
    /// Up to its NUL, or to as many bytes as the kernel keeps.
    Text {
        place: FieldPlace,
        longest: usize,
    },
    /// The name of the running task.
    Comm,
    /// The stack recorded with the event.
    Stack,
    /// A field that holds return addresses.
    StackField(FieldPlace),
}

/// A part of a key, read back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum KeyPartValue<'k> {
    Number(u64),
    Text(&'k [u8]),
    Stack(Vec<u64>),
}

impl KeyColumn {
    /// Appends the part's bytes: numbers as 8, texts and stacks with their length before them.
    #[inline]
    pub(super) fn put(&self, moment: &TriggerEvent<'_>, key: &mut Vec<u8>) {
        let number = match self {
            KeyColumn::Number(of) => of.value(moment, &[]),
            KeyColumn::Log2(of) => log2(of.value(moment, &[])),
            KeyColumn::Bucket(of, size) => {
                let value = of.value(moment, &[]);
                value.checked_div(*size).map_or(value, |whole| whole.wrapping_mul(*size))
            }
            KeyColumn::Text { place, longest } => {
                let text = until_nul(place.bytes(moment.abi, moment.data).unwrap_or_default());
                return put_text(text.get(..*longest).unwrap_or(text), key);
            }
            KeyColumn::Comm => return put_text(moment.comm(), key),
            KeyColumn::Stack => return put_counted(key, |key| moment.put_stack(key)),
            KeyColumn::StackField(place) => {
                let words = place.bytes(moment.abi, moment.data).unwrap_or_default();
                let words = without_count(moment, words);
                return put_counted(key, |key| put_stack(moment.abi, words, key));
            }
        };
        key.extend_from_slice(&number.to_le_bytes());
    }

    /// Takes the part off the front of a key.
    pub(super) fn take<'k>(&self, key: &mut &'k [u8]) -> KeyPartValue<'k> {
        match self {
            KeyColumn::Number(_) | KeyColumn::Log2(_) | KeyColumn::Bucket(..) => KeyPartValue::Number(take_number(key)),
            KeyColumn::Text { .. } | KeyColumn::Comm => KeyPartValue::Text(take_counted(key)),
            KeyColumn::Stack | KeyColumn::StackField(_) => {
                let mut words = take_counted(key);
                KeyPartValue::Stack((0..words.len() / 8).map(|_| take_number(&mut words)).collect())
            }
        }
    }
}

/// Synthetic events of the kernel hold the number of frames before the frames.
pub(super) fn without_count<'w>(moment: &TriggerEvent<'_>, words: &'w [u8]) -> &'w [u8] {
    let size = usize::from(moment.abi.long_size).max(1);
    let (Some(first), Some(rest)) = (moment.abi.uint(words, 0, size), words.get(size..)) else { return words };
    if first <= (rest.len() / size) as u64 { rest } else { words }
}

fn put_text(text: &[u8], key: &mut Vec<u8>) {
    put_counted(key, |key| key.extend_from_slice(text));
}

fn put_counted(key: &mut Vec<u8>, put: impl FnOnce(&mut Vec<u8>)) {
    let at = key.len();
    key.extend_from_slice(&[0; 4]);
    put(key);
    let count = u32::try_from(key.len().saturating_sub(at + 4)).unwrap_or(u32::MAX);
    if let Some(place) = key.get_mut(at..at + 4) {
        place.copy_from_slice(&count.to_le_bytes());
    }
}

fn take_number(key: &mut &[u8]) -> u64 {
    let Some((number, rest)) = key.split_first_chunk() else { return 0 };
    *key = rest;
    u64::from_le_bytes(*number)
}

fn take_counted<'k>(key: &mut &'k [u8]) -> &'k [u8] {
    let Some((count, rest)) = key.split_first_chunk() else { return &[] };
    let count = usize::try_from(u32::from_le_bytes(*count)).unwrap_or(usize::MAX).min(rest.len());
    let (bytes, rest) = rest.split_at(count);
    *key = rest;
    bytes
}

/// `ilog2(roundup_pow_of_two(value))`; beyond 2^63 that is 64, as on 6.12 (6.1 has 0).
fn log2(value: u64) -> u64 {
    value.checked_next_power_of_two().map_or(64, |power| u64::from(power.trailing_zeros()))
}

#[cfg(test)]
mod tests {
    use super::log2;

    #[test]
    fn powers_as_the_kernel_has_them() {
        assert_eq!([0, 1, 2, 3, 4, 5, 1024, 1025, 1 << 63, u64::MAX].map(log2), [0, 0, 1, 2, 2, 3, 10, 11, 63, 64]);
    }
}
