//! Names of constants (include/uapi), by the words of the table of signatures.

mod files;
mod kernel;
mod memory;
mod sockets;
mod tasks;

use super::kind::ValueKind;
use super::machine::Dialect;
use super::set::Set;
pub(super) use sockets::socket_option;

/// The set of this name with the values of an architecture.
pub(super) fn set(name: &str, dialect: Dialect) -> Option<Set> {
    let of_dialect = || files::of_dialect(name, dialect).or_else(|| memory::of_dialect(name, dialect));
    of_dialect().or_else(|| {
        let tables = [files::SETS, memory::SETS, sockets::SETS, tasks::SETS, kernel::SETS];
        tables.iter().copied().flatten().find(|(named, _)| *named == name).map(|(_, set)| *set)
    })
}

/// The kind of fcntl's argument after the command `command`.
pub(super) fn fcntl_argument(command: u64, dialect: Dialect) -> Option<ValueKind> {
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
