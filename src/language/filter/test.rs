//! The leaves of a program: one comparison each.

#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

use super::pattern::TextPattern;
use super::source::{NumberAt, Subject, TextAt};
use super::{CompareOp, CpuList};
use crate::base::abi::Abi;
use crate::base::text::nul::until_nul;
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
    pub(super) fn holds(&self, subject: &Subject<'_>, abi: Abi) -> bool {
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
