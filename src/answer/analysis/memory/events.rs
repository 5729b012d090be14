//! Allocations and frees, out of records.
//!
//! ```text
//! kmalloc: call_site=security_inode_alloc+0x1a ptr=000000003f1b9d2e bytes_req=96 bytes_alloc=96 ...
//! mm_page_alloc: page=00000000c1d7a2f5 pfn=0x10c3a4 order=0 migratetype=1 ...
//! ```
//!
//! The slab allocators round a request up; the difference is wasted as long as the object lives. `kmalloc_node` and
//! `kmem_cache_alloc_node` are events of their own until Linux 6.1.
//!
//! Small entries for maps that may hold millions.

use crate::answer::analysis::by_event::{ByEvent, KnownEvents, RecordNumber};
use crate::answer::analysis::interface::Map;
use crate::base::abi::Abi;
use crate::kernel::event::Record;
use crate::kernel::format::EventFormat;
use std::hash::{Hash, Hasher};
use std::ops::Deref;

/// The event of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::answer::analysis) enum MemoryEvent {
    /// An object: `asked` and `taken` in bytes.
    Allocate {
        site: u64,
        asked: u64,
        taken: u64,
        address: u64,
    },
    Free {
        address: u64,
    },
    /// 2^order pages, the first of which has the number `frame`.
    AllocatePages {
        frame: u64,
        order: u64,
    },
    FreePages {
        frame: u64,
        order: u64,
    },
}

/// The events of one recording.
#[derive(Clone, Debug)]
pub(in crate::answer::analysis) struct Events(ByEvent<MemoryKind>);

#[derive(Clone, Copy, Debug)]
enum MemoryKind {
    Allocate { site: RecordNumber, asked: RecordNumber, taken: RecordNumber, address: RecordNumber },
    Free { address: RecordNumber },
    AllocatePages { frame: RecordNumber, order: RecordNumber },
    FreePages { frame: RecordNumber, order: RecordNumber },
}

impl MemoryKind {
    fn of(format: &EventFormat) -> Option<MemoryKind> {
        let number = |field| RecordNumber::of(format, field);
        if format.system != "kmem" {
            return None;
        }
        Some(match format.name.as_str() {
            "kmalloc" | "kmalloc_node" | "kmem_cache_alloc" | "kmem_cache_alloc_node" => MemoryKind::Allocate {
                site: number("call_site")?,
                asked: number("bytes_req")?,
                taken: number("bytes_alloc")?,
                address: number("ptr")?,
            },
            "kfree" | "kmem_cache_free" => MemoryKind::Free { address: number("ptr")? },
            "mm_page_alloc" => MemoryKind::AllocatePages { frame: number("pfn")?, order: number("order")? },
            "mm_page_free" => MemoryKind::FreePages { frame: number("pfn")?, order: number("order")? },
            _ => return None,
        })
    }
}

/// The ids and the common fields of its events.
impl Deref for Events {
    type Target = dyn KnownEvents;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl Events {
    pub(in crate::answer::analysis) fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi) -> Self {
        Events(ByEvent::new(formats, abi, MemoryKind::of))
    }

    /// True if objects are allocated.
    pub(in crate::answer::analysis) fn have_objects(&self) -> bool {
        self.0.all().any(|kind| matches!(kind, MemoryKind::Allocate { .. }))
    }

    /// True if pages are allocated.
    pub(in crate::answer::analysis) fn have_pages(&self) -> bool {
        self.0.all().any(|kind| matches!(kind, MemoryKind::AllocatePages { .. }))
    }

    pub(in crate::answer::analysis) fn event(&self, record: &Record<'_>) -> Option<MemoryEvent> {
        let (abi, data) = (self.0.abi, record.data);
        Some(match *self.0.of(record)? {
            MemoryKind::Allocate { site, asked, taken, address } => MemoryEvent::Allocate {
                site: site.read(abi, data),
                asked: asked.read(abi, data),
                taken: taken.read(abi, data),
                address: address.read(abi, data),
            },
            MemoryKind::Free { address } => MemoryEvent::Free { address: address.read(abi, data) },
            MemoryKind::AllocatePages { frame, order } => {
                MemoryEvent::AllocatePages { frame: frame.read(abi, data), order: order.read(abi, data) }
            }
            MemoryKind::FreePages { frame, order } => {
                MemoryEvent::FreePages { frame: frame.read(abi, data), order: order.read(abi, data) }
            }
        })
    }
}

/// A number of 64 bits that needs no alignment beyond four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PackedNumber([u32; 2]);

impl PackedNumber {
    pub(super) fn get(self) -> u64 {
        u64::from(self.0[1]) << 32 | u64::from(self.0[0])
    }
}

impl From<u64> for PackedNumber {
    fn from(number: u64) -> Self {
        PackedNumber([number as u32, (number >> 32) as u32])
    }
}

impl Hash for PackedNumber {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.get());
    }
}

/// A map of places in memory that may hold millions, in parts: a part that grows copies itself alone, so that for a moment
/// little is held twice.
#[derive(Clone, Debug)]
pub(super) struct Places<V>(Vec<Map<PackedNumber, V>>);

const PARTS: u32 = 64;

impl<V> Default for Places<V> {
    fn default() -> Self {
        Places((0..PARTS).map(|_| Map::default()).collect())
    }
}

impl<V: Copy> Places<V> {
    /// Neighbours are in different parts: 2^64 by the golden ratio (Knuth's multiplicative hashing).
    fn part(&mut self, place: u64) -> &mut Map<PackedNumber, V> {
        let part = place.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - PARTS.ilog2());
        &mut self.0[part as usize]
    }

    /// The value that was there before.
    pub(super) fn insert(&mut self, place: u64, value: V) -> Option<V> {
        self.part(place).insert(place.into(), value)
    }

    pub(super) fn get(&mut self, place: u64) -> Option<V> {
        self.part(place).get(&place.into()).copied()
    }

    pub(super) fn remove(&mut self, place: u64) -> Option<V> {
        self.part(place).remove(&place.into())
    }
}

/// Values that occur, each with a number of 32 bits to stand for it. Their kinds are few where they are many.
#[derive(Clone, Debug)]
pub(super) struct NumberedKinds<K> {
    kinds: Vec<K>,
    numbers: Map<K, u32>,
}

impl<K> Default for NumberedKinds<K> {
    fn default() -> Self {
        NumberedKinds { kinds: Vec::new(), numbers: Map::default() }
    }
}

impl<K: Copy + Eq + Hash> NumberedKinds<K> {
    /// The number of a kind: the next one of a new kind. (2^32 kinds would take 64 GiB here.)
    pub(super) fn number(&mut self, kind: K) -> u32 {
        *self.numbers.entry(kind).or_insert_with(|| {
            self.kinds.push(kind);
            (self.kinds.len() - 1) as u32
        })
    }

    /// The kind of a number.
    pub(super) fn get(&self, number: u32) -> Option<&K> {
        self.kinds.get(number as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_cut_off() {
        for number in [0, 1, u64::from(u32::MAX), 1 << 32, 0x0123_4567_89ab_cdef, u64::MAX] {
            assert_eq!(PackedNumber::from(number).get(), number);
        }
        assert_eq!((size_of::<(PackedNumber, PackedNumber, u32)>(), size_of::<(PackedNumber, u32)>()), (20, 12));
    }

    #[test]
    fn places_are_spread_over_the_parts() {
        let mut places = Places::default();
        let address = |nth: u64| 0xffff_8881_0000_0000 + nth * 192;
        (0..10_000).for_each(|nth| assert_eq!(places.insert(address(nth), nth), None));
        let sizes = places.0.iter().map(Map::len);
        assert!(sizes.clone().min() > Some(100) && sizes.max() < Some(220));
        assert_eq!((places.get(address(77)), places.insert(address(77), 1)), (Some(77), Some(77)));
        assert_eq!((places.remove(address(77)), places.remove(address(77)), places.get(8)), (Some(1), None, None));
    }

    #[test]
    fn equal_kinds_have_one_number() {
        let mut kinds = NumberedKinds::default();
        let numbers = [(1usize, 8u64), (2, 8), (1, 8), (1, 1 << 40)].map(|kind| kinds.number(kind));
        assert_eq!(numbers, [0, 1, 0, 2]);
        assert_eq!((kinds.get(2), kinds.get(3)), (Some(&(1, 1 << 40)), None));
    }
}
