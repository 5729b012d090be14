//! Index of a CPU's chunks, so that a search for some tasks need not unpack the others' chunks. The recorder notes it
//! before it packs a chunk; our files keep it in an option of their own for each CPU of each buffer.
//!
//! Set of event ids; records of other events are dropped before merging.

use super::super::file::buffer::ChunkStarts;
use crate::base::abi::Abi;
use crate::base::units::{CpuId, Pid};
use crate::file::ring_buffer::{Lost, PageLayout, scan_pids};
use crate::file::trace_dat::read_at::FileBytes;
use crate::file::trace_dat::{Buffer, CpuData, DataLayout, FileError, OptionId, RawOption, Trace};
use crate::kernel::format::HeaderPage;
use std::ops::Range;
use std::sync::Arc;

/// A 256-bit Bloom filter of PIDs (hash: pid mod 256). False positives are possible, false negatives are not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PidBloom([u64; 4]);

impl PidBloom {
    /// All tasks that there may be.
    pub const ALL: Self = PidBloom([u64::MAX; 4]);

    /// Puts a task in.
    #[inline(always)]
    pub fn add(&mut self, pid: Pid) {
        let bit = pid.0 as u32 & 255;
        if let Some(word) = self.0.get_mut((bit >> 6) as usize) {
            *word |= 1 << (bit & 63);
        }
    }

    /// True if there may be a task that is in both.
    pub fn may_intersect(&self, other: &PidBloom) -> bool {
        self.0.iter().zip(other.0).any(|(a, b)| a & b != 0)
    }

    fn join(&mut self, other: &PidBloom) {
        self.0.iter_mut().zip(other.0).for_each(|(a, b)| *a |= b);
    }
}

/// Contents of a chunk, or of a few that follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkFacts {
    /// Bytes that it takes in the file, its header included.
    pub stored: u64,
    /// The time stamp that its first sub-buffer begins with, uncorrected.
    pub first: u64,
    /// Number of its events. Files of earlier versions lack it for chunks made while the ring was filling up.
    pub events: Option<u64>,
    /// Events that the kernel lost before or within it; where the kernel did not say how many, one.
    pub lost: u64,
    /// The tasks in whose context these events happened.
    pub tasks: PidBloom,
}

impl ChunkFacts {
    const NOTHING: Self = ChunkFacts { stored: 0, first: 0, events: Some(0), lost: 0, tasks: PidBloom([0; 4]) };
    /// Bytes of an entry.
    const SIZE: usize = 64;

    fn read(bytes: &[u8; ChunkFacts::SIZE], abi: Abi) -> Self {
        let (words, _) = bytes.as_chunks::<8>();
        let mut words = words.iter().map(|word| abi.u64(*word));
        let mut next = || words.next().unwrap_or_default();
        let (stored, first, events, lost) = (next(), next(), next(), next());
        let events = Some(events).filter(|events| *events != UNKNOWN);
        ChunkFacts { stored, first, events, lost, tasks: PidBloom([next(), next(), next(), next()]) }
    }

    fn join(&mut self, next: &ChunkFacts) {
        self.stored = self.stored.saturating_add(next.stored);
        self.events = self.events.zip(next.events).map(|(a, b)| a.saturating_add(b));
        self.lost = self.lost.saturating_add(next.lost);
        self.tasks.join(&next.tasks);
    }
}

/// Looks through a chunk while it grows, sub-buffer by sub-buffer: what was just copied is still in the cache.
#[derive(Clone, Copy, Debug)]
pub struct ChunkScan {
    layout: PageLayout,
    /// Bytes that were looked at.
    looked: usize,
    /// Of these; `None` if a sub-buffer is damaged.
    facts: Option<ChunkFacts>,
}

impl ChunkScan {
    /// For sub-buffers of `sub_buffer` bytes of this machine's kernel, which the text of `events/header_page` describes.
    pub fn new(header: &HeaderPage, sub_buffer: usize) -> Self {
        ChunkScan::of(PageLayout::new(header, header.abi(Abi::HOST.endian), sub_buffer))
    }

    /// For sub-buffers of `layout`.
    pub fn of(layout: PageLayout) -> Self {
        ChunkScan { layout, looked: 0, facts: Some(ChunkFacts::NOTHING) }
    }

    /// Layout of the sub-buffers.
    pub fn layout(&self) -> &PageLayout {
        &self.layout
    }

    /// Looks at the whole sub-buffers of `chunk` that were not looked at yet.
    pub fn look(&mut self, chunk: &[u8]) {
        let (size, first) = (self.layout.size, self.looked == 0);
        let new =
            chunk.get(self.looked..size.saturating_mul(self.layout.whole_pages_in(chunk.len()))).unwrap_or_default();
        self.looked = self.looked.saturating_add(new.len());
        self.facts = self.facts.and_then(|facts| self.join(facts, first, new));
    }

    fn join(&self, mut facts: ChunkFacts, first: bool, new: &[u8]) -> Option<ChunkFacts> {
        let pages = || new.chunks(self.layout.size).map(|data| Some((self.layout.page(data).ok()?, data)));
        for (number, page) in pages().enumerate() {
            let (page, _) = page?;
            if first && number == 0 {
                facts.first = page.timestamp;
            }
            facts.lost = facts.lost.saturating_add(match page.lost {
                Lost::None => 0,
                Lost::Unknown => 1,
                Lost::Count(n) => n,
            });
        }
        let items = pages().flatten().filter_map(|(page, data)| data.get(page.start..page.end));
        let events = scan_pids(items, |pid| facts.tasks.add(Pid(pid)))?;
        facts.events = facts.events.map(|before| before.saturating_add(events));
        Some(facts)
    }

    /// Events seen in the chunk so far; `None` if a sub-buffer is damaged.
    pub fn events(&self) -> Option<u64> {
        self.facts.and_then(|facts| facts.events)
    }

    /// The entry of the chunk, which takes `stored` bytes; the next one is begun.
    pub fn take(&mut self, stored: u64) -> Option<ChunkFacts> {
        self.looked = 0;
        self.facts.replace(ChunkFacts::NOTHING).map(|facts| ChunkFacts { stored, ..facts })
    }
}

/// The most entries that are kept for one CPU.
const MOST: usize = 1 << 14;
const VERSION: u32 = 1;
/// In the place of a number of events: not looked at.
const UNKNOWN: u64 = u64::MAX;

/// The facts of a CPU's chunks, in their order; none at all as soon as those of one are missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChunkIndex {
    entries: Vec<ChunkFacts>,
    incomplete: bool,
}

impl ChunkIndex {
    /// An empty one that will not have to grow: what is not used of it costs addresses only.
    pub fn with_room() -> Self {
        ChunkIndex { entries: Vec::with_capacity(MOST), incomplete: false }
    }

    /// Adds the next chunk's. Where there are many, each entry comes to stand for several chunks.
    pub fn push(&mut self, facts: Option<ChunkFacts>) {
        self.incomplete |= facts.is_none();
        let Some(facts) = facts.filter(|_| !self.incomplete) else { return };
        if self.entries.len() >= MOST {
            let halves = self.entries.chunks(2).filter_map(<[ChunkFacts]>::split_first).map(|(first, next)| {
                let mut joined = *first;
                next.iter().for_each(|next| joined.join(next));
                joined
            });
            self.entries = halves.collect();
        }
        self.entries.push(facts);
    }

    /// Adds what follows.
    pub fn append(&mut self, next: ChunkIndex) {
        self.incomplete |= next.incomplete;
        next.entries.into_iter().for_each(|facts| self.push(Some(facts)));
    }

    /// Contents of each stretch of chunks.
    pub fn entries(&self) -> &[ChunkFacts] {
        if self.incomplete { &[] } else { &self.entries }
    }

    /// The option's bytes, for the CPU of the buffer; `None` if nothing is known.
    pub fn write(&self, abi: Abi, buffer: &str, cpu: CpuId) -> Option<Vec<u8>> {
        if self.entries().is_empty() {
            return None;
        }
        let mut out = FileBytes::new(abi);
        out.u32(VERSION).cstr(buffer).u32(cpu.0).u32(self.entries.len() as u32);
        for facts in &self.entries {
            out.u64(facts.stored).u64(facts.first).u64(facts.events.unwrap_or(UNKNOWN)).u64(facts.lost);
            facts.tasks.0.iter().for_each(|bits| {
                out.u64(*bits);
            });
        }
        Some(out.bytes)
    }

    /// Reads what [`ChunkIndex::write`] wrote; `None` if it is of another CPU or buffer. There is an option for each of
    /// them, so the entries are read only where they are wanted.
    ///
    /// # Errors
    /// [`FileError::Option`] if the bytes end too early or are of a newer version.
    pub fn read(option: &RawOption, abi: Abi, buffer: &str, cpu: CpuId) -> Result<Option<Self>, FileError> {
        let mut scan = option.scan(abi);
        let cut = |_| option.error("it ends too early");
        if scan.u32().map_err(cut)? != VERSION {
            return Err(option.error("it is of a newer rtrace"));
        }
        if scan.cstr().map_err(cut)? != buffer || CpuId(scan.u32().map_err(cut)?) != cpu {
            return Ok(None);
        }
        let count = scan.u32().map_err(cut)?.min(MOST as u32) as usize;
        let rest = scan.borrow(scan.remain()).map_err(cut)?;
        let (entries, _) = rest.as_chunks::<{ ChunkFacts::SIZE }>();
        let entries = entries.get(..count).ok_or_else(|| option.error("it ends too early"))?;
        let entries = entries.iter().map(|bytes| ChunkFacts::read(bytes, abi)).collect();
        Ok(Some(ChunkIndex { entries, incomplete: false }))
    }
}

/// Bytes of the chunk count before a CPU's first chunk.
const COUNT: u64 = 4;

impl Trace {
    /// The file's index of the chunks of the CPU that is number `cpu` of `buffer.cpus`; `None` if it has none, or one
    /// of other chunks than these.
    pub fn index(&self, buffer: &Buffer, cpu: usize) -> Option<ChunkIndex> {
        let data = buffer.cpus.get(cpu)?;
        let read = |option| ChunkIndex::read(option, self.abi, &buffer.name, data.cpu).ok().flatten();
        let index = self.options(OptionId::RTRACE_INDEX).filter_map(read).last()?;
        let stored = index.entries.iter().try_fold(COUNT, |sum, facts| sum.checked_add(facts.stored));
        (data.layout == DataLayout::Chunks && stored == Some(data.size)).then_some(index)
    }

    /// The starts of a CPU's chunks, from its index; `None` if it has none or times in it do not rise.
    pub(super) fn chunk_starts(&self, buffer: &Buffer, cpu: usize) -> Option<Arc<ChunkStarts>> {
        let data = buffer.cpus.get(cpu)?;
        self.starts.of((data.source, data.offset, data.size), || {
            let mut at = data.offset.saturating_add(COUNT);
            let entries = self.index(buffer, cpu)?.entries;
            let mut starts = Vec::with_capacity(entries.len());
            for facts in entries {
                starts.push((at, facts.first));
                at = at.saturating_add(facts.stored);
            }
            starts.is_sorted_by_key(|start| start.1).then_some(starts)
        })
    }

    /// The index of the CPU's chunks, by unpacking them; an empty one if one of them is damaged or if they are not of this
    /// machine's byte order.
    pub(in crate::file::trace_dat) fn scanned_index(&self, buffer: &Buffer, cpu: usize) -> ChunkIndex {
        let mut index = ChunkIndex::default();
        let Some(data) = buffer.cpus.get(cpu).filter(|_| self.abi.endian == Abi::HOST.endian) else { return index };
        let (mut reader, mut scan) = (self.chunk_reader(buffer, cpu), ChunkScan::of(self.page_layout(buffer)));
        let (mut at, mut unpacked) = (data.offset.saturating_add(COUNT), Vec::new());
        loop {
            match reader.next(&mut unpacked) {
                Ok(true) => scan.look(&unpacked),
                Ok(false) => return index,
                Err(_damage) => return ChunkIndex::default(), // it is reported when the file is read
            }
            let end = reader.position();
            index.push(scan.take(end.saturating_sub(at)));
            at = end;
        }
    }

    /// Number of events of all CPUs, as the file's index counts them; `None` if one with data has no index, or a chunk no count.
    pub fn indexed_events(&self) -> Option<u64> {
        let rings = self.buffers.iter().flat_map(|buffer| (0..).zip(&buffer.cpus).map(move |cpu| (buffer, cpu)));
        let events = |(buffer, (cpu, data)): (&Buffer, (usize, &CpuData))| match data.size {
            0..=COUNT => Some(0),
            _ => self.index(buffer, cpu)?.entries().iter().map(|chunk| chunk.events).sum(),
        };
        rings.map(events).sum()
    }

    /// The parts of the file that a reader of the CPU's chunks may pass over if it looks for `tasks` only, by rising
    /// offset. Where events were lost nothing is passed over, so that they are reported.
    pub fn without_tasks(&self, buffer: &Buffer, cpu: usize, tasks: &PidBloom) -> Vec<Range<u64>> {
        let (Some(index), Some(data)) = (self.index(buffer, cpu), buffer.cpus.get(cpu)) else { return Vec::new() };
        let mut ranges: Vec<Range<u64>> = Vec::new();
        // a damaged file may tell of data beyond the end of all files
        let mut at = data.offset.saturating_add(COUNT);
        for facts in index.entries() {
            let end = at.saturating_add(facts.stored);
            if facts.lost == 0 && !facts.tasks.may_intersect(tasks) {
                match ranges.last_mut() {
                    Some(last) if last.end == at => last.end = end,
                    _ => ranges.push(at..end),
                }
            }
            at = end;
        }
        ranges
    }
}

/// Event types by their ids.
#[derive(Clone, Debug)]
pub struct EventIdSet {
    abi: Abi,
    /// A bit per id.
    ids: Box<[u64; 1024]>,
}

impl EventIdSet {
    /// These, of records that have their id in the first two bytes.
    pub fn new(abi: Abi, ids: impl IntoIterator<Item = u16>) -> Self {
        let mut bits = Box::new([0; 1024]);
        for id in ids {
            if let Some(word) = bits.get_mut(usize::from(id >> 6)) {
                *word |= 1 << (id & 63);
            }
        }
        EventIdSet { abi, ids: bits }
    }

    /// True if the event is one of them.
    #[inline(always)]
    pub fn contains(&self, id: u16) -> bool {
        self.ids.get(usize::from(id >> 6)).is_some_and(|word| word >> (id & 63) & 1 == 1)
    }
}

/// A question to the bytes of a record alone.
pub trait RecordTest: Send + Sync {
    /// False if the record, which is an event of this id, may be left out.
    fn passes(&self, id: u16, record: &[u8]) -> bool;
}

/// Drops records before they are merged, by their event's id and then by what they say: a selective filter then costs little
/// more than walking the pages. Whatever follows a loss passes.
#[derive(Clone)]
pub struct Sieve {
    ids: EventIdSet,
    test: Option<Arc<dyn RecordTest>>,
}

impl Sieve {
    /// Lets the records of these events pass, as far as they pass the test.
    pub fn new(ids: EventIdSet, test: Option<Arc<dyn RecordTest>>) -> Self {
        Sieve { ids, test }
    }

    /// True if records are asked, not their event's id alone.
    pub fn has_test(&self) -> bool {
        self.test.is_some()
    }

    /// True if the record passes. One that is too short for an id has id 0.
    #[inline(always)]
    pub(crate) fn passes(&self, record: Option<&[u8]>) -> bool {
        let data = record.unwrap_or_default();
        let id = data.first_chunk::<2>().map_or(0, |id| self.ids.abi.u16(*id));
        self.ids.contains(id) && self.test.as_ref().is_none_or(|test| test.passes(id, data))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::trace_dat::FilePart;

    fn facts(pid: i32, lost: u64) -> ChunkFacts {
        let mut tasks = PidBloom::default();
        tasks.add(Pid(pid));
        ChunkFacts { stored: 100, first: 5, events: Some(7), lost, tasks }
    }

    #[test]
    fn what_is_written_is_read() {
        let mut index = ChunkIndex::default();
        (0..5).for_each(|pid| index.push(Some(facts(pid, 0))));
        let data = index.write(Abi::HOST, "one", CpuId(3)).unwrap();
        let option = RawOption { id: OptionId::RTRACE_INDEX, data, offset: 0, place: FilePart::Prefix };
        let read = |buffer, cpu| ChunkIndex::read(&option, Abi::HOST, buffer, CpuId(cpu)).unwrap();
        assert_eq!(read("one", 3), Some(index));
        assert_eq!((read("one", 2), read("", 3)), (None, None), "of another CPU, of another buffer");
    }

    #[test]
    fn many_chunks_share_entries() {
        let mut index = ChunkIndex::default();
        (0..5 * MOST as i32).for_each(|pid| index.push(Some(facts(pid, 1))));
        assert!(index.entries().len() <= MOST);
        let events = |facts: &ChunkFacts| facts.events.unwrap_or(0);
        let sum = |of: fn(&ChunkFacts) -> u64| index.entries().iter().map(of).sum::<u64>();
        let chunks = 5 * MOST as u64;
        assert_eq!((sum(|f| f.stored), sum(events), sum(|f| f.lost)), (100 * chunks, 7 * chunks, chunks));
        index.push(None);
        assert!(index.entries().is_empty() && index.write(Abi::HOST, "", CpuId(0)).is_none());
    }

    #[test]
    fn a_task_that_is_in_is_met() {
        for pid in [0, 1, 255, 256, 4_194_303, -1] {
            let (mut wanted, other) = (PidBloom::default(), facts(pid ^ 1, 0).tasks);
            wanted.add(Pid(pid));
            assert!(facts(pid, 0).tasks.may_intersect(&wanted) && !other.may_intersect(&wanted));
        }
    }

    #[test]
    fn passes_what_is_named() {
        let ids = EventIdSet::new(Abi::HOST, [0, 63, 64, 65535]);
        let sieve = Sieve::new(ids.clone(), None);
        let passing = (0..=u16::MAX).filter(|id| sieve.passes(Some(&id.to_ne_bytes())));
        assert_eq!(passing.collect::<Vec<_>>(), [0, 63, 64, 65535]);
        assert!(sieve.passes(Some(&[1])) && sieve.passes(None) && !sieve.passes(Some(&[1, 0, 0])));
        struct Short;
        impl RecordTest for Short {
            fn passes(&self, _: u16, record: &[u8]) -> bool {
                record.len() < 3
            }
        }
        let sieve = Sieve::new(ids, Some(Arc::new(Short)));
        assert!(sieve.passes(Some(&[0, 0])) && !sieve.passes(Some(&[0, 0, 0])) && !sieve.passes(Some(&[1, 0])));
    }
}
