//! Kernel symbols for filters: `.function` of the kernel's language, names of pointers in trace-cmd's.

use super::{Kallsyms, Symbol};
use std::ops::Range;

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
}
