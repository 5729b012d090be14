//! The leaves of a program: one comparison each.
//! A boolean expression over tests, compiled to jumps.
//! Sources of a test's operand, and the data that the tests look at.

#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

use super::pattern::TextPattern;
use super::{CompareOp, CpuList};
use crate::base::abi::Abi;
use crate::base::text::plain::until_nul;
use crate::base::units::CpuId;
use crate::kernel::symbols::AddressNames;
use regex::bytes::Regex;
use std::io::Write;
use std::ops::Range;

/// Longest task name, NUL included (`TASK_COMM_LEN`).
const COMM_LEN: usize = 16;

/// One comparison, everything resolved.
#[derive(Debug)]
pub(super) enum ProgramTest {
    /// The kernel's comparison with a constant; `value` is as [`NumberAt::load`] gives it.
    Number { at: NumberAt, op: CompareOp, value: u64 },
    /// The CPU, compared as an `int`.
    Cpu { op: CompareOp, value: i32 },
    /// A number that is one CPU, compared with a set.
    CpuIn { at: Option<NumberAt>, op: CompareOp, list: CpuList },
    /// A set of CPUs in the record (longs of the recorded machine), compared with another.
    CpuMask { at: TextAt, op: CompareOp, list: CpuList },
    /// Text compared the kernel's way.
    Text { at: TextAt, pattern: TextPattern },
    /// The task's name compared the kernel's way.
    Comm { pattern: TextPattern },
    /// The address lies in a function.
    Within { at: NumberAt, function: Range<u64> },
    /// trace-cmd's comparison of two 64-bit unsigned numbers.
    Compare { left: ProgramNumber, op: CompareOp, right: ProgramNumber },
    /// trace-cmd's: the number is not 0.
    NonZero(ProgramNumber),
    /// trace-cmd's text comparison.
    Words { at: WordsAt, with: With },
}

/// A number of trace-cmd's language.
#[derive(Debug)]
pub(super) enum ProgramNumber {
    Const(u64),
    Cpu,
    Field(NumberAt),
    Calc(Box<(ProgramNumber, Calc, ProgramNumber)>),
}

/// Arithmetic of trace-cmd's language, on 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Calc {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Shl,
    Shr,
    And,
    Or,
    Xor,
}

/// Text of trace-cmd's language.
#[derive(Debug)]
pub(super) enum WordsAt {
    Comm,
    Text(TextAt),
    /// A number: its `0x` digits, or the function it points into.
    Number {
        at: NumberAt,
        named: bool,
    },
}

#[derive(Debug)]
pub(super) enum With {
    Equal(Vec<u8>),
    Regex(Regex),
}

impl ProgramTest {
    #[inline]
    fn holds(&self, subject: &Subject<'_>, abi: Abi) -> bool {
        let data = subject.data;
        match self {
            ProgramTest::Number { at, op, value } => {
                at.load(data, abi).is_some_and(|found| compare(*op, at.signed, found, *value))
            }
            ProgramTest::Text { at, pattern } => {
                at.load(data, abi).is_some_and(|text| pattern.fits(text) != pattern.negated)
            }
            ProgramTest::Comm { pattern } => pattern.fits(&padded(subject.comm)) != pattern.negated,
            ProgramTest::Cpu { op, value } => {
                *op != CompareOp::BitAnd
                    && compare(*op, true, i64::from(subject.cpu.0 as i32) as u64, *value as i64 as u64)
            }
            ProgramTest::CpuIn { at, op, list } => {
                let cpu = match at {
                    Some(at) => at.load(data, abi),
                    None => Some(subject.cpu.0.into()),
                };
                let Some(cpu) = cpu.and_then(|cpu| u32::try_from(cpu).ok()) else { return false };
                match op {
                    CompareOp::NotEqual => !(list.contains(cpu) && list.len() == 1),
                    CompareOp::Equal => list.contains(cpu) && list.len() == 1,
                    _ => list.contains(cpu),
                }
            }
            ProgramTest::CpuMask { at, op, list } => at.load(data, abi).is_some_and(|mask| {
                let cpus = (mask.len() as u32)
                    .saturating_mul(8)
                    .max(list.iter().last().map_or(0, |last| last.saturating_add(1)));
                let set = |cpu| mask_has(mask, abi, cpu);
                match op {
                    CompareOp::BitAnd => list.iter().any(set),
                    CompareOp::NotEqual => (0..cpus).any(|cpu| set(cpu) != list.contains(cpu)),
                    _ => (0..cpus).all(|cpu| set(cpu) == list.contains(cpu)),
                }
            }),
            ProgramTest::Within { at, function } => at.load(data, abi).is_some_and(|ip| function.contains(&ip)),
            ProgramTest::Compare { left, op, right } => match (left.value(subject, abi), right.value(subject, abi)) {
                (Some(left), Some(right)) => compare(*op, false, left, right),
                _ => false,
            },
            ProgramTest::NonZero(num) => num.value(subject, abi).is_some_and(|value| value != 0),
            ProgramTest::Words { at, with } => at.with(subject, abi, |text| match with {
                With::Equal(wanted) => text == wanted,
                With::Regex(regex) => regex.is_match(text),
            }),
        }
    }

    pub(super) fn needs_comm(&self) -> bool {
        matches!(self, ProgramTest::Comm { .. } | ProgramTest::Words { at: WordsAt::Comm, .. })
    }

    /// The end of what it looks at, if that is the record alone; of trace-cmd's tests that is not asked.
    fn reach(&self) -> Option<usize> {
        match self {
            ProgramTest::Number { at, .. }
            | ProgramTest::CpuIn { at: Some(at), .. }
            | ProgramTest::Within { at, .. } => Some(at.offset.saturating_add(at.size)),
            ProgramTest::CpuMask { .. } | ProgramTest::Text { .. } => Some(usize::MAX),
            ProgramTest::Cpu { .. } | ProgramTest::CpuIn { at: None, .. } | ProgramTest::Comm { .. } => None,
            ProgramTest::Compare { .. } | ProgramTest::NonZero(_) | ProgramTest::Words { .. } => None,
        }
    }
}

#[inline]
fn compare(op: CompareOp, signed: bool, left: u64, right: u64) -> bool {
    let less = if signed { (left as i64) < right as i64 } else { left < right };
    match op {
        CompareOp::Equal => left == right,
        CompareOp::NotEqual => left != right,
        CompareOp::Less => less,
        CompareOp::LessEqual => less || left == right,
        CompareOp::Greater => !less && left != right,
        CompareOp::GreaterEqual => !less,
        CompareOp::BitAnd => left & right != 0,
        CompareOp::Glob => false, // globs are text; no number test is built with it
    }
}

/// The task's name as the kernel keeps it: 16 bytes, NUL at the end.
fn padded(comm: &[u8]) -> [u8; COMM_LEN] {
    let mut field = [0; COMM_LEN];
    field.iter_mut().zip(comm).take(COMM_LEN - 1).for_each(|(to, byte)| *to = *byte);
    field
}

/// True if a mask made of the kernel's longs has the bit of `cpu`.
fn mask_has(mask: &[u8], abi: Abi, cpu: u32) -> bool {
    let long = usize::from(abi.long_size);
    let bits = (long as u32).saturating_mul(8);
    let (Some(word), Some(bit)) = (cpu.checked_div(bits), cpu.checked_rem(bits)) else { return false };
    abi.uint(mask, long.saturating_mul(word as usize), long).is_some_and(|word| word >> bit & 1 == 1)
}

impl ProgramNumber {
    fn value(&self, subject: &Subject<'_>, abi: Abi) -> Option<u64> {
        match self {
            ProgramNumber::Const(value) => Some(*value),
            ProgramNumber::Cpu => Some(subject.cpu.0.into()),
            ProgramNumber::Field(at) => at.load(subject.data, abi),
            ProgramNumber::Calc(calc) => {
                let (left, op, right) = &**calc;
                let (left, right) = (left.value(subject, abi)?, right.value(subject, abi)?);
                Some(match op {
                    Calc::Add => left.wrapping_add(right),
                    Calc::Sub => left.wrapping_sub(right),
                    Calc::Mul => left.wrapping_mul(right),
                    Calc::Div => left.checked_div(right)?,
                    Calc::Mod => left.checked_rem(right)?,
                    Calc::Shl => u32::try_from(right).ok().and_then(|by| left.checked_shl(by)).unwrap_or(0),
                    Calc::Shr => u32::try_from(right).ok().and_then(|by| left.checked_shr(by)).unwrap_or(0),
                    Calc::And => left & right,
                    Calc::Or => left | right,
                    Calc::Xor => left ^ right,
                })
            }
        }
    }
}

impl WordsAt {
    /// Calls `test` with the text; false if the record does not hold it.
    fn with(&self, subject: &Subject<'_>, abi: Abi, test: impl Fn(&[u8]) -> bool) -> bool {
        match self {
            WordsAt::Comm => test(subject.comm),
            WordsAt::Text(at) => at.load(subject.data, abi).is_some_and(|text| test(until_nul(text))),
            WordsAt::Number { at, named } => at.load(subject.data, abi).is_some_and(|address| {
                if let Some(name) = named.then(|| subject.names.function(address)).flatten() {
                    return test(name.as_bytes());
                }
                let mut hex = [0u8; 18];
                let mut rest = &mut hex[..];
                // 18 bytes hold `0x` and the 16 digits of any 64-bit number, so this cannot run short.
                let _ = write!(rest, "{address:#x}");
                let left = rest.len();
                let digits = hex.len().saturating_sub(left);
                test(hex.get(..digits).unwrap_or_default())
            }),
        }
    }
}

/// A compiled filter: decides over one event without allocating or looking anything up by name.
#[derive(Debug)]
pub struct FilterProgram {
    abi: Abi,
    entry: JumpTarget,
    steps: Vec<FilterStep>,
    reach: Option<usize>,
}

#[derive(Debug)]
struct FilterStep {
    test: ProgramTest,
    yes: JumpTarget,
    no: JumpTarget,
}

/// The next step, or an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JumpTarget {
    Step(u32),
    Match,
    Drop,
}

/// A boolean expression over tests.
#[derive(Debug)]
pub(super) enum ProgramTree {
    And(Vec<ProgramTree>),
    Or(Vec<ProgramTree>),
    Not(Box<ProgramTree>),
    Test(ProgramTest),
    Const(bool),
}

impl FilterProgram {
    pub(super) fn new(tree: ProgramTree, abi: Abi) -> Self {
        let mut steps = Vec::new();
        let entry = emit(tree, JumpTarget::Match, JumpTarget::Drop, &mut steps);
        let reach = steps.iter().try_fold(0, |reach, step| Some(step.test.reach()?.max(reach)));
        FilterProgram { abi, entry, steps, reach }
    }

    /// True if the event passes. A field beyond the end of its record compares as false.
    #[inline]
    pub fn matches(&self, subject: &Subject<'_>) -> bool {
        let mut at = self.entry;
        loop {
            match at {
                JumpTarget::Match => return true,
                JumpTarget::Drop => return false,
                // Every target was made from a step's place in `steps`, and a step leads only to earlier ones.
                JumpTarget::Step(i) => {
                    let Some(step) = self.steps.get(i as usize) else { return false };
                    at = if step.test.holds(subject, self.abi) { step.yes } else { step.no };
                }
            }
        }
    }

    /// True if it looks at [`Subject::comm`].
    pub fn needs_comm(&self) -> bool {
        self.steps.iter().any(|step| step.test.needs_comm())
    }

    /// The end of the part of [`Subject::data`] that decides; `None` if anything else has a say.
    pub fn reach(&self) -> Option<usize> {
        self.reach
    }
}

/// Emits `tree` from the back: each part is given where to go when it holds and when it does not.
fn emit(tree: ProgramTree, yes: JumpTarget, no: JumpTarget, steps: &mut Vec<FilterStep>) -> JumpTarget {
    match tree {
        ProgramTree::Const(true) => yes,
        ProgramTree::Const(false) => no,
        ProgramTree::Not(inner) => emit(*inner, no, yes, steps),
        ProgramTree::And(parts) => parts.into_iter().rev().fold(yes, |next, part| emit(part, next, no, steps)),
        ProgramTree::Or(parts) => parts.into_iter().rev().fold(no, |next, part| emit(part, yes, next, steps)),
        ProgramTree::Test(_) if yes == no => yes,
        ProgramTree::Test(test) => {
            let place = steps.len() as u32;
            steps.push(FilterStep { test, yes, no });
            JumpTarget::Step(place)
        }
    }
}

/// One event, as the filters see it.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The record, `common_type` first.
    pub data: &'a [u8],
    /// The CPU it happened on.
    pub cpu: CpuId,
    /// The name of the task it happened in, without NUL.
    pub comm: &'a [u8],
    /// Names of kernel addresses, for text comparisons with pointers in trace-cmd's language.
    pub names: &'a dyn AddressNames,
}

/// A number in the record's fixed part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NumberAt {
    pub(super) offset: usize,
    pub(super) size: usize,
    pub(super) signed: bool,
}

impl NumberAt {
    /// The number, sign-extended to 64 bits if it is signed; `None` outside the record or of no number's size.
    #[inline]
    fn load(self, data: &[u8], abi: Abi) -> Option<u64> {
        match self.signed {
            true => abi.int(data, self.offset, self.size).map(|v| v as u64),
            false => abi.uint(data, self.offset, self.size),
        }
    }

    /// `value` as it would come out of [`NumberAt::load`] after being stored: cut to the field's size.
    pub(super) fn cut(self, value: u64) -> u64 {
        let Some(shift) = u32::try_from(self.size).ok().and_then(|size| 64u32.checked_sub(size.checked_mul(8)?)) else {
            return value;
        };
        match (shift, self.signed) {
            (64, _) => 0,
            (_, true) => (((value << shift) as i64) >> shift) as u64,
            (_, false) => value << shift >> shift,
        }
    }
}

/// Text in the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextAt {
    /// These bytes of the fixed part.
    Fixed { offset: usize, size: usize },
    /// A `__data_loc` word is there.
    DataLoc { offset: usize },
    /// A `__rel_loc` word is there.
    RelLoc { offset: usize },
}

impl TextAt {
    /// All bytes of the text field, NUL and what follows included; `None` if they are not in the record.
    #[inline]
    fn load(self, data: &[u8], abi: Abi) -> Option<&[u8]> {
        let (start, len) = match self {
            TextAt::Fixed { offset, size: 0 } => (offset, data.len().checked_sub(offset)?),
            TextAt::Fixed { offset, size } => (offset, size),
            TextAt::DataLoc { offset } => location(data, abi, offset, 0)?,
            TextAt::RelLoc { offset } => location(data, abi, offset, offset.checked_add(4)?)?,
        };
        data.get(start..start.checked_add(len)?)
    }
}

/// Offset (from `base`) in the low, length in the high half of the word at `offset`.
fn location(data: &[u8], abi: Abi, offset: usize, base: usize) -> Option<(usize, usize)> {
    let word = abi.uint(data, offset, 4)? as usize;
    Some((base.checked_add(word & 0xffff)?, word >> 16))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::abi::Endian;

    const LE: Abi = Abi { endian: Endian::Little, long_size: 8 };

    #[test]
    fn numbers_are_cut_as_the_kernel_does() {
        let at = |size, signed| NumberAt { offset: 0, size, signed };
        assert_eq!(at(4, true).cut(4_294_967_416), 120);
        assert_eq!(at(4, true).cut(u64::MAX), u64::MAX);
        assert_eq!(at(4, false).cut(u64::MAX), u64::from(u32::MAX));
        assert_eq!(at(8, false).cut(u64::MAX), u64::MAX);
        assert_eq!(at(1, true).cut(0x80), (-128i64) as u64);
        assert_eq!(at(48, true).cut(5), 5);
        assert_eq!(at(2, true).load(&[0xff, 0xff], LE), Some(u64::MAX));
        assert_eq!(at(2, true).load(&[0xff], LE), None);
    }

    #[test]
    fn texts() {
        let data = [0, 0, 0, 0, 12, 0, 3, 0, 4, 0, 2, 0, b'h', b'i', 0, 0];
        assert_eq!(TextAt::DataLoc { offset: 4 }.load(&data, LE), Some(&b"hi\0"[..]));
        assert_eq!(TextAt::RelLoc { offset: 8 }.load(&data, LE), None, "runs past the end");
        assert_eq!(TextAt::RelLoc { offset: 4 }.load(&data[..], LE), None);
        assert_eq!(TextAt::Fixed { offset: 12, size: 4 }.load(&data, LE), Some(&b"hi\0\0"[..]));
        assert_eq!(TextAt::Fixed { offset: 12, size: 0 }.load(&data, LE), Some(&b"hi\0\0"[..]));
        assert_eq!(TextAt::Fixed { offset: 12, size: 5 }.load(&data, LE), None);
    }
}
