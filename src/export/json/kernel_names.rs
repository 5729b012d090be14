//! The kernel's functions at addresses: `"function":"0xffffffff814332e0","function_symbol":"tick_nohz_handler"`, and in call
//! stacks `"caller_symbol":["schedule+0x2f",null]`.
//!
//! Names in the stacks of user space: `"caller_symbols":[{"symbol":"main","offset":31,"path":"/usr/bin/x"},null]`.

use crate::base::abi::Abi;
use crate::base::text::{json, num};
use crate::kernel::event::{FieldKind, Number, TypedEvent, TypedField, UserStack, Value};
use crate::kernel::format::EventFormat;
use crate::kernel::print_fmt::Context;
use crate::kernel::symbols::{Kallsyms, Symbols, UserSymbols};
use std::sync::Arc;

/// Words at the end of the name of a field's symbol.
pub(in crate::export) const SUFFIX: &str = "_symbol";

/// An address that may be a function's, or a stack of them: written as one where it lies in the kernel's code or a module's.
#[derive(Clone, Debug)]
pub(in crate::export) struct KernelName {
    /// `,"function_symbol":`
    key: Vec<u8>,
    field: TypedField,
    kallsyms: Arc<Kallsyms>,
}

impl KernelName {
    /// The names of an event's fields.
    pub(in crate::export) fn all(event: &TypedEvent, kallsyms: &Arc<Kallsyms>) -> Vec<KernelName> {
        let one = |field: &TypedField| {
            let mut key = vec![b','];
            json::string(&mut key, format!("{}{SUFFIX}", field.name).as_bytes());
            key.push(b':');
            KernelName { key, field: field.clone(), kallsyms: Arc::clone(kallsyms) }
        };
        addresses(event).map(one).collect()
    }

    /// Appends it, if there is a function.
    pub(in crate::export) fn write(&self, abi: Abi, data: &[u8], out: &mut Vec<u8>) {
        match self.field.value(abi, data) {
            Some(Value::Pointer(address) | Value::Unsigned(address)) => {
                if let Some(name) = self.name(address) {
                    out.extend_from_slice(&self.key);
                    json::string(out, &name);
                }
            }
            Some(Value::Numbers(stack)) => {
                let start = out.len();
                out.extend_from_slice(&self.key);
                let mut known = false;
                for (nth, address) in stack.iter().enumerate() {
                    out.push(if nth == 0 { b'[' } else { b',' });
                    let name = match address {
                        Number::Unsigned(address) => self.name(address),
                        Number::Signed(address) => self.name(address as u64),
                    };
                    known |= name.is_some();
                    match name {
                        Some(name) => json::string(out, &name),
                        None => out.extend_from_slice(b"null"),
                    }
                }
                out.push(b']');
                if !known {
                    out.truncate(start);
                }
            }
            _ => {}
        }
    }

    /// `NAME+0xOFFSET`
    fn name(&self, address: u64) -> Option<Vec<u8>> {
        if address == 0 || !self.kallsyms.is_code(address) {
            return None;
        }
        let symbol = self.kallsyms.lookup(address)?;
        let mut name = symbol.name.to_vec();
        let offset = address.saturating_sub(symbol.address);
        if offset > 0 {
            name.extend_from_slice(format!("+{offset:#x}").as_bytes());
        }
        Some(name)
    }
}

/// The fields with addresses of the kernel: pointers, and the numbers in which tracers of functions have them.
pub(in crate::export) fn addresses(event: &TypedEvent) -> impl Iterator<Item = &TypedField> {
    let user = (event.system.as_str(), event.name.as_str()) == ("ftrace", "user_stack");
    event.fields.iter().filter(move |field| {
        let named = ["ip", "parent_ip", "func", "caller"].contains(&field.name.as_str());
        field.kind == FieldKind::Pointer || named && (field.kind == FieldKind::Unsigned || is_stack(field) && !user)
    })
}

/// True of several addresses.
pub(super) fn is_stack(field: &TypedField) -> bool {
    matches!(field.kind, FieldKind::Numbers { size: 0 | 4 | 8, .. })
}

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
        self.stack.each(&Context { data, abi, symbols: &self.symbols, lists: false }, |_, found| {
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
