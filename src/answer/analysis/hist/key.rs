//! Keys of entries: their parts, and their bytes.
//! The events that the ring buffer would have held.
//! Numbers of an event, and what is calculated of them.
//! One event on which triggers fire.

use super::table::VariableValue;
use crate::answer::analysis::interface::Map;
use crate::base::abi::Abi;
use crate::base::text::plain::until_nul;
use crate::base::units::{CpuId, Pid, Timestamp};
use crate::kernel::event::FieldPlace;
use crate::kernel::symbols::Comms;
use crate::language::hist::spec::BinaryOp;

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
                return put_counted(key, |key| moment.put_words(words, key));
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

/// A number, as the kernel calculates it: unsigned, of 64 bits, wrapping.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TriggerOperand {
    Constant(u64),
    /// A field of 1, 2, 4 or 8 bytes, extended by its sign.
    Field {
        offset: usize,
        size: usize,
        signed: bool,
    },
    Cpu,
    /// The event's time, perhaps in microseconds (`ns2usecs()` rounds).
    Time {
        usecs: bool,
    },
    /// The value that a variable had: index into the trigger's references.
    Variable(usize),
    Negative(Box<TriggerOperand>),
    Binary(BinaryOp, Box<(TriggerOperand, TriggerOperand)>),
}

impl TriggerOperand {
    /// The number. `variables` are the values of the trigger's references.
    #[inline]
    pub(super) fn value(&self, moment: &TriggerEvent<'_>, variables: &[VariableValue]) -> u64 {
        match self {
            TriggerOperand::Constant(number) => *number,
            TriggerOperand::Field { offset, size, signed: true } => {
                moment.abi.int(moment.data, *offset, *size).unwrap_or(0) as u64
            }
            TriggerOperand::Field { offset, size, signed: false } => {
                moment.abi.uint(moment.data, *offset, *size).unwrap_or(0)
            }
            TriggerOperand::Cpu => moment.cpu.0.into(),
            TriggerOperand::Time { usecs: false } => moment.time,
            TriggerOperand::Time { usecs: true } => moment.time.wrapping_add(500) / 1000,
            TriggerOperand::Variable(at) => variables.get(*at).map_or(0, VariableValue::number),
            TriggerOperand::Negative(of) => of.value(moment, variables).wrapping_neg(),
            TriggerOperand::Binary(op, both) => {
                let (left, right) = (both.0.value(moment, variables), both.1.value(moment, variables));
                match (op, &both.1) {
                    (BinaryOp::Div, TriggerOperand::Constant(_)) => divided_by_constant(left, right),
                    _ => calculated(*op, left, right),
                }
            }
        }
    }
}

/// Two numbers, as the kernel calculates with them.
pub(super) fn calculated(op: BinaryOp, left: u64, right: u64) -> u64 {
    match op {
        BinaryOp::Add => left.wrapping_add(right),
        BinaryOp::Sub => left.wrapping_sub(right),
        BinaryOp::Mul => left.wrapping_mul(right),
        BinaryOp::Div => left.checked_div(right).unwrap_or(u64::MAX),
    }
}

/// A number by a constant, as the kernel divides since Linux 5.16 (`div_by_mult_and_shift()`): times the 20 bits of the
/// reciprocal, rounded up. That is one more than the quotient for some numbers below 2^20: 100/3 is 34.
fn divided_by_constant(left: u64, right: u64) -> u64 {
    const ONE: u64 = 1 << 20;
    match ONE.checked_div(right) {
        Some(reciprocal) if !right.is_power_of_two() && right <= ONE && left < ONE => {
            left.wrapping_mul(reciprocal).wrapping_add(ONE.wrapping_sub(1)) >> 20
        }
        _ => calculated(BinaryOp::Div, left, right),
    }
}

/// An event of the recording, or a synthetic one that a trigger fired.
#[derive(Clone, Copy)]
pub(super) struct TriggerEvent<'e> {
    /// Byte order and word size of its data.
    pub(super) abi: Abi,
    pub(super) data: &'e [u8],
    /// In the clock's unit.
    pub(super) time: u64,
    pub(super) cpu: CpuId,
    /// The task that was running.
    pub(super) task: Pid,
    /// Return addresses recorded with the event, as the record holds them; empty if there are none.
    pub(super) stack: &'e [u8],
    /// Most frames of a stack in a key or a variable.
    pub(super) frames: usize,
    pub(super) comms: &'e Comms,
}

impl TriggerEvent<'_> {
    /// The name of the task; empty if it is not known.
    pub(super) fn comm(&self) -> &[u8] {
        if self.task.0 == 0 { b"swapper" } else { self.comms.get(self.task).unwrap_or_default() }
    }

    /// Appends the recorded return addresses, as [`TriggerEvent::put_words`] has them.
    pub(super) fn put_stack(&self, out: &mut Vec<u8>) {
        self.put_words(self.stack, out);
    }

    /// Appends return addresses as numbers of 8 bytes, least significant first; ends where a kernel's stack ends.
    pub(super) fn put_words(&self, words: &[u8], out: &mut Vec<u8>) {
        put_stack(self.abi, self.frames, words, out);
    }
}

fn put_stack(abi: Abi, frames: usize, words: &[u8], out: &mut Vec<u8>) {
    let size = usize::from(abi.long_size).max(1);
    let end = u64::MAX >> 64u32.saturating_sub(u32::from(abi.long_size).saturating_mul(8)).min(63);
    let addresses = words.chunks_exact(size).map(|word| abi.uint(word, 0, size).unwrap_or(0));
    for address in addresses.take_while(|address| *address != 0 && *address != end).take(frames) {
        out.extend_from_slice(&address.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::{divided_by_constant, log2};

    #[test]
    fn quotients_of_constants_as_the_kernel_has_them() {
        let of_3 =
            [0, 1, 3, 99, 100, 101, 120, 139, (1 << 20) - 1, 1 << 20].map(|number| divided_by_constant(number, 3));
        assert_eq!(of_3, [0, 1, 1, 33, 34, 34, 40, 47, 349_525, 349_525]);
        assert_eq!([(100, 8), (7, 0), (7, (1 << 20) + 1)].map(|(a, b)| divided_by_constant(a, b)), [12, u64::MAX, 0]);
    }

    #[test]
    fn powers_as_the_kernel_has_them() {
        assert_eq!([0, 1, 2, 3, 4, 5, 1024, 1025, 1 << 63, u64::MAX].map(log2), [0, 0, 1, 2, 2, 3, 10, 11, 63, 64]);
    }
}
