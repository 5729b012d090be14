//! A file in parts: by time, by events, by sub-buffers.
//!
//! Chunks of which a part wants everything are copied as they are stored; only at a part's edges are sub-buffers unpacked
//! and cut.
//!
//! The pieces of a flight recorder's spool, made one spool again.

use super::WriteError;
use super::assemble::copy;
use super::edit::{Edit, PartWriter, SlicePage, StreamIndex, StreamPlace, edited_stream, wanted};
use super::parts::{left_out, note_gap};
use crate::file::ring_buffer::{PageLayout, RecordPlace, Walker};
use crate::file::trace_dat::file::owned_dir::OwnedDir;
use crate::file::trace_dat::file::pieces::{SpoolSegment, segments};
use crate::file::trace_dat::{FileError, TimeOptions, Trace};
use nix::unistd::geteuid;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Gives each of `parts` its slice of `streams`, which are in the file's order. `buffers` are the buffers to write with
/// the names they get. Chunks are unpacked on `threads` threads. Damaged places go to `damaged` and are left out.
///
/// # Errors
/// [`WriteError`].
pub fn split(
    from: &Trace,
    buffers: &[(usize, String)],
    streams: &[StreamIndex],
    parts: &mut [PartWriter],
    threads: usize,
    damaged: &mut dyn FnMut(FileError),
) -> Result<(), WriteError> {
    split_edited(from, buffers, streams, parts, None, (threads, damaged))
}

/// The same with `edit`, if it is given: then all records are copied one by one. `reading`: the threads, and what hears of
/// damage.
///
/// # Errors
/// [`WriteError`].
pub fn split_edited(
    from: &Trace,
    buffers: &[(usize, String)],
    streams: &[StreamIndex],
    parts: &mut [PartWriter],
    mut edit: Option<&mut dyn Edit>,
    reading: (usize, &mut dyn FnMut(FileError)),
) -> Result<(), WriteError> {
    let (threads, damaged) = reading;
    for (index, name) in buffers {
        let Some(buffer) = from.buffers.get(*index) else { continue };
        if let Some(text) = &buffer.text {
            parts.iter_mut().try_for_each(|part| part.file.text(name, &buffer.clock, text))?;
            continue;
        }
        for part in parts.iter_mut() {
            part.file.begin_buffer(name, &buffer.clock, buffer.page_size)?;
        }
        for (number, (_, cpu)) in streams.iter().enumerate().filter(|(_, (of, _))| of == index) {
            let Some(data) = buffer.cpus.get(*cpu) else { continue };
            parts.iter_mut().try_for_each(|part| part.file.begin_cpu(data.cpu))?;
            match &mut edit {
                Some(edit) => edited_stream(from, ((*index, *cpu), number), parts, &mut **edit, threads, damaged)?,
                None => one_stream(from, (*index, *cpu), number, parts, threads, damaged)?,
            }
            parts.iter_mut().try_for_each(|part| part.file.end_cpu())?;
        }
        parts.iter_mut().try_for_each(|part| part.file.end_buffer())?;
    }
    Ok(())
}

fn one_stream(
    from: &Trace,
    (buffer, cpu): StreamIndex,
    number: usize,
    parts: &mut [PartWriter],
    threads: usize,
    damaged: &mut dyn FnMut(FileError),
) -> Result<(), WriteError> {
    let Some(buffer) = from.buffers.get(buffer) else { return Ok(()) };
    let Some(id) = buffer.cpus.get(cpu).map(|data| data.cpu) else { return Ok(()) };
    let layout = from.page_layout(buffer);
    let correction = from.correction(id, &TimeOptions::default());
    let mut pages = from.raw_pages(buffer, cpu).on_threads(threads);
    let (mut chunk, mut first_page, mut record) = (Vec::new(), 0u64, 0u64);
    let mut found: Vec<SlicePage> = Vec::new();
    let (mut skipped, mut before) = (false, 0u64);
    loop {
        let mut packed = match pages.next_stored(&mut chunk) {
            Ok(Some(packed)) => packed,
            Ok(None) => {
                let place = StreamPlace { times: (before, u64::MAX), records: record, pages: first_page };
                let parts = parts.iter_mut().filter(|part| skipped && place.is_in(&part.slice, number));
                parts.for_each(|part| part.file.lose(left_out(buffer, id)));
                return Ok(());
            }
            Err(error) => {
                skipped |= matches!(error, FileError::Chunk { .. });
                damaged(error);
                continue;
            }
        };
        let (first_record, place_before) = (record, before);
        found.clear();
        for page in chunk.chunks_exact(layout.size) {
            let start = record;
            let mut times = Vec::new();
            // Damage is reported by `pages`.
            if let Ok(header) = layout.page(page) {
                let see = |item: RecordPlace| times.push(correction.apply(item.timestamp));
                let _ = Walker::new(layout.abi, 0, &header).walk(page, usize::MAX, see);
            }
            record = record.saturating_add(times.len() as u64);
            found.push(SlicePage { records: start..record, times });
        }
        before = found.iter().rev().find_map(|page| page.times.last().copied()).unwrap_or(before);
        if std::mem::take(&mut skipped) {
            let after = found.iter().find_map(|page| page.times.first().copied()).unwrap_or(u64::MAX);
            let place = StreamPlace { times: (place_before, after), records: first_record, pages: first_page };
            for part in parts.iter_mut().filter(|part| place.is_in(&part.slice, number)) {
                part.file.lose(left_out(buffer, id));
            }
            note_gap(&layout, &mut chunk);
            packed = None;
        }
        for part in parts.iter_mut() {
            let stored = packed.as_ref().filter(|_| part.file.codec() == from.prefix.codec);
            give(part, number, &layout, &chunk, first_page, &found, stored.map(|p| (p.bytes(), p.size)))?;
        }
        first_page = first_page.saturating_add(found.len() as u64);
    }
}

/// Gives a part what it wants of a chunk.
fn give(
    part: &mut PartWriter,
    stream: usize,
    layout: &PageLayout,
    chunk: &[u8],
    first_page: u64,
    pages: &[SlicePage],
    stored: Option<(&[u8], usize)>,
) -> Result<(), WriteError> {
    let count = |range: &Range<u64>| range.end.saturating_sub(range.start);
    let wanted: Vec<Range<u64>> =
        pages.iter().zip(first_page..).map(|(page, at)| wanted(&part.slice, stream, page, at)).collect();
    part.records = wanted.iter().map(count).fold(part.records, u64::saturating_add);
    let whole =
        |(page, wanted): (&SlicePage, &Range<u64>)| page.times.is_empty() || count(wanted) == page.times.len() as u64;
    if wanted.iter().all(Range::is_empty) {
        return Ok(());
    }
    if let Some((bytes, size)) = stored
        && pages.iter().zip(&wanted).all(whole)
    {
        return part.file.packed(bytes, size, Some(chunk));
    }
    let mut out = Vec::new();
    for ((page, wanted), bytes) in pages.iter().zip(&wanted).zip(chunk.chunks_exact(layout.size)) {
        if wanted.is_empty() {
            continue;
        }
        if whole((page, wanted)) {
            out.extend_from_slice(bytes);
        } else if let Ok(Some(cut)) = layout.cut(bytes, wanted.clone()) {
            out.extend_from_slice(&cut);
        }
    }
    part.file.pages(&out)
}

/// The name of a full piece of the spool `file`.
pub fn segment_path(file: &Path, number: u64, size: u64) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(format!(".{number}.{size}"));
    name.into()
}

/// Makes the pieces of the spool at `path` one file of that name again, the oldest first; nothing happens if there are
/// none. `header` is the length of what stands before the data of each piece (the chunk count of compressed ones).
///
/// Killed half-way, it can be done again: what was joined already is under the name of its last piece, whose own file is
/// the shorter one of two with the same number.
///
/// # Errors
/// The file system's error.
pub fn join_segments(path: &Path, header: u64) -> io::Result<()> {
    let owner = path.symlink_metadata().map_or_else(|_| geteuid().as_raw(), |newest| newest.uid());
    let dir = OwnedDir::open(path.parent().unwrap_or(Path::new("")), owner)?;
    join_segments_in(&dir, &path.file_name().unwrap_or_default().to_string_lossy(), header).map(drop)
}

/// [`join_segments`] of the spool `name` in `dir`. Returns whether the oldest pieces are gone: a flight recorder discarded
/// them, or a former call joined them.
pub(super) fn join_segments_in(dir: &OwnedDir, name: &str, header: u64) -> io::Result<bool> {
    let mut pieces = segments(dir, name, true)?.into_iter();
    let Some(mut joined) = pieces.next() else { return Ok(false) };
    let lacks_oldest = joined.number > 0;
    for piece in pieces {
        if piece.number == joined.number {
            // Sorted by size within a number: this one holds all of the former.
            dir.remove(&joined.name, &joined.file)?;
            joined = piece;
            continue;
        }
        let size = append(&joined, &piece.file, piece.size, header)?;
        let renamed = segment_path(Path::new(name), piece.number, size).to_string_lossy().into_owned();
        dir.rename(&joined.name, &joined.file, &renamed)?;
        dir.remove(&piece.name, &piece.file)?;
        joined = SpoolSegment { number: piece.number, size, name: renamed, file: joined.file };
    }
    match dir.open_file(name, false) {
        Ok(newest) => append(&joined, &newest, newest.metadata()?.len(), header)?,
        Err(e) if e.kind() == io::ErrorKind::NotFound => joined.size,
        Err(e) => return Err(e),
    };
    dir.rename(&joined.name, &joined.file, name)?;
    Ok(lacks_oldest)
}

/// Appends the data of `piece`, whose first `size` bytes count; returns the new size.
fn append(to: &SpoolSegment, piece: &File, size: u64, header: u64) -> io::Result<u64> {
    to.file.set_len(to.size)?;
    let len = size.min(piece.metadata()?.len()).saturating_sub(header);
    copy(piece, header, &to.file, to.size, len, &mut Vec::new())?;
    Ok(to.size.saturating_add(len))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn make(dir: &Path, name: &str, text: &str) {
        fs::write(dir.join(name), text).unwrap();
    }

    #[test]
    fn pieces_become_one_spool_the_oldest_first() {
        let dir = tempfile::tempdir().unwrap();
        make(dir.path(), "s.spool.9.6", "hhhhAAtorn");
        make(dir.path(), "s.spool.10.7", "hhhhBBB");
        make(dir.path(), "s.spool", "hhhhC");
        make(dir.path(), "s.spool.notes", "x");
        join_segments(&dir.path().join("s.spool"), 4).unwrap();
        assert_eq!(fs::read_to_string(dir.path().join("s.spool")).unwrap(), "hhhhAABBBC");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_join_that_was_killed_goes_on() {
        // Killed after the second piece was appended and the first had got its name, before the second was removed; and
        // between a piece's renaming and the making of the next.
        let dir = tempfile::tempdir().unwrap();
        make(dir.path(), "s.spool.2.9", "hhhhAABBB");
        make(dir.path(), "s.spool.2.7", "hhhhBBB");
        make(dir.path(), "s.spool.3.5", "hhhhC");
        join_segments(&dir.path().join("s.spool"), 4).unwrap();
        assert_eq!(fs::read_to_string(dir.path().join("s.spool")).unwrap(), "hhhhAABBBC");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn without_pieces_nothing_changes() {
        let dir = tempfile::tempdir().unwrap();
        make(dir.path(), "s.spool", "hhhhC");
        join_segments(&dir.path().join("s.spool"), 4).unwrap();
        assert_eq!(fs::read_to_string(dir.path().join("s.spool")).unwrap(), "hhhhC");
    }
}
