//! `buffer_size_kb`: the ring buffer's size, in KiB per CPU.
//! The files of an event.
//! A copy of `events` alone, in place of a tracing directory: its formats are read.

use super::files::{Files, RealFiles, WriteMode};
use crate::kernel::events::EventName;
use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

/// The contents of `buffer_size_kb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferSize {
    /// `1410`: every CPU has this many KiB.
    Kib(u64),
    /// `7 (expanded: 1408)`: never used yet; the first write to any knob makes it the larger size, for good.
    Unexpanded {
        /// KiB per CPU now.
        now: u64,
        /// KiB per CPU once it is used.
        expanded: u64,
    },
    /// `X`: the CPUs differ; `per_cpu/cpuN/buffer_size_kb` has each one's.
    PerCpu,
}

impl BufferSize {
    /// Parses the file's text.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text == "X" {
            return Some(BufferSize::PerCpu);
        }
        match text.split_once(" (expanded: ") {
            None => text.parse().ok().map(BufferSize::Kib),
            Some((now, expanded)) => Some(BufferSize::Unexpanded {
                now: now.parse().ok()?,
                expanded: expanded.strip_suffix(')')?.parse().ok()?,
            }),
        }
    }

    /// KiB per CPU that tracing has once it runs; `None` if the CPUs differ.
    pub fn kib(self) -> Option<u64> {
        match self {
            BufferSize::Kib(kib) | BufferSize::Unexpanded { expanded: kib, .. } => Some(kib),
            BufferSize::PerCpu => None,
        }
    }
}

impl EventName {
    /// Path of one of the event's files below an instance: `events/sched/sched_switch/filter`.
    pub fn file(&self, file: &str) -> String {
        format!("events/{}/{}/{file}", self.system, self.name)
    }
}

/// The directory `root`, whose files are reached as those of `root/events`.
#[derive(Debug)]
pub(super) struct CopiedEvents {
    events: PathBuf,
    root: PathBuf,
}

impl CopiedEvents {
    /// The copy in `root`; `None` if it has no event's `format`.
    pub(super) fn find(root: &Path) -> Option<Self> {
        let folders = |path: &Path| RealFiles.list(path).unwrap_or_default().into_iter().filter(|(_, folder)| *folder);
        let has_event =
            |system: PathBuf| folders(&system).any(|(event, _)| system.join(event).join("format").is_file());
        let copied = folders(root).any(|(system, _)| has_event(root.join(system)));
        copied.then(|| CopiedEvents { events: root.join("events"), root: root.to_owned() })
    }

    fn real<'p>(&self, path: &'p Path) -> Cow<'p, Path> {
        match path.strip_prefix(&self.events) {
            Ok(rest) => Cow::Owned(self.root.join(rest)),
            Err(_) => Cow::Borrowed(path),
        }
    }
}

impl Files for CopiedEvents {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        RealFiles.read(&self.real(path))
    }

    fn write(&self, path: &Path, bytes: &[u8], mode: WriteMode) -> io::Result<()> {
        RealFiles.write(&self.real(path), bytes, mode)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        RealFiles.create_dir(&self.real(path))
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        RealFiles.remove_dir(&self.real(path))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<(String, bool)>> {
        RealFiles.list(&self.real(path))
    }

    fn exists(&self, path: &Path) -> bool {
        RealFiles.exists(&self.real(path))
    }
}

#[cfg(test)]
mod tests {
    use super::BufferSize;

    #[test]
    fn texts() {
        assert_eq!(BufferSize::parse("1410\n"), Some(BufferSize::Kib(1410)));
        assert_eq!(BufferSize::parse("X\n"), Some(BufferSize::PerCpu));
        let fresh = BufferSize::Unexpanded { now: 7, expanded: 1408 };
        assert_eq!(BufferSize::parse("7 (expanded: 1408)\n"), Some(fresh));
        assert_eq!(fresh.kib(), Some(1408));
        for bad in ["", "-1", "7 (expanded: 1408", "7 (x)"] {
            assert_eq!(BufferSize::parse(bad), None, "{bad}");
        }
    }
}
