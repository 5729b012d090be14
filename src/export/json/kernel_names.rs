//! The kernel's functions at addresses: `"function":"0xffffffff814332e0","function_symbol":"tick_nohz_handler"`.

use crate::base::abi::Abi;
use crate::base::text::json;
use crate::kernel::event::{FieldKind, TypedEvent, TypedField, Value};
use crate::kernel::symbols::Kallsyms;
use std::sync::Arc;

/// Words at the end of the name of a field's symbol.
pub(super) const SUFFIX: &str = "_symbol";

/// An address that may be a function's: written as one where it lies in the kernel's code or a module's.
#[derive(Clone, Debug)]
pub(super) struct KernelName {
    /// `,"function_symbol":`
    key: Vec<u8>,
    field: TypedField,
    kallsyms: Arc<Kallsyms>,
}

impl KernelName {
    /// The names of an event's fields.
    pub(super) fn all(event: &TypedEvent, kallsyms: &Arc<Kallsyms>) -> Vec<KernelName> {
        let one = |field: &TypedField| {
            let mut key = vec![b','];
            json::string(&mut key, format!("{}{SUFFIX}", field.name).as_bytes());
            key.push(b':');
            KernelName { key, field: field.clone(), kallsyms: Arc::clone(kallsyms) }
        };
        event.fields.iter().filter(|field| is_address(field)).map(one).collect()
    }

    /// Appends it, if there is a function.
    pub(super) fn write(&self, abi: Abi, data: &[u8], out: &mut Vec<u8>) {
        let address = match self.field.value(abi, data) {
            Some(Value::Pointer(address) | Value::Unsigned(address)) => address,
            _ => return,
        };
        if address == 0 || !self.kallsyms.is_code(address) {
            return;
        }
        let Some(symbol) = self.kallsyms.lookup(address) else { return };
        out.extend_from_slice(&self.key);
        let mut name = symbol.name.to_vec();
        let offset = address.saturating_sub(symbol.address);
        if offset > 0 {
            name.extend_from_slice(format!("+{offset:#x}").as_bytes());
        }
        json::string(out, &name);
    }
}

/// True for pointers, and for the numbers in which tracers of functions have addresses.
pub(super) fn is_address(field: &TypedField) -> bool {
    let named = ["ip", "parent_ip", "func", "caller"].contains(&field.name.as_str());
    field.kind == FieldKind::Pointer || named && field.kind == FieldKind::Unsigned
}
