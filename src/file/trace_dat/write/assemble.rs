//! Finishing a recording: the spools become the file's BUFFER sections.

use super::parts::page_start;
use super::{SectionWriter, WriteError};
use crate::base::sys::free_bytes;
use crate::file::trace_dat::file::owned_dir::OwnedDir;
use crate::file::trace_dat::file::siblings::COUNT;
use crate::file::trace_dat::{BufferOption, ChunkIndex, Codec, OptionId, SectionId, SpoolEntry, SpoolTable};
use nix::errno::Errno;
use nix::sys::resource::{Resource, getrlimit};
use nix::sys::statvfs::fstatvfs;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Size of one move, and so at most on the disk twice, in bytes.
const PIECE: u64 = 1 << 20; // a power of two

/// A complete spool: no writer appends to it.
#[derive(Clone, Debug)]
pub struct FinishedSpool {
    /// Its entry; `target` is ignored.
    pub entry: SpoolEntry,
    /// Its path: in the directory of the trace file, and of the same owner.
    pub path: PathBuf,
    /// Number of its bytes that count, the count word included: up to the end of the last whole chunk or sub-buffer.
    pub size: u64,
    /// Number of its chunks; meaningless without compression.
    pub chunks: u32,
    /// Index of the chunks, as far as it is known.
    pub index: ChunkIndex,
}

impl FinishedSpool {
    fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// The result of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Size of the trace file, in bytes.
    pub file_size: u64,
    /// Number of bytes that are the CPUs' data as stored.
    pub data_size: u64,
}

impl SectionWriter {
    /// Writes the options, moves the spools into the file and removes all of them. `buffers` lists the buffers in file order
    /// as (name, clock, sub-buffer size in bytes); the top one, whose name is empty, comes first, even if it has no data.
    ///
    /// After an error the recording is as it was or can be [recovered](super::recover).
    ///
    /// # Errors
    /// [`WriteError`]; a full disk above all.
    pub fn finish(self, buffers: &[(String, String, u32)], spools: &[FinishedSpool]) -> Result<Written, WriteError> {
        let path = spools.first().map_or(Path::new(""), |spool| &spool.path);
        let failed = |source| WriteError::Spool { path: path.to_owned(), source };
        let owner = self.file.metadata().map_err(failed)?.uid();
        let dir = OwnedDir::open(path.parent().unwrap_or(Path::new("")), owner).map_err(failed)?;
        self.finish_in(&dir, buffers, spools)
    }

    /// [`SectionWriter::finish`] of spools in `dir`.
    pub(super) fn finish_in(
        mut self,
        dir: &OwnedDir,
        buffers: &[(String, String, u32)],
        spools: &[FinishedSpool],
    ) -> Result<Written, WriteError> {
        let open = |spool: &FinishedSpool| {
            let opened = dir.open_file(&spool.name(), true);
            opened.map_err(|source| WriteError::Spool { path: spool.path.clone(), source })
        };
        let full = |spool: &&FinishedSpool| match self.codec {
            Codec::None => spool.size > 0,
            _ => spool.size > COUNT, // chunks, or damage only
        };
        let with_data: Vec<&FinishedSpool> = spools.iter().filter(full).collect();
        // Before the first step, so that recovery need not find the ends again.
        for spool in &with_data {
            let sealed = self.seal(spool, &open(spool)?);
            sealed.map_err(|source| WriteError::Spool { path: spool.path.clone(), source })?;
        }
        for FinishedSpool { entry, index, .. } in &with_data {
            if let Some(data) = index.write(self.abi, &entry.buffer, entry.cpu) {
                self.option(OptionId::RTRACE_INDEX, data);
            }
        }
        self.reserve_sums()?;
        self.check_room(&with_data)?;
        let (table, end) = self.lay_out(buffers, &with_data)?;
        let mut data_size = 0;
        for (spool, entry) in with_data.iter().zip(&table.entries) {
            let failed = |source| WriteError::Spool { path: spool.path.clone(), source };
            move_into(&self.file, entry.target, &open(spool)?).map_err(failed)?;
            data_size = entry.target.1.saturating_add(data_size);
        }
        finish_move(&self, &table, end)?;
        for spool in spools {
            let removed = dir.remove(&spool.name(), &open(spool)?);
            removed.map_err(|source| WriteError::Spool { path: spool.path.clone(), source })?;
        }
        Ok(Written { file_size: end, data_size })
    }

    /// Checks that the disk has room for the options and for what is on it twice while it is moved, and that the file may
    /// be as large as it will be (`ulimit -f`). A file whose finishing stopped half-way can be read only when it is finished.
    fn check_room(&self, spools: &[&FinishedSpool]) -> Result<(), WriteError> {
        // Headers, tables, and what the last blocks of files do not use.
        const MORE: u64 = 64 << 10;
        let options = sum(self.options.iter().map(|(_, data)| (data.len() as u64).saturating_add(6)));
        let piece = spools.iter().map(|spool| spool.size.min(PIECE)).max().unwrap_or(0);
        let needed = sum([options, piece, MORE]);
        let data = sum(spools.iter().map(|spool| spool.size.saturating_add(spool.entry.page_size.into())));
        let failed = |errno: Errno| WriteError::Write { what: "the end of the recording", source: errno.into() };
        if getrlimit(Resource::RLIMIT_FSIZE).is_ok_and(|(most, _)| sum([self.pos, options, data, MORE]) > most) {
            return Err(failed(Errno::EFBIG));
        }
        match fstatvfs(&self.file) {
            // One that does not say how large it is does not say what is free either.
            Ok(disk) if disk.blocks() > 0 && free_bytes(&disk) < needed => Err(failed(Errno::ENOSPC)),
            _ => Ok(()),
        }
    }

    /// Cuts off what does not count and writes the number of chunks.
    fn seal(&self, spool: &FinishedSpool, file: &File) -> io::Result<()> {
        file.set_len(spool.size)?;
        if self.codec != Codec::None {
            let mut count = crate::file::trace_dat::read_at::FileBytes::new(self.abi);
            count.u32(spool.chunks);
            file.write_all_at(&count.bytes, 0)?;
        }
        Ok(())
    }

    /// Writes all options and the BUFFER sections' headers, and makes them the file's. Gives the places of the spools
    /// and the end of the file.
    fn lay_out(
        &mut self,
        buffers: &[(String, String, u32)],
        spools: &[&FinishedSpool],
    ) -> Result<(SpoolTable, u64), WriteError> {
        // Everything before the data has a known size, so the places of the data are known before it is written.
        let mut table = SpoolTable { finishing: true, ..SpoolTable::default() };
        table.entries = spools.iter().map(|s| s.entry.clone()).collect();
        let start = self.pos;
        let mut pos = sum([start, HEADER, self.options_section(&self.options, 0).len() as u64]);
        let one_option = |size: u64| sum([HEADER, 6, size, 14]); // with the DONE option that ends its section
        for (name, clock, page_size) in buffers {
            // Places and sizes have the same number of bytes whatever they are.
            let cpus = spools.iter().filter(|s| s.entry.buffer == *name).map(|s| (s.entry.cpu, 0, 0)).collect();
            let (name, clock) = (name.clone(), clock.clone());
            let option = BufferOption { section: 0, name, clock, page_size: *page_size, cpus }.write(self.abi);
            pos = pos.saturating_add(one_option(option.len() as u64));
        }
        pos = pos.saturating_add(one_option(table.write(self.abi).len() as u64));
        let mut found = Vec::new();
        let mut headers = Vec::new();
        for (name, clock, page_size) in buffers {
            let section = pos;
            let body = section.saturating_add(HEADER);
            pos = body;
            let mut cpus = Vec::new();
            for (spool, entry) in spools.iter().zip(&mut table.entries).filter(|(s, _)| s.entry.buffer == *name) {
                pos = page_start(pos, *page_size as usize);
                entry.target = (pos, spool.size);
                cpus.push((entry.cpu, pos, spool.size));
                pos = pos.saturating_add(spool.size);
            }
            headers.push((section, pos.saturating_sub(body)));
            let (name, clock) = (name.clone(), clock.clone());
            found.push(BufferOption { section, name, clock, page_size: *page_size, cpus });
        }
        let options = std::mem::take(&mut self.options);
        let sums = self.place_of_sums(&options, start);
        let mut link = self.put_options(&options, 0)?;
        for buffer in &found {
            self.patch("options", link, self.pos)?;
            link = self.put_options(&[(OptionId::BUFFER, buffer.write(self.abi))], 0)?;
        }
        table.link = link;
        self.patch("options", link, self.pos)?;
        self.put_options(&[(OptionId::RTRACE_SPOOLS, table.write(self.abi))], 0)?;
        debug_assert_eq!(self.pos, headers.first().map_or(self.pos, |h| h.0));
        let flags = u16::from(self.codec != Codec::None);
        for (at, size) in headers {
            let header = self.section_header(SectionId::BUFFER, flags, size);
            self.file
                .write_all_at(&header, at)
                .map_err(|source| WriteError::Write { what: "a buffer's section", source })?;
        }
        // As the file will be when the table of spools is cut off.
        self.put_sums(sums, &[(self.first_options, start), (table.link, 0)])?;
        self.start_options_at(start)?;
        Ok((table, pos))
    }
}

/// The sum of sizes in bytes.
fn sum(sizes: impl IntoIterator<Item = u64>) -> u64 {
    sizes.into_iter().fold(0, u64::saturating_add)
}

/// Size of a section's header, in bytes.
const HEADER: u64 = 16;

/// The last steps of finishing: the file has its size, the table is cut off.
pub(super) fn finish_move(writer: &SectionWriter, table: &SpoolTable, end: u64) -> Result<(), WriteError> {
    writer.file.set_len(end).map_err(|source| WriteError::Write { what: "the end of the file", source })?;
    writer.patch("options", table.link, 0)
}

/// Moves what is left of `spool` to its place in `file`: `target` is where the spool's first byte goes and how many bytes
/// it had.
pub(super) fn move_into(file: &File, target: (u64, u64), spool: &File) -> io::Result<()> {
    let mut left = spool.metadata()?.len().min(target.1);
    let mut piece = Vec::new();
    while left > 0 {
        let from = left.saturating_sub(1) & !(PIECE - 1);
        let to = target.0.checked_add(from).ok_or(io::ErrorKind::FileTooLarge)?;
        copy(spool, from, file, to, left.saturating_sub(from), &mut piece)?;
        spool.set_len(from)?;
        left = from;
    }
    Ok(())
}

/// Copies `len` bytes within the kernel, or through `piece` where the filesystem cannot.
pub(super) fn copy(from: &File, at: u64, to: &File, to_at: u64, len: u64, piece: &mut Vec<u8>) -> io::Result<()> {
    let offset = |at: Option<u64>| at.and_then(|at| i64::try_from(at).ok()).ok_or(io::ErrorKind::FileTooLarge);
    let (mut source, mut target) = (offset(Some(at))?, offset(Some(to_at))?);
    let end = offset(at.checked_add(len))?;
    while source < end {
        let left = end.saturating_sub(source) as usize;
        match nix::fcntl::copy_file_range(from, Some(&mut source), to, Some(&mut target), left) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(_) => {}
            Err(nix::Error::EINTR) => {}
            Err(nix::Error::EXDEV | nix::Error::EINVAL | nix::Error::ENOSYS | nix::Error::EOPNOTSUPP) => {
                piece.resize(left, 0);
                from.read_exact_at(piece, source as u64)?;
                to.write_all_at(piece, target as u64)?;
                return Ok(());
            }
            Err(e) => return Err(e.into()),
        }
    }
    Ok(())
}
