//! Protobuf's wire format, written: <https://protobuf.dev/programming-guides/encoding/>. Reading it is for others.
//! Packets: the fields of the whole trace.

use crate::base::varint;

/// A number of varying length.
const VARINT: u32 = 0;
/// Eight bytes.
const FIXED64: u32 = 1;
/// A length, and as many bytes.
const LENGTH: u32 = 2;

/// Appends a number's field. A negative number is given as its two's complement of 64 bits.
#[inline]
pub(super) fn uint(out: &mut Vec<u8>, field: u32, value: u64) {
    varint::put(out, (field << 3 | VARINT).into());
    varint::put(out, value);
}

/// Appends a floating point number's field.
pub(super) fn double(out: &mut Vec<u8>, field: u32, value: f64) {
    varint::put(out, (field << 3 | FIXED64).into());
    out.extend_from_slice(&value.to_le_bytes());
}

/// Appends a field of bytes, or a message that is complete.
#[inline]
pub(super) fn bytes(out: &mut Vec<u8>, field: u32, bytes: &[u8]) {
    varint::put(out, (field << 3 | LENGTH).into());
    varint::put(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends a text's field. A byte that is not part of valid UTF-8 becomes the four characters `\xNN`.
#[inline]
pub(super) fn text(out: &mut Vec<u8>, field: u32, text: &[u8]) {
    if std::str::from_utf8(text).is_ok() {
        return bytes(out, field, text);
    }
    let mut valid = Vec::with_capacity(text.len() + 16);
    for chunk in text.utf8_chunks() {
        valid.extend_from_slice(chunk.valid().as_bytes());
        for byte in chunk.invalid() {
            valid.extend_from_slice(br"\x");
            crate::base::text::num::hex_byte(&mut valid, *byte);
        }
    }
    bytes(out, field, &valid);
}

/// Appends a message's field; `fill` appends the message's own fields.
#[inline]
pub(super) fn message(out: &mut Vec<u8>, field: u32, fill: impl FnOnce(&mut Vec<u8>)) {
    varint::put(out, (field << 3 | LENGTH).into());
    let start = out.len();
    out.push(0); // most messages are shorter than 128 bytes
    fill(out);
    let len = out.len() - start - 1;
    if len < 0x80 {
        out[start] = len as u8;
        return;
    }
    let mut digits = Vec::with_capacity(10);
    varint::put(&mut digits, len as u64);
    out.splice(start..=start, digits);
}

/// The sequence of packets that bundles stand on.
pub(super) const EVENTS_SEQUENCE: u64 = 1;
/// Sequence of the samples.
pub(super) const STACKS_SEQUENCE: u64 = 2;

// Numbers of `TracePacket`'s fields.
pub(super) const FTRACE_EVENTS: u32 = 1;
pub(super) const PROCESS_TREE: u32 = 2;
pub(super) const CLOCK_SNAPSHOT: u32 = 6;
pub(super) const TIMESTAMP: u32 = 8;
const SEQUENCE_ID: u32 = 10;
pub(super) const INTERNED_DATA: u32 = 12;
pub(super) const SEQUENCE_FLAGS: u32 = 13;
pub(super) const FTRACE_STATS: u32 = 34;
pub(super) const SYSTEM_INFO: u32 = 45;
pub(super) const PERF_SAMPLE: u32 = 66;
const MACHINE_ID: u32 = 98;
pub(super) const TASK_RENAME: u32 = 120;

/// Values of `SEQUENCE_FLAGS`: what was interned so far is void; this packet needs what was.
pub(super) const CLEARED: u64 = 1;
pub(super) const NEEDS: u64 = 2;

/// Appends a packet: a field of the whole trace.
pub(super) fn packet(out: &mut Vec<u8>, machine: Option<u64>, sequence: u64, fill: impl FnOnce(&mut Vec<u8>)) {
    message(out, 1, |out| {
        uint(out, SEQUENCE_ID, sequence);
        if let Some(machine) = machine {
            uint(out, MACHINE_ID, machine);
        }
        fill(out);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        let mut out = Vec::new();
        write(&mut out);
        out
    }

    /// The examples of the format's own description.
    #[test]
    fn as_described() {
        assert_eq!(written(|out| uint(out, 1, 150)), [0x08, 0x96, 0x01]);
        assert_eq!(written(|out| uint(out, 1, -2i64 as u64)), [8, 0xfe, 255, 255, 255, 255, 255, 255, 255, 255, 1]);
        assert_eq!(written(|out| text(out, 2, b"testing")), b"\x12\x07testing");
        assert_eq!(written(|out| text(out, 2, b"a\xff")), b"\x12\x05a\\xff");
        assert_eq!(written(|out| message(out, 3, |out| uint(out, 1, 150))), [0x1a, 0x03, 0x08, 0x96, 0x01]);
        assert_eq!(written(|out| double(out, 1, 1.0)), [9, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
        assert_eq!(written(|out| uint(out, 327, 1))[..2], [0xb8, 0x14]);
    }

    #[test]
    fn long_messages() {
        for len in [127, 128, 16_383, 16_384, 100_000] {
            let inner = vec![7; len];
            let long = written(|out| message(out, 1, |out| out.extend_from_slice(&inner)));
            assert_eq!(long, written(|out| bytes(out, 1, &inner)), "{len}");
        }
    }
}
