//! A file written anew from another one: what the file says about the recording first, then its events.
//!
//! Nothing of a new file's size need be known before: tables and sizes are patched when their data is written.

use super::anew6::Version6;
use super::anew7::Version7;
use super::from_file::covered;
use super::{SectionWriter, WriteError};
use crate::base::units::CpuId;
use crate::file::trace_dat::{ChunkFacts, Codec, Coverage, Trace, UnsavedEvents};
use crate::kernel::format::HeaderPage;
use std::fs::File;

/// A file's version, and how it is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// Read by every trace-cmd; never compressed.
    V6,
    /// Since trace-cmd 3.0.
    V7(Codec),
}

/// A trace file that gets the facts of another one, and whichever of its events are given to it: buffer by buffer, CPU
/// by CPU.
pub struct NewFile {
    out: Out,
}

enum Out {
    V6(Version6),
    V7(Box<Version7>),
}

impl NewFile {
    /// Starts `file`, which is empty, with all that `from` says about its recording: `names` are the buffers' names in
    /// the order in which they will be given.
    ///
    /// # Errors
    /// [`WriteError::Write`]; [`WriteError::Version6`] for what such a file has no room for.
    pub fn create(file: File, from: &Trace, version: Version, names: &[&str]) -> Result<Self, WriteError> {
        Self::create_covering(file, from, version, names, &[])
    }

    /// The same of a copy whose buffers have another coverage, in the order of their `names`.
    ///
    /// # Errors
    /// As [`NewFile::create`].
    pub fn create_covering(
        file: File,
        from: &Trace,
        version: Version,
        names: &[&str],
        coverages: &[Coverage],
    ) -> Result<Self, WriteError> {
        let covered = covered(names, coverages);
        let out = match version {
            Version::V6 => Out::V6(Version6::create(file, from, names, covered)?),
            Version::V7(codec) => Out::V7(Box::new(Version7::create(file, from, codec, covered)?)),
        };
        Ok(NewFile { out })
    }

    /// Goes on with a version 7 file that has everything but its buffers; the top one must be the first. `header` is the
    /// layout of sub-buffers.
    ///
    /// # Errors
    /// [`WriteError::Write`].
    pub fn from_writer(writer: SectionWriter, header: HeaderPage) -> Result<Self, WriteError> {
        Ok(NewFile { out: Out::V7(Box::new(Version7::after(writer, header)?)) })
    }

    /// The codec of its events.
    pub fn codec(&self) -> Codec {
        match &self.out {
            Out::V6(_) => Codec::None,
            Out::V7(out) => out.codec(),
        }
    }

    /// Starts the next buffer. `page_size` is that of its sub-buffers in bytes.
    ///
    /// # Errors
    /// As [`NewFile::create`].
    pub fn begin_buffer(&mut self, name: &str, clock: &str, page_size: usize) -> Result<(), WriteError> {
        match &mut self.out {
            Out::V6(out) => out.begin_buffer(name, clock, page_size),
            Out::V7(out) => out.begin_buffer(name, clock, page_size),
        }
    }

    /// A buffer that is the text of a latency tracer.
    ///
    /// # Errors
    /// As [`NewFile::create`].
    pub fn text(&mut self, name: &str, clock: &str, text: &[u8]) -> Result<(), WriteError> {
        match &mut self.out {
            Out::V6(out) => out.text(text),
            Out::V7(out) => out.text(name, clock, text),
        }
    }

    /// Starts the next CPU of the buffer.
    pub fn begin_cpu(&mut self, cpu: CpuId) -> Result<(), WriteError> {
        match &mut self.out {
            Out::V6(out) => out.begin_cpu(cpu),
            Out::V7(out) => out.begin_cpu(cpu),
        }
    }

    /// Adds a chunk that is compressed as the file is: `stored` unpacks to `size` bytes of whole sub-buffers, which are
    /// `pages` if that is known; else [`NewFile::index`] names its facts.
    pub(super) fn packed(&mut self, stored: &[u8], size: usize, pages: Option<&[u8]>) -> Result<(), WriteError> {
        match &mut self.out {
            Out::V6(out) => out.pages(stored),
            Out::V7(out) => {
                pages.into_iter().for_each(|pages| out.scan(stored.len(), pages));
                out.packed(stored, size)
            }
        }
    }

    /// Names the contents of chunks that were added packed, one or several; `None` if they are not known.
    pub(super) fn index(&mut self, facts: Option<ChunkFacts>) {
        if let Out::V7(out) = &mut self.out {
            out.index(facts);
        }
    }

    /// Packs what is added from now on as fast as a recorder does.
    pub(super) fn pack_fast(&mut self) -> Result<(), WriteError> {
        match &mut self.out {
            Out::V6(_) => Ok(()),
            Out::V7(out) => out.pack_fast(),
        }
    }

    /// Adds whole sub-buffers.
    ///
    /// # Errors
    /// [`WriteError::Write`].
    pub fn pages(&mut self, pages: &[u8]) -> Result<(), WriteError> {
        if pages.is_empty() {
            return Ok(());
        }
        match &mut self.out {
            Out::V6(out) => out.pages(pages),
            Out::V7(out) => out.pages(pages),
        }
    }

    /// Notes that the CPU lacks events after the sub-buffers that were added. Version 6 has no option for it: the last
    /// sub-buffer says so, if none comes after.
    pub(super) fn lose(&mut self, lost: UnsavedEvents) {
        match &mut self.out {
            Out::V6(out) => out.lose(),
            Out::V7(out) => out.lose(lost),
        }
    }

    /// Ends the CPU.
    ///
    /// # Errors
    /// [`WriteError::Write`].
    pub fn end_cpu(&mut self) -> Result<(), WriteError> {
        match &mut self.out {
            Out::V6(out) => out.end_cpu(),
            Out::V7(out) => out.end_cpu(),
        }
    }

    /// Ends the buffer.
    ///
    /// # Errors
    /// [`WriteError::Write`].
    pub fn end_buffer(&mut self) -> Result<(), WriteError> {
        match &mut self.out {
            Out::V6(_) => Ok(()),
            Out::V7(out) => out.end_buffer(),
        }
    }

    /// Ends the file; gives its size in bytes.
    ///
    /// # Errors
    /// [`WriteError::Write`].
    pub fn finish(self) -> Result<u64, WriteError> {
        match self.out {
            Out::V6(out) => Ok(out.finish()),
            Out::V7(out) => out.finish(),
        }
    }
}
