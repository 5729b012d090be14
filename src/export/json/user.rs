//! Names in the stacks of user space: `"caller_symbols":[{"symbol":"main","offset":31,"path":"/usr/bin/x"},null]`.

use super::super::line::Line;
use super::escape;
use crate::abi::Abi;
use crate::event::UserStack;
use crate::format::EventFormat;
use crate::print_fmt::Context;
use crate::symbols::{Symbols, UserSymbols};
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

    pub(super) fn write(&self, abi: Abi, data: &[u8], line: &mut Line) {
        line.byte(b'[');
        let mut first = true;
        self.stack.each(&Context { data, abi, symbols: &self.symbols }, |_, found| {
            if !std::mem::take(&mut first) {
                line.byte(b',');
            }
            let Some(found) = found else { return line.bytes(b"null") };
            line.bytes(b"{\"symbol\":");
            match found.name {
                Some(name) => escape::string(line, name.as_bytes()),
                None => line.bytes(b"null"),
            }
            line.bytes(b",\"offset\":");
            line.dec(found.offset);
            line.bytes(b",\"path\":");
            escape::string(line, found.path.as_bytes());
            line.byte(b'}');
        });
        line.byte(b']');
    }
}
