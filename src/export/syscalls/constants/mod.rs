//! Names of constants (include/uapi), by the words of the table of signatures.

mod files;
mod kernel;
mod lookup;
mod memory;
mod sockets;
mod tasks;

pub(super) use lookup::{fcntl_argument, set};
pub(super) use sockets::socket_option;
