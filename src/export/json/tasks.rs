//! `,"pid":1234,"comm":"bash"`, rendered once per task.

use super::Style;
use crate::base::sys::Tail;
use crate::base::text::{json, num};
use crate::base::units::Pid;
use crate::kernel::symbols::Comms;

const WAYS: usize = 1024;
const WIDTH: usize = 60;

/// The pieces of the tasks seen last: a table with one place per pid's low bits.
#[derive(Clone, Debug)]
pub(super) struct TaskPieces {
    /// The text before a pid, and before a name.
    keys: [Vec<u8>; 2],
    slots: Vec<TaskSlot>,
    /// Names learnt from a live trace, used instead of the recording's.
    live: Option<Comms>,
}

#[derive(Clone, Copy, Debug)]
struct TaskSlot {
    pid: Pid,
    len: u8,
    text: [u8; WIDTH],
}

impl TaskPieces {
    pub(super) fn new(style: Style) -> Self {
        let keys = ["pid", "comm"].map(|name| style.key(name, false));
        TaskPieces { keys, slots: vec![TaskSlot { pid: Pid(0), len: 0, text: [0; WIDTH] }; WAYS], live: None }
    }

    /// Forgets all, as names are of another file now.
    pub(super) fn clear(&mut self) {
        self.slots.iter_mut().for_each(|s| s.len = 0);
    }

    /// Replaces the names by those of a live trace.
    pub(super) fn set_live(&mut self, comms: Comms) {
        self.live = Some(comms);
        self.clear();
    }

    /// Writes the piece of `pid`.
    #[inline(always)]
    pub(super) fn write<'a>(&mut self, pid: Pid, comms: &Comms, tail: Tail<'a>) -> Tail<'a> {
        let slot = &mut self.slots[pid.0 as usize % WAYS];
        if slot.len == 0 || slot.pid != pid {
            let comms = self.live.as_ref().unwrap_or(comms);
            return tail.with(|out| Self::render(slot, &self.keys, pid, comms, out));
        }
        tail.piece(&slot.text, slot.len.into())
    }

    #[cold]
    fn render(
        slot: &mut TaskSlot,
        [before_pid, before_comm]: &[Vec<u8>; 2],
        pid: Pid,
        comms: &Comms,
        out: &mut Vec<u8>,
    ) {
        let start = out.len();
        out.extend_from_slice(before_pid);
        num::signed(out, pid.0.into());
        out.extend_from_slice(before_comm);
        match comms.get(pid) {
            Some(comm) => json::string(out, comm),
            None => out.extend_from_slice(b"null"),
        }
        let text = &out[start..];
        slot.len = 0;
        if let Some(room) = slot.text.get_mut(..text.len()) {
            room.copy_from_slice(text);
            (slot.pid, slot.len) = (pid, text.len() as u8);
        }
    }
}
