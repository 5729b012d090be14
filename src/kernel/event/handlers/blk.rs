//! The blk tracer's events, as the kernel prints them (kernel/trace/blktrace.c, `print_one_line()`).

use super::NumberField;
use crate::base::text::num;
use crate::base::units::{CpuId, Pid, Timestamp};
use crate::kernel::format::EventFormat;
use crate::kernel::print_fmt::Context;

/// `action` has more bits from here on, the classes (include/uapi/linux/blktrace_api.h). Those above bit 31 (since 6.19) are
/// not shown.
const CGROUP: u32 = 1 << 8;
/// A message: class NOTIFY, action 2.
const MESSAGE: u32 = 2 | 1 << (10 + 16);
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

/// Options of the line.
#[derive(Clone, Copy)]
pub(crate) struct BlkStyle {
    /// Words for the actions' signs.
    pub(crate) words: bool,
    /// Names of control groups for their numbers.
    pub(crate) group_names: bool,
    /// CPU and time after the device, as of the program blkparse.
    pub(crate) classic: Option<(CpuId, Timestamp)>,
}

impl BlkStyle {
    /// No option.
    pub(crate) const PLAIN: Self = BlkStyle { words: false, group_names: false, classic: None };
}

/// Places in `struct blk_io_trace`, which begins where the common fields do.
#[derive(Clone, Copy)]
pub(crate) struct BlkEvent {
    pid: NumberField,
    sector: NumberField,
    bytes: NumberField,
    action: NumberField,
    device: NumberField,
    error: NumberField,
    pdu_len: NumberField,
    /// Offset of what follows the structure.
    pdu: usize,
}

impl BlkEvent {
    pub(crate) fn new(event: &EventFormat) -> Option<Self> {
        let field = |name| NumberField::field(event, name);
        Some(BlkEvent {
            pid: NumberField::word(event.common.iter().find(|field| field.name == "common_pid")?),
            sector: field("sector")?,
            bytes: field("bytes")?,
            action: field("action")?,
            device: field("device")?,
            error: field("error")?,
            pdu_len: field("pdu_len")?,
            pdu: event.fields.iter().find(|field| field.name == "data")?.offset,
        })
    }

    pub(super) fn pid(&self, cx: &Context<'_>) -> Pid {
        Pid(self.pid.get(cx) as i32)
    }

    /// Appends `254,16  Q  RA 0 + 32 [dd]`, of the task called `comm`.
    pub(crate) fn write(&self, cx: &Context<'_>, comm: &[u8], style: BlkStyle, out: &mut Vec<u8>) {
        let action = self.action.get(cx) as u32;
        let bytes = self.bytes.get(cx) as u32;
        let grouped = action & CGROUP != 0;
        let all = cx.data.get(self.pdu..).unwrap_or_default();
        let all = all.get(..self.pdu_len.get(cx) as usize).unwrap_or(all);
        let (group, pdu) = if grouped { all.split_at_checked(8).unwrap_or((all, &[])) } else { (&[][..], all) };
        let number = (action & 0xffff & !CGROUP) as usize;
        let is_message = action & !CGROUP == MESSAGE;
        let known = number.checked_sub(1).and_then(|n| ACTIONS.get(n));
        let (word, details) = match known {
            _ if is_message => (if style.words { "message" } else { "m" }, None),
            Some((sign, word, details)) => (if style.words { *word } else { *sign }, Some(details)),
            None => {
                out.extend_from_slice(b"Unknown action ");
                num::hex(out, number as u64);
                return;
            }
        };
        let device = self.device.get(cx);
        num::dec_pad(out, device >> 20, 3, b' ');
        out.push(b',');
        let start = out.len();
        num::dec(out, device & 0xf_ffff);
        out.resize(out.len().max(start.saturating_add(3)), b' ');
        out.push(b' ');
        match style.classic {
            Some((cpu, time)) => {
                num::dec_pad(out, cpu.0.into(), 2, b' ');
                out.push(b' ');
                num::dec_pad(out, time.0 / 1_000_000_000, 5, b' ');
                out.push(b'.');
                num::dec_pad(out, time.0 % 1_000_000_000, 9, b'0');
                out.push(b' ');
                num::dec_pad(out, self.pid(cx).0.max(0) as u64, 5, b' ');
                out.push(b' ');
            }
            // Its path is not known any more.
            None if grouped && style.group_names => out.extend_from_slice(b"<...> "),
            None if grouped => {
                let id = cx.abi.uint(group, 0, 8).unwrap_or(0);
                num::hex(out, id & u64::from(u32::MAX));
                out.push(b',');
                num::hex(out, id >> 32); // `%-llx` of the upper half
                out.push(b' ');
            }
            None => {}
        }
        right(out, 2, word.as_bytes());
        out.push(b' ');
        let (signs, count) = classes(action, is_message, bytes);
        right(out, 3, signs.get(..count).unwrap_or_default());
        out.push(b' ');
        let request = BlkRequest { action, sector: self.sector.get(cx), bytes, error: self.error.get(cx), pdu, comm };
        match details {
            Some(details) => request.details(details, out),
            None => out.extend_from_slice(pdu),
        }
    }
}

/// Blanks, so that `text` ends `width` columns later, and the text.
fn right(out: &mut Vec<u8>, width: usize, text: &[u8]) {
    out.resize(out.len().saturating_add(width.saturating_sub(text.len())), b' ');
    out.extend_from_slice(text);
}

/// `WS`: the kind of request, in the first of these bytes.
fn classes(action: u32, is_message: bool, bytes: u32) -> ([u8; 6], usize) {
    let has = |class: u32| action & class != 0;
    let kind = match () {
        () if has(DISCARD) => b'D',
        () if has(WRITE) => b'W',
        () if bytes != 0 => b'R',
        () => b'N',
    };
    let all =
        [(has(FLUSH), b'F'), (true, kind), (has(FUA), b'F'), (has(AHEAD), b'A'), (has(SYNC), b'S'), (has(META), b'M')];
    let mut signs = [b'N', 0, 0, 0, 0, 0];
    if is_message {
        return (signs, 1);
    }
    let of = all.iter().filter(|(has, _)| *has);
    let count = of.clone().count();
    signs.iter_mut().zip(of).for_each(|(to, (_, sign))| *to = *sign);
    (signs, count)
}

struct BlkRequest<'a> {
    action: u32,
    sector: u64,
    bytes: u32,
    error: u64,
    pdu: &'a [u8],
    comm: &'a [u8],
}

impl BlkRequest<'_> {
    fn details(&self, details: &BlkDetails, out: &mut Vec<u8>) {
        let packet = self.action & PACKET != 0;
        let has_sectors = self.bytes >> 9 != 0;
        match details {
            BlkDetails::Generic if packet => {
                num::dec(out, self.bytes.into());
                out.push(b' ');
                self.dump(out);
                self.task(out);
            }
            BlkDetails::Generic => {
                if has_sectors {
                    self.range(out);
                }
                self.task(out);
            }
            BlkDetails::WithError => {
                match () {
                    () if packet => self.dump(out),
                    () if has_sectors => self.range(out),
                    () => {
                        num::dec(out, self.sector);
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
                num::dec(out, self.big_endian(0));
            }
            BlkDetails::Split => {
                num::dec(out, self.sector);
                out.extend_from_slice(b" / ");
                num::dec(out, self.big_endian(0));
                out.push(b' ');
                self.task(out);
            }
            BlkDetails::Remap => {
                // struct blk_io_trace_remap: device_from, device_to, sector_from, all big-endian
                let from = self.big_endian(0) >> 32;
                self.range(out);
                out.extend_from_slice(b"<- (");
                num::dec(out, from >> 20);
                out.push(b',');
                num::dec(out, from & 0xf_ffff);
                out.extend_from_slice(b") ");
                num::dec(out, self.big_endian(8));
            }
        }
    }

    /// `0 + 32 `: first sector and number of sectors.
    fn range(&self, out: &mut Vec<u8>) {
        num::dec(out, self.sector);
        out.extend_from_slice(b" + ");
        num::dec(out, (self.bytes >> 9).into());
        out.push(b' ');
    }

    fn big_endian(&self, at: usize) -> u64 {
        self.pdu.get(at..).and_then(|bytes| bytes.first_chunk()).map_or(0, |bytes| u64::from_be_bytes(*bytes))
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
        let end = self.pdu.iter().rposition(|byte| *byte != 0).map_or(0, |last| last.saturating_add(1));
        out.push(b'(');
        for (at, byte) in self.pdu.iter().enumerate() {
            if at > 0 {
                out.push(b' ');
            }
            num::hex_byte(out, *byte);
            if at == end && end.saturating_add(1) != self.pdu.len() {
                out.extend_from_slice(b" ..) ");
                return;
            }
        }
        out.extend_from_slice(b") ");
    }
}
