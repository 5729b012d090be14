//! FIFOs between a guest's agent of ours and its host's controller of ours: a mark where the data of a session begins.

/// The first bytes of an agent's data in a FIFO. Bytes before them are an earlier session's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FifoMark(u64);

impl FifoMark {
    /// Size, in bytes.
    pub const SIZE: usize = 16;

    /// The mark of the recording whose TRACEID is `id`.
    pub fn new(id: u64) -> Self {
        FifoMark(id)
    }

    /// Its bytes: a name, and the TRACEID, big-endian.
    pub fn bytes(self) -> [u8; Self::SIZE] {
        ((u128::from(u64::from_be_bytes(*b"rt\x00fifo\n")) << 64) | u128::from(self.0)).to_be_bytes()
    }

    /// Offset of the first one in `bytes`.
    pub fn find(self, bytes: &[u8]) -> Option<usize> {
        let mark = self.bytes();
        bytes.windows(Self::SIZE).position(|window| window == mark)
    }
}
