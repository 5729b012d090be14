//! The files behind the descriptors of each process.

use super::report::DescriptorTimes;
use crate::answer::analysis::map::Map;
use crate::base::units::Pid;

/// The tasks that share descriptors: a process, or one task whose process is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Owner {
    pub(super) pid: Pid,
    pub(super) is_process: bool,
}

/// A descriptor while it is that of one file: the key of a row.
type Opened = (Owner, i32, Option<Box<[u8]>>);

/// Calls by descriptor.
#[derive(Clone, Debug, Default)]
pub(super) struct Descriptors {
    rows: Vec<DescriptorTimes>,
    by_file: Map<Opened, usize>,
    /// By owner: the row that each descriptor counts in now.
    current: Map<Owner, Map<i32, usize>>,
}

impl Descriptors {
    /// The row of a descriptor, as it is now.
    #[inline]
    pub(super) fn row(&mut self, owner: Owner, fd: i32) -> usize {
        let known = self.current.get(&owner).and_then(|current| current.get(&fd)).copied();
        known.unwrap_or_else(|| self.set(owner, fd, None))
    }

    /// From now on the descriptor is that of `file`. Tasks of processes that are not known may share descriptors: theirs have no
    /// names.
    pub(super) fn open(&mut self, owner: Owner, fd: i32, file: Option<&[u8]>) {
        match file.filter(|_| owner.is_process) {
            Some(file) => _ = self.set(owner, fd, Some(file)),
            None => self.forget(owner, fd),
        }
    }

    fn set(&mut self, owner: Owner, fd: i32, file: Option<&[u8]>) -> usize {
        let rows = &mut self.rows;
        let row = self.by_file.entry((owner, fd, file.map(Box::from))).or_insert_with_key(|(_, _, file)| {
            let Owner { pid, is_process } = owner;
            let file = file.clone();
            rows.push(DescriptorTimes {
                pid,
                is_process,
                fd,
                file,
                calls: 0,
                errors: 0,
                time: 0,
                off_cpu: 0,
                longest: 0,
            });
            rows.len() - 1
        });
        self.current.entry(owner).or_default().insert(fd, *row);
        *row
    }

    pub(super) fn row_mut(&mut self, row: usize) -> Option<&mut DescriptorTimes> {
        self.rows.get_mut(row)
    }

    /// Ends the descriptor: it is of no file any more.
    pub(super) fn forget(&mut self, owner: Owner, fd: i32) {
        if let Some(current) = self.current.get_mut(&owner) {
            current.remove(&fd);
        }
    }

    /// The same of all that `is_gone` names.
    pub(super) fn forget_if(&mut self, owner: Owner, is_gone: impl Fn(i32) -> bool) {
        if let Some(current) = self.current.get_mut(&owner) {
            current.retain(|fd, _| !is_gone(*fd));
        }
    }

    /// The same of all descriptors: some may have been closed unseen.
    pub(super) fn forget_all(&mut self) {
        self.current.clear();
    }

    /// The descriptors that calls were made with.
    pub(super) fn into_rows(self) -> Vec<DescriptorTimes> {
        self.rows.into_iter().filter(|row| row.calls > 0).collect()
    }
}
