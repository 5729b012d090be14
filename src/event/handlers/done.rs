//! The part of an event's text that a handler wrote.

use crate::event::Consumed;

/// The result of a handler.
#[derive(Clone, Copy)]
pub(in crate::event) struct Done {
    /// True if the text is whole; else the print format's text follows.
    pub(in crate::event) complete: bool,
    pub(in crate::event) consumed: Consumed,
}

impl Done {
    pub(super) const WHOLE: Done = Done { complete: true, consumed: Consumed::One };
    pub(super) const PREFIX: Done = Done { complete: false, consumed: Consumed::One };
}
