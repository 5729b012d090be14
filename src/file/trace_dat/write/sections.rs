//! Header, sections and options out.

use super::parts;
use crate::base::abi::{Abi, Endian};
use crate::file::trace_dat::file::options::SectionHeader;
use crate::file::trace_dat::file::prefix::MAGIC;
use crate::file::trace_dat::file::private_options;
use crate::file::trace_dat::read_at::FileBytes;
use crate::file::trace_dat::{Codec, OptionId, SectionId, SpoolTable};
use nix::errno::Errno;
use nix::fcntl::{Flock, FlockArg};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

/// A trace file that could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The trace file.
    #[error("failed to write {what}")]
    Write {
        /// The part.
        what: &'static str,
        /// Why.
        source: io::Error,
    },
    /// The recording to be finished cannot be opened.
    #[error(transparent)]
    Open(io::Error),
    /// A spool.
    #[error("failed to move spool {} into the trace file", .path.display())]
    Spool {
        /// The spool.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Spools of an unfinished recording are missing, and it had another name when it was recorded.
    #[error("its spools have other names: it was recorded as {recorded_as}, and {} is not there", .missing.join(", "))]
    Renamed {
        /// Name while it was recorded.
        recorded_as: String,
        /// The names that its spools should have now.
        missing: Vec<String>,
    },
    /// More than the format has room for.
    #[error("{what} has {len} bytes, more than a trace file can hold")]
    TooLong {
        /// The part.
        what: &'static str,
        /// Its size, in bytes.
        len: usize,
    },
    /// A fact that version 6 has no room for.
    #[error("a file of version 6 has no room for {0}")]
    Version6(&'static str),
    /// The file is being recorded to.
    #[error("a recorder is writing it")]
    Busy,
    /// The table of spools is damaged: nothing in the file says what the spools hold.
    #[error("its table of spools is damaged; the spools stay as they are")]
    SpoolTable(#[source] crate::file::trace_dat::FileError),
    /// Spools with data lie beside a file that names none.
    #[error("spools with data lie beside it, but it names none: its options are damaged, or they are another file's")]
    NoSpoolTable,
    /// The file to be recovered cannot be read.
    #[error(transparent)]
    Read(#[from] crate::file::trace_dat::FileError),
    /// Symbols or types of the file to be copied cannot be read.
    #[error("failed to read the {what} to be copied: {why}")]
    Unreadable {
        /// The section.
        what: &'static str,
        /// The reason.
        why: String,
    },
}

/// A version 7 file being written. Sections go out at once; options are kept until [`SectionWriter::publish`] or
/// [`SectionWriter::finish`].
pub struct SectionWriter {
    pub(super) file: File,
    pub(super) abi: Abi,
    pub(super) codec: Codec,
    /// Offset of the next section.
    pub(super) pos: u64,
    /// Offset of the place of the first options section's offset.
    pub(super) first_options: u64,
    pub(super) options: Vec<(OptionId, Vec<u8>)>,
    /// Offset and size of the table of spools that was published last, in bytes.
    pub(super) table: Option<(u64, u64)>,
    /// Held while the file is unfinished, so that `recover` leaves a live recording alone.
    pub(super) _lock: FileLock,
}

impl SectionWriter {
    /// Starts a file that is still empty. `abi` is this program's (the kernel's is in `header_page`), `page_size` the
    /// size of the top buffer's sub-buffers in bytes, `codec` what sections and CPU data are compressed with.
    ///
    /// # Errors
    /// [`WriteError::Write`]; [`WriteError::Busy`] if another writer has it.
    pub fn create(file: File, abi: Abi, page_size: u32, codec: Codec) -> Result<Self, WriteError> {
        let lock = FileLock::take(&file)?;
        Self::create_locked(file, lock, abi, page_size, codec)
    }

    /// [`SectionWriter::create`] for who has the lock already.
    ///
    /// # Errors
    /// [`WriteError::Write`].
    pub fn create_locked(
        file: File,
        lock: FileLock,
        abi: Abi,
        page_size: u32,
        codec: Codec,
    ) -> Result<Self, WriteError> {
        let mut out = FileBytes::new(abi);
        out.raw(MAGIC).cstr("7").raw(&[u8::from(abi.endian == Endian::Big), abi.long_size]).u32(page_size);
        out.cstr(codec.name()).cstr(&codec.version());
        let first_options = out.bytes.len() as u64;
        out.u64(0);
        let mut writer =
            SectionWriter { file, abi, codec, pos: 0, first_options, options: Vec::new(), table: None, _lock: lock };
        writer.put("the file header", &out.bytes)?;
        Ok(writer)
    }

    /// The texts of `events/header_page` and `events/header_event`.
    ///
    /// # Errors
    /// [`WriteError::Write`].
    pub fn header_info(&mut self, page: &[u8], event: &[u8]) -> Result<(), WriteError> {
        let mut out = FileBytes::new(self.abi);
        parts::header_info(&mut out, page, event);
        self.section(SectionId::HEADER_INFO, &out.bytes)
    }

    /// The texts of the `format` files of the `ftrace` system.
    ///
    /// # Errors
    /// [`WriteError::Write`].
    pub fn ftrace_formats<T: AsRef<[u8]>>(&mut self, formats: &[T]) -> Result<(), WriteError> {
        let mut out = FileBytes::new(self.abi);
        parts::formats(&mut out, formats);
        self.section(SectionId::FTRACE_EVENTS, &out.bytes)
    }

    /// The texts of all other `format` files: systems, each with its formats.
    ///
    /// # Errors
    /// [`WriteError::Write`].
    pub fn event_formats<T: AsRef<[u8]>>(&mut self, systems: &[(String, Vec<T>)]) -> Result<(), WriteError> {
        let mut out = FileBytes::new(self.abi);
        parts::systems(&mut out, systems);
        self.section(SectionId::EVENT_FORMATS, &out.bytes)
    }

    /// The text of kallsyms.
    ///
    /// # Errors
    /// [`WriteError::TooLong`] above 4 GiB, [`WriteError::Write`].
    pub fn kallsyms(&mut self, text: impl Into<Vec<u8>>) -> Result<(), WriteError> {
        self.sized32("kallsyms", SectionId::KALLSYMS, text.into())
    }

    /// The text of printk_formats.
    ///
    /// # Errors
    /// [`WriteError::TooLong`] above 4 GiB, [`WriteError::Write`].
    pub fn printk_formats(&mut self, text: &[u8]) -> Result<(), WriteError> {
        self.sized32("printk_formats", SectionId::PRINTK, text.to_vec())
    }

    /// The kernel's BTF. Where the file's data is not compressed it gets an option of our own, which others do not see:
    /// trace-cmd 3.4 refuses a file with such a section that is not compressed.
    ///
    /// # Errors
    /// [`WriteError::TooLong`] above 4 GiB, [`WriteError::Write`].
    pub fn btf(&mut self, data: &[u8]) -> Result<(), WriteError> {
        let id = if self.codec == Codec::None { SectionId::RTRACE_BTF } else { SectionId::BTF_FILE };
        self.section(id, data)
    }

    /// The text of saved_cmdlines: lines `pid comm`.
    ///
    /// # Errors
    /// [`WriteError::Write`].
    pub fn saved_cmdlines(&mut self, text: &[u8]) -> Result<(), WriteError> {
        let mut out = FileBytes::new(self.abi);
        out.u64(text.len() as u64).raw(text);
        self.section(SectionId::CMDLINES, &out.bytes)
    }

    /// The text of a latency tracer instead of a ring buffer's data, and the option that points to it.
    ///
    /// # Errors
    /// [`WriteError::TooLong`] above 4 GiB, [`WriteError::Write`].
    pub fn buffer_text(&mut self, name: &str, clock: &str, text: &[u8]) -> Result<(), WriteError> {
        const CHUNK: usize = 40 << 10;
        let what = "the tracer's text";
        let mut option = FileBytes::new(self.abi);
        option.u64(self.pos).cstr(name).cstr(clock);
        let mut out = FileBytes::new(self.abi);
        if self.codec == Codec::None {
            out.raw(text);
        } else {
            let chunks = text.chunks(CHUNK);
            let count = u32::try_from(chunks.len()).map_err(|_| WriteError::TooLong { what, len: text.len() })?;
            out.u32(count);
            for chunk in chunks {
                let packed = self.codec.compress(chunk).map_err(|source| WriteError::Write { what, source })?;
                out.u32(packed.len() as u32).u32(chunk.len() as u32).raw(&packed);
            }
        }
        self.put_section(what, SectionId::BUFFER_TEXT, u16::from(self.codec != Codec::None), &[&out.bytes])?;
        self.options.push((OptionId::BUFFER_TEXT, option.bytes));
        Ok(())
    }

    /// A section's bytes, and the option that points to it; written a second time it replaces the first.
    ///
    /// # Errors
    /// [`WriteError::TooLong`] above 4 GiB, [`WriteError::Write`].
    pub fn section(&mut self, id: SectionId, data: &[u8]) -> Result<(), WriteError> {
        let what = id.name().unwrap_or("a section");
        let at = self.pos;
        if self.codec == Codec::None {
            self.put_section(what, id, 0, &[data])?;
        } else {
            let packed = self.codec.compress(data).map_err(|source| WriteError::Write { what, source })?;
            let len = |n: usize| u32::try_from(n).map_err(|_| WriteError::TooLong { what, len: n });
            let mut sizes = FileBytes::new(self.abi);
            sizes.u32(len(packed.len())?).u32(len(data.len())?);
            self.put_section(what, id, 1, &[&sizes.bytes, &packed])?;
        }
        let option = OptionId(id.0);
        self.options.retain(|o| o.0 != option);
        let mut offset = FileBytes::new(self.abi);
        offset.u64(at);
        self.options.push((option, offset.bytes));
        Ok(())
    }

    /// Offset of the next section: number of bytes that the file has so far.
    pub fn position(&self) -> u64 {
        self.pos
    }

    /// Adds an option.
    pub fn option(&mut self, id: OptionId, data: impl Into<Vec<u8>>) {
        self.options.push((id, data.into()));
    }

    /// Adds an option that is a u32, such as CPUCOUNT.
    pub fn option_u32(&mut self, id: OptionId, n: u32) {
        let mut out = FileBytes::new(self.abi);
        out.u32(n);
        self.option(id, out.bytes);
    }

    /// Adds an option that is a u64, such as TRACEID.
    pub fn option_u64(&mut self, id: OptionId, n: u64) {
        let mut out = FileBytes::new(self.abi);
        out.u64(n);
        self.option(id, out.bytes);
    }

    /// Makes the file readable as an unfinished recording: writes the options there are and the table of spools. Can
    /// be called again when there is more to say.
    ///
    /// # Errors
    /// [`WriteError::Write`].
    pub fn publish(&mut self, spools: &SpoolTable) -> Result<(), WriteError> {
        let at = self.pos;
        let mut options = self.options.clone();
        let table = spools.write(self.abi);
        let len = table.len() as u64;
        options.push((OptionId::RTRACE_SPOOLS, table));
        self.put_options(&options, 0)?;
        // It stands by itself and last, before the DONE option.
        self.table = self.pos.checked_sub(DONE).and_then(|end| end.checked_sub(len)).map(|at| (at, len));
        self.start_options_at(at)
    }

    /// Writes the table of spools over the one that was published last, of the same spools: that takes no space, so a full
    /// disk does not keep it from being written.
    ///
    /// # Errors
    /// [`WriteError::Write`].
    pub fn update_table(&self, spools: &SpoolTable) -> Result<(), WriteError> {
        let table = spools.write(self.abi);
        let Some((at, _)) = self.table.filter(|(_, len)| *len == table.len() as u64) else { return Ok(()) };
        self.file.write_all_at(&table, at).map_err(|source| WriteError::Write { what: "options", source })
    }

    /// Ends a file to which another program adds the buffers. It has no sums, as that one changes the file.
    ///
    /// # Errors
    /// [`WriteError::Write`].
    pub fn describe(mut self) -> Result<u64, WriteError> {
        let (at, mut options) = (self.pos, std::mem::take(&mut self.options));
        options.retain(|option| option.0 != OptionId::RTRACE_SUMS);
        self.put_options(&options, 0)?;
        self.start_options_at(at)?;
        Ok(self.pos)
    }

    /// One options section; gives where its link to the next one stands.
    pub(super) fn put_options(&mut self, options: &[(OptionId, Vec<u8>)], next: u64) -> Result<u64, WriteError> {
        let data = self.options_section(options, next);
        self.put_section("options", SectionId::OPTIONS, 0, &[&data])?;
        Ok(self.pos.saturating_sub(8))
    }

    /// The bytes after the header of an options section.
    pub(super) fn options_section(&self, options: &[(OptionId, Vec<u8>)], next: u64) -> Vec<u8> {
        let mut out = FileBytes::new(self.abi);
        private_options::put(&mut out, self.abi, options);
        out.u16(OptionId::DONE.0).u32(8).u64(next);
        out.bytes
    }

    /// The 8-byte write that makes the options at `at` the file's.
    pub(super) fn start_options_at(&mut self, at: u64) -> Result<(), WriteError> {
        self.patch("the file header", self.first_options, at)
    }

    pub(super) fn patch(&self, what: &'static str, at: u64, value: u64) -> Result<(), WriteError> {
        self.file.write_all_at(&self.word(value), at).map_err(|source| WriteError::Write { what, source })
    }

    /// A u64 in the file's byte order.
    pub(super) fn word(&self, value: u64) -> Vec<u8> {
        let mut out = FileBytes::new(self.abi);
        out.u64(value);
        out.bytes
    }

    pub(super) fn section_header(&self, id: SectionId, flags: u16, size: u64) -> Vec<u8> {
        let mut out = FileBytes::new(self.abi);
        out.u16(id.0).u16(flags).u32(SectionHeader::NO_NAME).u64(size);
        out.bytes
    }

    fn put_section(&mut self, what: &'static str, id: SectionId, flags: u16, data: &[&[u8]]) -> Result<(), WriteError> {
        let header = self.section_header(id, flags, data.iter().map(|part| part.len() as u64).sum());
        let at = self.pos;
        let put = std::iter::once(&header[..]).chain(data.iter().copied()).try_for_each(|part| self.put(what, part));
        // A section that could not be written as a whole is written over.
        put.inspect_err(|_| self.pos = at)
    }

    pub(super) fn put(&mut self, what: &'static str, bytes: &[u8]) -> Result<(), WriteError> {
        self.file.write_all_at(bytes, self.pos).map_err(|source| WriteError::Write { what, source })?;
        self.pos = self.pos.saturating_add(bytes.len() as u64);
        Ok(())
    }

    /// Puts the length before the text where it lies: kallsyms is some megabytes.
    fn sized32(&mut self, what: &'static str, id: SectionId, mut text: Vec<u8>) -> Result<(), WriteError> {
        let len = u32::try_from(text.len()).map_err(|_| WriteError::TooLong { what, len: text.len() })?;
        let mut size = FileBytes::new(self.abi);
        size.u32(len);
        text.splice(..0, size.bytes);
        self.section(id, &text)
    }
}

/// Size of the DONE option, in bytes.
const DONE: u64 = 6 + 8;

/// The lock of a trace file that is being written. Its holder may write; dropping it gives it back.
///
/// A file system without locks (`ENOLCK`, `EOPNOTSUPP`) gives one that locks nothing.
#[derive(Debug)]
pub struct FileLock {
    _lock: Option<Flock<File>>,
}

impl FileLock {
    /// The descriptor that holds it: shared with a child, it keeps the file locked as long as that lives.
    pub fn held(&self) -> Vec<BorrowedFd<'_>> {
        self._lock.iter().map(|lock| lock.as_fd()).collect()
    }

    /// Takes the lock of `file`. Who asks [`FileLock::is_held`] has it for a moment, which is waited for.
    ///
    /// # Errors
    /// [`WriteError::Busy`] if another process has it.
    pub fn take(file: &File) -> Result<Self, WriteError> {
        const TRIES: u32 = 20;
        let failed = |source| WriteError::Write { what: "the file header", source };
        for _ in 0..TRIES {
            match Flock::lock(file.try_clone().map_err(failed)?, FlockArg::LockExclusiveNonblock) {
                Ok(lock) => return Ok(FileLock { _lock: Some(lock) }),
                Err((_, Errno::EWOULDBLOCK)) => thread::sleep(Duration::from_millis(5)),
                Err((_, Errno::ENOLCK | Errno::EOPNOTSUPP | Errno::ENOSYS | Errno::EINVAL)) => {
                    return Ok(FileLock { _lock: None });
                }
                Err((_, errno)) => return Err(failed(errno.into())),
            }
        }
        Err(WriteError::Busy)
    }

    /// True if a process that writes `file` has its lock; false on a file system without locks.
    pub fn is_held(file: &File) -> bool {
        let shared = file.try_clone().map(|file| Flock::lock(file, FlockArg::LockSharedNonblock));
        matches!(shared, Ok(Err((_, Errno::EWOULDBLOCK))))
    }
}
