//! The kernel's memory by the functions that hold it, from the events of `kmem`.
//!
//! ```text
//! kmalloc: call_site=security_inode_alloc+0x1a ptr=000000003f1b9d2e bytes_req=96 bytes_alloc=96 ...
//! ```
//!
//! The slab allocators round a request up; the difference is wasted as long as the object lives. `kmalloc_node` and
//! `kmem_cache_alloc_node` are events of their own until Linux 6.1.

use super::InOrder;
use crate::abi::Abi;
use crate::event::{Common, Num, Record};
use crate::format::EventFormat;
use crate::print_fmt::Context;
use crate::symbols::Symbols;
use std::collections::HashMap;

const ALLOCATE: [&str; 4] = ["kmalloc", "kmalloc_node", "kmem_cache_alloc", "kmem_cache_alloc_node"];
const FREE: [&str; 2] = ["kfree", "kmem_cache_free"];

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
struct Allocation {
    call_site: Num,
    asked: Num,
    taken: Num,
    address: Num,
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
    abi: Abi,
    common: Common,
    symbols: &'a Symbols,
    allocate: HashMap<u16, Allocation>,
    free: HashMap<u16, Num>,
    functions: Vec<FunctionMemory>,
    /// By the address of the function's symbol, or by the call site if it has none.
    numbers: HashMap<u64, usize>,
    living: HashMap<u64, Living>,
}

impl<'a> MemoryUse<'a> {
    /// For records of a file with these formats.
    pub fn new<'f>(formats: impl IntoIterator<Item = &'f EventFormat>, abi: Abi, symbols: &'a Symbols) -> Self {
        let mut use_of = MemoryUse {
            abi,
            common: Common::default(),
            symbols,
            allocate: HashMap::new(),
            free: HashMap::new(),
            functions: Vec::new(),
            numbers: HashMap::new(),
            living: HashMap::new(),
        };
        for (number, format) in formats.into_iter().enumerate() {
            if number == 0 {
                use_of.common = Common::of(format);
            }
            if format.system != "kmem" {
                continue;
            }
            let field = |name| Num::field(format, name);
            if ALLOCATE.contains(&format.name.as_str()) {
                let fields = (field("call_site"), field("bytes_req"), field("bytes_alloc"), field("ptr"));
                if let (Some(call_site), Some(asked), Some(taken), Some(address)) = fields {
                    use_of.allocate.insert(format.id.0, Allocation { call_site, asked, taken, address });
                }
            } else if FREE.contains(&format.name.as_str())
                && let Some(address) = field("ptr")
            {
                use_of.free.insert(format.id.0, address);
            }
        }
        use_of
    }

    /// True if the formats have what is needed at all.
    pub fn has_events(&self) -> bool {
        !self.allocate.is_empty()
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

    fn wants(&self, record: &Record<'_>) -> bool {
        let id = self.common.event_id(self.abi, record.data);
        self.allocate.contains_key(&id) || self.free.contains_key(&id)
    }

    fn record(&mut self, record: &Record<'_>) {
        let cx = Context { data: record.data, abi: self.abi, symbols: self.symbols };
        let id = self.common.event_id(self.abi, record.data);
        if let Some(allocation) = self.allocate.get(&id) {
            // The kernel's `size_t` values are smaller than 2^31 in earnest, and a broken file's do not matter.
            let (taken, asked) = (allocation.taken.get(&cx) as i64, allocation.asked.get(&cx) as i64);
            let (site, address) = (allocation.call_site.get(&cx), allocation.address.get(&cx));
            let function = self.function(site);
            let memory = &mut self.functions[function];
            memory.total.add(taken, asked);
            memory.current.add(taken, asked);
            memory.most.taken = memory.most.taken.max(memory.current.taken);
            memory.most.asked = memory.most.asked.max(memory.current.asked);
            self.living.insert(address, Living { function, taken, asked });
        } else if let Some(address) = self.free.get(&id)
            && let Some(Living { function, taken, asked }) = self.living.remove(&address.get(&cx))
        {
            self.functions[function].current.add(taken.wrapping_neg(), asked.wrapping_neg());
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
