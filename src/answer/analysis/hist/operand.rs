//! Numbers of an event, and what is calculated of them.

use super::moment::TriggerEvent;
use super::table::VariableValue;
use crate::language::hist::spec::BinaryOp;

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
                match op {
                    BinaryOp::Add => left.wrapping_add(right),
                    BinaryOp::Sub => left.wrapping_sub(right),
                    BinaryOp::Mul => left.wrapping_mul(right),
                    BinaryOp::Div => left.checked_div(right).unwrap_or(u64::MAX),
                }
            }
        }
    }
}
