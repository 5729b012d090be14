//! Files of the machine: `proc`, `sys` and `boot`.

use std::io::Read;
use std::path::{Path, PathBuf};

/// A root directory whose `proc`, `sys` and `boot` are read. Unreadable files count as missing.
pub(super) struct ExaminedMachine {
    root: PathBuf,
}

impl ExaminedMachine {
    pub(super) fn new(root: &Path) -> Self {
        ExaminedMachine { root: root.to_owned() }
    }

    /// True if it is the machine that this process runs on, not files that describe another.
    pub(super) fn is_this(&self) -> bool {
        self.root == Path::new("/")
    }

    fn path(&self, file: &str) -> PathBuf {
        self.root.join(file)
    }

    /// The bytes of a file.
    pub(super) fn bytes(&self, file: &str) -> Option<Vec<u8>> {
        std::fs::read(self.path(file)).ok()
    }

    /// The text of a file, without blanks around it.
    pub(super) fn text(&self, file: &str) -> Option<String> {
        self.bytes(file).map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    /// The first `limit` bytes of a file that may be long, as text.
    pub(super) fn head(&self, file: &str, limit: u64) -> Option<String> {
        let mut bytes = Vec::new();
        std::fs::File::open(self.path(file)).ok()?.take(limit).read_to_end(&mut bytes).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Names in a directory, sorted.
    pub(super) fn names(&self, dir: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(dir)).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// Target of a symbolic link.
    pub(super) fn link(&self, file: &str) -> Option<PathBuf> {
        std::fs::read_link(self.path(file)).ok()
    }

    /// Ids of the processes, but for this one.
    pub(super) fn processes(&self) -> Vec<u32> {
        let mut pids: Vec<u32> = self.names("proc").iter().filter_map(|name| name.parse().ok()).collect();
        pids.retain(|pid| *pid != std::process::id());
        pids.sort_unstable();
        pids
    }

    /// `process 1234 (cat)`; `None` if there is no such process.
    pub(super) fn process(&self, pid: u32) -> Option<String> {
        Some(format!("process {pid} ({})", self.text(&format!("proc/{pid}/comm"))?))
    }

    /// The value of `NAME: value` in a text such as `proc/meminfo` or `proc/cpuinfo`, where it stands first.
    pub(super) fn value(&self, file: &str, name: &str) -> Option<String> {
        let text = self.text(file)?;
        let values = text.lines().filter_map(|line| line.split_once(':'));
        values.into_iter().find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_owned())
    }
}
