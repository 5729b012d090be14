//! The first part of a trace file, as trace-cmd's senders send it: everything but the buffers.

use crate::base::safe_file::PRIVATE;
use crate::file::trace_dat::{Trace, WriteError};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Limit of it, in bytes: formats and symbols uncompressed are some 20 MB.
const MOST: u64 = 256 << 20;

/// Metadata on its way, in a file without a name.
pub(in crate::control::network) struct IncomingMetadata {
    file: File,
    len: u64,
    most: u64,
}

impl IncomingMetadata {
    /// Begins in the directory of `beside`, with at most `most` bytes.
    pub(in crate::control::network) fn new(beside: &Path, most: Option<u64>) -> io::Result<Self> {
        let path = with_suffix(beside, ".metadata");
        let file = new_private(&path)?;
        std::fs::remove_file(&path)?;
        Ok(IncomingMetadata { file, len: 0, most: most.unwrap_or(MOST).min(MOST) })
    }

    /// Adds `bytes`.
    pub(in crate::control::network) fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.len = self.len.saturating_add(bytes.len() as u64);
        if self.len > self.most {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is larger than allowed"));
        }
        self.file.write_all(bytes)
    }

    /// The same file, to which what comes later can be added.
    pub(in crate::control::network) fn twin(&self) -> io::Result<Self> {
        Ok(IncomingMetadata { file: self.file.try_clone()?, len: self.len, most: self.most })
    }

    /// True if nothing came.
    pub(in crate::control::network) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The metadata, parsed. Version 6 is completed with what its sender leaves to the listener: of V1 from the number of CPUs on
    /// (`v1_cpus`), of V3 from the tables of the data on.
    pub(in crate::control::network) fn read(mut self, v1_cpus: Option<u32>) -> Result<Trace, WriteError> {
        let written = |source| WriteError::Write { what: "the metadata", source };
        let mut head = [0; 13];
        let is_v6 = std::os::unix::fs::FileExt::read_exact_at(&self.file, &mut head, 0).is_ok() && head[10] == b'6';
        if is_v6 {
            let big = head[12] == 1;
            let number = |n: u32| if big { n.to_be_bytes() } else { n.to_le_bytes() };
            let mut end = Vec::new();
            if let Some(cpus) = v1_cpus {
                end.extend(number(cpus));
                end.extend_from_slice(b"options  \0\0\0");
            }
            end.extend_from_slice(b"flyrecord\0");
            // No data of any CPU, and no clock beside the option's. Surplus bytes are not read.
            end.resize(end.len() + 8192 * 16 + 8, 0);
            self.file.write_all(&end).map_err(written)?;
        }
        let trace = Trace::open(self.file)?;
        // Symbols are read when they are wanted: now.
        let _ = trace.kallsyms.get();
        Ok(trace)
    }
}

/// `path` with a suffix.
fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Creates a file that must not exist, for reading and writing.
pub(in crate::control::network) fn new_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(PRIVATE).open(path)
}
