//! The names of allocation flags, which `%pGg` prints from a table within the kernel (`gfpflag_names`, mm/debug.c). Their
//! bits differ from kernel to kernel, but the events of `kmem` and `vmscan` carry the same table in their print formats.

use super::PrintProgram;
use super::expr::{Ex, Load};
use super::pointer::Pointer;
use super::program::PrintOp;
use super::table::NameTable;
use super::text::TextExpr;

/// True if a print format has `%pGg`.
pub(crate) fn wanted(print_fmt: &str) -> bool {
    print_fmt.contains("%pGg")
}

/// True if a print format has the table.
pub(crate) fn offered(print_fmt: &str) -> bool {
    print_fmt.contains("\"GFP_KERNEL\"")
}

impl PrintProgram {
    /// Lets `%pGg` have the names in `other`'s table.
    pub(crate) fn name_allocation_flags(&mut self, other: &PrintProgram) {
        let Some(table) = other.steps.iter().find_map(|step| table_of(&step.op)) else { return };
        for step in &mut self.steps {
            if let PrintOp::Bytes(of) = &step.op
                && let (Pointer::AllocationFlags, bytes, _) = **of
                && let Some(offset) = bytes.fixed_offset()
            {
                let flags = Ex::Load(Load { offset, size: 4, signed: false });
                step.op = PrintOp::Text(Box::new(TextExpr::Flags(Box::new((flags, table.clone(), b"|".to_vec())))));
            }
        }
    }
}

fn table_of(op: &PrintOp) -> Option<&NameTable> {
    match op {
        PrintOp::Text(text) => in_text(text),
        _ => None,
    }
}

fn in_text(text: &TextExpr) -> Option<&NameTable> {
    match text {
        TextExpr::Flags(of) if of.1.has_name(b"GFP_KERNEL") => Some(&of.1),
        TextExpr::Choice(of) => in_text(&of.1).or_else(|| in_text(&of.2)),
        _ => None,
    }
}
