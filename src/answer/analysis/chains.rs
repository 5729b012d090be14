//! Call chains: how often each function ran or event happened, and by whom it was called.
//!
//! Chains come from stack traces after events (`kernel_stack`), from the function_graph tracer's depths, and from the
//! function tracer's pairs of function and caller. The records of each CPU are taken by themselves, one CPU after the
//! other, and what is known of a task's stack is put aside while another one runs, as trace-cmd does it, so that its
//! numbers come out.

use super::InOrder;
use crate::base::abi::Abi;
use crate::base::text::plain::until_nul;
use crate::base::units::Pid;
use crate::kernel::event::{Common, Lost, NumberField, Record};
use crate::kernel::format::EventFormat;
use crate::kernel::print_fmt::Context;
use crate::kernel::symbols::{Comms, Symbols};
use std::collections::HashMap;

/// No stack is deeper; what a broken file claims beyond it is left out.
const MAX_DEPTH: usize = 1024;

/// The name of a node in a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChainName {
    /// A function, by its number among those met.
    Function(u32),
    /// An event, by its id.
    Event(u16),
    /// An address without a symbol.
    Unknown,
}

/// One function or event in a chain, and what called it.
#[derive(Clone, Debug, Default)]
pub struct CallChain {
    /// The function or event; `None` for the root.
    pub name: Option<ChainName>,
    /// Number of chains through this node.
    pub count: u64,
    /// True if its chain began as an event with a stack.
    pub event: bool,
    /// Callers: indices into [`CallChains::nodes`], the most frequent first.
    pub callers: Vec<usize>,
}

#[derive(Clone, Copy)]
enum ChainSource {
    Function { ip: NumberField, parent: NumberField },
    GraphEntry { func: NumberField, depth: NumberField },
    GraphExit { depth: NumberField },
    KernelStack { offset: usize },
}

/// A task's open functions, outermost first.
#[derive(Clone, Debug, Default)]
struct ChainStack {
    pid: Option<i32>,
    names: Vec<ChainName>,
}

/// Counts call chains.
#[derive(Clone)]
pub struct CallChains<'a> {
    abi: Abi,
    symbols: &'a Symbols,
    common: Common,
    kinds: HashMap<u16, ChainSource>,
    names: HashMap<u16, String>,
    functions: Vec<String>,
    /// By the address of the symbol and where its name lies: several symbols may start at one address.
    numbers: HashMap<(u64, usize), u32>,
    learns: HashMap<u16, Vec<(NumberField, usize)>>,
    comms: Comms,
    /// `-P`: all tasks are one.
    one_task: bool,
    now: ChainStack,
    aside: Vec<ChainStack>,
    pending: ChainStack,
    nodes: Vec<CallChain>,
    roots: HashMap<i32, usize>,
    tops: Vec<(usize, i32)>,
    total: u64,
}

impl<'a> CallChains<'a> {
    /// For records of a file with these formats; with `one_task` the chains of all tasks are counted together.
    pub fn new<'f>(
        formats: impl IntoIterator<Item = &'f EventFormat>,
        abi: Abi,
        symbols: &'a Symbols,
        one_task: bool,
    ) -> Self {
        let mut chains = CallChains {
            abi,
            symbols,
            common: Common::default(),
            kinds: HashMap::new(),
            names: HashMap::new(),
            functions: Vec::new(),
            numbers: HashMap::new(),
            learns: HashMap::new(),
            comms: symbols.comms.clone(),
            one_task,
            now: ChainStack::default(),
            aside: Vec::new(),
            pending: ChainStack::default(),
            nodes: Vec::new(),
            roots: HashMap::new(),
            tops: Vec::new(),
            total: 0,
        };
        for (number, format) in formats.into_iter().enumerate() {
            if number == 0 {
                chains.common = Common::of(format);
            }
            chains.names.insert(format.id.0, format.name.clone());
            if let Some(kind) = ChainSource::of(format) {
                chains.kinds.insert(format.id.0, kind);
            }
            let pairs: &[(&str, &str)] = match (format.system.as_str(), format.name.as_str()) {
                ("sched", "sched_wakeup" | "sched_wakeup_new") => &[("pid", "comm")],
                ("sched", "sched_switch") => &[("prev_pid", "prev_comm"), ("next_pid", "next_comm")],
                _ => &[],
            };
            for (pid, comm) in pairs {
                let comm = format.fields.iter().find(|f| f.name == *comm);
                if let (Some(pid), Some(comm)) = (NumberField::field(format, pid), comm) {
                    chains.learns.entry(format.id.0).or_default().push((pid, comm.offset));
                }
            }
        }
        chains
    }

    /// All chains; [`CallChain::callers`] are places in it.
    pub fn nodes(&self) -> &[CallChain] {
        &self.nodes
    }

    /// The innermost functions and events, with the task, the most frequent first.
    pub fn tops(&self) -> impl Iterator<Item = (&CallChain, Option<Pid>)> {
        self.tops.iter().map(|(node, pid)| (&self.nodes[*node], (!self.one_task).then_some(Pid(*pid))))
    }

    /// Number of chains counted.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// The name of a task, as the events have it.
    pub fn comm(&self, pid: Pid) -> &[u8] {
        self.comms.name(pid)
    }

    /// The text of a name.
    pub fn name(&self, name: Option<ChainName>) -> String {
        match name {
            Some(ChainName::Function(number)) => self.functions.get(number as usize).cloned().unwrap_or_default(),
            Some(ChainName::Event(id)) => self.names.get(&id).cloned().unwrap_or_else(|| format!("event {id}")),
            Some(ChainName::Unknown) | None => "(null)".to_owned(),
        }
    }

    fn function(&mut self, address: u64) -> ChainName {
        let Some(symbol) = self.symbols.kallsyms.lookup(address) else { return ChainName::Unknown };
        let number = *self.numbers.entry((symbol.address, symbol.name.as_ptr() as usize)).or_insert_with(|| {
            self.functions.push(String::from_utf8_lossy(symbol.name).into_owned());
            self.functions.len() as u32 - 1
        });
        ChainName::Function(number)
    }

    /// Makes `pid` the task whose stack is built.
    fn run(&mut self, pid: i32) {
        if self.now.pid.is_some_and(|now| now != pid) {
            self.put_aside();
            self.take_back(pid);
        }
        self.now.pid = Some(pid);
    }

    fn put_aside(&mut self) {
        self.aside.push(std::mem::take(&mut self.now));
    }

    fn take_back(&mut self, pid: i32) {
        if let Some(at) = self.aside.iter().rposition(|stack| stack.pid == Some(pid)) {
            self.now = self.aside.remove(at);
        }
    }

    fn push(&mut self, name: ChainName) {
        if self.now.names.len() < MAX_DEPTH {
            self.now.names.push(name);
        }
    }

    /// Brings the stack to `depth`, counting what it was if it was deeper or less deep.
    fn unwind(&mut self, depth: usize) {
        if self.now.names.len() != depth {
            self.save_now();
            self.now.names.truncate(depth);
        }
    }

    /// One function called another.
    fn call(&mut self, func: ChainName, parent: ChainName) {
        if self.now.names.last() == Some(&parent) {
            return self.push(func);
        }
        if !self.now.names.is_empty() {
            self.save_now();
            self.now.names.pop();
            let caller = self.now.names.iter().rposition(|name| *name == parent);
            self.now.names.truncate(caller.map_or(0, |at| at + 1));
            if caller.is_some() {
                self.push(func);
            }
        }
        if self.now.names.is_empty() {
            self.push(parent);
            self.push(func);
        }
    }

    /// A stack trace: of the event before it, or of the function.
    fn stack(&mut self, pid: i32, callers: &[u8]) {
        if self.pending.pid.is_some_and(|pending| pending != pid) {
            self.pending = ChainStack::default();
            return;
        }
        let of_event = self.pending.pid.is_some();
        let restore = of_event && self.now.pid.is_some();
        if restore {
            self.put_aside();
        } else if !of_event && self.now.pid.is_some() {
            self.pending = std::mem::take(&mut self.now);
        }
        self.now.pid = Some(pid);
        let long = usize::from(self.abi.long_size);
        let addresses: Vec<u64> = callers
            .chunks_exact(long)
            .map(|word| self.abi.uint(word, 0, long).unwrap_or(0))
            .take_while(|address| *address as u32 != u32::MAX)
            .collect();
        for address in addresses.into_iter().rev() {
            let name = self.function(address);
            if name != ChainName::Unknown {
                self.push(name);
            }
        }
        if self.pending.pid.is_some() {
            if let Some(name) = self.pending.names.last().copied() {
                self.push(name);
            }
            self.pending = ChainStack::default();
        }
        self.save(pid, self.now.names.clone(), true);
        if restore {
            self.take_back(pid);
        }
    }

    fn save_now(&mut self) {
        let names = std::mem::take(&mut self.now.names);
        self.save(self.now.pid.unwrap_or(0), names.clone(), false);
        self.now.names = names;
    }

    fn save_pending(&mut self) {
        if let ChainStack { pid: Some(pid), names } = std::mem::take(&mut self.pending) {
            self.save(pid, names, true);
        }
    }

    /// Counts one chain, from its innermost function outwards.
    fn save(&mut self, pid: i32, chain: Vec<ChainName>, event: bool) {
        let task = if self.one_task { 0 } else { pid };
        let root = *self.roots.entry(task).or_insert_with(|| {
            self.nodes.push(CallChain::default());
            self.nodes.len() - 1
        });
        self.total += 1;
        self.nodes[root].count += 1;
        let mut at = root;
        for name in chain.into_iter().rev() {
            let known = self.nodes[at].callers.iter().copied().find(|c| self.nodes[*c].name == Some(name));
            let next = known.unwrap_or_else(|| {
                let new = self.nodes.len();
                self.nodes.push(CallChain { name: Some(name), event: event && at == root, ..CallChain::default() });
                self.nodes[at].callers.push(new);
                if at == root {
                    self.tops.push((new, task));
                }
                new
            });
            self.nodes[next].count += 1;
            at = next;
        }
    }
}

/// Records come CPU by CPU.
impl InOrder for CallChains<'_> {
    type Finding = Self;

    /// Takes the next record of a CPU.
    fn record(&mut self, record: &Record<'_>) {
        if record.lost != Lost::None && self.now.pid.is_some() {
            self.save_now();
            self.now = ChainStack::default();
        }
        let cx = Context { data: record.data, abi: self.abi, symbols: self.symbols, lists: false };
        let head = self.common.head(self.abi, record.data);
        let pid = head.pid.0;
        match self.kinds.get(&head.id) {
            Some(&ChainSource::Function { ip, parent }) => {
                let (func, parent) = (self.function(ip.get(&cx)), self.function(parent.get(&cx)));
                self.run(pid);
                self.call(func, parent);
            }
            Some(&ChainSource::GraphEntry { func, depth }) => {
                let (func, depth) = (self.function(func.get(&cx)), depth.get(&cx) as usize);
                self.run(pid);
                self.unwind(depth);
                self.push(func);
            }
            Some(&ChainSource::GraphExit { depth }) => {
                let depth = depth.get(&cx) as usize;
                self.run(pid);
                self.unwind(depth);
            }
            Some(&ChainSource::KernelStack { offset }) => {
                self.stack(pid, record.data.get(offset..).unwrap_or_default())
            }
            None => {
                for (pid, comm) in self.learns.get(&head.id).into_iter().flatten() {
                    let text = until_nul(record.data.get(*comm..).unwrap_or_default());
                    self.comms.learn(Pid(pid.get(&cx) as i32), &text[..text.len().min(15)]);
                }
                self.save_pending();
                let mut names = self.now.names.clone();
                names.push(ChainName::Event(head.id));
                self.pending = ChainStack { pid: Some(pid), names };
            }
        }
    }

    /// Counts what is still open, and sorts everything.
    fn finish(mut self) -> Self {
        if self.now.pid.is_some() {
            self.save_now();
        }
        self.save_pending();
        while let Some(stack) = self.aside.pop() {
            self.now = stack;
            self.save_now();
        }
        self.now = ChainStack::default();
        let counts: Vec<u64> = self.nodes.iter().map(|n| n.count).collect();
        for node in &mut self.nodes {
            // Among equals the latest comes first.
            node.callers.reverse();
            node.callers.sort_by_key(|caller| std::cmp::Reverse(counts[*caller]));
        }
        self.tops.reverse();
        self.tops.sort_by_key(|(node, _)| std::cmp::Reverse(counts[*node]));
        self
    }
}

impl ChainSource {
    fn of(format: &EventFormat) -> Option<ChainSource> {
        if format.system != "ftrace" {
            return None;
        }
        let field = |name| NumberField::field(format, name);
        Some(match format.name.as_str() {
            "function" => ChainSource::Function { ip: field("ip")?, parent: field("parent_ip")? },
            "funcgraph_entry" | "fgraph_retaddr_entry" => {
                ChainSource::GraphEntry { func: field("func")?, depth: field("depth")? }
            }
            "funcgraph_exit" => ChainSource::GraphExit { depth: field("depth")? },
            "kernel_stack" => {
                ChainSource::KernelStack { offset: format.fields.iter().find(|f| f.name == "caller")?.offset }
            }
            _ => return None,
        })
    }
}
