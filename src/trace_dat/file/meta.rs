//! The parts that both versions hold in the same form: header_page, formats, sized texts.

use super::scan::Scan;
use crate::format::{CommonBlock, EventFormat};
use crate::trace_dat::FileError;
use std::borrow::Cow;
use std::ops::Range;

/// `header_page NUL u64 text header_event NUL u64 text`: the two texts.
pub(in crate::trace_dat) fn header_info(scan: &mut Scan<'_>) -> Result<(Vec<u8>, Vec<u8>), FileError> {
    scan.expect("header_page\0")?;
    let page = sized64(scan)?;
    scan.expect("header_event\0")?;
    Ok((page, sized64(scan)?))
}

/// u64 length, then as many bytes.
pub(in crate::trace_dat) fn sized64(scan: &mut Scan<'_>) -> Result<Vec<u8>, FileError> {
    let len = scan.u64()?;
    scan.bytes(len)
}

/// u32 length, then as many bytes.
pub(in crate::trace_dat) fn sized32(scan: &mut Scan<'_>) -> Result<Vec<u8>, FileError> {
    let len = scan.u32()?;
    scan.bytes(len.into())
}

/// Where the bytes lie in the data that is scanned, that a u32 length stands before.
pub(in crate::trace_dat) fn span32(scan: &mut Scan<'_>) -> Result<Range<usize>, FileError> {
    let len = scan.u32()?;
    let start = scan.pos();
    scan.borrow(len.into())?;
    Ok(start as usize..scan.pos() as usize)
}

/// u32 count, then as many formats. One that does not parse goes to `damage`.
pub(in crate::trace_dat) fn formats(
    scan: &mut Scan<'_>,
    system: &str,
    to: &mut Vec<EventFormat>,
    damage: &mut Vec<FileError>,
) -> Result<(), FileError> {
    let mut common = CommonBlock::default();
    for number in 1..=scan.u32()? {
        let len = scan.u64()?;
        let bytes = scan.borrow(len)?;
        let text = std::str::from_utf8(&bytes).map_or_else(|_| String::from_utf8_lossy(&bytes), Cow::Borrowed);
        match EventFormat::parse_next(system, &text, &mut common) {
            Ok(format) => to.push(format),
            Err(source) => {
                damage.push(FileError::Format { place: scan.place(), system: system.to_owned(), number, source });
            }
        }
    }
    Ok(())
}

/// u32 count of systems, each a name and its formats.
pub(in crate::trace_dat) fn systems(
    scan: &mut Scan<'_>,
    to: &mut Vec<EventFormat>,
    damage: &mut Vec<FileError>,
) -> Result<(), FileError> {
    for _ in 0..scan.u32()? {
        let system = scan.cstr()?;
        formats(scan, &system, to, damage)?;
    }
    Ok(())
}
