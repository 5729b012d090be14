//! Texts that are rendered once: of tasks, and of fields that come again.

use crate::base::sys::Tail;
use crate::kernel::event::{TextCache, TextLookup};

const WAYS: usize = 1024;
const WIDTH: usize = 55;

/// The texts of the tasks seen last: a table with one place per key's low bits.
#[derive(Clone, Debug)]
pub(super) struct TaskCache {
    slots: Vec<TaskSlot>,
}

#[derive(Clone, Copy, Debug)]
struct TaskSlot {
    key: u64,
    len: u8,
    text: [u8; WIDTH],
}

impl TaskCache {
    pub(super) fn new() -> Self {
        TaskCache { slots: vec![TaskSlot { key: 0, len: 0, text: [0; WIDTH] }; WAYS] }
    }

    /// Forgets all, as names are others now.
    pub(super) fn clear(&mut self) {
        self.slots.iter_mut().for_each(|s| s.len = 0);
    }

    /// Writes the text of the task of this key, its pid for instance, which `render` appends if it is not kept; it is never
    /// empty.
    #[inline(always)]
    pub(super) fn write<'a>(&mut self, key: u64, tail: Tail<'a>, render: impl FnOnce(&mut Vec<u8>)) -> Tail<'a> {
        let slot = &mut self.slots[key as usize % WAYS];
        if slot.len == 0 || slot.key != key {
            return tail.with(|out| slot.fill(key, out, render));
        }
        tail.piece(&slot.text, slot.len.into())
    }
}

impl TaskSlot {
    #[cold]
    fn fill(&mut self, key: u64, out: &mut Vec<u8>, render: impl FnOnce(&mut Vec<u8>)) {
        let start = out.len();
        render(out);
        let text = &out[start..];
        self.len = 0;
        if let Some(room) = self.text.get_mut(..text.len()) {
            room.copy_from_slice(text);
            (self.key, self.len) = (key, text.len() as u8);
        }
    }
}

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
