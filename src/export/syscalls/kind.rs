//! Kinds of arguments of system calls.

use super::set::Set;

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
