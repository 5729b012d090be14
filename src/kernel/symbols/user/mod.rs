//! Names for addresses of user space: which file a process has mapped there, and which function of that file it is.
//!
//! A recording says what was mapped where ([`ProcessMap`]), not what the files hold. Those
//! come from the caller, as bytes ([`ObjectFiles`]), and each is read when the first address in it is met.

mod image;
mod process;
mod resolve;

pub(crate) use image::build_id;
pub use process::{Mapping, ProcessMap};
pub use resolve::{ObjectFiles, Unnamed, UserSymbol, UserSymbols};

#[cfg(test)]
mod tests;
