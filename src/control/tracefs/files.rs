//! The few operations on files that tracefs needs.

use nix::fcntl::{OFlag, openat};
use nix::libc;
use nix::sys::stat::Mode;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The way a knob is opened for writing; the kernel gives several files a different meaning for each.
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
    /// The kernel's error.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
    /// The texts of the `format` files of the events `names`, which lie in the directory `system`, in their order.
    fn formats(&self, system: &Path, names: &[&str]) -> Vec<io::Result<Vec<u8>>> {
        names.iter().map(|name| self.read(&system.join(name).join("format"))).collect()
    }
    /// Hands `bytes` to an existing file, in one `write` unless the kernel takes fewer.
    ///
    /// # Errors
    /// The kernel's error; `NotFound` if there is no such file (none is created).
    fn write(&self, path: &Path, bytes: &[u8], mode: WriteMode) -> io::Result<()>;
    /// Makes a directory, which under `instances/` makes an instance.
    ///
    /// # Errors
    /// The kernel's error.
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    /// Removes a directory.
    ///
    /// # Errors
    /// The kernel's error: `EBUSY` while an instance is in use.
    fn remove_dir(&self, path: &Path) -> io::Result<()>;
    /// The names of the directories (`true`) and files (`false`) in a directory, sorted.
    ///
    /// # Errors
    /// The kernel's error.
    fn list(&self, path: &Path) -> io::Result<Vec<(String, bool)>>;
    /// True if something is there.
    fn exists(&self, path: &Path) -> bool;
    /// The records of the kernel log, as `/dev/kmsg` has them; none if this process may not read it.
    fn kernel_log(&self) -> Vec<u8> {
        Vec::new()
    }
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

/// Most `format` files are smaller, in bytes; the kernel gives a page at once, or a longer line.
const FORMAT: usize = 16 << 10;

/// Reads the `format` of the event `name` in the directory of its system.
fn read_format(system: &File, name: &str, buffer: &mut [u8]) -> io::Result<Vec<u8>> {
    let path = Path::new(name).join("format");
    let mut file = File::from(openat(system, &path, OFlag::O_RDONLY | OFlag::O_CLOEXEC, Mode::empty())?);
    let read = loop {
        match file.read(buffer) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            read => break read?,
        }
    };
    let mut text = buffer[..read].to_vec();
    if read == buffer.len() || !ends_with_print_fmt(&text) {
        file.read_to_end(&mut text)?;
    }
    Ok(text)
}

/// True if the last line is `print fmt`, which is a format's last (kernel: `f_next` in `kernel/trace/trace_events.c`).
/// The kernel gives lines as a whole unless it is asked for less, so nothing would come after it.
fn ends_with_print_fmt(format: &[u8]) -> bool {
    let Some(lines) = format.strip_suffix(b"\n") else { return false };
    let last = memchr::memrchr(b'\n', lines).map_or(0, |end| end + 1);
    lines[last..].starts_with(b"print fmt: ")
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

    fn formats(&self, system: &Path, names: &[&str]) -> Vec<io::Result<Vec<u8>>> {
        // A recorder reads two thousand. From their directory the kernel has two names to look up for each, not eight.
        let dir = OpenOptions::new().read(true).custom_flags(libc::O_PATH | libc::O_DIRECTORY).open(system);
        let mut buffer = vec![0; FORMAT];
        let mut read = |name: &&str| match &dir {
            Ok(dir) => read_format(dir, name, &mut buffer),
            Err(_) => self.read(&system.join(name).join("format")),
        };
        names.iter().map(&mut read).collect()
    }

    fn kernel_log(&self) -> Vec<u8> {
        // One record with each read, of at most this many bytes (`CONSOLE_EXT_LOG_MAX`).
        const RECORD: usize = 8 << 10;
        let mut records = Vec::new();
        let Ok(mut file) = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open("/dev/kmsg") else {
            return records;
        };
        let mut record = vec![0; RECORD];
        loop {
            match file.read(&mut record) {
                Ok(count) if count > 0 => records.extend_from_slice(record.get(..count).unwrap_or_default()),
                // Records that were overwritten since: the next read begins at the oldest one there is.
                Err(e) if matches!(e.raw_os_error(), Some(libc::EPIPE | libc::EINTR)) => {}
                Ok(_) | Err(_) => return records,
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_read_to_their_end() {
        let dir = tempfile::tempdir().unwrap();
        let long = format!("name: long\n\nprint fmt: \"{}\"\n", "x".repeat(3 * FORMAT));
        let texts = [
            ("usual", "name: usual\nID: 1\n\nprint fmt: \"%d\", REC->a\n"),
            ("long", &long),
            ("no_end", "name: no_end\n\nprint fmt: \"%d\""),
            ("two_lines", "name: two_lines\n\nprint fmt: \"%d\n\"\n"),
            ("empty", ""),
        ];
        for (name, text) in texts {
            fs::create_dir(dir.path().join(name)).unwrap();
            fs::write(dir.path().join(name).join("format"), text).unwrap();
        }
        let names = texts.map(|(name, _)| name);
        let read = RealFiles.formats(dir.path(), &names);
        let read: Vec<_> = read.into_iter().map(|text| String::from_utf8(text.unwrap()).unwrap()).collect();
        assert_eq!(read, texts.map(|(_, text)| text));
        for dir in [dir.path(), &dir.path().join("none")] {
            let error = RealFiles.formats(dir, &["missing"]).remove(0).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::NotFound);
        }
    }

    #[test]
    fn only_the_last_line_ends_a_format() {
        assert!(ends_with_print_fmt(b"format:\n\nprint fmt: \"a\"\n") && ends_with_print_fmt(b"print fmt: \"\"\n"));
        for text in [
            "",
            "\n",
            "print fmt: \"a\"",
            "print fmt: \"a\"\n\n",
            "format:\n\tfield:int a;\n",
            "\nprint fmt: \"a\nb\"\n",
        ] {
            assert!(!ends_with_print_fmt(text.as_bytes()), "{text:?}");
        }
    }
}
