//! The columns in front of an event's text.

use crate::abi::Abi;
use crate::event::Common;
use crate::print_fmt::num;

/// `comm` to the right of 16 columns, never cut.
#[inline]
pub(super) fn comm(out: &mut Vec<u8>, comm: &[u8]) {
    const BLANKS: [u8; 16] = [b' '; 16];
    out.extend_from_slice(&BLANKS[..16usize.saturating_sub(comm.len())]);
    out.extend_from_slice(comm);
}

/// `comm` cut and filled to 8 columns.
pub(super) fn short_comm(out: &mut Vec<u8>, comm: &[u8]) {
    out.resize(out.len() + 8usize.saturating_sub(comm.len()), b' ');
    out.extend_from_slice(&comm[..comm.len().min(8)]);
}

/// `-pid`, filled on the right to 5 columns.
#[inline]
pub(super) fn pid(out: &mut Vec<u8>, pid: i32) {
    out.push(b'-');
    let start = out.len();
    num::signed(out, pid.into());
    while out.len() - start < 5 {
        out.push(b' ');
    }
}

/// `d.s2.`: interrupts, need-resched, context, preemption depth, migration; what the record has.
#[inline]
pub(super) fn flags(out: &mut Vec<u8>, common: &Common, abi: Abi, data: &[u8]) {
    let flags = common.flags(abi, data);
    let preempt = common.preempt_count(abi, data);
    let irqs = match flags & 3 {
        0 => b'.',
        1 => b'd',
        _ if flags & 1 != 0 => b'd',
        _ => b'X',
    };
    let resched = if flags & 4 != 0 { b'N' } else { b'.' };
    let context = match (flags & 8 != 0, flags & 16 != 0) {
        (true, true) => b'H',
        (true, false) => b'h',
        (false, true) => b's',
        (false, false) => b'.',
    };
    out.extend_from_slice(&[irqs, resched, context, depth(preempt & 15), depth(preempt >> 4)]);
    if let Some(count) = common.migrate_disable(abi, data) {
        match count {
            0 => out.push(b'.'),
            count => num::dec(out, count),
        }
    }
    if let Some(depth) = common.lock_depth(abi, data) {
        if depth < 0 { out.push(b'.') } else { num::signed(out, depth) }
    }
}

fn depth(nibble: u8) -> u8 {
    match nibble {
        0 => b'.',
        n => b"0123456789abcdef"[usize::from(n & 15)],
    }
}

/// ` 12345.678901:`, rounded to the nearest microsecond.
#[inline]
pub(super) fn micros(out: &mut Vec<u8>, nanos: u64) {
    let (mut seconds, mut micros) = (nanos / 1_000_000_000, (nanos % 1_000_000_000 + 500) / 1000);
    if micros >= 1_000_000 {
        seconds += 1;
        micros -= 1_000_000;
    }
    seconds_and(out, seconds, micros, 6);
}

/// ` 12345.678901234:`
#[inline]
pub(super) fn nanos(out: &mut Vec<u8>, nanos: u64) {
    seconds_and(out, nanos / 1_000_000_000, nanos % 1_000_000_000, 9);
}

#[inline]
fn seconds_and(out: &mut Vec<u8>, seconds: u64, rest: u64, digits: usize) {
    out.push(b' ');
    num::dec_pad(out, seconds, 5, b' ');
    out.push(b'.');
    num::dec_pad(out, rest, digits, b'0');
    out.push(b':');
}

/// `%12u:` for clocks that count anything but nanoseconds.
#[inline]
pub(super) fn ticks(out: &mut Vec<u8>, ticks: u64) {
    num::dec_pad(out, ticks, 12, b' ');
    out.push(b':');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(f: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        f(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn times_round_to_the_nearest() {
        assert_eq!(text(|o| micros(o, 2_131_145_614_700)), "  2131.145615:");
        assert_eq!(text(|o| micros(o, 1_999_999_999)), "     2.000000:");
        assert_eq!(text(|o| nanos(o, 123_456_000_000_001)), " 123456.000000001:");
        assert_eq!(text(|o| ticks(o, 42)), "          42:");
    }

    #[test]
    fn tasks() {
        assert_eq!(text(|o| comm(o, b"bash")), "            bash");
        assert_eq!(text(|o| comm(o, b"a name longer than that")), "a name longer than that");
        assert_eq!(text(|o| short_comm(o, b"kworker/0:2")), "kworker/");
        assert_eq!(text(|o| pid(o, 12)), "-12   ");
        assert_eq!(text(|o| pid(o, 1_234_567)), "-1234567");
    }
}
