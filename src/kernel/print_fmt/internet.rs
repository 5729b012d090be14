//! Addresses of the internet: `%pI4`, `%pI6`, `%pIS` and their like.

use super::{Context, Semantics};
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
