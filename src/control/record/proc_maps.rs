//! Memory maps of traced processes: `--proc-map`, so that addresses of their stacks can be named later.

use crate::base::units::Pid;
use std::fs;
use std::io::Write;

/// The memory map of one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProcMaps {
    pid: Pid,
    program: String,
    /// `/proc/PID/maps` as it was.
    maps: String,
}

impl ProcMaps {
    /// Of the process `pid`; nothing if it is gone or not ours to look at.
    pub(super) fn read(pid: Pid) -> Option<Self> {
        let program = fs::read_link(format!("/proc/{pid}/exe")).ok()?.to_string_lossy().into_owned();
        let maps = fs::read(format!("/proc/{pid}/maps")).ok()?;
        let maps = String::from_utf8_lossy(&maps).into_owned();
        (!maps.is_empty()).then_some(ProcMaps { pid, program, maps })
    }

    /// Takes the map that the process has now; the last one is kept if there is none any more.
    pub(super) fn update(&mut self) {
        if let Some(now) = Self::read(self.pid) {
            *self = now;
        }
    }

    /// The text of a PROCMAPS option: `PID COUNT PROGRAM`, then `START END PATH` of all that has a name; numbers are
    /// hexadecimal.
    pub(super) fn option(&self) -> Vec<u8> {
        let named: Vec<(u64, u64, &str)> = self.maps.lines().filter_map(mapping).collect();
        let mut text = Vec::new();
        // Writing into a vector does not fail.
        let _ = writeln!(text, "{:x} {:x} {}", self.pid.0, named.len(), self.program);
        for (start, end, path) in named {
            let _ = writeln!(text, "{start:x} {end:x} {path}");
        }
        text.push(0);
        text
    }
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
        let all = ProcMaps { pid: Pid(255), program: "/bin/ls".to_owned(), maps: maps.to_owned() };
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
        assert_eq!(ProcMaps::read(Pid(i32::MAX)), None);
    }
}
