//! The kernel's memory by the functions that hold it, from the events of `kmem`.

use super::InOrder;
use super::memory::events::{Events, MemoryEvent};
use crate::answer::analysis::by_event::KnownEvents;
use crate::base::abi::Abi;
use crate::kernel::event::Record;
use crate::kernel::format::EventFormat;
use crate::kernel::symbols::Symbols;
use std::collections::HashMap;

/// Memory that one function has allocated, in bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionMemory {
    /// The function; an address in hexadecimal if it has no name.
    pub name: String,
    /// All its allocations, as taken and as asked for.
    pub total: Bytes,
    /// Of those that were not freed.
    pub current: Bytes,
    /// The most that lived at one time. The two numbers may be of different moments.
    pub most: Bytes,
}

/// Bytes taken and bytes asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bytes {
    /// Bytes that the allocator gave.
    pub taken: i64,
    /// Bytes that were asked for.
    pub asked: i64,
}

impl Bytes {
    /// Bytes given beyond those asked for.
    pub fn waste(self) -> i64 {
        self.taken.wrapping_sub(self.asked)
    }

    fn add(&mut self, taken: i64, asked: i64) {
        self.taken = self.taken.wrapping_add(taken);
        self.asked = self.asked.wrapping_add(asked);
    }
}

#[derive(Clone, Copy)]
struct Living {
    function: usize,
    taken: i64,
    asked: i64,
}

/// Follows allocations from `kmalloc` and the like to `kfree`.
#[derive(Clone)]
pub struct MemoryUse<'a> {
    events: Events,
    symbols: &'a Symbols,
    functions: Vec<FunctionMemory>,
    /// By the address of the function's symbol, or by the call site if it has none.
    numbers: HashMap<u64, usize>,
    living: HashMap<u64, Living>,
}

impl<'a> MemoryUse<'a> {
    /// For records of a file with these formats.
    pub fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi, symbols: &'a Symbols) -> Self {
        MemoryUse {
            events: Events::new(formats, abi),
            symbols,
            functions: Vec::new(),
            numbers: HashMap::new(),
            living: HashMap::new(),
        }
    }

    /// True if the formats have what is needed at all.
    pub fn has_events(&self) -> bool {
        self.events.have_objects()
    }

    fn function(&mut self, site: u64) -> usize {
        let symbol = self.symbols.kallsyms.lookup(site);
        let key = symbol.map_or(site, |s| s.address);
        *self.numbers.entry(key).or_insert_with(|| {
            let name = symbol.map_or_else(|| format!("{site:x}"), |s| String::from_utf8_lossy(s.name).into_owned());
            self.functions.push(FunctionMemory { name, ..FunctionMemory::default() });
            self.functions.len() - 1
        })
    }
}

impl InOrder for MemoryUse<'_> {
    type Finding = Vec<FunctionMemory>;

    #[inline]
    fn events(&self) -> Option<&dyn KnownEvents> {
        Some(&*self.events)
    }

    fn record(&mut self, record: &Record<'_>) {
        match self.events.event(record) {
            Some(MemoryEvent::Allocate { site, asked, taken, address }) => {
                // The kernel's `size_t` values are smaller than 2^31 in earnest, and a broken file's do not matter.
                let (taken, asked) = (taken as i64, asked as i64);
                let function = self.function(site);
                let memory = &mut self.functions[function];
                memory.total.add(taken, asked);
                memory.current.add(taken, asked);
                memory.most.taken = memory.most.taken.max(memory.current.taken);
                memory.most.asked = memory.most.asked.max(memory.current.asked);
                self.living.insert(address, Living { function, taken, asked });
            }
            Some(MemoryEvent::Free { address }) => {
                if let Some(Living { function, taken, asked }) = self.living.remove(&address) {
                    self.functions[function].current.add(taken.wrapping_neg(), asked.wrapping_neg());
                }
            }
            _ => {}
        }
    }

    /// The functions, those that waste most first, then those that took most.
    fn finish(mut self) -> Vec<FunctionMemory> {
        self.functions.sort_by(|a, b| {
            let order = (b.current.waste(), b.total.taken).cmp(&(a.current.waste(), a.total.taken));
            order.then_with(|| a.name.cmp(&b.name))
        });
        self.functions
    }
}
