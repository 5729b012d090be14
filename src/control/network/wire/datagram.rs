//! Datagrams of a sender of ours to a listener of ours: a stamp of two big-endian u64 before each sub-buffer, by which
//! losses are known where they happened, and the counts of a whole ring at the end.

use super::WireError;
use super::frame::{Take, padded};

/// The most bytes that one datagram carries over IPv4.
pub const MAX_DATAGRAM: usize = 65_507;

/// Sub-buffers and events of one ring that precede a datagram, lost ones included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DatagramStamp {
    /// Sub-buffers before this one.
    pub number: u64,
    /// Events in them.
    pub events: u64,
}

impl DatagramStamp {
    /// Size, in bytes.
    pub const SIZE: usize = 16;

    /// Reads it off the front of a datagram; gives the sub-buffer too.
    ///
    /// # Errors
    /// [`WireError::Cut`].
    pub fn read(datagram: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let mut take = Take::new("a datagram", datagram);
        let stamp = DatagramStamp { number: take.u64()?, events: take.u64()? };
        Ok((stamp, take.rest()))
    }

    /// Bytes of the header on the wire.
    pub fn bytes(self) -> [u8; Self::SIZE] {
        ((u128::from(self.number) << 64) | u128::from(self.events)).to_be_bytes()
    }
}

/// Sub-buffers and events of one ring: sent, or stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingCount {
    /// The ring's CPU.
    pub cpu: u32,
    /// Number of sub-buffers.
    pub sub_buffers: u64,
    /// Number of events in them.
    pub events: u64,
}

impl RingCount {
    pub(super) fn read(fixed: &[u8]) -> Result<Self, WireError> {
        let fixed = padded::<20>(fixed);
        let mut take = Take::new("a count", &fixed);
        Ok(RingCount { cpu: take.u32()?, sub_buffers: take.u64()?, events: take.u64()? })
    }

    pub(super) fn bytes(self) -> Vec<u8> {
        [&self.cpu.to_be_bytes()[..], &self.sub_buffers.to_be_bytes(), &self.events.to_be_bytes()].concat()
    }
}
