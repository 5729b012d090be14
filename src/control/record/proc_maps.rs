//! Memory maps of traced processes: `--proc-map`, so that addresses of their stacks can be named later.

use crate::base::units::Pid;
use crate::kernel::symbols::build_id;
use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};

/// The memory map of one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProcMaps {
    pid: Pid,
    program: String,
    /// Named mappings: start, end and path.
    mappings: Vec<(u64, u64, String)>,
    /// Files that are mapped, with the ids of their builds.
    builds: Vec<(String, Vec<u8>)>,
}

impl ProcMaps {
    /// Of the process `pid`; nothing if it is gone or not ours to look at.
    pub(super) fn read(pid: Pid) -> Option<Self> {
        let program = fs::read_link(format!("/proc/{pid}/exe")).ok()?.to_string_lossy().into_owned();
        let maps = fs::read(format!("/proc/{pid}/maps")).ok()?;
        let maps = String::from_utf8_lossy(&maps).into_owned();
        let builds = builds(pid, &maps);
        let named = maps.lines().filter_map(mapping).map(|(start, end, path)| (start, end, path.to_owned()));
        Self::of(pid, program, named.collect(), builds)
    }

    /// Of these mappings, if there are any.
    pub(super) fn of(
        pid: Pid,
        program: String,
        mappings: Vec<(u64, u64, String)>,
        builds: Vec<(String, Vec<u8>)>,
    ) -> Option<Self> {
        (!mappings.is_empty()).then_some(ProcMaps { pid, program, mappings, builds })
    }

    /// Process whose maps these are.
    pub(super) fn pid(&self) -> Pid {
        self.pid
    }

    /// The file that it runs.
    pub(super) fn program(&self) -> &str {
        &self.program
    }

    /// Start, end and path of what has a name.
    pub(super) fn mappings(&self) -> impl Iterator<Item = (u64, u64, &str)> {
        self.mappings.iter().map(|(start, end, path)| (*start, *end, path.as_str()))
    }

    /// The id of a mapped file's build.
    pub(super) fn build_of(&self, path: &str) -> Option<&[u8]> {
        self.builds.iter().find(|(of, _)| of == path).map(|(_, id)| id.as_slice())
    }

    /// Takes the map that the process has now; the last one is kept if there is none any more.
    pub(super) fn update(&mut self) {
        if let Some(now) = Self::read(self.pid) {
            *self = now;
        }
    }

    /// Files that it has mapped, with the ids of their builds.
    pub(super) fn builds(&self) -> impl Iterator<Item = (String, Vec<u8>)> + '_ {
        self.builds.iter().cloned()
    }

    /// The text of a PROCMAPS option: `PID COUNT PROGRAM`, then `START END PATH` of all that has a name; numbers are
    /// hexadecimal.
    pub(super) fn option(&self) -> Vec<u8> {
        let mut text = Vec::new();
        // Writing into a vector does not fail.
        let _ = writeln!(text, "{:x} {:x} {}", self.pid.0, self.mappings.len(), self.program);
        for (start, end, path) in &self.mappings {
            let _ = writeln!(text, "{start:x} {end:x} {path}");
        }
        text.push(0);
        text
    }
}

/// The mapped files of a process that have build ids.
fn builds(pid: Pid, maps: &str) -> Vec<(String, Vec<u8>)> {
    let mut seen = BTreeSet::new();
    let files = maps.lines().filter_map(|line| {
        let (_, _, path) = mapping(line).filter(|(_, _, path)| path.starts_with('/'))?;
        let mut words = line.split_whitespace();
        let (range, device, inode) = (words.next()?, words.nth(2)?, words.next()?.parse::<u64>().ok()?);
        seen.insert((device, inode, path)).then_some((range, (device, inode), path))
    });
    files
        .filter_map(|(range, file, path)| Some((path.to_owned(), build_id(mapped(pid, range, file, path)?)?)))
        .collect()
}

/// The file that a process has mapped at `range`: itself, or what lies at its path, if that is the same.
fn mapped(pid: Pid, range: &str, (device, inode): (&str, u64), path: &str) -> Option<File> {
    let open = |place: &str| {
        let flags = nix::libc::O_NONBLOCK | nix::libc::O_NOCTTY;
        let is_file = fs::metadata(place).is_ok_and(|facts| facts.is_file());
        is_file.then(|| OpenOptions::new().read(true).custom_flags(flags).open(place).ok()).flatten()
    };
    open(&format!("/proc/{pid}/map_files/{range}")).or_else(|| {
        let file = open(&format!("/proc/{pid}/root{path}"))?;
        let facts = file.metadata().ok()?;
        let number = format!("{:02x}:{:02x}", nix::libc::major(facts.dev()), nix::libc::minor(facts.dev()));
        (facts.ino() == inode && number == device).then_some(file)
    })
}

/// A line of /proc/PID/maps: `7f0c1000-7f0c3000 r-xp 00001000 fe:01 1234   /usr/lib/libc.so.6`.
fn mapping(line: &str) -> Option<(u64, u64, &str)> {
    let (range, rest) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    let mut rest = rest;
    for _ in 0..4 {
        rest = rest.trim_start().split_once(' ')?.1;
    }
    let path = rest.trim();
    let number = |hex| u64::from_str_radix(hex, 16).ok();
    Some((number(start)?, number(end)?, path)).filter(|_| !path.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_mappings_are_reported() {
        let maps = "00400000-00401000 r--p 00000000 fe:01 1230                       /bin/ls\n\
                    7f0c1000-7f0c3000 r-xp 00001000 fe:01 1234                       /usr/lib/a b.so\n\
                    7f0c3000-7f0c4000 rw-p 00000000 00:00 0 \n\
                    7ffd0000-7ffd2000 rw-p 00000000 00:00 0                          [stack]\n";
        let named = maps.lines().filter_map(mapping).map(|(start, end, path)| (start, end, path.to_owned()));
        let all = ProcMaps::of(Pid(255), "/bin/ls".to_owned(), named.collect(), Vec::new()).unwrap();
        let text = String::from_utf8(all.option()).unwrap();
        assert_eq!(
            text,
            "ff 3 /bin/ls\n400000 401000 /bin/ls\n7f0c1000 7f0c3000 /usr/lib/a b.so\n7ffd0000 7ffd2000 [stack]\n\0"
        );
    }

    #[test]
    fn our_own_map_is_there_and_that_of_no_process_is_not() {
        let own = ProcMaps::read(Pid(std::process::id() as i32)).unwrap();
        assert!(String::from_utf8(own.option()).unwrap().contains("libc"));
        let (path, id) = own.builds().find(|(path, _)| path.contains("libc")).expect("libc has a build id");
        assert!(path.starts_with('/') && id.len() >= 8, "{path}: {id:?}");
        assert_eq!(ProcMaps::read(Pid(i32::MAX)), None);
    }
}
