//! Fields of events that come again: the text of a record with the same bytes as one shortly before is copied.

use crate::base::sys::Tail;
use crate::kernel::event::{TextCache, TextLookup};

/// Texts that are made of a record's own bytes, and of what does not change. Clones begin empty.
#[derive(Clone, Debug, Default)]
pub(super) struct RepeatedFields<const LINES: usize = 3> {
    texts: TextCache<LINES>,
}

impl<const LINES: usize> RepeatedFields<LINES> {
    /// Forgets all: texts are others now.
    pub(super) fn forget(&mut self) {
        self.texts.forget();
    }

    /// Appends what `write` does for the record `data` of the event `id`, or a copy of that.
    #[inline(always)]
    pub(super) fn write<'a>(
        &mut self,
        id: u16,
        data: &[u8],
        tail: Tail<'a>,
        write: impl FnOnce(Tail<'a>) -> Tail<'a>,
    ) -> Tail<'a> {
        let new = match self.texts.find(id, data) {
            TextLookup::Hit(text, len) => return text.put(len, tail),
            TextLookup::Miss(at) => Some(at),
            TextLookup::Skipped => None,
        };
        let out = tail.done();
        let start = out.len();
        let tail = write(Tail::new(out));
        match new {
            Some(at) => tail.with(|out| self.texts.keep(at, data, &out[start..])),
            None => tail,
        }
    }
}
