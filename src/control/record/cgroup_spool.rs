//! The cgroups of tasks so far, in a file beside the recording: what is left of them if the recorder is killed.
//!
//! A line `until TIME` of fixed width, which is written again and again; after it lines as
//! [`Cgroups::to_text`] has them, and more as tasks change their cgroups.

use crate::base::units::Pid;
use crate::file::trace_dat::Cgroups;
use std::fmt::Write;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes of changes beyond which the file is made anew, if it has become twice as large by them.
const FEW: u64 = 4 << 20;

/// The file of cgroups while recording.
#[derive(Debug)]
pub(super) struct CgroupSpool {
    file: File,
    len: u64,
    /// Its size when it was made anew last.
    whole: u64,
    /// Lines that are not written yet.
    lines: String,
    /// Number of cgroups and of containers that have lines.
    known: (usize, usize),
}

impl CgroupSpool {
    /// Writes `cgroups` to `file`, which is empty.
    ///
    /// # Errors
    /// The error of writing.
    pub(super) fn new(file: File, cgroups: &Cgroups) -> io::Result<Self> {
        let mut spool = CgroupSpool { file, len: 0, whole: 0, lines: String::new(), known: (0, 0) };
        spool.make_anew(cgroups)?;
        Ok(spool)
    }

    fn make_anew(&mut self, cgroups: &Cgroups) -> io::Result<()> {
        // Emptied first: a process that is killed in between leaves nothing, and no old time before new lines.
        self.file.set_len(0)?;
        let until = until(0);
        self.file.write_all_at(until.as_bytes(), 0)?;
        let text = cgroups.to_text();
        self.file.write_all_at(text.as_bytes(), until.len() as u64)?;
        self.len = (until.len() + text.len()) as u64;
        self.whole = self.len;
        self.lines.clear();
        self.known = (cgroups.paths().count(), cgroups.names().count());
        Ok(())
    }

    /// Notes that `task` came to the cgroup with this number at `time`.
    pub(super) fn moved(&mut self, cgroups: &Cgroups, task: Pid, time: u64, number: u32) {
        for (number, path) in cgroups.paths().enumerate().skip(self.known.0) {
            let _ = writeln!(self.lines, "cgroup {number} {path}");
            self.known.0 = number + 1;
        }
        if cgroups.names().count() > self.known.1 {
            for (id, name) in cgroups.names() {
                let _ = writeln!(self.lines, "container {id} {name}");
            }
            self.known.1 = cgroups.names().count();
        }
        let _ = writeln!(self.lines, "task {task} {time} {number}");
    }

    /// Notes the number that `task` has in its own pid namespace since `time`; `None` if it was not seen.
    pub(super) fn numbered(&mut self, task: Pid, time: u64, inner: Option<Pid>) {
        let _ = writeln!(self.lines, "inside {task} {time} {}", inner.unwrap_or(Pid(0)));
    }

    /// Writes what was noted, and that all is known up to `time`.
    ///
    /// # Errors
    /// The error of writing; what is there stays true.
    pub(super) fn write(&mut self, cgroups: &Cgroups, time: u64) -> io::Result<()> {
        self.file.write_all_at(self.lines.as_bytes(), self.len)?;
        self.len += self.lines.len() as u64;
        self.lines.clear();
        if self.len > FEW + 2 * self.whole {
            self.make_anew(cgroups)?;
        }
        self.file.write_all_at(until(time).as_bytes(), 0)
    }
}

/// The first line of the file: the time up to which all is known.
fn until(time: u64) -> String {
    format!("until {time:020}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(file: &File) -> Vec<u8> {
        let mut bytes = vec![0; file.metadata().unwrap().len() as usize];
        file.read_exact_at(&mut bytes, 0).unwrap();
        bytes
    }

    #[test]
    fn what_was_written_is_known_up_to_its_time() {
        let file = tempfile::tempfile().unwrap();
        let mut cgroups = Cgroups::new("cpu");
        cgroups.set(Pid(1), 0, "/");
        cgroups.follow("/a");
        let mut spool = CgroupSpool::new(file.try_clone().unwrap(), &cgroups).unwrap();
        let found = Cgroups::of_spool(&text(&file)).unwrap();
        assert_eq!((found.at(Pid(1), 0), found.at(Pid(1), 1)), (Some("/"), None), "before the first look");
        for task in 2..60_000 {
            let path = format!("/a/{}", task % 7);
            let number = cgroups.set(Pid(task), task as u64, &path).unwrap();
            if task == 50 {
                cgroups.set_container("ab", "web");
            }
            spool.moved(&cgroups, Pid(task), task as u64, number);
            if task % 3 == 0 && cgroups.set_inner_pid(Pid(task), task as u64, Some(Pid(task / 3))) {
                spool.numbered(Pid(task), task as u64, Some(Pid(task / 3)));
            }
            if task % 10_000 == 0 {
                spool.write(&cgroups, task as u64).unwrap();
                let found = Cgroups::of_spool(&text(&file)).unwrap();
                assert_eq!(found.until(), Some(task as u64));
                let mut same = cgroups.clone();
                same.end_at(task as u64);
                assert_eq!(found, same);
            }
        }
    }

    #[test]
    fn a_file_that_grows_is_made_anew() {
        let file = tempfile::tempfile().unwrap();
        let mut cgroups = Cgroups::new("");
        let mut spool = CgroupSpool::new(file.try_clone().unwrap(), &cgroups).unwrap();
        for round in 1..=40u64 {
            for task in 0..10_000 {
                let number = cgroups.set(Pid(task), round, if round % 2 == 0 { "/a" } else { "/b" }).unwrap();
                spool.moved(&cgroups, Pid(task), round, number);
            }
            // Of tasks that are gone nothing is kept.
            cgroups.retain(|task| task.0 < 10);
            spool.write(&cgroups, round).unwrap();
            assert!(spool.len < FEW + (1 << 20));
        }
        assert!(text(&file).len() as u64 == spool.len);
    }
}
