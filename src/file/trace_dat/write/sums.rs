//! The checksums of a file that is being written: room first, for they are among the options that they cover.

use super::{SectionWriter, WriteError};
use crate::file::trace_dat::file::options::SectionHeader;
use crate::file::trace_dat::file::scan::Scan;
use crate::file::trace_dat::file::sums::Sums;
use crate::file::trace_dat::{FileError, FilePart, OptionId, ReadAt};
use nix::errno::Errno;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

impl SectionWriter {
    /// Puts room for the sums among the options that are written next. All sections must be written by now.
    pub(super) fn reserve_sums(&mut self) -> Result<(), WriteError> {
        let io = self.readable()?;
        let first = self.first_options.saturating_add(8);
        let size = Sums::size(&mut Scan::new(&io, self.abi, FilePart::Prefix, first, self.pos));
        self.options.retain(|option| option.0 != OptionId::RTRACE_SUMS); // another file's
        self.options.push((OptionId::RTRACE_SUMS, vec![0; size]));
        Ok(())
    }

    /// Offset of the sums if the section of `options` is written at `at`.
    pub(super) fn place_of_sums(&self, options: &[(OptionId, Vec<u8>)], at: u64) -> Option<u64> {
        let place = Sums::place(&self.options_section(options, 0), self.abi)?;
        Some(at.saturating_add(SectionHeader::LEN).saturating_add(place))
    }

    /// Writes the sums; `later` are offsets of words that are still to be written, and those words.
    pub(super) fn put_sums(&mut self, place: Option<u64>, later: &[(u64, u64)]) -> Result<(), WriteError> {
        let Some(place) = place else { return Ok(()) };
        let io = self.readable()?;
        let size = io.size().map_err(failed)?;
        let word = |&(at, word): &(u64, u64)| (at, self.word(word));
        let later: Vec<_> = later.iter().map(word).collect();
        let mut scan = Scan::new(&io, self.abi, FilePart::Prefix, 0, size);
        let sums =
            Sums::of(&mut scan, self.first_options.saturating_add(8), &later, true).map_err(|error| match error {
                FileError::Read { source, .. } => failed(source),
                other => failed(io::Error::other(other)),
            })?;
        self.file.write_all_at(&sums.write(self.abi), place).map_err(failed)
    }

    /// The file, also if it was opened for writing only.
    fn readable(&self) -> Result<File, WriteError> {
        match FileExt::read_at(&self.file, &mut [0], 0) {
            Err(error) if error.raw_os_error() == Some(Errno::EBADF as i32) => {
                File::open(format!("/proc/self/fd/{}", self.file.as_raw_fd())).map_err(failed)
            }
            Err(error) => Err(failed(error)),
            Ok(_) => self.file.try_clone().map_err(failed),
        }
    }
}

fn failed(source: io::Error) -> WriteError {
    WriteError::Write { what: "the file's checksums", source }
}
