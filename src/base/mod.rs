//! The ground: bytes, numbers, times, diagnostics, system calls.

pub mod abi;
pub(crate) mod lazy;
pub mod safe_file;
pub mod syntax;
pub(crate) mod sys;
pub(crate) mod text;
pub mod units;
pub(crate) mod varint;
pub mod wall_time;
