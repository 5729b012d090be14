//! Following objects and pages from allocation to free.

use super::events::{Events, MemoryEvent, NumberedKinds, PackedNumber, Places};
use crate::answer::analysis::by_event::KnownEvents;
use crate::answer::analysis::interface::Map;
use crate::answer::analysis::{Durations, InOrder, KnownPart, Needs};
use crate::base::abi::Abi;
use crate::base::units::Pid;
use crate::kernel::event::{Lost, Record};
use crate::kernel::format::EventFormat;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Memory that the kernel allocates; an [`Analysis`](crate::answer::analysis::Analysis).
#[derive(Clone, Debug)]
pub struct Memory {
    events: Events,
    window: Option<(u64, u64)>,
    sites: Vec<MemorySite>,
    /// Numbers of the sites by their address.
    numbers: Map<u64, usize>,
    /// Addresses of sites, and bytes taken.
    kinds: NumberedKinds<(u64, u64)>,
    /// The number of the site of each kind.
    site_of: Vec<usize>,
    /// Objects by address.
    objects: Places<Object>,
    orders: BTreeMap<u64, PageCount>,
    tasks: Map<Pid, PageCount>,
    block_kinds: NumberedKinds<Block>,
    /// Kinds of blocks of pages by the first one's number.
    blocks: Places<u32>,
    counts: MemoryCounts,
}

/// An object that lives. Millions may, so it is small: with its address, 20 bytes.
#[derive(Clone, Copy, Debug)]
struct Object {
    kind: u32,
    at: PackedNumber,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Block {
    order: u64,
    pid: Pid,
}

/// The result of `kmalloc(0)` (`ZERO_SIZE_PTR`, include/linux/slab.h); no object lies there or below.
const NO_OBJECT: u64 = 16;

/// Number of pages of a block; no kernel has orders above some ten.
fn pages(order: u64) -> u64 {
    u32::try_from(order).ok().and_then(|order| 1u64.checked_shl(order)).unwrap_or(0)
}

impl Memory {
    /// For records of a file with these formats.
    pub fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi) -> Self {
        Memory {
            events: Events::new(formats, abi),
            window: None,
            sites: Vec::new(),
            numbers: Map::default(),
            kinds: NumberedKinds::default(),
            site_of: Vec::new(),
            objects: Places::default(),
            orders: BTreeMap::new(),
            tasks: Map::default(),
            block_kinds: NumberedKinds::default(),
            blocks: Places::default(),
            counts: MemoryCounts::default(),
        }
    }

    /// True if the formats have allocations of objects or pages.
    pub fn has_events(&self) -> bool {
        self.events.have_objects() || self.events.have_pages()
    }

    fn allocate(&mut self, site: u64, (asked, taken): (u64, u64), address: u64, at: u64) {
        if address == 0 {
            self.counts.failed += 1;
        }
        if address <= NO_OBJECT {
            return;
        }
        let kind = self.kinds.number((site, taken));
        let number = match self.site_of.get(kind as usize) {
            Some(number) => *number,
            None => {
                let number = *self.numbers.entry(site).or_insert_with(|| {
                    self.sites.push(MemorySite::new(site));
                    self.sites.len() - 1
                });
                self.site_of.push(number);
                number
            }
        };
        if let Some(replaced) = self.objects.insert(address, Object { kind, at: at.into() }) {
            self.counts.replaced += 1;
            self.lose(replaced);
        }
        if let Some(site) = self.sites.get_mut(number) {
            site.allocations += 1;
            site.asked = site.asked.saturating_add(asked);
            site.taken = site.taken.saturating_add(taken);
            site.live += 1;
            site.live_taken = site.live_taken.saturating_add(taken);
            site.most = site.most.max(site.live_taken);
        }
    }

    fn free(&mut self, address: u64, at: u64) {
        if address <= NO_OBJECT {
            return;
        }
        let Some(object) = self.objects.remove(address) else {
            self.counts.frees += 1;
            return;
        };
        if let Some((site, taken)) = self.lose(object) {
            site.lives.add(at.saturating_sub(object.at.get()));
            site.freed = site.freed.saturating_add(taken);
        }
    }

    /// An object is no longer live: its site, and the bytes that it took.
    fn lose(&mut self, object: Object) -> Option<(&mut MemorySite, u64)> {
        let (_, taken) = *self.kinds.get(object.kind)?;
        let site = self.sites.get_mut(*self.site_of.get(object.kind as usize)?)?;
        site.live = site.live.saturating_sub(1);
        site.live_taken = site.live_taken.saturating_sub(taken);
        Some((site, taken))
    }

    fn allocate_pages(&mut self, frame: u64, order: u64, pid: Pid, failed: bool) {
        if failed {
            self.counts.failed += 1;
            return;
        }
        let kind = self.block_kinds.number(Block { order, pid });
        let replaced = self.blocks.insert(frame, kind);
        if let Some(replaced) = replaced.and_then(|kind| self.block_kinds.get(kind)).copied() {
            self.counts.replaced += 1;
            self.block(replaced, |count, pages| count.live = count.live.saturating_sub(pages));
        }
        self.block(Block { order, pid }, |count, pages| {
            count.allocations += 1;
            count.pages = count.pages.saturating_add(pages);
            count.live = count.live.saturating_add(pages);
        });
    }

    fn free_pages(&mut self, frame: u64, order: u64) {
        // A block may be freed in parts: then it is not known which of its pages are live.
        match self.blocks.get(frame).and_then(|kind| self.block_kinds.get(kind)).copied() {
            Some(block) if block.order == order => {
                self.blocks.remove(frame);
                self.block(block, |count, pages| {
                    count.freed = count.freed.saturating_add(pages);
                    count.live = count.live.saturating_sub(pages);
                });
            }
            _ => self.counts.page_frees += 1,
        }
    }

    fn block(&mut self, block: Block, change: impl Fn(&mut PageCount, u64)) {
        change(self.orders.entry(block.order).or_default(), pages(block.order));
        change(self.tasks.entry(block.pid).or_default(), pages(block.order));
    }
}

impl MemorySite {
    fn new(site: u64) -> Self {
        let lives = Durations::default();
        MemorySite { site, allocations: 0, asked: 0, taken: 0, lives, freed: 0, live: 0, live_taken: 0, most: 0 }
    }
}

impl InOrder for Memory {
    type Finding = MemoryReport;

    #[inline]
    fn events(&self) -> Option<&dyn KnownEvents> {
        Some(&*self.events)
    }

    fn record(&mut self, record: &Record<'_>) {
        self.counts.losses += u64::from(record.lost != Lost::None);
        let Some(event) = self.events.event(record) else { return };
        let at = record.timestamp.0;
        let begin = self.window.map_or(at, |window| window.0);
        self.window = Some((begin, at));
        match event {
            MemoryEvent::Allocate { site, asked, taken, address } => self.allocate(site, (asked, taken), address, at),
            MemoryEvent::Free { address } => self.free(address, at),
            // Without a page the kernel says -1, in as many bits as it has.
            MemoryEvent::AllocatePages { frame, order } => {
                let failed = frame == u64::MAX || frame == u64::from(u32::MAX);
                self.allocate_pages(frame, order, self.events.task(record), failed);
            }
            MemoryEvent::FreePages { frame, order } => self.free_pages(frame, order),
        }
    }

    fn finish(mut self) -> MemoryReport {
        self.sites.sort_by_key(|site| (Reverse(site.taken), site.site));
        let mut tasks: Vec<(Pid, PageCount)> = self.tasks.into_iter().collect();
        tasks.sort_by_key(|(pid, count)| (Reverse(count.pages), *pid));
        let orders = self.orders.into_iter().collect();
        MemoryReport { window: self.window, sites: self.sites, orders, tasks, counts: self.counts }
    }
}

// The answer about memory.

/// The events that its numbers need, by the names of `rtrace analyze memory --json`.
pub const MEMORY_NEEDS: &[Needs] = &[
    Needs::seen(&["sites.allocations", "sites.asked", "sites.taken", "counts.failed"], &["kmem:*"]),
    Needs::seen(&["orders.allocations", "orders.pages", "tasks.allocations", "tasks.pages"], &["kmem:*page*"]),
    // What is allocated may be freed by anybody, anywhere, and its address be given again.
    Needs {
        lost: KnownPart::Unknown,
        ..Needs::between(&["sites.freed", "sites.lives", "sites.live", "sites.live_taken", "sites.most"], &["kmem:*"])
    },
    Needs {
        lost: KnownPart::Unknown,
        ..Needs::between(&["orders.freed", "orders.live", "tasks.freed", "tasks.live"], &["kmem:*page*"])
    },
];

/// Memory of one buffer. Times are in the clock's unit (mostly nanoseconds).
#[derive(Clone, Debug, Default)]
pub struct MemoryReport {
    /// The first and the last allocation or free: the window. `None` without any.
    pub window: Option<(u64, u64)>,
    /// Objects by the place that allocated them, those that took the most bytes first.
    pub sites: Vec<MemorySite>,
    /// Pages by order: blocks of 2^order pages.
    pub orders: Vec<(u64, PageCount)>,
    /// Pages by the task that allocated them, the most first.
    pub tasks: Vec<(Pid, PageCount)>,
    /// Events outside any life, and losses.
    pub counts: MemoryCounts,
}

/// Objects that one place allocated.
#[derive(Clone, Debug)]
pub struct MemorySite {
    /// Address of the call site.
    pub site: u64,
    /// Number of allocations.
    pub allocations: u64,
    /// Bytes that were asked for.
    pub asked: u64,
    /// Bytes that the allocator took for them.
    pub taken: u64,
    /// From allocation to free, of those that were freed.
    pub lives: Durations,
    /// Bytes, as taken, of those.
    pub freed: u64,
    /// Objects that were not freed.
    pub live: u64,
    /// Bytes that were taken for them.
    pub live_taken: u64,
    /// The most bytes, as taken, that lived at one time.
    pub most: u64,
}

/// Blocks of pages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PageCount {
    /// Number of allocations.
    pub allocations: u64,
    /// Pages in them.
    pub pages: u64,
    /// Of those the pages that were freed, by whomever.
    pub freed: u64,
    /// Of those the pages that were not.
    pub live: u64,
}

/// Counts of events outside any life.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryCounts {
    /// Frees of objects that were allocated before the window.
    pub frees: u64,
    /// Frees of pages likewise.
    pub page_frees: u64,
    /// Objects and blocks of pages whose place was allocated again: the free is missing. They are not live.
    pub replaced: u64,
    /// Allocations without a result.
    pub failed: u64,
    /// Places where the kernel dropped events.
    pub losses: u64,
}
