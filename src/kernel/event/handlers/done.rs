//! The part of an event's text that a handler wrote.

use crate::kernel::event::Consumed;

/// The result of a handler.
#[derive(Clone, Copy)]
pub(in crate::kernel::event) struct HandlerResult {
    /// True if the text is whole; else the print format's text follows.
    pub(in crate::kernel::event) complete: bool,
    pub(in crate::kernel::event) consumed: Consumed,
}

impl HandlerResult {
    pub(super) const WHOLE: HandlerResult = HandlerResult { complete: true, consumed: Consumed::One };
    pub(super) const PREFIX: HandlerResult = HandlerResult { complete: false, consumed: Consumed::One };
}
