//! The line about what was done.

use crate::cli::exit::Failure;
use crate::cli::terminal::stdout;
use rtrace::units::{ByteSize, counted};
use std::io::Write;
use std::path::Path;

/// The numbers of a run.
#[derive(Debug, Default)]
pub(super) struct Compaction {
    /// Files that became rows of parts, and their bytes.
    pub(super) files: u64,
    pub(super) bytes: u64,
    pub(super) parts: u64,
    pub(super) written: u64,
    /// Files whose rows were in a part already.
    pub(super) repeated: u64,
    /// Files that stay as they are, for a reason that was told.
    pub(super) left: u64,
    /// Parts that were too old.
    pub(super) expired: u64,
}

impl Compaction {
    /// Prints `fleet: 600 files of 2.1 MiB became 6 parts of 1.2 MiB`.
    pub(super) fn tell(&self, directory: &Path) -> Result<(), Failure> {
        let (bytes, written) = (ByteSize(self.bytes), ByteSize(self.written));
        let mut text = match self.parts {
            0 => format!("{}: nothing to join", directory.display()),
            parts => format!(
                "{}: {} of {bytes} became {} of {written}",
                directory.display(),
                counted(self.files, "file"),
                counted(parts, "part")
            ),
        };
        for (count, what) in [
            (self.repeated, "in a part already: removed"),
            (self.left, "left as they are"),
            (self.expired, "expired: removed"),
        ] {
            if count > 0 {
                text.push_str(&format!("; {} {what}", counted(count, "file")));
            }
        }
        Ok(writeln!(stdout(), "{text}")?)
    }
}
