//! The blk tracer's entries (kernel/trace/blktrace.c, `print_one_line()`).

use super::context::comm;
use super::put;
use crate::base::abi::Endian;
use crate::base::text::num;
use crate::file::trace_dat::KernelView;
use crate::kernel::event::{Common, Record};
use crate::kernel::print_fmt::Context;

/// Offsets in `struct blk_io_trace`, which begins where the common fields do.
const SECTOR: usize = 16;
const BYTES: usize = 24;

/// Offsets that differ.
#[derive(Clone, Copy)]
struct Layout {
    action: usize,
    device: usize,
    error: usize,
    pdu_len: usize,
    pdu: usize,
}

const FIRST: Layout = Layout { action: 28, device: 36, error: 44, pdu_len: 46, pdu: 48 };
/// `struct blk_io_trace2`, with an action of 64 bits (seen in Linux 7.3, not in 6.18); the classes of its upper half are
/// not shown.
const SECOND: Layout = Layout { action: 32, device: 40, error: 48, pdu_len: 50, pdu: 64 };

const CGROUP: u32 = 1 << 8;
/// A message: class NOTIFY, action 2.
const MESSAGE: u32 = 2 | 1 << (10 + 16);
/// Class bits, above the action (include/uapi/linux/blktrace_api.h).
const WRITE: u32 = 1 << (1 + 16);
const FLUSH: u32 = 1 << (2 + 16);
const SYNC: u32 = 1 << (3 + 16);
const PACKET: u32 = 1 << (9 + 16);
const AHEAD: u32 = 1 << (11 + 16);
const META: u32 = 1 << (12 + 16);
const DISCARD: u32 = 1 << (13 + 16);
const FUA: u32 = 1 << (15 + 16);

enum BlkDetails {
    Generic,
    WithError,
    Plug,
    Unplug,
    Split,
    Remap,
}

/// The actions from 1 on: sign, word, what stands after.
const ACTIONS: [(&str, &str, BlkDetails); 15] = [
    ("Q", "queue", BlkDetails::Generic),
    ("M", "backmerge", BlkDetails::Generic),
    ("F", "frontmerge", BlkDetails::Generic),
    ("G", "getrq", BlkDetails::Generic),
    ("S", "sleeprq", BlkDetails::Generic),
    ("R", "requeue", BlkDetails::WithError),
    ("D", "issue", BlkDetails::Generic),
    ("C", "complete", BlkDetails::WithError),
    ("P", "plug", BlkDetails::Plug),
    ("U", "unplug_io", BlkDetails::Unplug),
    ("UT", "unplug_timer", BlkDetails::Unplug),
    ("I", "insert", BlkDetails::Generic),
    ("X", "split", BlkDetails::Split),
    ("B", "bounce", BlkDetails::Generic),
    ("A", "remap", BlkDetails::Remap),
];

struct BlkEntry<'c, 'a> {
    cx: &'c Context<'a>,
    comm: &'c [u8],
    action: u32,
    error: u64,
    sectors: u32,
    pdu: &'a [u8],
}

/// One line. `classic` is the tracer's own option of that name.
pub(super) fn write(
    cx: &Context<'_>,
    view: &KernelView,
    common: &Common,
    record: &Record<'_>,
    classic: bool,
    out: &mut Vec<u8>,
) {
    let second = !view.release.is_empty() && !view.is_before(6, 19);
    let at = if second { SECOND } else { FIRST };
    let low = if second && cx.abi.endian == Endian::Big { 4 } else { 0 };
    let action = cx.u32(at.action + low);
    let grouped = action & CGROUP != 0;
    let head = if grouped { 8 } else { 0 };
    let len = cx.abi.uint(cx.data, at.pdu_len, 2).unwrap_or(0) as usize;
    let pdu = cx.data.get(at.pdu + head..(at.pdu + len.max(head)).min(cx.data.len())).unwrap_or(&[]);
    let pid = common.pid(cx.abi, cx.data);
    let comm = comm(&cx.symbols.comms, pid);
    let error = cx.abi.uint(cx.data, at.error, 2).unwrap_or(0);
    let entry = BlkEntry { cx, comm, action, error, sectors: cx.u32(BYTES) >> 9, pdu };

    let number = (action & 0xffff & !CGROUP) as usize;
    let long = view.options.verbose;
    let is_message = action & !CGROUP == MESSAGE;
    let known = number.checked_sub(1).and_then(|n| ACTIONS.get(n));
    let (word, rest) = match known {
        _ if is_message => (if long { "message" } else { "m" }, None),
        Some((short, word, rest)) => (if long { *word } else { *short }, Some(rest)),
        None => {
            out.extend_from_slice(b"Unknown action ");
            num::hex(out, number as u64);
            out.push(b'\n');
            return;
        }
    };
    let device = cx.u32(at.device);
    put::unsigned(out, (device >> 20).into(), 3);
    out.push(b',');
    put::left(out, 3, |out| num::dec(out, (device & 0xf_ffff).into()));
    out.push(b' ');
    if classic {
        put::unsigned(out, record.cpu.0.into(), 2);
        out.push(b' ');
        put::unsigned(out, record.timestamp.0 / 1_000_000_000, 5);
        out.push(b'.');
        num::dec_pad(out, record.timestamp.0 % 1_000_000_000, 9, b'0');
        out.push(b' ');
        put::signed(out, pid.0.into(), 5);
        out.push(b' ');
    } else if grouped {
        if view.options.blk_cgname {
            // Its path is not known any more.
            out.extend_from_slice(b"<...>");
        } else {
            let group = cx.u64(at.pdu);
            num::hex(out, group & u64::from(u32::MAX));
            out.extend_from_slice(b",");
            // `%-llx` of the upper half
            num::hex(out, group >> 32);
        }
        out.push(b' ');
    }
    put::right(out, 2, |out| out.extend_from_slice(word.as_bytes()));
    out.push(b' ');
    put::right(out, 3, |out| classes(action, is_message, cx.u32(BYTES), out));
    out.push(b' ');
    match rest {
        Some(rest) => entry.rest(rest, out),
        None => {
            out.extend_from_slice(pdu);
            out.push(b'\n');
        }
    }
}

/// `WS`: what kind of request.
fn classes(action: u32, is_message: bool, bytes: u32, out: &mut Vec<u8>) {
    if is_message {
        out.push(b'N');
        return;
    }
    let has = |class: u32| action & class != 0;
    if has(FLUSH) {
        out.push(b'F');
    }
    out.push(match () {
        () if has(DISCARD) => b'D',
        () if has(WRITE) => b'W',
        () if bytes != 0 => b'R',
        () => b'N',
    });
    for (class, sign) in [(FUA, b'F'), (AHEAD, b'A'), (SYNC, b'S'), (META, b'M')] {
        if has(class) {
            out.push(sign);
        }
    }
}

impl BlkEntry<'_, '_> {
    fn rest(&self, rest: &BlkDetails, out: &mut Vec<u8>) {
        let sector = self.cx.u64(SECTOR);
        let packet = self.action & PACKET != 0;
        let range = |out: &mut Vec<u8>| {
            num::dec(out, sector);
            out.extend_from_slice(b" + ");
            num::dec(out, self.sectors.into());
            out.push(b' ');
        };
        let big = |at: usize| self.pdu.get(at..).and_then(|p| p.first_chunk()).map_or(0, |b| u64::from_be_bytes(*b));
        match rest {
            BlkDetails::Generic if packet => {
                num::dec(out, self.cx.u32(BYTES).into());
                out.push(b' ');
                self.dump(out);
                self.task(out);
            }
            BlkDetails::Generic => {
                if self.sectors != 0 {
                    range(out);
                }
                self.task(out);
            }
            BlkDetails::WithError => {
                match () {
                    () if packet => self.dump(out),
                    () if self.sectors != 0 => range(out),
                    () => {
                        num::dec(out, sector);
                        out.push(b' ');
                    }
                }
                out.push(b'[');
                num::dec(out, self.error);
                out.push(b']');
            }
            BlkDetails::Plug => self.task(out),
            BlkDetails::Unplug => {
                self.task(out);
                out.push(b' ');
                num::dec(out, big(0));
            }
            BlkDetails::Split => {
                num::dec(out, sector);
                out.extend_from_slice(b" / ");
                num::dec(out, big(0));
                out.push(b' ');
                self.task(out);
            }
            BlkDetails::Remap => {
                // struct blk_io_trace_remap: device_from, device_to, sector_from, all big-endian
                let from = big(0) >> 32;
                range(out);
                out.extend_from_slice(b"<- (");
                num::dec(out, from >> 20);
                out.push(b',');
                num::dec(out, from & 0xf_ffff);
                out.extend_from_slice(b") ");
                num::dec(out, big(8));
            }
        }
        out.push(b'\n');
    }

    fn task(&self, out: &mut Vec<u8>) {
        out.push(b'[');
        out.extend_from_slice(self.comm);
        out.push(b']');
    }

    /// `(12 00 00 ..) `: a command's bytes, zeros at its end left out.
    fn dump(&self, out: &mut Vec<u8>) {
        if self.pdu.is_empty() {
            return;
        }
        let end = self.pdu.iter().rposition(|b| *b != 0).map_or(0, |last| last + 1);
        out.push(b'(');
        for (i, byte) in self.pdu.iter().enumerate() {
            if i > 0 {
                out.push(b' ');
            }
            num::hex_byte(out, *byte);
            if i == end && end + 1 != self.pdu.len() {
                out.extend_from_slice(b" ..) ");
                return;
            }
        }
        out.extend_from_slice(b") ");
    }
}
