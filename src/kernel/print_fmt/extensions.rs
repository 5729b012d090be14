//! The extensions of `%p` with a layout of their own: addresses of the internet, dates and times, four-character codes.

use super::{Context, Semantics};
use crate::base::abi::{Abi, Endian};
use crate::base::text::{num, plain};

/// In which order the bytes of an IPv4 address lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ipv4Order {
    Network,
    /// As numbers of the recorded machine.
    Host,
    Reversed,
}

/// The parts of a socket address to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sockaddr {
    pub(super) padded: bool,
    pub(super) compressed: bool,
    pub(super) port: bool,
    pub(super) flow: bool,
    pub(super) scope: bool,
    pub(super) order: Ipv4Order,
}

impl Ipv4Order {
    pub(super) fn is_reversed(self, cx: &Context<'_>) -> bool {
        match self {
            Ipv4Order::Network => false,
            Ipv4Order::Host => cx.abi.endian == crate::base::abi::Endian::Little,
            Ipv4Order::Reversed => true,
        }
    }
}

pub(super) fn ipv4(out: &mut Vec<u8>, mut ip: [u8; 4], padded: bool, reversed: bool) {
    if reversed {
        ip.reverse();
    }
    for (i, byte) in ip.iter().enumerate() {
        if i > 0 {
            out.push(b'.');
        }
        num::dec_pad(out, u64::from(*byte), if padded { 3 } else { 1 }, b'0');
    }
}

pub(super) fn ipv6(out: &mut Vec<u8>, ip: &[u8; 16], colons: bool, compressed: bool) {
    let mut groups = [0u16; 8];
    for (group, pair) in groups.iter_mut().zip(ip.as_chunks().0) {
        *group = u16::from_be_bytes(*pair);
    }
    if !compressed {
        for (i, group) in groups.iter().enumerate() {
            if i > 0 && colons {
                out.push(b':');
            }
            num::hex_pad(out, u64::from(*group), 4);
        }
        return;
    }
    // RFC 5952: the longest run of two or more zero groups becomes `::`; v4-mapped and ISATAP addresses end dotted
    let dotted =
        (groups[..5] == [0; 5] && groups[5] == 0xffff) || (groups[4] | 0x0200 == 0x0200 && groups[5] == 0x5efe);
    let count = if dotted { 6 } else { 8 };
    let shown = groups.get(..count).unwrap_or(&groups);
    let (mut best, mut run) = (0..0, 0..0);
    for (i, group) in shown.iter().enumerate() {
        let start = if *group == 0 { run.start } else { i.saturating_add(1) };
        run = start..i.saturating_add(1);
        if run.len() > best.len().max(1) {
            best = run.clone();
        }
    }
    let mut colon = false;
    for (i, group) in shown.iter().enumerate() {
        if best.contains(&i) {
            if i == best.start {
                plain::all(out, b"::");
            }
            colon = false;
            continue;
        }
        if colon {
            out.push(b':');
        }
        num::hex(out, u64::from(*group));
        colon = true;
    }
    if dotted {
        if colon {
            out.push(b':');
        }
        ipv4(out, [ip[12], ip[13], ip[14], ip[15]], false, false);
    }
}

pub(super) fn sockaddr(out: &mut Vec<u8>, data: &[u8], shown: Sockaddr, cx: &Context<'_>, semantics: Semantics) {
    let Sockaddr { padded, compressed, port, flow, scope, order } = shown;
    let family = cx.abi.uint(data, 0, 2);
    let number = |out: &mut Vec<u8>| {
        out.push(b':');
        if let Some([a, b]) = data.get(2..).and_then(|d| d.first_chunk()) {
            num::dec(out, u64::from(u16::from_be_bytes([*a, *b])));
        }
    };
    let ip4 = data.get(4..).and_then(|d| d.first_chunk::<4>());
    let ip6 = data.get(8..).and_then(|d| d.first_chunk::<16>());
    match (family, ip4, ip6) {
        (Some(2), Some(ip), _) => {
            ipv4(out, *ip, padded, order.is_reversed(cx));
            if port {
                number(out);
            }
        }
        (Some(10), _, Some(ip)) => {
            let more = port || flow || scope;
            if more {
                out.push(b'[');
            }
            ipv6(out, ip, !padded, compressed);
            if more {
                out.push(b']');
            }
            if port {
                number(out);
            }
            if flow {
                out.push(b'/');
                let flow = data.get(4..).and_then(|d| d.first_chunk()).map_or(0, |f| u32::from_be_bytes(*f));
                num::dec(out, u64::from(flow & 0x0fff_ffff));
            }
            if scope {
                out.push(b'%');
                num::dec(out, cx.abi.uint(data, 24, 4).unwrap_or(0));
            }
        }
        // lib/vsprintf.c, ip_addr_string()
        _ if semantics == Semantics::Kernel => plain::all(out, b"(einval)"),
        _ => {}
    }
}

/// The form of a time, and its stored unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Time {
    /// `time64_t`; else `struct rtc_time`.
    seconds: bool,
    date: bool,
    time: bool,
    /// Year and month as they are stored: from 1900, from 0.
    raw: bool,
    /// A blank between date and time.
    blank: bool,
}

/// Year, month, day, hour, minute, second, as `struct rtc_time` counts them.
type Parts = [i64; 6];

impl Time {
    /// `tT[dt][r][s]`, `tR[dt][r][s]`.
    pub(super) fn parse(extension: &[u8]) -> Option<Self> {
        let (seconds, mut options) = match extension {
            [b't', b'T', options @ ..] => (true, options),
            [b't', b'R', options @ ..] => (false, options),
            _ => return None,
        };
        let (mut date, mut time) = (true, true);
        match options {
            [b'd', rest @ ..] => (time, options) = (false, rest),
            [b't', rest @ ..] => (date, options) = (false, rest),
            _ => {}
        }
        let options: Vec<u8> = options.iter().take_while(|b| matches!(b, b'r' | b's')).copied().collect();
        let has = |option: u8| options.contains(&option);
        Some(Time { seconds, date, time, raw: has(b'r'), blank: has(b's') })
    }

    pub(super) fn write(self, out: &mut Vec<u8>, data: &[u8], abi: Abi) {
        let [year, month, day, hour, minute, second] = self.parts(data, abi);
        if self.date {
            padded(out, year.saturating_add(if self.raw { 0 } else { 1900 }), 4);
            out.push(b'-');
            padded(out, month.saturating_add(if self.raw { 0 } else { 1 }), 2);
            out.push(b'-');
            padded(out, day, 2);
        }
        if self.date && self.time {
            out.push(if self.blank { b' ' } else { b'T' });
        }
        if self.time {
            padded(out, hour, 2);
            out.push(b':');
            padded(out, minute, 2);
            out.push(b':');
            padded(out, second, 2);
        }
    }

    fn parts(self, data: &[u8], abi: Abi) -> Parts {
        if self.seconds {
            return split(abi.int(data, 0, 8).unwrap_or(0));
        }
        let part = |at: usize| abi.int(data, at, 4).unwrap_or(0);
        [part(20), part(16), part(12), part(8), part(4), part(0)]
    }
}

fn padded(out: &mut Vec<u8>, value: i64, width: usize) {
    if value < 0 {
        return num::signed(out, value);
    }
    num::dec_pad(out, value as u64, width, b'0');
}

/// Seconds since 1970 in the Gregorian calendar, whose years are taken to begin in March.
#[expect(clippy::arithmetic_side_effects, reason = "an era has 146,097 days, and there are fewer than 2^30 eras")]
fn split(seconds: i64) -> Parts {
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let days = days.saturating_add(719_468);
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = (from_march + 2) % 12;
    let year = year_of_era + era * 400 + i64::from(month < 2);
    [year - 1900, month, day, rest / 3600, rest / 60 % 60, rest % 60]
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::abi::Endian;

    #[test]
    fn dates() {
        let abi = Abi { endian: Endian::Little, long_size: 8 };
        let text = |extension: &[u8], seconds: i64| {
            let mut out = Vec::new();
            Time::parse(extension).unwrap().write(&mut out, &seconds.to_le_bytes(), abi);
            String::from_utf8(out).unwrap()
        };
        // what `date -u` makes of these numbers
        assert_eq!(text(b"tT", 1_700_000_000), "2023-11-14T22:13:20");
        assert_eq!(text(b"tTd", 951_782_400), "2000-02-29");
        assert_eq!(text(b"tTts", -1), "23:59:59");
        assert_eq!(text(b"tTs", 0), "1970-01-01 00:00:00");
        assert_eq!(text(b"tTr", 0), "0070-00-01T00:00:00");
        assert_eq!(Time::parse(b"tX"), None);
        assert!(text(b"tT", i64::MIN).len() < 64);
    }
}
