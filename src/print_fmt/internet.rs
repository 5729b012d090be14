//! Addresses of the internet: `%pI4`, `%pI6`, `%pIS` and their like.

use super::{Context, Semantics};
use crate::text::{num, put};

/// In which order the bytes of an IPv4 address lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Network,
    /// As numbers of the recorded machine.
    Host,
    Reversed,
}

/// What to show of a socket address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sockaddr {
    pub(super) padded: bool,
    pub(super) compressed: bool,
    pub(super) port: bool,
    pub(super) flow: bool,
    pub(super) scope: bool,
    pub(super) order: Order,
}

impl Order {
    pub(super) fn is_reversed(self, cx: &Context<'_>) -> bool {
        match self {
            Order::Network => false,
            Order::Host => cx.abi.endian == crate::abi::Endian::Little,
            Order::Reversed => true,
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
    for (group, pair) in groups.iter_mut().zip(ip.chunks_exact(2)) {
        *group = u16::from_be_bytes([pair[0], pair[1]]);
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
    let (mut best, mut best_len, mut i) = (0, 1, 0);
    while i < count {
        let run = groups[i..count].iter().take_while(|g| **g == 0).count();
        if run > best_len {
            (best, best_len) = (i, run);
        }
        i += run.max(1);
    }
    let mut i = 0;
    let mut colon = false;
    while i < count {
        if best_len > 1 && i == best {
            put::all(out, b"::");
            colon = false;
            i += best_len;
            continue;
        }
        if colon {
            out.push(b':');
        }
        num::hex(out, u64::from(groups[i]));
        colon = true;
        i += 1;
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
        _ if semantics == Semantics::Kernel => put::all(out, b"(einval)"),
        _ => {}
    }
}
