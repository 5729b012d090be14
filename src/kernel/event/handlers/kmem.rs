//! kmem's allocations: who asked, in front of the usual text.

use super::NumberField;
use crate::base::text::{num, put};
use crate::kernel::print_fmt::Context;

/// `(function+0xoffset) `; nothing for an unknown address.
pub(super) fn call_site(call_site: &NumberField, cx: &Context<'_>, out: &mut Vec<u8>) {
    let address = call_site.get(cx);
    if let Some(symbol) = cx.symbols.kallsyms.lookup(address) {
        out.push(b'(');
        symbol.put_name(out);
        put::all(out, b"+0x");
        num::hex(out, address.saturating_sub(symbol.address));
        put::all(out, b") ");
    }
}
