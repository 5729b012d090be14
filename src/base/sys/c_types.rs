//! Numbers of the C library that are narrower on 32-bit machines. Generic functions convert them: a conversion by name is one to the
//! same type elsewhere.

use nix::sys::statvfs::Statvfs;

/// A number as wide as it is on 64-bit machines.
pub(crate) fn wide<W>(number: impl Into<W>) -> W {
    number.into()
}

/// A number as the C library takes it; `None` if it has no room for it.
pub(super) fn narrow<N: TryFrom<i64>>(number: i64) -> Option<N> {
    N::try_from(number).ok()
}

/// Bytes that can still be written to a file system.
pub(crate) fn free_bytes(disk: &Statvfs) -> u64 {
    wide::<u64>(disk.blocks_available()).saturating_mul(wide(disk.fragment_size()))
}
