//! `,"pid":1234,"comm":"bash"`, rendered once per task.

use super::super::line::Line;
use super::{Style, escape};
use crate::symbols::Comms;
use crate::sys::Tail;
use crate::units::Pid;

const WAYS: usize = 1024;
const WIDTH: usize = 60;

/// The pieces of the tasks seen last: a table with one place per pid's low bits.
#[derive(Clone, Debug)]
pub(super) struct Tasks {
    /// What stands before a pid, and before a name.
    keys: [Vec<u8>; 2],
    slots: Vec<Slot>,
    line: Line,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    pid: Pid,
    len: u8,
    text: [u8; WIDTH],
}

impl Tasks {
    pub(super) fn new(style: Style) -> Self {
        let keys = ["pid", "comm"].map(|name| style.key(name, false));
        Tasks { keys, slots: vec![Slot { pid: Pid(0), len: 0, text: [0; WIDTH] }; WAYS], line: Line::default() }
    }

    /// Forgets all, as names are of another file now.
    pub(super) fn clear(&mut self) {
        self.slots.iter_mut().for_each(|s| s.len = 0);
    }

    /// Writes the piece of `pid`.
    #[inline(always)]
    pub(super) fn write<'a>(&mut self, pid: Pid, comms: &Comms, tail: Tail<'a>) -> Tail<'a> {
        let slot = &mut self.slots[pid.0 as usize % WAYS];
        if slot.len == 0 || slot.pid != pid {
            let (line, keys) = (&mut self.line, &self.keys);
            return tail.with(|out| {
                line.clear();
                Self::render(slot, keys, pid, comms, line);
                out.extend_from_slice(line.as_bytes());
            });
        }
        tail.piece(&slot.text, slot.len.into())
    }

    #[cold]
    fn render(slot: &mut Slot, [before_pid, before_comm]: &[Vec<u8>; 2], pid: Pid, comms: &Comms, line: &mut Line) {
        let start = line.len();
        line.bytes(before_pid);
        line.signed(pid.0.into());
        line.bytes(before_comm);
        match comms.get(pid) {
            Some(comm) => escape::string(line, comm),
            None => line.bytes(b"null"),
        }
        let text = &line.as_bytes()[start..];
        slot.len = 0;
        if let Some(room) = slot.text.get_mut(..text.len()) {
            room.copy_from_slice(text);
            (slot.pid, slot.len) = (pid, text.len() as u8);
        }
    }
}
