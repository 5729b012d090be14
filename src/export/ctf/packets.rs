//! The packets of one stream.

use crate::export::frames::frame;

/// Size at which a packet is closed, in bytes.
const FULL: usize = 64 << 10;
const MAGIC: u32 = 0xC1FC_1FC1;
/// Bytes of the header and context.
const HEAD: usize = 4 + 16 + 4 + 5 * 8 + 4;

/// A stream: the packet that is being filled.
#[derive(Debug)]
pub(super) struct Packets {
    name: String,
    uuid: [u8; 16],
    cpu: u32,
    events: Vec<u8>,
    span: Option<(u64, u64)>,
    discarded: u64,
}

impl Packets {
    pub(super) fn new(name: String, uuid: [u8; 16], cpu: u32) -> Self {
        Packets { name, uuid, cpu, events: Vec::new(), span: None, discarded: 0 }
    }

    /// Adds an event. `lost` were lost before it, which readers see between two packets.
    pub(super) fn add(&mut self, time: u64, event: &[u8], lost: u64, out: &mut Vec<u8>) {
        if lost > 0 || self.events.len() >= FULL {
            self.close(out);
            self.discarded = self.discarded.saturating_add(lost);
        }
        self.events.extend_from_slice(event);
        self.span = Some((self.span.map_or(time, |span| span.0), time));
    }

    /// Closes the packet, if there is anything in it.
    pub(super) fn close(&mut self, out: &mut Vec<u8>) {
        let Some((begin, end)) = self.span.take() else { return };
        let mut packet = Vec::with_capacity(HEAD.saturating_add(self.events.len()));
        packet.extend_from_slice(&MAGIC.to_le_bytes());
        packet.extend_from_slice(&self.uuid);
        packet.extend_from_slice(&0u32.to_le_bytes());
        let bits = (HEAD.saturating_add(self.events.len()) as u64).saturating_mul(8);
        for number in [begin, end, bits, bits, self.discarded] {
            packet.extend_from_slice(&number.to_le_bytes());
        }
        packet.extend_from_slice(&self.cpu.to_le_bytes());
        packet.append(&mut self.events);
        frame(out, &self.name, &packet);
    }
}
