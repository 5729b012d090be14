//! All names of a recording.

use super::comms::Comms;
use super::functions::KernelFunctions;
use super::kallsyms::Kallsyms;
use super::printk::PrintkFormats;
use super::user::UserSymbols;
use crate::kernel::btf::Enumerators;
use std::sync::Arc;

/// Everything a recording says of names outside of its format files. Immutable once read; what is learnt while printing
/// lies in [`event::PrintState`](crate::kernel::event::PrintState).
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    /// `/proc/kallsyms` of the recorded kernel.
    pub kallsyms: Kallsyms,
    /// `printk_formats`: the addresses of constant strings.
    pub printk: PrintkFormats,
    /// `saved_cmdlines`: what the tasks were called.
    pub comms: Comms,
    /// Names for addresses of user space, if they are wanted.
    pub user: Option<Arc<UserSymbols>>,
    /// The kernel's BTF: what functions take.
    pub functions: KernelFunctions,
    /// Values of the names that the kernel left in its print formats.
    pub enumerators: Enumerators,
}
