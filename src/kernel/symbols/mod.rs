//! Names for numbers: kernel addresses, trace_printk strings and task names, each parsed from the text the kernel gives;
//! addresses of user space, from memory maps and the files that were mapped.

#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

mod addresses;
mod arguments;
mod comms;
mod functions;
mod kallsyms;
mod last_boot;
mod printk;
mod recorded;
mod user;

pub use addresses::{AddressNames, FunctionAddresses};
pub(crate) use arguments::{FunctionArguments, Passed};
pub use comms::Comms;
pub(crate) use comms::{CommName, UNKNOWN};
pub use functions::KernelFunctions;
pub use kallsyms::{Kallsyms, Symbol};
pub use last_boot::{AsOfLastBoot, LastBoot};
pub use printk::PrintkFormats;
pub use recorded::Symbols;
pub use user::{Mapping, ObjectFiles, ProcessMap, Unnamed, UserSymbol, UserSymbols};
