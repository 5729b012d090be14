//! `%p` and its extensions (kernel: Documentation/core-api/printk-formats.rst).

use super::extensions::{FourCc, Ipv4Order, Sockaddr, ipv4, ipv6, sockaddr};
use super::lex::Escapes;
use super::{Context, Semantics, errno, extensions};
use crate::base::text::{num, plain};
use crate::kernel::symbols::Symbol;

/// The text that a `%p` conversion makes of an address or of the bytes it points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pointer {
    /// `%p`: the address.
    Plain,
    /// `%pS`, `%pF`, `%pB`: symbol and offset.
    SymbolOffset,
    /// `%ps`, `%pf`: symbol.
    Symbol,
    /// The kernel's `%pB`: as `%pS`, of the call before a return address.
    Backtrace,
    /// The kernel's `%pe`: the name of an error code.
    Error,
    /// `%px`: the address without `0x`.
    Hex,
    /// `%pM`, `%pm`: a hardware address; separator and order.
    Mac { separator: Option<u8>, reversed: bool },
    /// `%pI4`, `%pi4`.
    Ipv4 { padded: bool, order: Ipv4Order },
    /// `%pI6`, `%pi6`, `%pI6c`.
    Ipv6 { colons: bool, compressed: bool },
    /// `%pIS`: a socket address.
    Sockaddr(Sockaddr),
    /// `%pU`.
    Uuid { upper: bool, guid: bool },
    /// `%*ph`: bytes.
    Bytes { separator: Option<u8> },
    /// `%*pb`, `%*pbl`: a bitmap.
    Bitmap { list: bool },
    /// The kernel's `%ptT` and `%ptR`: a time.
    Time(extensions::Time),
    /// The kernel's `%pGg`: flags of an allocation. Their names differ from kernel to kernel; other events have them.
    AllocationFlags,
    /// The kernel's `%pGv`: flags of a memory area.
    VmaFlags,
    /// `%pa`, `%pad`, `%pNF`: an unsigned number, `0x` and all its digits.
    Wide,
    /// `%p4cc` and its kin: a number as four characters.
    FourCc(FourCc),
    /// `%*pE`: bytes, escaped by these flags of `string_escape_mem()`.
    Escaped(Escapes),
    /// Text for memory that no record holds (`%pd`, `%pV`, `%pr`), or whose names are the kernel's own (`%pGp`).
    Elsewhere,
}

impl Pointer {
    /// The conversion of the letters after `%p`, and the number of letters that belong to it.
    pub(super) fn parse(extension: &[u8], semantics: Semantics) -> (Pointer, usize) {
        let kernel = semantics == Semantics::Kernel;
        let at = |i: usize| extension.get(i).copied().unwrap_or(0);
        match at(0) {
            b'S' | b'F' => (Pointer::SymbolOffset, if kernel && at(1) == b'R' { 2 } else { 1 }),
            b'B' if kernel => (Pointer::Backtrace, 1),
            b'B' => (Pointer::SymbolOffset, 1),
            b'e' => (Pointer::Error, 1),
            b's' | b'f' if at(1) != b'w' => (Pointer::Symbol, 1),
            b'x' | b'K' => (Pointer::Hex, 1),
            b'M' if at(1) == b'F' => (Pointer::Mac { separator: Some(b'-'), reversed: false }, 2),
            b'M' if at(1) == b'R' => (Pointer::Mac { separator: Some(b':'), reversed: true }, 2),
            b'M' => (Pointer::Mac { separator: Some(b':'), reversed: false }, 1),
            b'm' if at(1) == b'R' => (Pointer::Mac { separator: None, reversed: true }, 2),
            b'm' => (Pointer::Mac { separator: None, reversed: false }, 1),
            b'I' | b'i' => Self::parse_ip(extension, semantics),
            b't' => {
                let time = extensions::Time::parse(extension);
                (time.map_or(Pointer::Elsewhere, Pointer::Time), extension.len())
            }
            b'G' if at(1) == b'g' => (Pointer::AllocationFlags, 2),
            b'G' if at(1) == b'v' => (Pointer::VmaFlags, 2),
            b'a' => (Pointer::Wide, extension.len()),
            b'N' if at(1) == b'F' => (Pointer::Wide, extension.len()),
            b'4' => (FourCc::parse(extension).map_or(Pointer::Elsewhere, Pointer::FourCc), extension.len()),
            b'E' => (Pointer::Escaped(Escapes::parse(extension)), extension.len()),
            b'U' => match at(1) {
                b'b' => (Pointer::Uuid { upper: false, guid: false }, 2),
                b'B' => (Pointer::Uuid { upper: true, guid: false }, 2),
                b'l' => (Pointer::Uuid { upper: false, guid: true }, 2),
                b'L' => (Pointer::Uuid { upper: true, guid: true }, 2),
                _ => (Pointer::Uuid { upper: false, guid: false }, 1),
            },
            b'h' => match at(1) {
                b'C' => (Pointer::Bytes { separator: Some(b':') }, 2),
                b'D' => (Pointer::Bytes { separator: Some(b'-') }, 2),
                b'N' => (Pointer::Bytes { separator: None }, 2),
                _ => (Pointer::Bytes { separator: Some(b' ') }, 1),
            },
            b'b' if at(1) == b'l' => (Pointer::Bitmap { list: true }, 2),
            b'b' => (Pointer::Bitmap { list: false }, 1),
            0 => (Pointer::Plain, 0),
            _ => (Pointer::Elsewhere, extension.len()),
        }
    }

    fn parse_ip(extension: &[u8], semantics: Semantics) -> (Pointer, usize) {
        let at = |i: usize| extension.get(i).copied().unwrap_or(0);
        let padded = at(0) == b'i';
        match at(1) {
            b'4' => match at(2) {
                b'h' => (Pointer::Ipv4 { padded, order: Ipv4Order::Host }, 3),
                b'l' => (Pointer::Ipv4 { padded, order: Ipv4Order::Reversed }, 3),
                b'n' | b'b' => (Pointer::Ipv4 { padded, order: Ipv4Order::Network }, 3),
                _ => (Pointer::Ipv4 { padded, order: Ipv4Order::Network }, 2),
            },
            b'6' if at(2) == b'c' && (!padded || semantics == Semantics::TraceCmd) => {
                (Pointer::Ipv6 { colons: true, compressed: true }, 3)
            }
            b'6' => (Pointer::Ipv6 { colons: !padded, compressed: false }, 2),
            b'S' => {
                let known = |b: &&u8| matches!(b, b'p' | b'f' | b's' | b'c' | b'h' | b'n' | b'l' | b'b');
                let options: Vec<u8> = extension.iter().skip(2).take_while(known).copied().collect();
                let has = |option: u8| options.contains(&option);
                let order = options.iter().rev().find_map(|option| match option {
                    b'h' => Some(Ipv4Order::Host),
                    b'l' => Some(Ipv4Order::Reversed),
                    b'n' | b'b' => Some(Ipv4Order::Network),
                    _ => None,
                });
                let kernel = semantics == Semantics::Kernel;
                let shown = Sockaddr {
                    padded,
                    compressed: has(b'c') && !(kernel && padded),
                    port: has(b'p'),
                    flow: kernel && has(b'f'),
                    scope: kernel && has(b's'),
                    order: order.filter(|_| kernel).unwrap_or(Ipv4Order::Network),
                };
                (Pointer::Sockaddr(shown), options.len().saturating_add(2))
            }
            _ => (Pointer::Elsewhere, extension.len()),
        }
    }

    /// True if a number after the `%` says how much to show, not how wide to make it.
    pub(super) fn counts(self) -> bool {
        matches!(self, Pointer::Bytes { .. } | Pointer::Bitmap { .. } | Pointer::Escaped(_))
    }

    /// True if it has a width of its own, whatever stands after the `%` (lib/vsprintf.c, `special_hex_number()`).
    pub(super) fn has_own_width(self) -> bool {
        self == Pointer::Wide
    }

    /// True if a number as its argument is the address of what is shown, never what is shown itself.
    pub(super) fn takes_address(self) -> bool {
        matches!(self, Pointer::Wide | Pointer::FourCc(_) | Pointer::Escaped(_) | Pointer::Time(_))
            || matches!(self, Pointer::AllocationFlags | Pointer::VmaFlags)
    }

    /// True if it shows bytes, not an address.
    pub(super) fn takes_bytes(self) -> bool {
        !matches!(
            self,
            Pointer::Plain
                | Pointer::SymbolOffset
                | Pointer::Symbol
                | Pointer::Backtrace
                | Pointer::Error
                | Pointer::Hex
                | Pointer::Elsewhere
        )
    }
}

/// Writes an address.
pub(super) fn address(out: &mut Vec<u8>, cx: &Context<'_>, kind: Pointer, value: u64, semantics: Semantics) {
    match kind {
        Pointer::SymbolOffset => symbol(out, cx, value, true, semantics),
        Pointer::Symbol => symbol(out, cx, value, false, semantics),
        Pointer::Backtrace => backtrace(out, cx, value),
        Pointer::Error => error(out, cx, value),
        Pointer::Hex if semantics == Semantics::TraceCmd => num::hex(out, value),
        // lib/vsprintf.c, pointer_string(): as wide as the kernel's words
        _ if semantics == Semantics::Kernel => num::hex_pad(out, value, 2 * usize::from(cx.abi.long_size)),
        _ if value == 0 => plain::all(out, b"(nil)"),
        _ => {
            plain::all(out, b"0x");
            num::hex(out, value);
        }
    }
}

/// `-EINVAL`, or the address if it is not an error code.
fn error(out: &mut Vec<u8>, cx: &Context<'_>, value: u64) {
    match errno::name(value, cx.abi.long_size) {
        Some(name) => {
            out.push(b'-');
            out.extend_from_slice(name.as_bytes());
        }
        // lib/vsprintf.c, err_ptr(): an error that has no name
        None => match if cx.abi.long_size == 4 { i64::from(value as i32) } else { value as i64 } {
            number @ -4095..0 => num::signed(out, number),
            _ => num::hex_pad(out, value, 2 * usize::from(cx.abi.long_size)),
        },
    }
}

/// kernel/kallsyms.c, `sprint_backtrace()`: a return address may already lie after the calling function.
fn backtrace(out: &mut Vec<u8>, cx: &Context<'_>, value: u64) {
    match cx.symbols.kallsyms.lookup_first(value.wrapping_sub(1)) {
        Some(found) => kernel_symbol(out, &found, Some(value.saturating_sub(found.address))),
        None => {
            out.extend_from_slice(b"0x");
            num::hex(out, value);
        }
    }
}

fn symbol(out: &mut Vec<u8>, cx: &Context<'_>, value: u64, offset: bool, semantics: Semantics) {
    let kallsyms = &cx.symbols.kallsyms;
    let found = match semantics {
        Semantics::Kernel => kallsyms.lookup_first(value),
        Semantics::TraceCmd => kallsyms.lookup(value),
    };
    match found {
        None => {
            plain::all(out, b"0x");
            num::hex(out, value);
        }
        Some(found) if semantics == Semantics::Kernel => {
            kernel_symbol(out, &found, offset.then_some(value.saturating_sub(found.address)));
        }
        Some(found) => {
            found.put_name(out);
            if offset {
                plain::all(out, b"+0x");
                num::hex(out, value.saturating_sub(found.address));
            }
        }
    }
}

/// `name+0x10/0x80 [module]`
fn kernel_symbol(out: &mut Vec<u8>, symbol: &Symbol<'_>, offset: Option<u64>) {
    symbol.put_name(out);
    if let Some(offset) = offset {
        plain::all(out, b"+0x");
        num::hex(out, offset);
        if let Some(size) = symbol.size {
            plain::all(out, b"/0x");
            num::hex(out, size);
        }
    }
    if !symbol.module.is_empty() {
        plain::all(out, b" [");
        out.extend_from_slice(symbol.module);
        out.push(b']');
    }
}

/// Writes bytes. `len` is the width given with `*`: bytes for `%*ph`, bits for `%*pb`.
pub(super) fn bytes(
    out: &mut Vec<u8>,
    kind: Pointer,
    data: &[u8],
    len: Option<usize>,
    cx: &Context<'_>,
    semantics: Semantics,
) {
    match kind {
        Pointer::Mac { separator, reversed } => match data.first_chunk::<6>() {
            Some(mac) => {
                let mut mac = *mac;
                if reversed {
                    mac.reverse();
                }
                separated(out, &mac, separator);
            }
            None => plain::all(out, b"INVALIDMAC"),
        },
        Pointer::Ipv4 { padded, order } => match data.first_chunk::<4>() {
            Some(ip) => ipv4(out, *ip, padded, order.is_reversed(cx)),
            None => plain::all(out, b"INVALIDIPv4"),
        },
        Pointer::Ipv6 { colons, compressed } => match data.first_chunk::<16>() {
            Some(ip) => ipv6(out, ip, colons, compressed),
            None => plain::all(out, b"INVALIDIPv6"),
        },
        Pointer::Sockaddr(shown) => sockaddr(out, data, shown, cx, semantics),
        Pointer::AllocationFlags => {
            let flags = cx.abi.uint(data, 0, 4).unwrap_or(0);
            if flags != 0 {
                plain::all(out, b"0x");
                num::hex(out, flags);
            }
        }
        Pointer::Time(time) => time.write(out, data, cx.abi),
        Pointer::VmaFlags => vma_flags(out, cx.abi.uint(data, 0, usize::from(cx.abi.long_size)).unwrap_or(0)),
        Pointer::Uuid { upper, guid } => match data.first_chunk::<16>() {
            Some(id) => uuid(out, id, upper, guid),
            None => plain::all(out, b"INVALIDUUID"),
        },
        Pointer::Bytes { separator } => {
            let most = if semantics == Semantics::Kernel { 64 } else { usize::MAX };
            let len = len.unwrap_or(1).min(most);
            separated(out, data.get(..len).unwrap_or(data), separator);
        }
        Pointer::Bitmap { list } => {
            let bits = len.unwrap_or(0);
            let stored = data.len().saturating_mul(8);
            match (list, semantics) {
                (true, Semantics::Kernel) => bit_list(out, data, bits.min(stored), cx),
                (false, Semantics::Kernel) => bitmask(out, data, bits.min(stored), cx),
                (list, Semantics::TraceCmd) => {
                    let bits = stored.min(bits.checked_next_multiple_of(8).unwrap_or(stored));
                    if list { bit_list(out, data, bits, cx) } else { bitmask(out, data, bits, cx) }
                }
            }
        }
        Pointer::Wide => {
            plain::all(out, b"0x");
            num::hex_pad(out, cx.abi.uint(data, 0, data.len()).unwrap_or(0), data.len().saturating_mul(2));
        }
        Pointer::FourCc(shown) => shown.write(out, data, cx.abi),
        Pointer::Escaped(by) => by.write(out, data.get(..len.unwrap_or(1)).unwrap_or(data)),
        Pointer::Plain
        | Pointer::SymbolOffset
        | Pointer::Symbol
        | Pointer::Backtrace
        | Pointer::Error
        | Pointer::Hex
        | Pointer::Elsewhere => {}
    }
}

pub(super) fn separated(out: &mut Vec<u8>, data: &[u8], separator: Option<u8>) {
    for (i, byte) in data.iter().enumerate() {
        if let (true, Some(separator)) = (i > 0, separator) {
            out.push(separator);
        }
        num::hex_byte(out, *byte);
    }
}

/// `read|write|mayread`, and what has no name in hexadecimal (lib/vsprintf.c, `format_flags()`; the names are those of
/// include/trace/events/mmflags.h).
fn vma_flags(out: &mut Vec<u8>, mut flags: u64) {
    const NAMES: [&str; 32] = [
        "read",
        "write",
        "exec",
        "shared",
        "mayread",
        "maywrite",
        "mayexec",
        "mayshare",
        "growsdown",
        "uffd_missing",
        "pfnmap",
        "",
        "uffd_wp",
        "locked",
        "io",
        "seqread",
        "randread",
        "dontcopy",
        "dontexpand",
        "lockonfault",
        "account",
        "noreserve",
        "hugetlb",
        "sync",
        "pat",
        "wipeonfork",
        "dontdump",
        "softdirty",
        "mixedmap",
        "hugepage",
        "nohugepage",
        "mergeable",
    ];
    for (number, name) in NAMES.iter().enumerate() {
        let mask = 1 << number;
        if flags & mask == 0 || name.is_empty() {
            continue;
        }
        out.extend_from_slice(name.as_bytes());
        flags &= !mask;
        if flags != 0 {
            out.push(b'|');
        }
    }
    if flags != 0 {
        out.extend_from_slice(b"0x");
        num::hex(out, flags);
    }
}

fn uuid(out: &mut Vec<u8>, id: &[u8; 16], upper: bool, guid: bool) {
    let start = out.len();
    let mut id = *id;
    if guid {
        let [a, b, c, d, e, f, g, h, ..] = &mut id;
        [(a, d), (b, c), (e, f), (g, h)].into_iter().for_each(|(one, other)| std::mem::swap(one, other));
    }
    for (i, byte) in id.into_iter().enumerate() {
        if matches!(i, 4 | 6 | 8 | 10) {
            out.push(b'-');
        }
        num::hex_byte(out, byte);
    }
    if upper {
        out.get_mut(start..).unwrap_or_default().make_ascii_uppercase();
    }
}

/// The words of a bitmap, least significant first, as bits.
fn bit(data: &[u8], index: usize, cx: &Context<'_>) -> bool {
    let byte = index / 8;
    let byte = match cx.abi.endian {
        crate::base::abi::Endian::Little => byte,
        crate::base::abi::Endian::Big => {
            let word = usize::from(cx.abi.long_size);
            byte ^ word.saturating_sub(1) // 4 or 8: the other way round within its word
        }
    };
    data.get(byte).is_some_and(|b| b >> (index % 8) & 1 == 1)
}

/// `%*pb`: hexadecimal, most significant first, a comma every 32 bits.
pub(super) fn bitmask(out: &mut Vec<u8>, data: &[u8], bits: usize, cx: &Context<'_>) {
    for nibble in (0..bits.div_ceil(4)).rev() {
        let first = nibble.saturating_mul(4);
        let set = |at: usize| at < bits && bit(data, at, cx);
        let value = (0..4).fold(0u32, |v, i| v | (u32::from(set(first.saturating_add(i))) << i));
        num::hex(out, value.into());
        if nibble > 0 && nibble.is_multiple_of(8) {
            out.push(b',');
        }
    }
}

/// `%*pbl`: `0-3,7`.
pub(super) fn bit_list(out: &mut Vec<u8>, data: &[u8], bits: usize, cx: &Context<'_>) {
    let mut first = true;
    let mut next = 0;
    while let Some(i) = (next..bits).find(|at| bit(data, *at, cx)) {
        let run = (i..bits).take_while(|b| bit(data, *b, cx)).count();
        next = i.saturating_add(run);
        if !first {
            out.push(b',');
        }
        first = false;
        num::dec(out, i as u64);
        if run > 1 {
            out.push(b'-');
            num::dec(out, next.saturating_sub(1) as u64);
        }
    }
}
