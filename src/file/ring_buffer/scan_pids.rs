//! Fast scan for the recorder: counts records and reports their tasks' pids, without decoding them.
//!
//! The place of a record is known only after a look at the one before it, and that load is what a CPU waits for. So
//! four sub-buffers are walked side by side.

/// Sub-buffers that are walked side by side.
const LANES: usize = 4;
/// An item's first word, and of a record what every event begins with up to and including `common_pid`.
const HEAD: usize = 12;
const PADDING: u32 = 29;

/// Counts the records of `pages`, the committed items of sub-buffers of a kernel of this machine's byte order, and names
/// `common_pid` of each to `task`, unless it is that of the record before. `None` if one of them is damaged.
pub fn scan_pids<'a>(pages: impl IntoIterator<Item = &'a [u8]>, mut task: impl FnMut(i32)) -> Option<u64> {
    let mut pages = pages.into_iter();
    let mut lanes = [Lane::default(); LANES];
    let mut records = 0u64;
    loop {
        for lane in &mut lanes {
            while !lane.step(&mut task) {
                // The rest of it is shorter than most records.
                records = records.saturating_add(lane.rest(&mut task)?);
                match pages.next() {
                    Some(page) => *lane = Lane::new(page),
                    None => {
                        let add = |sum: u64, mut lane: Lane<'_>| Some(sum.saturating_add(lane.rest(&mut task)?));
                        return lanes.into_iter().try_fold(records, add);
                    }
                }
            }
        }
    }
}

/// A sub-buffer that is being walked.
#[derive(Clone, Copy, Default)]
struct Lane<'a> {
    items: &'a [u8],
    pos: usize,
    records: u64,
    task: Option<i32>,
}

impl<'a> Lane<'a> {
    fn new(items: &'a [u8]) -> Self {
        Lane { items, ..Lane::default() }
    }

    /// Passes one item; `false` if there is hardly one left.
    #[inline(always)]
    fn step(&mut self, task: &mut impl FnMut(i32)) -> bool {
        let Some(head) = self.items.get(self.pos..).and_then(|rest| rest.first_chunk::<HEAD>()) else { return false };
        let [a, b, c, d, .., e, f, g, h] = *head;
        let (word, pid) = (u32::from_ne_bytes([a, b, c, d]), i32::from_ne_bytes([e, f, g, h]));
        let length = if cfg!(target_endian = "big") { word >> 27 } else { word & 31 };
        if (1..PADDING).contains(&length) {
            #[expect(clippy::arithmetic_side_effects, reason = "bytes were read at `pos`; `length` has 5 bits")]
            let next = self.pos + 4 + 4 * length as usize;
            self.pos = next;
            self.record(pid, task);
            true
        } else {
            self.long(length, task)
        }
    }

    #[inline(always)]
    fn record(&mut self, pid: i32, task: &mut impl FnMut(i32)) {
        self.records = self.records.wrapping_add(1); // fewer than bytes
        if self.task != Some(pid) {
            self.task = Some(pid);
            task(pid);
        }
    }

    /// An item with a second word: a long record, or none at all. After a damaged one the place is beyond the end.
    #[inline(never)]
    fn long(&mut self, length: u32, task: &mut impl FnMut(i32)) -> bool {
        let rest = self.items.get(self.pos..).unwrap_or_default();
        let pid = rest.get(12..).and_then(|rest| rest.first_chunk::<4>()).map_or(0, |pid| i32::from_ne_bytes(*pid));
        let word = |at: usize| Some(u32::from_ne_bytes(*rest.get(at..)?.first_chunk::<4>()?));
        let delta =
            word(0).map_or(0, |word| if cfg!(target_endian = "big") { word & ((1 << 27) - 1) } else { word >> 5 });
        self.pos = match (length, word(4)) {
            (PADDING, _) if delta == 0 => self.items.len(),
            (0 | PADDING, Some(second @ 4..)) => {
                self.pos.saturating_add(4).saturating_add((second as usize).saturating_add(3) & !3)
            }
            (1..=PADDING, _) | (_, None) | (0, _) => usize::MAX,
            _ => self.pos.saturating_add(8),
        };
        if length == 0 {
            self.record(pid, task);
        }
        true
    }

    /// Passes what [`Lane::step`] left and gives the number of records of the whole sub-buffer.
    fn rest(&mut self, task: &mut impl FnMut(i32)) -> Option<u64> {
        while self.step(task) {}
        // Items that move time, and padding, may be shorter than any record.
        while self.pos < self.items.len() {
            let word = self.items.get(self.pos..)?.first_chunk::<4>().map(|word| u32::from_ne_bytes(*word))?;
            self.long(if cfg!(target_endian = "big") { word >> 27 } else { word & 31 }, task);
        }
        (self.pos == self.items.len()).then_some(std::mem::take(&mut self.records))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::abi::Abi;
    use crate::file::ring_buffer::Lost;
    use crate::file::ring_buffer::{Page, Walker};
    use proptest::prelude::*;

    fn survey_one(items: &[u8]) -> Option<(u64, Vec<i32>)> {
        let mut tasks = Vec::new();
        scan_pids([items], |pid| tasks.push(pid)).map(|records| (records, tasks))
    }

    /// The walker's findings.
    fn walked(items: &[u8]) -> Option<(u64, Vec<i32>)> {
        let page = Page { timestamp: 0, start: 0, end: items.len(), lost: Lost::None };
        let mut walker = Walker::new(Abi::HOST, 0, &page);
        let (mut records, mut tasks) = (0, Vec::new());
        while let Some(item) = walker.step(items).ok()? {
            let pid = items[item.range()].get(4..8).map_or(0, |b| i32::from_ne_bytes(b.try_into().unwrap()));
            if tasks.last() != Some(&pid) {
                tasks.push(pid);
            }
            records += 1;
        }
        Some((records, tasks))
    }

    /// An item: a record of a task, short or long, padding, or one of the two that move time.
    fn item() -> impl Strategy<Value = Vec<u8>> {
        let word = |length: u32, delta: u32| {
            if cfg!(target_endian = "big") { length << 27 | delta } else { length | delta << 5 }.to_ne_bytes()
        };
        let record = move |words: u32, pid: i32, long: bool| {
            let mut bytes = if long { word(0, 7).to_vec() } else { word(words, 7).to_vec() };
            if long {
                bytes.extend((4 * words + 4).to_ne_bytes());
            }
            let start = bytes.len();
            bytes.resize(start + 4 * words as usize, 1);
            bytes[start + 4..start + 8].copy_from_slice(&pid.to_ne_bytes());
            bytes
        };
        prop_oneof![
            8 => (2u32..28, 0..4i32).prop_map(move |(words, pid)| record(words, pid, false)),
            2 => (2u32..60, 0..4i32).prop_map(move |(words, pid)| record(words, pid, true)),
            1 => (30u32..32).prop_map(move |length| [word(length, 9), 5u32.to_ne_bytes()].concat()),
            1 => (1u32..9).prop_map(move |words| [&word(29, 3)[..], &(4 * words).to_ne_bytes(), &vec![0; 4 * words as usize - 4]].concat()),
        ]
    }

    proptest! {
        #[test]
        fn it_sees_what_the_walker_sees(items in prop::collection::vec(item(), 0..60)) {
            let items = items.concat();
            prop_assert_eq!(survey_one(&items), walked(&items));
        }

        #[test]
        fn many_at_once_are_as_one_by_one(pages in prop::collection::vec(prop::collection::vec(item(), 0..20), 0..12)) {
            let pages: Vec<Vec<u8>> = pages.into_iter().map(|items| items.concat()).collect();
            let sum: u64 = pages.iter().map(|page| walked(page).unwrap().0).sum();
            prop_assert_eq!(scan_pids(pages.iter().map(Vec::as_slice), |_| {}), Some(sum));
        }

        #[test]
        fn any_bytes_end_without_a_panic(mut items in prop::collection::vec(any::<u8>(), 0..400)) {
            items.truncate(items.len() / 4 * 4);
            // A record without a task is no event; all else that is damaged is damaged for both.
            if let (Some(seen), Some(walked)) = (survey_one(&items), walked(&items)) {
                prop_assert_eq!(seen.0, walked.0);
            }
        }
    }
}
