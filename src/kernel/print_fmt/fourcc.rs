//! The kernel's `%p4cc` (Linux 5.13) and `%p4ch`, `%p4chR`, `%p4cl`, `%p4cb` (6.15): lib/vsprintf.c, `fourcc_string()`.

use crate::base::abi::{Abi, Endian};
use crate::base::text::num;

/// Spelling of a number as four characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FourCc {
    /// Of a pixel format: the lowest byte first, bit 31 says that it is big endian.
    Pixel,
    /// The highest byte first.
    Host,
    /// The lowest byte first.
    Reversed,
    /// In the order of a machine that need not be the recorded one.
    Of(Endian),
}

impl FourCc {
    pub(super) fn parse(extension: &[u8]) -> Option<FourCc> {
        match extension {
            [b'4', b'c', b'c', ..] => Some(FourCc::Pixel),
            [b'4', b'c', b'h', b'R', ..] => Some(FourCc::Reversed),
            [b'4', b'c', b'h', ..] => Some(FourCc::Host),
            [b'4', b'c', b'l', ..] => Some(FourCc::Of(Endian::Little)),
            [b'4', b'c', b'b', ..] => Some(FourCc::Of(Endian::Big)),
            _ => None,
        }
    }

    /// `XR24 little-endian (0x34325258)`
    pub(super) fn write(self, out: &mut Vec<u8>, data: &[u8], abi: Abi) {
        let stored = abi.uint(data, 0, 4).unwrap_or(0) as u32;
        let value = match self {
            FourCc::Reversed => stored.swap_bytes(),
            FourCc::Of(endian) if endian != abi.endian => stored.swap_bytes(),
            _ => stored,
        };
        let characters = match self {
            FourCc::Pixel => (value & !(1 << 31)).to_le_bytes(),
            _ => value.to_be_bytes(),
        };
        out.extend(characters.map(|byte| if matches!(byte, b' '..=b'~') { byte } else { b'.' }));
        if self == FourCc::Pixel {
            let big = value >> 31 == 1;
            out.extend_from_slice(if big { b" big-endian" } else { b" little-endian" });
        }
        out.extend_from_slice(b" (0x");
        num::hex_pad(out, value.into(), 8);
        out.push(b')');
    }
}
