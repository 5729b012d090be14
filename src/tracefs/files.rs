//! Where the bytes go: the few operations on files that tracefs needs.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;

/// How a knob is opened for writing; the kernel gives several files a different meaning for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WriteMode {
    /// `>`: opened with `O_TRUNC`, which empties lists such as `set_event_pid`.
    Truncate,
    /// `>>`: opened with `O_APPEND`, which adds to them.
    Append,
}

/// The file operations under a [`Tracefs`](super::Tracefs). [`RealFiles`] does them; a dry run or a test may stand in.
pub trait Files: fmt::Debug + Send + Sync {
    /// All bytes of a file.
    ///
    /// # Errors
    /// What the kernel says.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
    /// Hands `bytes` to an existing file, in one `write` unless the kernel takes fewer.
    ///
    /// # Errors
    /// What the kernel says; `NotFound` if there is no such file (none is created).
    fn write(&self, path: &Path, bytes: &[u8], mode: WriteMode) -> io::Result<()>;
    /// Makes a directory, which under `instances/` makes an instance.
    ///
    /// # Errors
    /// What the kernel says.
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    /// Removes a directory.
    ///
    /// # Errors
    /// What the kernel says: `EBUSY` while an instance is in use.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;
    /// The names of the directories (`true`) and files (`false`) in a directory, sorted.
    ///
    /// # Errors
    /// What the kernel says.
    fn list(&self, path: &Path) -> io::Result<Vec<(String, bool)>>;
    /// Whether something is there.
    fn exists(&self, path: &Path) -> bool;
    /// Keeps idle CPUs from sleeping for as long as what it gives lives, if this machine lets us.
    ///
    /// Each tracepoint that is switched on or off is code that is patched, in five steps that all other CPUs have to
    /// take note of before the next: a CPU that sleeps has to be woken for each of them, one that polls is not even
    /// interrupted. The kernel takes the request back when the file is closed, also that of a killed process
    /// (`Documentation/power/pm_qos_interface.rst`, `/dev/cpu_dma_latency`).
    fn keep_cpus_awake(&self) -> Option<File> {
        None
    }
}

/// The file system itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealFiles;

impl Files for RealFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        // An event's `filter` gives its whole text (a page at most) to the first read and nothing to the next, and std
        // starts with 32 bytes.
        const PIECE: usize = 8 << 10;
        let mut file = File::open(path)?;
        let mut bytes = vec![0; PIECE];
        let mut filled = 0;
        loop {
            match file.read(bytes.get_mut(filled..).unwrap_or_default()) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
            if filled == bytes.len() {
                bytes.resize(2 * filled, 0);
            }
        }
        bytes.truncate(filled);
        bytes.shrink_to_fit(); // two thousand formats are kept
        Ok(bytes)
    }

    fn write(&self, path: &Path, bytes: &[u8], mode: WriteMode) -> io::Result<()> {
        let append = mode == WriteMode::Append;
        OpenOptions::new().write(true).append(append).truncate(!append).open(path)?.write_all(bytes)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    fn remove_dir(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<(String, bool)>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            names.push((entry.file_name().to_string_lossy().into_owned(), entry.file_type()?.is_dir()));
        }
        names.sort();
        Ok(names)
    }

    fn exists(&self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok()
    }

    fn keep_cpus_awake(&self) -> Option<File> {
        const MOST_LATENCY_US: i32 = 0;
        let mut file = OpenOptions::new().write(true).open("/dev/cpu_dma_latency").ok()?;
        file.write_all(&MOST_LATENCY_US.to_ne_bytes()).ok()?;
        Some(file)
    }
}
