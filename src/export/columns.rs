//! The columns in front of an event's text.

use crate::base::abi::Abi;
use crate::base::text::{num, plain};
use crate::base::wall_time::local_second;
use crate::kernel::event::{Common, Lost, PrefixCache, Record, RecordHead};

/// `CPU:3 [12 EVENTS DROPPED]`: how many are missing, if that is known, between two words.
pub(super) fn lost(out: &mut Vec<u8>, record: &Record<'_>, before: &[u8], after: &[u8]) {
    out.extend_from_slice(b"CPU:");
    num::dec(out, record.cpu.0.into());
    out.extend_from_slice(b" [");
    out.extend_from_slice(before);
    if let Lost::Count(count) = record.lost {
        num::dec(out, count);
        out.push(b' ');
    }
    out.extend_from_slice(after);
    out.extend_from_slice(b"]\n");
}

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

/// The letters of each value of `common_flags`: interrupts, need-resched, context. The second bit is the lazy kind of
/// need-resched (Linux 6.13), whatever kernel it is of.
const FLAGS: [[u8; 3]; 256] = {
    let mut letters = [[b'.'; 3]; 256];
    let mut flags = 0;
    while flags < 256 {
        letters[flags] = [
            if flags & 1 != 0 { b'd' } else { b'.' },
            match flags >> 1 & 3 {
                0 => b'.',
                1 => b'L',
                _ => b'N',
            },
            match flags >> 3 & 3 {
                3 => b'H',
                1 => b'h',
                2 => b's',
                _ => b'.',
            },
        ];
        flags += 1;
    }
    letters
};

/// The letter of each depth.
const DEPTHS: [u8; 16] = *b".123456789abcdef";

/// `d.s2.`: interrupts, need-resched, context, preemption depth, migration; what the record has.
#[inline(always)]
pub(super) fn flags(out: &mut Vec<u8>, head: &RecordHead, common: &Common, abi: Abi, data: &[u8]) {
    let [irqs, resched, context] = FLAGS[usize::from(head.flags)];
    let (preempt, migrate) = (head.preempt_count & 15, head.preempt_count >> 4);
    let text = [irqs, resched, context, DEPTHS[usize::from(preempt)], DEPTHS[usize::from(migrate)], 0, 0, 0];
    plain::piece(out, &text, 5);
    if common.has_more() {
        more_flags(out, common, abi, data);
    }
}

#[cold]
fn more_flags(out: &mut Vec<u8>, common: &Common, abi: Abi, data: &[u8]) {
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

/// ` 12345.678901:`, rounded to the nearest microsecond.
#[inline(always)]
pub(super) fn micros(out: &mut Vec<u8>, nanos: u64, recent: &mut PrefixCache) {
    let micros = match nanos.checked_add(500) {
        Some(nanos) => seconds(out, nanos, recent) / 1000,
        None => (seconds(out, nanos, recent) + 500) / 1000, // the last 500 ns of all time: no second ends in them
    };
    let mut text = num::six(micros);
    text[6] = b':';
    plain::piece(out, &text, 7);
}

/// ` 12345.678901234:`
#[inline(always)]
pub(super) fn nanos(out: &mut Vec<u8>, nanos: u64, recent: &mut PrefixCache) {
    let rest = seconds(out, nanos, recent);
    plain::piece(out, &num::six(rest / 1000), 6);
    let mut text = num::six(rest % 1000);
    text.copy_within(3..6, 0);
    text[3] = b':';
    plain::piece(out, &text, 4);
}

/// ` 12345.`, and gives the nanoseconds that remain.
#[inline(always)]
fn seconds(out: &mut Vec<u8>, nanos: u64, recent: &mut PrefixCache) -> u32 {
    match recent.put_second(nanos, out) {
        Some(rest) => rest,
        None => new_second(out, nanos, recent),
    }
}

#[cold]
fn new_second(out: &mut Vec<u8>, nanos: u64, recent: &mut PrefixCache) -> u32 {
    let column = out.len();
    out.push(b' ');
    num::dec_pad(out, nanos / 1_000_000_000, 5, b' ');
    out.push(b'.');
    let rest = nanos % 1_000_000_000;
    recent.keep_second(nanos - rest, &out[column..]);
    rest as u32
}

/// ` 2026-11-26T12:03:05.250123:`, local time; the microsecond is the one that the time lies in, or all nine digits stand.
pub(super) fn wall(out: &mut Vec<u8>, wall: i64, nanoseconds: bool, recent: &mut PrefixCache) {
    // Years before 1970 have no second to remember.
    let since = u64::try_from(wall).unwrap_or_default();
    let rest = recent.put_second(since, out).unwrap_or_else(|| {
        let column = out.len();
        let (second, rest) = local_second(wall);
        out.push(b' ');
        out.extend_from_slice(second.as_bytes());
        out.push(b'.');
        recent.keep_second(since.saturating_sub(rest.into()), &out[column..]);
        rest
    });
    out.extend_from_slice(&num::six(rest / 1000)[..6]);
    if nanoseconds {
        out.extend_from_slice(&num::six(rest % 1000)[3..6]);
    }
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
        let recent = &mut PrefixCache::default();
        for _ in 0..2 {
            assert_eq!(text(|o| micros(o, 2_131_145_614_700, recent)), "  2131.145615:");
            assert_eq!(text(|o| micros(o, 2_131_999_999_499, recent)), "  2131.999999:");
            assert_eq!(text(|o| micros(o, 2_131_999_999_500, recent)), "  2132.000000:");
            assert_eq!(text(|o| micros(o, 1_999_999_999, recent)), "     2.000000:");
            assert_eq!(text(|o| nanos(o, 123_456_000_000_001, recent)), " 123456.000000001:");
            assert_eq!(text(|o| nanos(o, 1_999_999_999, recent)), "     1.999999999:");
            assert_eq!(text(|o| micros(o, u64::MAX, recent)), " 18446744073.709552:");
            assert_eq!(text(|o| nanos(o, u64::MAX, recent)), " 18446744073.709551615:");
        }
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
