//! The functions whose addresses the events of a recording have: few of the kernel's, so the table of their names is small.

use super::event_table::EventTable;
use crate::kernel::event::{FieldKind, FieldPlace, Number, Record, Value};
use crate::kernel::symbols::Kallsyms;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Addresses that lie in the kernel's code or a module's.
#[derive(Default)]
pub(super) struct CalledFunctions {
    found: Mutex<BTreeSet<u64>>,
}

impl CalledFunctions {
    /// Adds the addresses in these records of one type.
    pub(super) fn add(&self, table: &EventTable, kallsyms: &Kallsyms, records: &[Record<'_>]) {
        let mut seen = BTreeSet::new();
        for field in &table.addresses {
            let mut last = 0;
            let mut see = |address: u64| {
                if address != std::mem::replace(&mut last, address)
                    && !seen.contains(&address)
                    && kallsyms.is_code(address)
                {
                    seen.insert(address);
                }
            };
            if let (FieldPlace::Fixed { offset, len }, FieldKind::Pointer | FieldKind::Unsigned) =
                (field.place, field.kind)
            {
                records.iter().filter_map(|record| table.abi.uint(record.data, offset, len)).for_each(see);
                continue;
            }
            for record in records {
                match field.value(table.abi, record.data) {
                    Some(Value::Pointer(address) | Value::Unsigned(address)) => see(address),
                    Some(Value::Numbers(stack)) => stack.iter().for_each(|address| match address {
                        Number::Unsigned(address) => see(address),
                        Number::Signed(address) => see(address as u64),
                    }),
                    _ => {}
                }
            }
        }
        if !seen.is_empty() {
            self.found.lock().unwrap_or_else(PoisonError::into_inner).append(&mut seen);
        }
    }

    /// All of them, ascending; none are left.
    pub(super) fn take(&self) -> BTreeSet<u64> {
        std::mem::take(&mut self.found.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
