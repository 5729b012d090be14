//! Names of constants (include/uapi), by the words of the table of signatures.

mod files;
mod kernel;
mod memory;
mod sockets;
mod tasks;

pub(super) use kernel::{fcntl_argument, set};
pub(super) use sockets::socket_option;
