//! The parts that both versions hold in the same form: header_page, formats, sized texts.

use super::scan::Scan;
use crate::file::trace_dat::{FileError, FilePart};
use crate::kernel::format::{CommonBlock, EventFormat};
use std::borrow::Cow;
use std::ops::Range;

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
