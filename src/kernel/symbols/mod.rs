//! Names for numbers: kernel addresses, trace_printk strings and task names, each parsed from the text the kernel gives;
//! addresses of user space, from memory maps and the files that were mapped.

#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects, clippy::indexing_slicing))]

mod addresses;
mod comms;
mod kallsyms;
mod last_boot;
mod user;

pub use addresses::{AddressNames, FunctionAddresses, KernelFunctions, PrintkFormats, Symbols};
pub(crate) use addresses::{FunctionArguments, Passed};
pub use comms::Comms;
pub(crate) use comms::{CommName, UNKNOWN};
pub use kallsyms::{Kallsyms, Symbol};
pub use last_boot::{AsOfLastBoot, LastBoot};
pub(crate) use user::build_id;
pub use user::{Mapping, ObjectFiles, ProcessMap, Unnamed, UserSymbol, UserSymbols};
