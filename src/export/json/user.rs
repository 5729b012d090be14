//! Names in the stacks of user space: `"caller_symbols":[{"symbol":"main","offset":31,"path":"/usr/bin/x"},null]`.

use crate::base::abi::Abi;
use crate::base::text::{json, num};
use crate::kernel::event::UserStack;
use crate::kernel::format::EventFormat;
use crate::kernel::print_fmt::Context;
use crate::kernel::symbols::{Symbols, UserSymbols};
use std::sync::Arc;

/// Writes what lies at each address of a stack, as far as it goes.
#[derive(Clone, Debug)]
pub(super) struct UserNames {
    stack: UserStack,
    symbols: Symbols,
}

impl UserNames {
    pub(super) const FIELD: &str = "caller_symbols";

    /// `None` for other events than stacks of user space.
    pub(super) fn new(format: &EventFormat, user: &Arc<UserSymbols>) -> Option<Self> {
        let stack = UserStack::new(format)?;
        Some(UserNames { stack, symbols: Symbols { user: Some(Arc::clone(user)), ..Symbols::default() } })
    }

    pub(super) fn write(&self, abi: Abi, data: &[u8], out: &mut Vec<u8>) {
        out.push(b'[');
        let mut first = true;
        self.stack.each(&Context { data, abi, symbols: &self.symbols }, |_, found| {
            if !std::mem::take(&mut first) {
                out.push(b',');
            }
            let Some(found) = found else { return out.extend_from_slice(b"null") };
            out.extend_from_slice(b"{\"symbol\":");
            match found.name {
                Some(name) => json::string(out, name.as_bytes()),
                None => out.extend_from_slice(b"null"),
            }
            out.extend_from_slice(b",\"offset\":");
            num::dec(out, found.offset);
            out.extend_from_slice(b",\"path\":");
            json::string(out, found.path.as_bytes());
            out.push(b'}');
        });
        out.push(b']');
    }
}
