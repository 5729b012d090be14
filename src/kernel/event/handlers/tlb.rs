//! tlb:tlb_flush.

use super::NumberField;
use crate::base::text::{num, put};
use crate::kernel::format::EventFormat;
use crate::kernel::print_fmt::Context;

#[derive(Clone, Copy)]
pub(in crate::kernel::event) struct Tlb {
    pages: NumberField,
    reason: NumberField,
}

/// include/linux/mm_types.h, `enum tlb_flush_reason`.
const REASONS: [&str; 4] = ["flush on task switch", "remote shootdown", "local shootdown", "local mm shootdown"];

impl Tlb {
    pub(super) fn new(event: &EventFormat) -> Option<Self> {
        Some(Tlb { pages: NumberField::field(event, "pages")?, reason: NumberField::field(event, "reason")? })
    }

    pub(super) fn write(&self, cx: &Context<'_>, out: &mut Vec<u8>) {
        let reason = self.reason.get(cx);
        put::all(out, b"pages=");
        num::signed(out, self.pages.get(cx) as i64);
        put::all(out, b" reason=");
        let text = usize::try_from(reason).ok().and_then(|r| REASONS.get(r)).unwrap_or(&"");
        out.extend_from_slice(text.as_bytes());
        put::all(out, b" (");
        num::dec(out, reason);
        out.push(b')');
    }
}
