//! Columns that one event after the other has in common, as they were written last.

use crate::print_fmt::put;

/// The columns of tasks that ran lately, and of the second that passes. They say nothing that is not known otherwise:
/// forks and clones begin without any.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    /// [`SLOTS`] of them, or none yet.
    tasks: Vec<Task>,
    second: Second,
}

const SLOTS: usize = 64;
const ROOM: usize = 48;

#[derive(Clone, Copy, Debug)]
struct Task {
    pid: i32,
    cpu: u32,
    layout: u8,
    /// 0: the slot is empty.
    len: u8,
    text: [u8; ROOM],
}

#[derive(Clone, Copy, Debug, Default)]
struct Second {
    /// Where it starts, in nanoseconds.
    start: u64,
    /// 0: none yet.
    len: u8,
    text: [u8; 16],
}

impl Clone for Recent {
    fn clone(&self) -> Self {
        Recent::default()
    }
}

#[inline]
fn slot(pid: i32, cpu: u32) -> usize {
    (pid as u32).wrapping_add(cpu.wrapping_mul(13)) as usize % SLOTS
}

impl Recent {
    /// Forgets the tasks, because one of them has another name now.
    #[cold]
    pub(crate) fn forget_tasks(&mut self) {
        self.tasks.clear();
    }

    /// Appends a task's columns as they are in that layout; `false` if they are not known.
    #[inline(always)]
    pub(crate) fn put_task(&self, pid: i32, cpu: u32, layout: u8, out: &mut Vec<u8>) -> bool {
        match self.tasks.get(slot(pid, cpu)) {
            Some(task) if task.pid == pid && task.cpu == cpu && task.layout == layout && task.len > 0 => {
                put::piece(out, &task.text, usize::from(task.len));
                true
            }
            _ => false,
        }
    }

    /// Remembers a task's columns, if they are of the usual size.
    #[cold]
    pub(crate) fn keep_task(&mut self, pid: i32, cpu: u32, layout: u8, columns: &[u8]) {
        if columns.len() > ROOM {
            return;
        }
        let mut task = Task { pid, cpu, layout, len: columns.len() as u8, text: [0; ROOM] };
        task.text[..columns.len()].copy_from_slice(columns);
        if self.tasks.is_empty() {
            self.tasks.resize(SLOTS, Task { len: 0, ..task });
        }
        self.tasks[slot(pid, cpu)] = task;
    }

    /// Appends the text of the second in which `nanos` lies, and gives the rest, below 10^9; `None` if it is not known.
    #[inline(always)]
    pub(crate) fn put_second(&self, nanos: u64, out: &mut Vec<u8>) -> Option<u32> {
        let rest = nanos.wrapping_sub(self.second.start);
        if rest >= 1_000_000_000 || self.second.len == 0 {
            return None;
        }
        put::piece(out, &self.second.text, usize::from(self.second.len));
        Some(rest as u32)
    }

    /// Remembers the text of the second that starts at `start`.
    #[cold]
    pub(crate) fn keep_second(&mut self, start: u64, column: &[u8]) {
        self.second = Second::default();
        if let Some(text) = self.second.text.get_mut(..column.len()) {
            text.copy_from_slice(column);
            self.second = Second { start, len: column.len() as u8, ..self.second };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_of_their_task_and_second() {
        let mut recent = Recent::default();
        let mut out = Vec::new();
        assert!(!recent.put_task(1, 0, 0, &mut out) && recent.put_second(0, &mut out).is_none());
        recent.keep_task(1, 0, 0, b"one");
        recent.keep_task(2, 0, 0, &[b'-'; ROOM + 1]);
        assert!(recent.put_task(1, 0, 0, &mut out));
        assert!(!recent.put_task(1, 0, 1, &mut out) && !recent.put_task(1, 64, 0, &mut out));
        assert!(!recent.put_task(2, 0, 0, &mut out) && !recent.put_task(65, 0, 0, &mut out));
        recent.keep_second(5_000_000_000, b" 5.");
        assert_eq!(recent.put_second(5_999_999_999, &mut out), Some(999_999_999));
        assert_eq!((recent.put_second(6_000_000_000, &mut out), recent.put_second(4, &mut out)), (None, None));
        assert_eq!(out, b"one 5.");
        assert!(!recent.clone().put_task(1, 0, 0, &mut out));
        recent.forget_tasks();
        assert!(!recent.put_task(1, 0, 0, &mut out));
    }
}
