use super::*;
use crate::base::abi::{Abi, Endian};
use crate::file::ring_buffer::Lost;
use proptest::prelude::*;

const LE: Abi = Abi { endian: Endian::Little, long_size: 8 };
const BE: Abi = Abi { endian: Endian::Big, long_size: 8 };
const LE32: Abi = Abi { endian: Endian::Little, long_size: 4 };
const SIZE: usize = 256;

fn layout(abi: Abi) -> PageLayout {
    PageLayout { abi, data_offset: 8 + usize::from(abi.long_size), size: SIZE }
}

fn u32_of(abi: Abi, n: u32) -> [u8; 4] {
    if abi.endian == Endian::Big { n.to_be_bytes() } else { n.to_le_bytes() }
}

/// The first word of an item.
fn word(abi: Abi, type_len: u32, delta: u32) -> u32 {
    if abi.endian == Endian::Big { type_len << 27 | delta } else { delta << 5 | type_len }
}

/// A sub-buffer with these words and this commit word.
fn page(abi: Abi, time: u64, commit: u64, words: &[u32]) -> Vec<u8> {
    let mut bytes = if abi.endian == Endian::Big { time.to_be_bytes() } else { time.to_le_bytes() }.to_vec();
    match (abi.endian, abi.long_size) {
        (Endian::Big, _) => bytes.extend(commit.to_be_bytes()),
        (_, 4) => bytes.extend((commit as u32).to_le_bytes()),
        _ => bytes.extend(commit.to_le_bytes()),
    }
    bytes.extend(words.iter().flat_map(|&w| u32_of(abi, w)));
    bytes.resize(SIZE, 0);
    bytes
}

/// (time, start, length) of all records, and the error that ended them.
fn walk(abi: Abi, bytes: &[u8]) -> Result<Vec<(u64, usize, usize)>, PageError> {
    let page = layout(abi).page(bytes)?;
    let mut walker = Walker::new(abi, 0, &page);
    let mut found = Vec::new();
    loop {
        match walker.step(bytes) {
            Ok(Some(item)) => found.push((item.timestamp, item.start(), item.range().len())),
            Ok(None) => return Ok(found),
            Err(e) => {
                assert_eq!(walker.step(bytes), Ok(None), "nothing is walked after an error");
                return Err(e);
            }
        }
    }
}

#[test]
fn items_of_each_kind() {
    for abi in [LE, BE, LE32] {
        let w = |t, d| word(abi, t, d);
        let words = [
            w(1, 5),
            0xaa, // 4 bytes, 5 later
            w(30, 1),
            1, // time extend: 2^27 + 1
            w(2, 1),
            0,
            0, // 8 bytes
            w(29, 7),
            8,
            0, // padding of 8 bytes after the first word
            w(0, 2),
            13,
            0,
            0,
            0, // length 13 with its own word: 9 bytes, 12 with the alignment
            w(31, 3),
            2, // absolute: 2 * 2^27 + 3
            w(1, 4),
            0, // 4 later
        ];
        let bytes = page(abi, 1000, 4 * words.len() as u64, &words);
        let start = layout(abi).data_offset;
        let extend = (1 << 27) + 1;
        let expected = [
            (1005, start + 4, 4),
            (1005 + extend + 1, start + 20, 8),
            (1005 + extend + 1 + 7 + 2, start + 48, 12),
            ((2 << 27) + 3 + 4, start + 72, 4),
        ];
        assert_eq!(walk(abi, &bytes), Ok(expected.to_vec()));
    }
}

#[test]
fn absolute_stamps_take_their_top_bits_from_the_running_time() {
    let top = 0x1230_0000_0000_0000 & (0xf8 << 56);
    let words = [word(LE, 31, 3), 2, word(LE, 1, 0), 0];
    assert_eq!(walk(LE, &page(LE, top, 16, &words)), Ok(vec![(top | ((2 << 27) + 3), 28, 4)]));
    // It would turn time back: the 59 bits have overflown.
    let late = top | ((1 << 59) - 1);
    assert_eq!(walk(LE, &page(LE, late, 16, &words)), Ok(vec![((top | ((2 << 27) + 3)) + (1 << 59), 28, 4)]));
}

#[test]
fn padding_without_delta_ends_the_page() {
    let words = [word(LE, 1, 1), 0, word(LE, 29, 0), 0xffff_ffff, 0];
    assert_eq!(walk(LE, &page(LE, 0, 20, &words)), Ok(vec![(1, 20, 4)]));
}

#[test]
fn losses() {
    let words = [word(LE, 1, 1), 0, 77, 0];
    let lost = |commit: u64| layout(LE).page(&page(LE, 0, commit, &words)).unwrap().lost;
    assert_eq!(lost(8), Lost::None);
    assert_eq!(lost(8 | 1 << 31), Lost::Unknown);
    assert_eq!(lost(8 | u64::MAX << 31), Lost::Unknown, "the flag as an `int`");
    assert_eq!(lost(8 | 1 << 31 | 1 << 30), Lost::Count(77));
    assert_eq!(lost((SIZE as u64 - 16) | 1 << 31 | 1 << 30), Lost::Unknown, "no room for a count");
}

#[test]
fn every_malformed_shape_is_named() {
    let w = |t, d| word(LE, t, d);
    let error = |commit: u64, words: &[u32]| walk(LE, &page(LE, 0, commit, words)).unwrap_err();
    assert_eq!(layout(LE).page(&[0; 100]), Err(PageError::Cut { len: 100, wanted: SIZE }));
    assert_eq!(error(241, &[]), PageError::Commit { commit: 241, room: 240 });
    assert_eq!(error(8 | 1 << 40, &[w(1, 0), 0]), PageError::Commit { commit: 8 | 1 << 40, room: 240 });
    assert_eq!(layout(LE).page(&page(LE, 5, 0, &[0, w(1, 0)])), Err(PageError::NoCommit));
    assert_eq!(error(6, &[w(0, 0)]), PageError::SecondWord { offset: 16, type_len: 0 });
    assert_eq!(error(10, &[w(1, 0), 0, 0]), PageError::ItemHeader { offset: 24, remain: 2 });
    assert_eq!(error(4, &[w(30, 0)]), PageError::SecondWord { offset: 16, type_len: 30 });
    assert_eq!(error(8, &[w(0, 0), 3]), PageError::RecordLength { offset: 16, len: 3 });
    assert_eq!(error(8, &[w(2, 0), 0]), PageError::PastEnd { offset: 16, excess: 4, padding: false });
    assert_eq!(error(8, &[w(0, 0), u32::MAX]), PageError::PastEnd { offset: 16, excess: 0xffff_fffc, padding: false });
    assert_eq!(error(8, &[w(29, 1), 12]), PageError::PastEnd { offset: 16, excess: 8, padding: true });
    assert_eq!(error(8, &[w(28, 0), 0]).to_string(), "record at +0x10 runs 108 bytes past the committed data");
}

proptest! {
    /// Any bytes: every record lies within the committed data, after the one before it.
    #[test]
    fn any_bytes_are_walked_within_bounds(
        mut bytes in proptest::collection::vec(any::<u8>(), SIZE..=SIZE),
        commit in 0u16..300,
        flags in 0u8..4,
        big in any::<bool>(),
    ) {
        let abi = if big { BE } else { LE };
        let word = u64::from(commit) | u64::from(flags) << 30;
        bytes[8..16].copy_from_slice(&if big { word.to_be_bytes() } else { word.to_le_bytes() });
        let mut walker = match layout(abi).page(&bytes) {
            Ok(page) => Walker::new(abi, 0, &page),
            Err(PageError::NoCommit) => {
                prop_assert_eq!(commit, 0);
                return Ok(());
            }
            Err(e) => {
                prop_assert!(commit > 240, "{e}");
                return Ok(());
            }
        };
        let mut before = 16;
        while let Ok(Some(item)) = walker.step(&bytes) {
            prop_assert!(item.start() >= before + 4 && item.range().end <= 16 + usize::from(commit));
            before = item.range().end;
        }
    }
}

#[test]
fn sub_buffers_that_a_standing_clock_makes_alike_repeat_none() {
    for abi in [LE, BE, LE32] {
        // Three records each, the second of which comes `later`.
        let alike =
            |later| page(abi, 700, 24, &[word(abi, 1, 0), 0xaa, word(abi, 1, later), 0xaa, word(abi, 1, 0), 0xaa]);
        let after = |first: &[u8], second: &[u8]| {
            let (layout, mut order) = (layout(abi), PageOrder::default());
            order.add_page(&layout, &layout.page(first).unwrap(), first, 0).unwrap();
            order.add_page(&layout, &layout.page(second).unwrap(), second, 1)
        };
        assert_eq!(after(&alike(0), &alike(0)), Ok(()), "{abi:?}");
        assert_eq!(after(&alike(1), &alike(1)), Err(PageError::Repeated), "{abi:?}");
        // The clock goes on within the second.
        assert_eq!(after(&alike(0), &alike(1)), Ok(()), "{abi:?}");
    }
}
