//! Kernel symbols for filters: `.function` of the kernel's language, names of pointers in trace-cmd's.
//! Parameters of the recorded kernel's functions, out of its BTF.
//! All names of a recording.
//! The parameters of functions, with what is needed to show their values.
//! `printk_formats`: `0xffffffff82345678 : "fork %d\n"`, the constant strings of trace_printk and friends.

use super::Symbol;
use super::comms::Comms;
use super::kallsyms::Kallsyms;
use super::user::UserSymbols;
use crate::base::lazy::LazyBytes;
use crate::kernel::btf::{Btf, Enumerators, Error, Function, Int, TypeKind};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// Addresses of the kernel's functions.
pub trait FunctionAddresses {
    /// The addresses of the function called `name`.
    fn by_name(&self, name: &str) -> Option<Range<u64>>;
    /// The addresses of the function that `address` lies in.
    fn around(&self, address: u64) -> Option<Range<u64>>;
}

/// Knows none.
impl FunctionAddresses for () {
    fn by_name(&self, _: &str) -> Option<Range<u64>> {
        None
    }

    fn around(&self, _: u64) -> Option<Range<u64>> {
        None
    }
}

/// Names of kernel addresses.
pub trait AddressNames {
    /// The function that `address` lies in, if it is known.
    fn function(&self, address: u64) -> Option<&str>;
}

/// Knows none: pointers are then compared by their `0x` digits.
impl AddressNames for () {
    fn function(&self, _: u64) -> Option<&str> {
        None
    }
}

/// As the kernel resolves them when a filter is set (`kallsyms_lookup_name()`, then `kallsyms_lookup_size_offset()`,
/// kernel/trace/trace_events_filter.c): a function ends where the next symbol starts.
impl FunctionAddresses for Kallsyms {
    fn by_name(&self, name: &str) -> Option<Range<u64>> {
        // Without CAP_SYSLOG the kernel lists all symbols at address 0.
        self.around(self.address_of(name).filter(|address| *address != 0)?)
    }

    fn around(&self, address: u64) -> Option<Range<u64>> {
        let Symbol { address, size, .. } = self.lookup(address)?;
        Some(address..address.saturating_add(size.unwrap_or(1)))
    }
}

impl AddressNames for Kallsyms {
    fn function(&self, address: u64) -> Option<&str> {
        std::str::from_utf8(self.lookup(address)?.name).ok()
    }
}

/// The kernel's functions by name. The BTF is parsed when the first function is asked for.
#[derive(Debug, Default)]
pub struct KernelFunctions {
    btf: LazyBytes,
    parsed: OnceLock<Result<Btf, Error>>,
    /// Results of lookups so far, by the function's address and whether copies of the compiler's were to be found.
    known: RwLock<HashMap<(u64, bool), Option<FunctionArguments>>>,
}

impl Clone for KernelFunctions {
    fn clone(&self) -> Self {
        KernelFunctions::new(self.btf.clone())
    }
}

impl KernelFunctions {
    /// The functions of a kernel's BTF; empty without one.
    pub fn new(btf: impl Into<LazyBytes>) -> Self {
        KernelFunctions { btf: btf.into(), ..KernelFunctions::default() }
    }

    /// The error in the BTF, if a function was asked for and it could not be understood.
    pub fn error(&self) -> Option<Error> {
        let error = self.parsed.get()?.as_ref().err().copied();
        error.filter(|_| self.btf.get().is_ok_and(|bytes| !bytes.is_empty()))
    }

    /// Gives `show` the arguments of the function at `address` called `name`; `None` if nothing is known of it. With
    /// `copies`, a compiler's copy (`vfs_read.isra.0`) is taken for the function that it is of.
    pub(crate) fn arguments<R>(
        &self,
        (address, name): (u64, &[u8]),
        copies: bool,
        show: impl FnOnce(Option<&FunctionArguments>) -> R,
    ) -> R {
        let key = (address, copies);
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(&key) {
            return show(found.as_ref());
        }
        drop(known);
        let found = self.find(name, copies);
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let found = match known.entry(key) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => entry.insert(found),
        };
        show(found.as_ref())
    }

    #[cold]
    fn find(&self, name: &[u8], copies: bool) -> Option<FunctionArguments> {
        let btf = self.parsed.get_or_init(|| Btf::parse(self.btf.get().unwrap_or_default().to_vec())).as_ref().ok()?;
        let name = std::str::from_utf8(name).ok()?;
        let function = if copies { btf.function(name) } else { btf.function_named(name) };
        function.map(FunctionArguments::of)
    }
}

/// Everything a recording says of names outside of its format files. Immutable once read; what is learnt while printing
/// lies in [`event::PrintState`](crate::kernel::event::PrintState).
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    /// `/proc/kallsyms` of the recorded kernel.
    pub kallsyms: Kallsyms,
    /// `printk_formats`: the addresses of constant strings.
    pub printk: PrintkFormats,
    /// `saved_cmdlines`: what the tasks were called.
    pub comms: Comms,
    /// Names for addresses of user space, if they are wanted.
    pub user: Option<Arc<UserSymbols>>,
    /// The kernel's BTF: what functions take.
    pub functions: KernelFunctions,
    /// Values of the names that the kernel left in its print formats.
    pub enumerators: Enumerators,
}

/// The layout of a function's arguments.
#[derive(Clone, Debug)]
pub(crate) struct FunctionArguments {
    pub(crate) list: Vec<FunctionArgument>,
}

#[derive(Clone, Debug)]
pub(crate) struct FunctionArgument {
    pub(crate) name: Box<str>,
    pub(crate) is: Passed,
}

/// The way an argument is passed, as far as it shows.
#[derive(Clone, Debug)]
pub(crate) enum Passed {
    Pointer,
    Int(Int),
    /// With the names of its values.
    Enum(Box<[(i32, Box<str>)]>),
    /// The type of `...`: none.
    Rest,
    /// A type that is not known.
    Unknown,
    /// Anything else: what it is called, and its size in bytes.
    Other(&'static str, u32),
}

impl FunctionArguments {
    fn of(function: Function<'_>) -> Self {
        let argument = |p: crate::kernel::btf::Parameter<'_>| {
            let resolved = p.of().resolved();
            let is = match resolved.kind() {
                TypeKind::Void if p.of().id() == 0 => Passed::Rest,
                TypeKind::Void => Passed::Unknown,
                TypeKind::Pointer => Passed::Pointer,
                TypeKind::Int(int) => Passed::Int(int),
                TypeKind::Enum { .. } => {
                    Passed::Enum(resolved.enumerators().map(|(name, value)| (value as i32, name.into())).collect())
                }
                kind => Passed::Other(kind.word(), resolved.size().unwrap_or(0)),
            };
            FunctionArgument { name: p.name().into(), is }
        };
        FunctionArguments { list: function.parameters().map(argument).collect() }
    }
}

/// Constant strings by their address.
#[derive(Clone, Debug, Default)]
pub struct PrintkFormats {
    /// Ascending by address; whole, with the newline that most end with.
    strings: Vec<(u64, Vec<u8>)>,
}

impl PrintkFormats {
    /// Parses the text of `printk_formats`. Quotes are dropped; lines that are not like
    /// the kernel's are left out.
    pub fn parse(text: &[u8]) -> Self {
        let mut strings: Vec<(u64, Vec<u8>)> = text.split(|b| *b == b'\n').filter_map(line).collect();
        strings.sort_by_key(|s| s.0);
        PrintkFormats { strings }
    }

    /// The string at `address`, without a newline at its end.
    pub fn get(&self, address: u64) -> Option<&[u8]> {
        self.get_whole(address).map(trimmed)
    }

    /// The string at `address`.
    pub fn get_whole(&self, address: u64) -> Option<&[u8]> {
        let index = self.strings.binary_search_by_key(&address, |s| s.0).ok()?;
        self.strings.get(index).map(|s| s.1.as_slice())
    }

    /// All strings with their addresses, without newlines at their ends.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.iter_whole().map(|(address, text)| (address, trimmed(text)))
    }

    /// All strings with their addresses.
    pub fn iter_whole(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.strings.iter().map(|s| (s.0, s.1.as_slice()))
    }
}

fn trimmed(text: &[u8]) -> &[u8] {
    text.strip_suffix(b"\n").unwrap_or(text)
}

fn line(line: &[u8]) -> Option<(u64, Vec<u8>)> {
    let colon = memchr::memchr(b':', line)?;
    let (address, [_, text @ ..]) = line.split_at_checked(colon)? else { return None };
    let address = std::str::from_utf8(address).ok()?.trim();
    let address = u64::from_str_radix(address.trim_start_matches("0x"), 16).ok()?;
    let text = text.strip_prefix(b" ").unwrap_or(text);
    let text = text.strip_prefix(b"\"").unwrap_or(text);
    let text = text.strip_suffix(b"\"").unwrap_or(text);
    Some((address, unescape(text)))
}

/// The kernel escapes newline, tab, backslash and quote (`t_show` of kernel/trace/trace_printk.c).
fn unescape(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.iter();
    while let Some(&b) = bytes.next() {
        match (b, b == b'\\') {
            (_, true) => match bytes.next() {
                Some(b'n') => out.push(b'\n'),
                Some(b't') => out.push(b'\t'),
                Some(&other) => out.push(other),
                None => out.push(b'\\'),
            },
            _ => out.push(b),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_end_where_the_next_symbol_starts() {
        let text = b"0000000000000000 A zero\nffffffff81000000 T _stext\nffffffff81000040 t do_one\n\
            ffffffff81000040 t do_alias\nffffffff81000100 T do_two\n";
        let symbols = Kallsyms::parse(text);
        assert_eq!(symbols.by_name("do_one"), Some(0xffff_ffff_8100_0040..0xffff_ffff_8100_0100));
        assert_eq!(symbols.by_name("do_alias"), symbols.by_name("do_one"));
        assert_eq!(symbols.around(0xffff_ffff_8100_0041), symbols.by_name("do_one"));
        assert_eq!(symbols.by_name("do_two"), Some(0xffff_ffff_8100_0100..0xffff_ffff_8100_0101), "its end is unknown");
        assert_eq!(symbols.by_name("do_three"), None);
        let hidden = Kallsyms::parse(b"0000000000000000 T _stext\n0000000000000000 t do_one\n");
        assert_eq!(hidden.by_name("do_one"), None, "kptr_restrict");
    }

    #[test]
    fn kernel_lines() {
        let p = PrintkFormats::parse(b"0xffffffff82345678 : \"fork %d\\n\"\n0x10 : \"a \\\"b\\\"\\tc\"\n\nnot one\n");
        assert_eq!(p.get(0xffff_ffff_8234_5678), Some(&b"fork %d"[..]));
        assert_eq!(p.get(0x10), Some(&b"a \"b\"\tc"[..]));
        assert_eq!(p.get(0x11), None);
        assert_eq!(p.iter().count(), 2);
    }
}
