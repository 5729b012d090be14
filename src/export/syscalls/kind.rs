//! Kinds of arguments of system calls.
//! Named values and bits of a number.

use crate::base::text::num;

/// The kind of an argument: how its number is written.
#[derive(Clone, Copy, Debug)]
pub(super) enum ValueKind {
    /// A signed number of 32 bits: descriptors, process ids.
    Int,
    /// An unsigned number of 32 bits.
    UInt,
    /// A number as wide as the kernel's `long`.
    Long,
    /// Such a number without a sign: sizes.
    Size,
    /// `loff_t`: 64 bits, two registers where a `long` has 32.
    LongLong,
    /// A user or group; -1 is none.
    Id,
    /// An address; 0 is `NULL`.
    Pointer,
    /// A number in hexadecimal.
    Hex,
    /// A descriptor of a directory.
    Directory,
    /// The permissions of a file, octal.
    Mode,
    /// Permissions that count only if the flags before them create a file.
    CreatedMode,
    /// The last argument of fcntl, which depends on the one before.
    FcntlArgument,
    /// The timeout of futex, a number for some operations.
    FutexTime,
    /// The command of ioctl.
    Ioctl,
    /// The name of an option of a socket, which depends on the level before.
    SocketOption,
    /// Named values and bits.
    Named(Set),
}

/// Constants of a recording's architecture, as far as they differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// The architectures of asm-generic: riscv, s390, loongarch.
    #[default]
    Generic,
    /// As asm-generic, and what only x86 has.
    X86,
    /// arm and arm64: other bits for O_DIRECTORY and the like.
    Arm,
    /// Others for O_DIRECTORY, mmap and ioctl.
    Powerpc,
}

/// Names for the values of some bits of a number, and for each of the others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Set {
    /// The bits that `values` names together; 0 if each bit has a name of its own.
    pub(super) mask: u64,
    /// Names of values; without a mask the one of 0 stands for no bit.
    pub(super) values: &'static [(u64, &'static str)],
    /// Names of bits; of several that fit the first, so that those of more bits come first.
    pub(super) bits: &'static [(u64, &'static str)],
}

impl Set {
    /// A set of values, of which a number has one.
    pub(super) const fn values(values: &'static [(u64, &'static str)]) -> Set {
        Set { mask: u64::MAX, values, bits: &[] }
    }

    /// A set of bits.
    pub(super) const fn bits(bits: &'static [(u64, &'static str)]) -> Set {
        Set { mask: 0, values: &[], bits }
    }

    /// Appends the names of `value`, as in `O_RDWR|O_CLOEXEC|0x800000`. A value without a name is a number.
    pub(super) fn write(&self, value: u64, out: &mut Vec<u8>) {
        let start = out.len();
        let low = value & self.mask;
        let named = self.values.iter().find(|(named, _)| *named == low && (self.mask != 0 || value == 0));
        match named {
            Some((_, name)) => out.extend_from_slice(name.as_bytes()),
            None if self.mask == u64::MAX => num::signed(out, i64::from(low as u32 as i32)),
            None if low != 0 => hex(low, out),
            None => {}
        }
        let mut rest = value & !self.mask;
        for (bits, name) in self.bits {
            if *bits != 0 && rest & bits == *bits {
                separate(start, out);
                out.extend_from_slice(name.as_bytes());
                rest &= !bits;
            }
        }
        if rest != 0 {
            separate(start, out);
            hex(rest, out);
        }
        if out.len() == start {
            out.push(b'0');
        }
    }
}

fn separate(start: usize, out: &mut Vec<u8>) {
    if out.len() > start {
        out.push(b'|');
    }
}

/// Appends `0x1f`.
pub(super) fn hex(value: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(b"0x");
    num::hex(out, value);
}
