//! Checksums of all that a version 7 file of ours says about its events: header, sections' headers, options, formats and
//! symbols. Nothing else would contradict a changed letter of an option or a field's name.
//!
//! They are an option of our own (RTRACE_SUMS): a u64 over everything but the ring buffers' data (which has the codec's
//! checksums) and the symbols, then for each section of symbols a u64 offset and a u64 over its bytes, which are compared
//! when the symbols are read. All are XXH64. The first one is over the file header, then each section's header followed
//! by the XXH64 of its bytes, in file order, the option's own bytes taken as zeros.

use super::options::SectionHeader;
use super::scan::Scan;
use super::sections::walk;
use super::{RawOption, Trace, private_options};
use crate::base::abi::Abi;
use crate::file::trace_dat::read_at::FileBytes;
use crate::file::trace_dat::{FileError, FilePart, OptionId, SectionId, xxh64};

/// Sections of megabytes, which are read when they are needed.
pub(super) const LAZY: [SectionId; 3] = [SectionId::KALLSYMS, SectionId::BTF_FILE, SectionId::RTRACE_BTF];

/// The sums of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::file::trace_dat) struct Sums {
    /// Over all but data and symbols.
    all: u64,
    /// Offsets of the sections of symbols, and the sums over their bytes.
    symbols: Vec<(u64, u64)>,
}

impl Sums {
    /// Size of the option's data, in bytes, for a file of which `scan` stands at the first section.
    pub(in crate::file::trace_dat) fn size(scan: &mut Scan<'_>) -> usize {
        let symbols = walk(scan).headers.iter().filter(|header| LAZY.contains(&header.id)).count();
        symbols.saturating_mul(16).saturating_add(8)
    }

    /// Sums of the file whose first section is at `first`; the bytes of `instead` stand for those at their offsets. Without
    /// `symbols` those sections are not read, and their sums are 0.
    ///
    /// # Errors
    /// [`FileError::Read`], and [`FileError::Short`] if the file ends within a section that is not a ring buffer.
    pub(in crate::file::trace_dat) fn of(
        scan: &mut Scan<'_>,
        first: u64,
        instead: &[(u64, Vec<u8>)],
        symbols: bool,
    ) -> Result<Self, FileError> {
        scan.seek(first);
        let headers = walk(scan).headers;
        let bytes = |scan: &mut Scan<'_>, at: u64, len: u64, place| {
            scan.set_place(place);
            scan.seek(at);
            let mut bytes = scan.bytes(len)?;
            for (place, other) in instead {
                // Only what both have: a file may have as many sections as an option has bytes.
                let (skip, from) = (at.saturating_sub(*place) as usize, place.saturating_sub(at) as usize);
                let other = other.get(skip..).unwrap_or_default();
                bytes.iter_mut().skip(from).zip(other).for_each(|(to, byte)| *to = *byte);
            }
            Ok::<_, FileError>(bytes)
        };
        let mut all = bytes(scan, 0, first, FilePart::Prefix)?;
        let mut apart = Vec::new();
        for header in headers {
            all.append(&mut bytes(scan, header.offset, SectionHeader::LEN, header.place())?);
            if header.id == SectionId::BUFFER {
                continue;
            }
            let is_apart = LAZY.contains(&header.id);
            let mut sum = 0;
            if symbols || !is_apart {
                sum = xxh64(&bytes(scan, header.data().start, header.size, header.place())?);
            }
            match is_apart {
                true => apart.push((header.offset, sum)),
                false => all.extend_from_slice(&sum.to_le_bytes()),
            }
        }
        Ok(Sums { all: xxh64(&all), symbols: apart })
    }

    /// Reads the option's data; `None` if it is no such data.
    pub(in crate::file::trace_dat) fn read(option: &RawOption, abi: Abi) -> Option<Self> {
        let (words, rest) = option.data.as_chunks::<8>();
        let mut words = words.iter().map(|word| abi.u64(*word));
        let all = words.next()?;
        let mut symbols = Vec::new();
        while let Some(offset) = words.next() {
            symbols.push((offset, words.next()?));
        }
        rest.is_empty().then_some(Sums { all, symbols })
    }

    /// The option's data.
    pub(in crate::file::trace_dat) fn write(&self, abi: Abi) -> Vec<u8> {
        let mut out = FileBytes::new(abi);
        out.u64(self.all);
        for (offset, sum) in &self.symbols {
            out.u64(*offset).u64(*sum);
        }
        out.bytes
    }

    /// Offset of the option's data among the bytes of an options section; `None` if it is not there.
    pub(in crate::file::trace_dat) fn place(options: &Vec<u8>, abi: Abi) -> Option<u64> {
        let mut scan = Scan::unpacked(options, abi, FilePart::Prefix);
        let (mut found, mut damage) = (Vec::new(), Vec::new());
        while let Ok(Ok(option)) = RawOption::read(&mut scan, 7) {
            private_options::take(option, abi, &mut found, &mut damage);
        }
        found.iter().find(|option| option.id == OptionId::RTRACE_SUMS).map(RawOption::data_offset)
    }

    /// Offsets of the sections of symbols.
    fn places(&self) -> impl Iterator<Item = u64> {
        self.symbols.iter().map(|(offset, _)| *offset)
    }

    /// Compares the bytes of the section of symbols whose header is `header` with its sum.
    ///
    /// # Errors
    /// [`FileError::Checksum`].
    pub(super) fn check_symbols(&self, scan: &mut Scan<'_>, header: &SectionHeader) -> Result<(), FileError> {
        let Some((_, sum)) = self.symbols.iter().find(|(offset, _)| *offset == header.offset) else { return Ok(()) };
        scan.seek(header.data().start);
        if xxh64(&scan.bytes(header.size)?) == *sum {
            return Ok(());
        }
        Err(FileError::Checksum { place: header.place() })
    }
}

impl Trace {
    /// The sums of a finished file.
    pub(super) fn sums(&self) -> Option<(&RawOption, Sums)> {
        let option = self.option(OptionId::RTRACE_SUMS).filter(|_| self.spools.is_none())?;
        Some((option, Sums::read(option, self.abi)?))
    }

    /// Reports checksum mismatches that no other damage explains. Other damage has been noted by then, at its place.
    pub(super) fn check_sums(&mut self) {
        if !self.damage.is_empty() || self.spools.is_some() {
            return;
        }
        let Some((option, sums)) = self.sums() else {
            // Every version of ours that has other kinds of options writes checksums: this was one, or they were.
            let unknown = self.options.iter().find(|option| option.id.is_ours() && option.id.name().is_none());
            self.damage.extend(unknown.map(|option| option.error("its kind is not known")));
            return;
        };
        let (Some((link, _)), Some(io)) = (self.prefix.options, self.sources.first()) else { return };
        let mut scan = Scan::new(&**io, self.prefix.abi, FilePart::Prefix, 0, self.size);
        let own = (option.data_offset(), vec![0; option.data.len()]);
        let place = option.place;
        match Sums::of(&mut scan, link.saturating_add(8), &[own], false) {
            Ok(found) if found.all == sums.all && found.places().eq(sums.places()) => {}
            Ok(_) => self.damage.push(FileError::Checksum { place }),
            Err(error) => self.damage.push(error),
        }
    }
}
