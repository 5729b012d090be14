//! Connections between machines: TCP over IP, and vsock between a host and its guests, as one type.

mod address;
mod listener;
mod stream;

pub use address::{Address, AddressError};
pub(super) use address::{Host, split};
pub(super) use listener::ListenSocket;
pub(super) use stream::Stream;
