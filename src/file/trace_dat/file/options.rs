//! Options: small facts about a recording, each with an id and a length, so that unknown ones can be skipped.
//! The parts that both versions hold in the same form: header_page, formats, sized texts.

use super::scan::Scan;
use crate::file::trace_dat::{FileError, FilePart, OptionId};
use crate::kernel::format::{CommonBlock, EventFormat};
use std::borrow::Cow;
use std::ops::Range;

/// An option as it lies in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawOption {
    /// Kind of the option.
    pub id: OptionId,
    /// Content, without kind and length.
    pub data: Vec<u8>,
    /// Offset in the file.
    pub offset: u64,
    /// The section it stands in.
    pub place: FilePart,
}

impl RawOption {
    /// Offset of its data in the file.
    pub(in crate::file::trace_dat) fn data_offset(&self) -> u64 {
        self.offset.saturating_add(6) // after id and size
    }

    /// Its data as text, without NULs and newlines at the end.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.data).trim_end_matches(['\0', '\n']).to_owned()
    }

    /// The next option; `None` at the end of the options: a bare `u16` 0 in version 6, in version 7 a DONE option,
    /// whose data is then the offset of the next options section or 0.
    pub(in crate::file::trace_dat) fn read(
        scan: &mut Scan<'_>,
        version: u8,
    ) -> Result<Result<RawOption, u64>, FileError> {
        let offset = scan.pos();
        let id = OptionId(scan.u16()?);
        if id == OptionId::DONE && version == 6 {
            return Ok(Err(0));
        }
        let len = scan.u32()?;
        if u64::from(len) > scan.remain() {
            return Err(FileError::Short {
                place: scan.place(),
                offset,
                unpacked: false,
                wanted: len.into(),
                remain: scan.remain(),
            });
        }
        if id == OptionId::DONE {
            return match len {
                8 => scan.u64().map(Err),
                _ => Err(FileError::Option {
                    place: scan.place(),
                    id,
                    offset,
                    what: "it has not the 8 bytes that say where the options go on",
                }),
            };
        }
        let data = scan.bytes(len.into())?;
        Ok(Ok(RawOption { id, data, offset, place: scan.place() }))
    }
}

/// The clock that is chosen in the text of a `trace_clock` file: the word in brackets.
pub(in crate::file::trace_dat) fn chosen_clock(text: &str) -> String {
    let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(clock, _)| clock);
    chosen.unwrap_or_default().to_owned()
}

/// A section's header (version 7): 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::file::trace_dat) struct SectionHeader {
    pub(in crate::file::trace_dat) id: crate::file::trace_dat::SectionId,
    pub(in crate::file::trace_dat) flags: u16,
    /// Offset of its name in the file's texts ([`Trace::strings`](crate::file::trace_dat::Trace::strings)), in bytes, or
    /// [`SectionHeader::NO_NAME`].
    pub(in crate::file::trace_dat) name: u32,
    /// Bytes that follow the header.
    pub(in crate::file::trace_dat) size: u64,
    /// Offset of the header.
    pub(in crate::file::trace_dat) offset: u64,
}

impl SectionHeader {
    pub(in crate::file::trace_dat) const LEN: u64 = 16;
    pub(in crate::file::trace_dat) const COMPRESSED: u16 = 1;
    /// Stands for the name's offset in files without names, as ours.
    pub(in crate::file::trace_dat) const NO_NAME: u32 = u32::MAX;

    pub(in crate::file::trace_dat) fn read(scan: &mut Scan<'_>) -> Result<Self, FileError> {
        let offset = scan.pos();
        let (id, flags, name, size) =
            (crate::file::trace_dat::SectionId(scan.u16()?), scan.u16()?, scan.u32()?, scan.u64()?);
        Ok(SectionHeader { id, flags, name, size, offset })
    }

    /// Offset of the next section.
    pub(in crate::file::trace_dat) fn end(&self) -> u64 {
        self.data().end
    }

    /// Range of its data.
    pub(in crate::file::trace_dat) fn data(&self) -> std::ops::Range<u64> {
        let start = self.offset.saturating_add(Self::LEN);
        start..start.saturating_add(self.size)
    }

    pub(in crate::file::trace_dat) fn place(&self) -> FilePart {
        FilePart::Section(self.id, self.offset)
    }

    pub(in crate::file::trace_dat) fn is_compressed(&self) -> bool {
        self.flags & Self::COMPRESSED != 0
    }
}

/// After this many damaged formats the rest of them is not read.
const MOST_DAMAGED: usize = 1000;

/// `header_page NUL u64 text header_event NUL u64 text`: the two texts.
pub(in crate::file::trace_dat) fn header_info(
    scan: &mut Scan<'_>,
    damage: &mut Vec<FileError>,
) -> Result<(Vec<u8>, Vec<u8>), FileError> {
    scan.expect("header_page\0")?;
    let page = sized64(scan, damage)?;
    scan.expect("header_event\0")?;
    Ok((page, sized64(scan, damage)?))
}

/// Zeros in what should be a text, if there are any: it starts at `offset` of the file, or of what was unpacked.
pub(in crate::file::trace_dat) fn zeros(
    text: &[u8],
    place: FilePart,
    offset: u64,
    unpacked: bool,
) -> Option<FileError> {
    let at = memchr::memchr(0, text)? as u64;
    Some(FileError::Zeros { place, offset: offset.saturating_add(at), unpacked })
}

/// u64 length, then a text of as many bytes.
pub(in crate::file::trace_dat) fn sized64(
    scan: &mut Scan<'_>,
    damage: &mut Vec<FileError>,
) -> Result<Vec<u8>, FileError> {
    let len = scan.u64()?;
    text(scan, len, damage)
}

/// u32 length, then a text of as many bytes.
pub(in crate::file::trace_dat) fn sized32(
    scan: &mut Scan<'_>,
    damage: &mut Vec<FileError>,
) -> Result<Vec<u8>, FileError> {
    let len = scan.u32()?;
    text(scan, len.into(), damage)
}

fn text(scan: &mut Scan<'_>, len: u64, damage: &mut Vec<FileError>) -> Result<Vec<u8>, FileError> {
    let offset = scan.pos();
    let bytes = scan.bytes(len)?;
    damage.extend(zeros(&bytes, scan.place(), offset, scan.is_unpacked()));
    Ok(bytes)
}

/// Range of the bytes after a u32 length, in the data that is scanned.
pub(in crate::file::trace_dat) fn span32(scan: &mut Scan<'_>) -> Result<Range<usize>, FileError> {
    let len = scan.u32()?;
    let start = scan.pos();
    scan.borrow(len.into())?;
    Ok(start as usize..scan.pos() as usize)
}

/// u32 count, then as many formats. One that does not parse goes to `damage`.
pub(in crate::file::trace_dat) fn formats(
    scan: &mut Scan<'_>,
    system: &str,
    to: &mut Vec<EventFormat>,
    damage: &mut Vec<FileError>,
) -> Result<(), FileError> {
    let mut common = CommonBlock::default();
    for number in 1..=scan.u32()? {
        let len = scan.u64()?;
        let (offset, unpacked) = (scan.pos(), scan.is_unpacked());
        let bytes = scan.borrow(len)?;
        damage.extend(zeros(&bytes, scan.place(), offset, unpacked));
        let text = std::str::from_utf8(&bytes).map_or_else(|_| String::from_utf8_lossy(&bytes), Cow::Borrowed);
        match EventFormat::parse_next(system, &text, &mut common) {
            Ok(format) => to.push(format),
            Err(source) => {
                let (place, system) = (scan.place(), system.to_owned());
                damage.push(FileError::Format { place, system, number, offset, unpacked, source });
                if damage.len() > MOST_DAMAGED {
                    return Err(FileError::ManyFormats { place, offset, unpacked });
                }
            }
        }
    }
    Ok(())
}

/// u32 count of systems, each a name and its formats.
pub(in crate::file::trace_dat) fn systems(
    scan: &mut Scan<'_>,
    to: &mut Vec<EventFormat>,
    damage: &mut Vec<FileError>,
) -> Result<(), FileError> {
    for _ in 0..scan.u32()? {
        let (offset, unpacked) = (scan.pos(), scan.is_unpacked());
        let system = scan.cstr()?;
        if system.bytes().any(|byte| byte <= b' ' || byte == 0x7f) {
            damage.push(FileError::SystemName { place: scan.place(), name: system.to_string(), offset, unpacked });
        }
        formats(scan, &system, to, damage)?;
    }
    Ok(())
}
