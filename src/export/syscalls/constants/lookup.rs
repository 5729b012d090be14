//! Sets of names by their word in the table of signatures.

use super::{files, kernel, memory, sockets, tasks};
use crate::export::syscalls::kind::ValueKind;
use crate::export::syscalls::machine::Dialect;
use crate::export::syscalls::set::Set;

/// The set of this name with the values of an architecture.
pub(in crate::export::syscalls) fn set(name: &str, dialect: Dialect) -> Option<Set> {
    let of_dialect = || files::of_dialect(name, dialect).or_else(|| memory::of_dialect(name, dialect));
    of_dialect().or_else(|| {
        let tables = [files::SETS, memory::SETS, sockets::SETS, tasks::SETS, kernel::SETS];
        tables.iter().copied().flatten().find(|(named, _)| *named == name).map(|(_, set)| *set)
    })
}

/// The kind of fcntl's argument after the command `command`.
pub(in crate::export::syscalls) fn fcntl_argument(command: u64, dialect: Dialect) -> Option<ValueKind> {
    const F_DUPFD: u64 = 0;
    const F_SETFD: u64 = 2;
    const F_SETFL: u64 = 4;
    Some(match command & 0xffff_ffff {
        F_DUPFD | 1030 => ValueKind::Int,
        F_SETFD => ValueKind::Named(files::FD_FLAGS),
        F_SETFL => ValueKind::Named(set("open", dialect)?),
        1031 => ValueKind::Int,
        1033 => ValueKind::Named(files::SEALS),
        5..=7 | 12..=16 | 36..=38 => ValueKind::Pointer,
        _ => return None,
    })
}
