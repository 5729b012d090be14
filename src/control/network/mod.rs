//! Internal: recordings across machines.
//!
//! - [`wire`]: the bytes of trace-cmd's protocols and of ours, parsed and printed;
//! - [`listen`]: takes recordings from other machines, a file for each;
//! - [`send`]: the other end of a recording that leaves no file on this machine;
//! - [`agent`]: records here what another machine asks for;
//! - [`control`]: asks agents on other machines to record along;
//! - `sync`: compares the clocks of both meanwhile;
//! - `fifos`: data from a guest without a network, through its virtio-serial ports;
//! - `transport`: TCP and vsock as one kind of connection.

pub mod agent;
mod allow;
pub mod control;
mod fifos;
mod incoming;
pub mod listen;
mod patient;
pub mod send;
mod sync;
mod transport;
pub mod wire;

pub use crate::base::sys::background;
pub use allow::{Network, NetworkError};
pub use fifos::{FIFO_FOLDER, GuestFifos, PORT_FOLDER};
pub use patient::ConnectionError;
pub use transport::{Address, AddressError};
