//! Names for numbers: kernel addresses, trace_printk strings and task names, each parsed from the text the kernel gives;
//! addresses of user space, from memory maps and the files that were mapped.

#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

mod arguments;
mod comms;
mod filter;
mod functions;
mod kallsyms;
mod last_boot;
mod printk;
mod user;

use crate::btf::Enumerators;
pub(crate) use arguments::{Arguments, Passed};
pub use comms::Comms;
pub(crate) use comms::{CommName, UNKNOWN};
pub use functions::KernelFunctions;
pub use kallsyms::{Kallsyms, Symbol};
pub use last_boot::{AsOfLastBoot, LastBoot};
pub use printk::PrintkFormats;
use std::sync::Arc;
pub use user::{ObjectFiles, Unnamed, UserSymbol, UserSymbols};

/// Everything a recording says of names outside of its format files. Immutable once read; what is learnt while printing
/// lies in [`event::PrintState`](crate::event::PrintState).
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
