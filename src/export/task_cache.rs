//! Texts of tasks, rendered once per task.

use crate::base::sys::Tail;

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
