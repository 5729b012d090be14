//! The result of a call.

use super::argument::octal;
use super::set::hex;
use crate::base::text::num;
use crate::kernel::print_fmt::error_name;

/// Notation of a successful result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ResultKind {
    /// A signed number.
    #[default]
    Number,
    /// An address.
    Pointer,
    /// Permissions, octal.
    Mode,
}

/// The name of the error that a result stands for (`IS_ERR_VALUE()`, include/linux/err.h).
pub(super) fn error(result: i64) -> Option<&'static str> {
    if (-4095..0).contains(&result) { error_name(result) } else { None }
}

/// True for the errors that programs never see: the call is begun again, or ends with another one (include/linux/errno.h).
fn is_restart(result: i64) -> bool {
    (-516..=-512).contains(&result)
}

/// Appends `3`, `-1 ENOENT` or `? ERESTARTSYS`.
pub(super) fn write(result: i64, kind: ResultKind, out: &mut Vec<u8>) {
    if let Some(name) = error(result) {
        out.extend_from_slice(if is_restart(result) { b"? " } else { b"-1 " });
        out.extend_from_slice(name.as_bytes());
        return;
    }
    match kind {
        ResultKind::Number => num::signed(out, result),
        ResultKind::Pointer => hex(result as u64, out),
        ResultKind::Mode => octal(result as u64 & 0xffff, out),
    }
}
