//! tlb:tlb_flush.

use super::NumberField;
use crate::format::EventFormat;
use crate::print_fmt::Context;
use crate::text::{num, put};

#[derive(Clone, Copy)]
pub(in crate::event) struct Tlb {
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
