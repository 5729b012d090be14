//! The result of a call.
//! Commands of ioctl: by name, else in their parts.

use super::constants;
use super::kind::{Dialect, ValueKind, hex};
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

// The kinds of arguments, and one argument's text.

impl ValueKind {
    /// The kind that `word` of the table of signatures stands for.
    pub(super) fn of(word: &str, dialect: Dialect) -> Option<ValueKind> {
        Some(match word {
            "fd" | "int" => ValueKind::Int,
            "uint" => ValueKind::UInt,
            "off" => ValueKind::Long,
            "size" => ValueKind::Size,
            "loff" => ValueKind::LongLong,
            "id" => ValueKind::Id,
            "ptr" => ValueKind::Pointer,
            "hex" | "flags" | "offset_hex" => ValueKind::Hex,
            "dirfd" => ValueKind::Directory,
            "mode" => ValueKind::Mode,
            "creat_mode" => ValueKind::CreatedMode,
            "fcntl_arg" => ValueKind::FcntlArgument,
            "futex_time" => ValueKind::FutexTime,
            "ioctl" => ValueKind::Ioctl,
            "sockopt" => ValueKind::SocketOption,
            set => ValueKind::Named(constants::set(set, dialect)?),
        })
    }

    /// The kind of an argument whose call is not in the table, by its C type.
    pub(super) fn of_type(type_name: &str) -> ValueKind {
        match type_name.trim_start_matches("const ") {
            pointer if pointer.contains('*') => ValueKind::Pointer,
            "int" | "pid_t" | "clockid_t" | "key_t" => ValueKind::Int,
            "unsigned int" | "unsigned" | "u32" => ValueKind::UInt,
            "uid_t" | "gid_t" => ValueKind::Id,
            "size_t" => ValueKind::Size,
            "long" | "off_t" | "loff_t" => ValueKind::Long,
            "umode_t" => ValueKind::Mode,
            _ => ValueKind::Hex,
        }
    }

    /// True if it is written as a number that programs can calculate with.
    pub(super) fn is_number(self) -> bool {
        matches!(
            self,
            ValueKind::Int | ValueKind::UInt | ValueKind::Long | ValueKind::Size | ValueKind::LongLong | ValueKind::Id
        )
    }

    /// Appends the `nth` of `args`, each as wide as a `long` of `long_size` bytes.
    pub(super) fn write(self, args: &[u64], nth: usize, dialect: Dialect, long_size: u8, out: &mut Vec<u8>) {
        let value = args.get(nth).copied().unwrap_or_default();
        let before = |by: usize| nth.checked_sub(by).and_then(|at| args.get(at)).copied().unwrap_or_default();
        let int = value as u32 as i32;
        match self {
            ValueKind::Int => num::signed(out, int.into()),
            ValueKind::Id if int == -1 => out.extend_from_slice(b"-1"),
            ValueKind::UInt | ValueKind::Id => num::dec(out, u64::from(value as u32)),
            ValueKind::Long | ValueKind::LongLong if long_size == 4 => num::signed(out, int.into()),
            ValueKind::Long | ValueKind::LongLong => num::signed(out, value as i64),
            ValueKind::Size => num::dec(out, value),
            ValueKind::Pointer if value == 0 => out.extend_from_slice(b"NULL"),
            ValueKind::Hex if value == 0 => out.push(b'0'),
            ValueKind::Pointer | ValueKind::Hex => hex(value, out),
            ValueKind::Directory if int == AT_FDCWD => out.extend_from_slice(b"AT_FDCWD"),
            ValueKind::Directory => num::signed(out, int.into()),
            ValueKind::Mode | ValueKind::CreatedMode => octal(value & 0xffff, out),
            ValueKind::FcntlArgument => match constants::fcntl_argument(before(1), dialect) {
                Some(kind) => kind.write(args, nth, dialect, long_size, out),
                None => ValueKind::Hex.write(args, nth, dialect, long_size, out),
            },
            ValueKind::FutexTime => match before(1) & 0x7f {
                // FUTEX_REQUEUE, FUTEX_CMP_REQUEUE, FUTEX_WAKE_OP, FUTEX_CMP_REQUEUE_PI: a number of tasks.
                3..=5 | 12 => num::dec(out, u64::from(value as u32)),
                _ => ValueKind::Pointer.write(args, nth, dialect, long_size, out),
            },
            ValueKind::Ioctl => write_command(value & 0xffff_ffff, dialect, out),
            ValueKind::SocketOption => constants::socket_option(before(1)).write(value & 0xffff_ffff, out),
            // Flags that are wider are so on 64 bits only; the upper half of an `int` may hold anything.
            ValueKind::Named(set) => set.write(value & 0xffff_ffff, out),
        }
    }
}

/// include/uapi/linux/fcntl.h.
const AT_FDCWD: i32 = -100;

/// Appends `0644`.
fn octal(value: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("0{value:03o}").as_bytes());
}

/// Commands that many programs use (include/uapi/asm-generic/ioctls.h, include/uapi/linux).
const NAMES: &[(u64, &str)] = &[
    (0x5401, "TCGETS"),
    (0x5402, "TCSETS"),
    (0x5403, "TCSETSW"),
    (0x5404, "TCSETSF"),
    (0x5409, "TCSBRK"),
    (0x540b, "TCFLSH"),
    (0x540e, "TIOCSCTTY"),
    (0x540f, "TIOCGPGRP"),
    (0x5410, "TIOCSPGRP"),
    (0x5413, "TIOCGWINSZ"),
    (0x5414, "TIOCSWINSZ"),
    (0x541b, "FIONREAD"),
    (0x5421, "FIONBIO"),
    (0x5422, "TIOCNOTTY"),
    (0x5429, "TIOCGSID"),
    (0x5450, "FIONCLEX"),
    (0x5451, "FIOCLEX"),
    (0x5452, "FIOASYNC"),
    (0x2400, "PERF_EVENT_IOC_ENABLE"),
    (0x2401, "PERF_EVENT_IOC_DISABLE"),
    (0x2403, "PERF_EVENT_IOC_RESET"),
    (0x4004_9409, "FICLONE"),
    (0x4020_940d, "FICLONERANGE"),
    (0x8008_6601, "FS_IOC_GETFLAGS"),
    (0x4008_6602, "FS_IOC_SETFLAGS"),
    (0xc020_660b, "FS_IOC_FIEMAP"),
    (0x8008_1272, "BLKGETSIZE64"),
    (0xae80, "KVM_RUN"),
];

/// Appends a command.
fn write_command(command: u64, dialect: Dialect, out: &mut Vec<u8>) {
    if dialect == Dialect::Powerpc {
        return hex(command, out); // numbered and divided otherwise
    }
    if let Some((_, name)) = NAMES.iter().find(|(named, _)| *named == command) {
        return out.extend_from_slice(name.as_bytes());
    }
    // include/uapi/asm-generic/ioctl.h: 2 bits of direction, 14 of size, 8 of type, 8 of number.
    let direction: &[u8] = match command >> 30 & 3 {
        0 => b"_IOC_NONE",
        1 => b"_IOC_WRITE",
        2 => b"_IOC_READ",
        _ => b"_IOC_READ|_IOC_WRITE",
    };
    out.extend_from_slice(b"_IOC(");
    out.extend_from_slice(direction);
    for part in [command >> 8 & 0xff, command & 0xff, command >> 16 & 0x3fff] {
        out.extend_from_slice(b", ");
        if part == 0 { num::dec(out, 0) } else { hex(part, out) }
    }
    out.push(b')');
}
