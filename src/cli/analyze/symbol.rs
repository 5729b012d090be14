//! Addresses of the kernel as names.

use rtrace::symbols::Kallsyms;

/// The function at `address`; the address itself if it has no name.
pub(in crate::cli) fn function(kallsyms: &Kallsyms, address: u64) -> String {
    match kallsyms.lookup(address) {
        Some(symbol) => String::from_utf8_lossy(symbol.name).into_owned(),
        None => format!("{address:#x}"),
    }
}

/// `name+0x1c`: the place in the function at `address`.
pub(super) fn place(kallsyms: &Kallsyms, address: u64) -> String {
    match kallsyms.lookup(address) {
        Some(symbol) => {
            format!("{}+{:#x}", String::from_utf8_lossy(symbol.name), address.saturating_sub(symbol.address))
        }
        None => format!("{address:#x}"),
    }
}

/// `name+0x10`, or `name` at its beginning: the variable at `address`. Most of the kernel's data is allocated and has no name:
/// what lies further from a symbol than any variable is long is an address.
pub(in crate::cli) fn variable(kallsyms: &Kallsyms, address: u64) -> String {
    const LONGEST: u64 = 64 << 10;
    match kallsyms.lookup(address).map(|symbol| (symbol.name, address.saturating_sub(symbol.address))) {
        Some((name, 0)) => String::from_utf8_lossy(name).into_owned(),
        Some((name, offset)) if offset < LONGEST => format!("{}+{offset:#x}", String::from_utf8_lossy(name)),
        _ => format!("{address:#x}"),
    }
}
