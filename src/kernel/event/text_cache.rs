//! Cache of rendered event text, keyed by the record's bytes. Traces repeat (a task leaves the CPU, a call returns 0), and
//! copying is cheaper than formatting.
//!
//! The same bytes, the common fields among them, give the same text, as long as the event's text is made of them and of
//! what does not change; what they teach (task names) is known already the second time, until a name changes.

use crate::base::sys::Tail;
use std::fmt;

/// The texts of recent records; `LINES` lines of the processor's cache for what is long of each. Clones begin empty.
pub(crate) struct TextCache<const LINES: usize = 1> {
    /// [`SLOTS`] of them, or none yet.
    slots: Vec<TextSlot<LINES>>,
    /// By event id, hit credit. While negative, that many lookups are skipped.
    credit: Vec<i8>,
    /// Slots of other epochs are empty.
    epoch: u32,
}

const SLOTS: usize = 1024;
/// Sizes of the pieces of a text that is kept, in bytes: the first one, and each of the others.
const FIRST: usize = 56;
const LINE: usize = 64;
/// The longest record that is kept, in bytes.
const RECORD: usize = 64;

/// Lines of the cache: the record; what is compared beside it, and the beginning of the text; the rest of a long one.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct TextSlot<const LINES: usize> {
    words: [u64; RECORD / 8],
    epoch: u32,
    /// 0: the slot is empty.
    record_len: u8,
    text_len: u16,
    text: CachedText<LINES>,
}
const _: () = assert!(size_of::<TextSlot<1>>() == 3 * 64 && std::mem::offset_of!(TextSlot<1>, text.rest) == 2 * 64);

/// A text in pieces, of which most need but the first.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
pub(crate) struct CachedText<const LINES: usize = 1> {
    first: [u8; FIRST],
    rest: [[u8; LINE]; LINES],
}

impl<const LINES: usize> CachedText<LINES> {
    /// Appends the text, which is `len` bytes long.
    #[inline(always)]
    pub(crate) fn put<'t>(&self, len: usize, tail: Tail<'t>) -> Tail<'t> {
        let mut tail = tail.piece(&self.first, len);
        let mut at = FIRST;
        for line in &self.rest {
            if at >= len {
                break;
            }
            tail = tail.piece(line, len.saturating_sub(at));
            at = at.saturating_add(LINE);
        }
        tail
    }
}

/// The result of a lookup.
pub(crate) enum TextLookup<'a, const LINES: usize = 1> {
    /// The text, and its length over all pieces.
    Hit(&'a CachedText<LINES>, usize),
    /// Not cached; store the rendered text in this slot.
    Miss(usize),
    /// Not looked up, and not to be stored.
    Skipped,
}

/// The first and the last `BYTES` bytes of a record that has at most twice as many, as `WORDS` words.
#[inline(always)]
fn ends<const BYTES: usize, const WORDS: usize>(data: &[u8]) -> Option<[u64; WORDS]> {
    let (first, last) = (data.first_chunk::<BYTES>()?, data.last_chunk::<BYTES>()?);
    let mut words = [0; WORDS];
    let (near, far) = words.split_at_mut(WORDS / 2);
    for (words, bytes) in [(near, first), (far, last)] {
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
            *word = u64::from_ne_bytes(*bytes);
        }
    }
    Some(words)
}

/// Words to be kept: pairs of them are multiplied, none of which waits for another.
#[inline(always)]
fn slot_of(words: &[u64]) -> usize {
    const ODD: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xc2b2_ae3d_27d4_eb4f];
    let mut sum = 0;
    for (at, pair) in words.as_chunks::<2>().0.iter().enumerate() {
        let [a, b] = *pair;
        let product = u128::from(a ^ ODD[0]).wrapping_mul((b ^ ODD[1]).into());
        sum ^= ((product >> 64) as u64 ^ product as u64).rotate_left(at as u32);
    }
    (sum ^ sum >> 32) as usize % SLOTS
}

impl<const LINES: usize> TextSlot<LINES> {
    fn begin_with<const WORDS: usize>(&mut self, words: Option<[u64; WORDS]>) {
        for (place, word) in self.words.iter_mut().zip(words.into_iter().flatten()) {
            *place = word;
        }
    }
}

impl<const LINES: usize> Default for TextCache<LINES> {
    fn default() -> Self {
        const { assert!(FIRST + LINES * LINE <= u16::MAX as usize) };
        TextCache { slots: Vec::new(), credit: Vec::new(), epoch: 0 }
    }
}

impl<const LINES: usize> Clone for TextCache<LINES> {
    fn clone(&self) -> Self {
        TextCache::default()
    }
}

impl<const LINES: usize> TextCache<LINES> {
    /// Forgets all texts, and keeps each event's hit credit.
    pub(crate) fn forget(&mut self) {
        match self.epoch.checked_add(1) {
            Some(next) => self.epoch = next,
            None => *self = TextCache::default(),
        }
    }

    /// Looks up the record `data` of the event `id`.
    #[inline(always)]
    pub(crate) fn find(&mut self, id: u16, data: &[u8]) -> TextLookup<'_, LINES> {
        let Some(credit) = self.credit.get_mut(usize::from(id)) else {
            self.begin(id);
            return TextLookup::Skipped;
        };
        if *credit < 0 {
            *credit = credit.saturating_add(1);
            return TextLookup::Skipped;
        }
        let (at, known) = match data.len() {
            32..=RECORD => self.look::<32, 8>(data),
            16..32 => self.look::<16, 4>(data),
            8..16 => self.look::<8, 2>(data),
            _ => {
                *credit = i8::MIN;
                return TextLookup::Skipped;
            }
        };
        let Some(credit) = self.credit.get_mut(usize::from(id)) else { return TextLookup::Skipped };
        match self.slots.get(at) {
            Some(slot) if known => {
                *credit = credit.saturating_add(1);
                TextLookup::Hit(&slot.text, slot.text_len.into())
            }
            _ => {
                *credit = if *credit > 0 { credit.saturating_sub(1) } else { i8::MIN };
                TextLookup::Miss(at)
            }
        }
    }

    /// The slot of the record, and whether it is there. The words of a slot count as far as its record's length says.
    #[inline(always)]
    fn look<const BYTES: usize, const WORDS: usize>(&self, data: &[u8]) -> (usize, bool) {
        let Some(words) = ends::<BYTES, WORDS>(data) else { return (0, false) };
        let at = slot_of(&words);
        let Some(slot) = self.slots.get(at) else { return (at, false) };
        // One comparison for all: they are equal, as a rule.
        let differ = words.iter().zip(&slot.words).fold(0, |differ, (a, b)| differ | (a ^ b));
        let differ = differ | u64::from(slot.epoch ^ self.epoch) | (u64::from(slot.record_len) ^ data.len() as u64);
        (at, differ == 0)
    }

    #[cold]
    fn begin(&mut self, id: u16) {
        self.credit.resize(usize::from(id).saturating_add(1), i8::MAX / 2);
        let text = CachedText { first: [0; FIRST], rest: [[0; LINE]; LINES] };
        let empty = TextSlot { words: [0; RECORD / 8], epoch: 0, record_len: 0, text_len: 0, text };
        self.slots.resize(SLOTS, empty);
    }

    /// Remembers what was printed for the record, for which `at` was found, if it is not too long.
    #[inline(never)]
    pub(crate) fn keep(&mut self, at: usize, data: &[u8], text: &[u8]) {
        let Some(slot) = self.slots.get_mut(at) else { return };
        let (first, rest) = text.split_at(text.len().min(FIRST));
        let CachedText { first: to_first, rest: to_rest } = &mut slot.text;
        let to_rest = to_rest.as_flattened_mut().get_mut(..rest.len());
        let Some((to_first, to_rest)) = to_first.get_mut(..first.len()).zip(to_rest) else { return };
        to_first.copy_from_slice(first);
        to_rest.copy_from_slice(rest);
        match data.len() {
            32.. => slot.begin_with(ends::<32, 8>(data)),
            16..32 => slot.begin_with(ends::<16, 4>(data)),
            _ => slot.begin_with(ends::<8, 2>(data)),
        }
        slot.record_len = data.len() as u8;
        (slot.text_len, slot.epoch) = (text.len() as u16, self.epoch);
    }
}

impl<const LINES: usize> fmt::Debug for TextCache<LINES> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = self.slots.iter().filter(|slot| slot.record_len > 0 && slot.epoch == self.epoch).count();
        f.debug_struct("TextCache").field("known", &known).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text<const LINES: usize>(repeats: &mut TextCache<LINES>, id: u16, data: &[u8]) -> Option<Vec<u8>> {
        match repeats.find(id, data) {
            TextLookup::Hit(text, len) => {
                let mut out = Vec::new();
                text.put(len, Tail::new(&mut out)).done();
                Some(out)
            }
            _ => None,
        }
    }

    fn keep<const LINES: usize>(repeats: &mut TextCache<LINES>, id: u16, data: &[u8], text: &[u8]) {
        match repeats.find(id, data) {
            TextLookup::Miss(at) => repeats.keep(at, data, text),
            _ => panic!("nothing to keep"),
        }
    }

    #[test]
    fn the_same_bytes_are_found_whatever_their_number() {
        let bytes: Vec<u8> = (1..=70).collect();
        let mut repeats = TextCache::<1>::default();
        assert!(matches!(repeats.find(3, &bytes), TextLookup::Skipped), "the first of all");
        for len in 8..=64 {
            let data = &bytes[..len];
            keep(&mut repeats, 3, data, &vec![b'x'; len + len / 2]);
            assert_eq!(text(&mut repeats, 3, data).map(|text| text.len()), Some(len + len / 2), "{len}");
            for at in 0..len {
                let mut other = data.to_vec();
                other[at] ^= 0x80;
                assert!(text(&mut repeats, 2, &other).is_none(), "{len} bytes, another one at {at}");
                repeats.credit[2] = 1;
            }
        }
        for len in [0, 7, 65, 70] {
            repeats.credit[3] = 1;
            assert!(matches!(repeats.find(3, &bytes[..len]), TextLookup::Skipped), "{len}");
        }
    }

    #[test]
    fn what_is_too_long_is_not_kept_and_what_was_forgotten_not_found() {
        let long: Vec<u8> = (0..FIRST + 3 * LINE + 1).map(|at| at as u8).collect();
        let mut lines = TextCache::<3>::default();
        let _ = lines.find(1, &[1; 8]);
        keep(&mut lines, 1, &[1; 8], &long);
        assert!(text(&mut lines, 1, &[1; 8]).is_none());
        for len in [0, FIRST - 1, FIRST, FIRST + 1, FIRST + LINE, FIRST + LINE + 1, FIRST + 3 * LINE] {
            lines.forget();
            lines.credit[1] = 1;
            keep(&mut lines, 1, &[1; 8], &long[..len]);
            assert_eq!(text(&mut lines, 1, &[1; 8]).as_deref(), Some(&long[..len]));
        }
        let mut repeats = TextCache::<1>::default();
        let _ = repeats.find(1, &[1; 8]);
        keep(&mut repeats, 1, &[1; 8], &[b'x'; FIRST + LINE + 1]);
        assert!(text(&mut repeats, 1, &[1; 8]).is_none());
        keep(&mut repeats, 1, &[1; 8], &[b'x'; FIRST + LINE]);
        assert_eq!(text(&mut repeats, 1, &[1; 8]), Some(vec![b'x'; FIRST + LINE]));
        repeats.forget();
        assert!(text(&mut repeats, 1, &[1; 8]).is_none());
        repeats.epoch = u32::MAX;
        repeats.forget();
        assert_eq!((repeats.epoch, text(&mut repeats, 1, &[1; 8])), (0, None));
    }

    #[test]
    fn events_that_never_repeat_are_left_alone() {
        let mut repeats = TextCache::<1>::default();
        let mut looked = 0;
        for n in 0..100_000u64 {
            match repeats.find(0, &n.to_ne_bytes()) {
                TextLookup::Miss(at) => {
                    repeats.keep(at, &n.to_ne_bytes(), b"x\n");
                    looked += 1;
                }
                TextLookup::Hit(..) => panic!("{n} was never there"),
                TextLookup::Skipped => {}
            }
        }
        assert!((100_000 / 200..100_000 / 100).contains(&looked), "{looked}");
        // and are taken up again once they do
        for _ in 0..400 {
            if let TextLookup::Miss(at) = repeats.find(0, &[7; 8]) {
                repeats.keep(at, &[7; 8], b"seven\n");
            }
        }
        assert_eq!(text(&mut repeats, 0, &[7; 8]), Some(b"seven\n".to_vec()));
    }
}
