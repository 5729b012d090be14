//! The kinds of arguments, and one argument's text.

use super::constants;
use super::ioctl;
use super::kind::Kind;
use super::machine::Dialect;
use super::set::hex;
use crate::text::num;

impl Kind {
    /// The kind that `word` of the table of signatures stands for.
    pub(super) fn of(word: &str, dialect: Dialect) -> Option<Kind> {
        Some(match word {
            "fd" | "int" => Kind::Int,
            "uint" => Kind::UInt,
            "off" => Kind::Long,
            "size" => Kind::Size,
            "loff" => Kind::LongLong,
            "id" => Kind::Id,
            "ptr" => Kind::Pointer,
            "hex" | "flags" | "offset_hex" => Kind::Hex,
            "dirfd" => Kind::Directory,
            "mode" => Kind::Mode,
            "creat_mode" => Kind::CreatedMode,
            "fcntl_arg" => Kind::FcntlArgument,
            "futex_time" => Kind::FutexTime,
            "ioctl" => Kind::Ioctl,
            "sockopt" => Kind::SocketOption,
            set => Kind::Named(constants::set(set, dialect)?),
        })
    }

    /// The kind of an argument whose call is not in the table, by its C type.
    pub(super) fn of_type(type_name: &str) -> Kind {
        match type_name.trim_start_matches("const ") {
            pointer if pointer.contains('*') => Kind::Pointer,
            "int" | "pid_t" | "clockid_t" | "key_t" => Kind::Int,
            "unsigned int" | "unsigned" | "u32" => Kind::UInt,
            "uid_t" | "gid_t" => Kind::Id,
            "size_t" => Kind::Size,
            "long" | "off_t" | "loff_t" => Kind::Long,
            "umode_t" => Kind::Mode,
            _ => Kind::Hex,
        }
    }

    /// True if it is written as a number that programs can calculate with.
    pub(super) fn is_number(self) -> bool {
        matches!(self, Kind::Int | Kind::UInt | Kind::Long | Kind::Size | Kind::LongLong | Kind::Id)
    }

    /// Appends the `nth` of `args`, each as wide as a `long` of `long_size` bytes.
    pub(super) fn write(self, args: &[u64], nth: usize, dialect: Dialect, long_size: u8, out: &mut Vec<u8>) {
        let value = args.get(nth).copied().unwrap_or_default();
        let before = |by: usize| nth.checked_sub(by).and_then(|at| args.get(at)).copied().unwrap_or_default();
        let int = value as u32 as i32;
        match self {
            Kind::Int => num::signed(out, int.into()),
            Kind::Id if int == -1 => out.extend_from_slice(b"-1"),
            Kind::UInt | Kind::Id => num::dec(out, u64::from(value as u32)),
            Kind::Long | Kind::LongLong if long_size == 4 => num::signed(out, int.into()),
            Kind::Long | Kind::LongLong => num::signed(out, value as i64),
            Kind::Size => num::dec(out, value),
            Kind::Pointer if value == 0 => out.extend_from_slice(b"NULL"),
            Kind::Hex if value == 0 => out.push(b'0'),
            Kind::Pointer | Kind::Hex => hex(value, out),
            Kind::Directory if int == AT_FDCWD => out.extend_from_slice(b"AT_FDCWD"),
            Kind::Directory => num::signed(out, int.into()),
            Kind::Mode | Kind::CreatedMode => octal(value & 0xffff, out),
            Kind::FcntlArgument => match constants::fcntl_argument(before(1), dialect) {
                Some(kind) => kind.write(args, nth, dialect, long_size, out),
                None => Kind::Hex.write(args, nth, dialect, long_size, out),
            },
            Kind::FutexTime => match before(1) & 0x7f {
                // FUTEX_REQUEUE, FUTEX_CMP_REQUEUE, FUTEX_WAKE_OP, FUTEX_CMP_REQUEUE_PI: a number of tasks.
                3..=5 | 12 => num::dec(out, u64::from(value as u32)),
                _ => Kind::Pointer.write(args, nth, dialect, long_size, out),
            },
            Kind::Ioctl => ioctl::write(value & 0xffff_ffff, dialect, out),
            Kind::SocketOption => constants::socket_option(before(1)).write(value & 0xffff_ffff, out),
            // Flags that are wider are so on 64 bits only; the upper half of an `int` may hold anything.
            Kind::Named(set) => set.write(value & 0xffff_ffff, out),
        }
    }
}

/// include/uapi/linux/fcntl.h.
const AT_FDCWD: i32 = -100;

/// Appends `0644`.
pub(super) fn octal(value: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(format!("0{value:03o}").as_bytes());
}
