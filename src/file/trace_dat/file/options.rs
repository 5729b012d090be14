//! Options: small facts about a recording, each with an id and a length, so that unknown ones can be skipped.

use super::scan::Scan;
use crate::file::trace_dat::{FileError, FilePart, OptionId};

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
