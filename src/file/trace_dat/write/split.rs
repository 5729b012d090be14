//! A file in parts: by time, by events, by sub-buffers.
//!
//! Chunks of which a part wants everything are copied as they are stored; only at a part's edges are sub-buffers unpacked
//! and cut.

use super::WriteError;
use super::edit::{Edit, edited_stream};
use super::parts::{left_out, note_gap};
use super::slice::{PartWriter, SlicePage, StreamIndex, StreamPlace, wanted};
use crate::file::ring_buffer::{PageLayout, RecordPlace, Walker};
use crate::file::trace_dat::{FileError, TimeOptions, Trace};
use std::ops::Range;

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
        return part.file.packed(bytes, size);
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
