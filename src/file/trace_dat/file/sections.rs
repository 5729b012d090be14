//! The sections of a version 7 file, as they follow each other from the prefix to the end of the file.
//!
//! Every byte after the prefix belongs to a section. trace-cmd and rtrace write no gaps, so a gap is damage.

use super::options::SectionHeader;
use super::scan::{MAX_ITEM, Scan};
use super::{Prefix, Trace};
use crate::file::trace_dat::codec::Unpacker;
use crate::file::trace_dat::{FileError, FilePart, SectionId};
use std::ops::Range;

/// Section of a version 7 file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Section {
    /// Kind of the section.
    pub id: SectionId,
    /// Offset of its header.
    pub offset: u64,
    /// Bytes after the header.
    pub size: u64,
    /// True if they are compressed.
    pub compressed: bool,
    /// Offset of its name in [`Trace::strings`], in bytes; `None` in files without names.
    pub name: Option<u64>,
    /// Bytes before compression, as the section says; `None` if it is not compressed as a whole.
    pub unpacked: Option<u64>,
}

impl Trace {
    /// The sections of a version 7 file, as they follow each other.
    pub fn sections(&self) -> Vec<Section> {
        let Some(mut scan) = self.scan_of_sections() else { return Vec::new() };
        let headers = walk(&mut scan).headers;
        let section = |header: SectionHeader| Section {
            id: header.id,
            offset: header.offset,
            size: header.size,
            compressed: header.is_compressed(),
            name: (header.name != SectionHeader::NO_NAME).then_some(u64::from(header.name)),
            unpacked: unpacked_size(&mut scan, header),
        };
        headers.into_iter().map(section).collect()
    }

    /// The texts that section headers refer to, of a version 7 file, with the offsets by which they do: those of each
    /// section of texts count on from the one before.
    ///
    /// # Errors
    /// [`FileError`] if such a section cannot be read, and [`FileError::Missing`] if a section's name is none of the
    /// texts: then some of them are lost.
    pub fn strings(&self) -> Result<Vec<(u64, String)>, FileError> {
        let Some(mut scan) = self.scan_of_sections() else { return Ok(Vec::new()) };
        let headers = walk(&mut scan).headers;
        let (mut found, mut offset) = (Vec::new(), 0u64);
        for header in headers.iter().filter(|header| header.id == SectionId::STRINGS) {
            read_header(&mut scan, header.id, header.offset)?;
            let data = unpack(&mut scan, &self.prefix, *header)?;
            for text in data.split_inclusive(|byte| *byte == 0) {
                let bare = text.strip_suffix(b"\0").unwrap_or(text);
                found.push((offset, String::from_utf8_lossy(bare).into_owned()));
                offset = offset.saturating_add(text.len() as u64);
            }
        }
        let is_text = |name: u32| found.binary_search_by_key(&u64::from(name), |(offset, _)| *offset).is_ok();
        match headers.iter().find(|header| header.name != SectionHeader::NO_NAME && !is_text(header.name)) {
            Some(header) => Err(FileError::Missing { place: header.place(), what: "name" }),
            None => Ok(found),
        }
    }

    /// A scan that stands at the first section.
    fn scan_of_sections(&self) -> Option<Scan<'_>> {
        let first = self.prefix.options?.0.checked_add(8)?;
        Some(Scan::new(&**self.sources.first()?, self.prefix.abi, FilePart::Prefix, first, self.size))
    }
}

/// All sections that can be found without the options, and the bytes between them.
pub(super) struct SectionWalk {
    pub(super) headers: Vec<SectionHeader>,
    pub(super) gaps: Vec<Range<u64>>,
}

/// Limit of the search in a gap for the next section, in bytes. Without a limit, a damaged file of gigabytes would be
/// read twice.
const SEARCHED: u64 = 16 << 20;

/// Walks from section to section. Where there is none, searches for the next one.
pub(super) fn walk(scan: &mut Scan<'_>) -> SectionWalk {
    let mut found = SectionWalk { headers: Vec::new(), gaps: Vec::new() };
    scan.set_place(FilePart::Prefix);
    while scan.remain() > 0 {
        let (at, end) = (scan.pos(), scan.pos().saturating_add(scan.remain()));
        if let Some(header) = sound_header(scan, at) {
            scan.seek(header.end());
            found.headers.push(header);
            continue;
        }
        let next = search(scan, at.saturating_add(1), end.min(at.saturating_add(SEARCHED))).unwrap_or(end);
        found.gaps.push(at..next);
        scan.seek(next);
    }
    found
}

/// Offset of the first section in `at..end`.
fn search(scan: &mut Scan<'_>, mut at: u64, end: u64) -> Option<u64> {
    const PIECE: u64 = 16 << 10;
    while at < end {
        scan.seek(at);
        let bytes = scan.bytes(PIECE.min(scan.remain())).ok()?;
        // Ids and flags are small: two bytes distinguish most places from a section's start.
        for (start, bytes) in (at..end).zip(bytes.windows(SectionHeader::LEN as usize)) {
            let small = bytes.get(2..4).is_some_and(|flags| matches!(flags, [0 | 1, 0] | [0, 1]));
            if small && is_section(scan, start) {
                return Some(start);
            }
        }
        at = at.saturating_add(PIECE - SectionHeader::LEN + 1);
    }
    None
}

/// The header at `at`, if it can be one. A section may be longer than what is left of a file that was cut.
fn sound_header(scan: &mut Scan<'_>, at: u64) -> Option<SectionHeader> {
    scan.seek(at);
    let header = SectionHeader::read(scan).ok()?;
    let known = header.id.name().is_some() && header.flags <= SectionHeader::COMPRESSED;
    // zeros read as a section of options without any
    (known && (header.id != SectionId::OPTIONS || header.size > 0)).then_some(header)
}

/// True if a section starts at `at`, as far as it and the next one can tell.
fn is_section(scan: &mut Scan<'_>, at: u64) -> bool {
    let Some(header) = sound_header(scan, at).filter(|header| header.size > 0) else { return false };
    match header.size.checked_sub(scan.remain()) {
        Some(0) => true,
        Some(_) => false,
        None => sound_header(scan, header.end()).is_some(),
    }
}

/// The header of the section at `at`, which must be of kind `id`; `scan` stands after it.
pub(super) fn read_header(scan: &mut Scan<'_>, id: SectionId, at: u64) -> Result<SectionHeader, FileError> {
    scan.set_place(FilePart::Section(id, at));
    scan.seek(at);
    let header = SectionHeader::read(scan)?;
    if header.id != id {
        return Err(FileError::WrongSection { place: scan.place(), found: header.id });
    }
    Ok(header)
}

/// Size of a section's data before compression. Data of ring buffers is compressed in chunks.
fn unpacked_size(scan: &mut Scan<'_>, header: SectionHeader) -> Option<u64> {
    if !header.is_compressed() || header.id == SectionId::BUFFER {
        return None;
    }
    scan.seek(header.data().start.saturating_add(4));
    scan.u32().ok().map(u64::from)
}

/// The data of the section whose header was just read.
pub(super) fn unpack(scan: &mut Scan<'_>, prefix: &Prefix, header: SectionHeader) -> Result<Vec<u8>, FileError> {
    if !header.is_compressed() {
        return scan.bytes(header.size);
    }
    let at = scan.pos();
    let (stored, size) = (scan.u32()?, scan.u32()?);
    if u64::from(size) > MAX_ITEM {
        let offset = at.saturating_add(4);
        return Err(FileError::TooLong { place: scan.place(), offset, len: size.into(), limit: MAX_ITEM });
    }
    let place = header.place();
    if u64::from(stored).checked_add(8) != Some(header.size) {
        return Err(FileError::SectionSize { place, size: header.size, stored: stored.into() });
    }
    let offset = scan.pos();
    let packed = scan.bytes(stored.into())?;
    let mut data = Vec::new();
    let damaged = |source| FileError::Codec { place, offset, len: stored.into(), source };
    Unpacker::new(prefix.codec).unpack(&packed, size as usize, &mut data).map_err(damaged)?;
    if data.len() != size as usize {
        let source = std::io::Error::other(format!("{} bytes unpacked where {size} were declared", data.len()));
        return Err(damaged(source));
    }
    data.shrink_to_fit();
    Ok(data)
}
