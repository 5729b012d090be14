//! Streams or datagrams.

/// The way that data takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// TCP, or vsock: in order, and nothing is lost.
    Stream,
    /// A datagram per sub-buffer.
    Udp,
}
