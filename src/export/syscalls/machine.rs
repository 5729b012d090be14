//! System call details that differ between architectures.

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
