//! Allocations and frees, out of records.
//!
//! ```text
//! kmalloc: call_site=security_inode_alloc+0x1a ptr=000000003f1b9d2e bytes_req=96 bytes_alloc=96 ...
//! mm_page_alloc: page=00000000c1d7a2f5 pfn=0x10c3a4 order=0 migratetype=1 ...
//! ```
//!
//! The slab allocators round a request up; the difference is wasted as long as the object lives. `kmalloc_node` and
//! `kmem_cache_alloc_node` are events of their own until Linux 6.1.

use crate::answer::analysis::by_event::ByEvent;
use crate::answer::analysis::fields::RecordNumber;
use crate::base::abi::Abi;
use crate::base::units::Pid;
use crate::kernel::event::Record;
use crate::kernel::format::EventFormat;

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

    #[inline]
    pub(in crate::answer::analysis) fn knows(&self, record: &Record<'_>) -> bool {
        self.0.of(record).is_some()
    }

    /// True if events of this type are among them.
    pub(in crate::answer::analysis) fn knows_id(&self, id: u16) -> bool {
        self.0.has(id)
    }

    /// The task that was running.
    #[inline]
    pub(in crate::answer::analysis) fn task(&self, record: &Record<'_>) -> Pid {
        self.0.task(record)
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
