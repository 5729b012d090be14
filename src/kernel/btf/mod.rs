//! Internal. BTF: the types of a kernel's functions, as `/sys/kernel/btf/vmlinux` and a file's BTF section have them.
//!
//! Layout (Documentation/bpf/btf.rst, `include/uapi/linux/btf.h`; in kernels since Linux 5.2, those of modules since
//! 5.11): a header, types one after the other, and a block of NUL-terminated names. A type's number is its place, from
//! 1; 0 is `void`. The file of a module goes on where the kernel's ends: its first type has the number after the
//! kernel's last, and its names' offsets count from the end of the kernel's names.
//!
//! Only what prints a function's prototype or arguments is read: members of structs are stepped over.

#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

mod declare;
mod enumerators;
mod parse;
mod types;

#[cfg(test)]
mod tests;

pub use declare::{Function, Parameter};
pub use enumerators::Enumerators;
pub use parse::{Btf, Error};
pub use types::{Int, Type, TypeKind};
