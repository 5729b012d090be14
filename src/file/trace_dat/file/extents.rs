//! The file's bytes by CPU: none between them may be left over, none may belong to two.
//!
//! The places of CPUs' data stand in tables without a checksum. The data lies back to back, each CPU's at the next
//! multiple of the sub-buffer size, up to the end of its section. A wrong offset, size or number of CPUs leaves a gap
//! or an overlap.

use super::Trace;
use super::scan::Scan;
use crate::base::units::CpuId;
use crate::file::trace_dat::FileError;
use std::ops::Range;

/// trace-cmd 3.1 declares sizes of compressed data that do not count the 4 bytes of the chunk count.
const SHORT: u64 = 4;

/// The first bytes of `whole` that belong to two of `parts`, or to none without being padding: zeros, fewer than `align`.
/// Of compressed data the end may be [`SHORT`] of what it should be.
pub(super) fn misfit(
    scan: &mut Scan<'_>,
    mut parts: Vec<Range<u64>>,
    whole: &Range<u64>,
    align: u64,
    compressed: bool,
) -> Option<Range<u64>> {
    let short = if compressed { SHORT } else { 0 };
    parts.retain(|part| part.start != part.end);
    parts.sort_by_key(|part| part.start);
    let (mut at, mut before) = (whole.start, 0);
    for part in parts {
        if part.start < at || part.end < part.start {
            return Some(at.min(part.start)..part.start.max(at));
        }
        let gap = at..part.start;
        if !is_padding(scan, &gap, align, before) {
            return Some(gap);
        }
        (at, before) = (part.end, short);
    }
    let sound = at <= whole.end && is_padding(scan, &(at..whole.end), align, before);
    (!sound).then(|| at.min(whole.end)..at.max(whole.end))
}

/// True if these bytes of the file, but for the first `short`, are zeros and fewer than `align`.
fn is_padding(scan: &mut Scan<'_>, bytes: &Range<u64>, align: u64, short: u64) -> bool {
    let len = bytes.end.saturating_sub(bytes.start).saturating_sub(short);
    if len == 0 || len >= align {
        return len == 0;
    }
    let before = scan.pos();
    scan.seek(bytes.start.saturating_add(short));
    let padding = scan.bytes(len).is_ok_and(|read| read.iter().all(|byte| *byte == 0));
    scan.seek(before);
    padding
}

impl Trace {
    /// Leaves out the data of CPUs that another CPU has already, so that no byte is read twice, however many claim it.
    pub(super) fn drop_overlaps(&mut self) {
        let mut claims: Vec<(u64, u64, usize, CpuId)> = Vec::new();
        for (number, buffer) in self.buffers.iter().enumerate() {
            let claim = |c: &super::CpuData| (c.offset, c.offset.saturating_add(c.size), number, c.cpu);
            claims.extend(buffer.cpus.iter().filter(|c| c.source == 0).map(claim));
        }
        claims.sort_unstable();
        let mut end = 0;
        let mut dropped = Vec::new();
        for (start, stop, number, cpu) in claims {
            if start < end {
                dropped.push((number, cpu));
                let buffer = self.buffers.get(number).map(|b| b.name.clone()).unwrap_or_default();
                self.damage.push(FileError::Overlap { buffer, cpu, offset: start });
            } else {
                end = stop;
            }
        }
        dropped.sort_unstable();
        for (number, buffer) in self.buffers.iter_mut().enumerate() {
            buffer.cpus.retain(|c| c.source != 0 || dropped.binary_search(&(number, c.cpu)).is_err());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::abi::Abi;
    use crate::file::trace_dat::FilePart;

    #[test]
    #[expect(clippy::single_range_in_vec_init, reason = "a section of one CPU")]
    fn gaps_and_overlaps_are_found() {
        let mut file = vec![0u8; 400];
        let mut fits = |parts: &[Range<u64>], end: u64| {
            parts.iter().for_each(|part| file[part.start as usize..part.end as usize].fill(1));
            let mut scan = Scan::new(&file, Abi::HOST, FilePart::Prefix, 0, 400);
            misfit(&mut scan, parts.to_vec(), &(10..end), 100, true).is_none()
        };
        assert!(fits(&[100..150, 200..250], 250) && fits(&[200..250, 100..150], 250));
        assert!(fits(&[100..150, 200..246], 250), "a size that is 4 bytes short");
        assert!(!fits(&[100..145, 200..250], 250), "a size that is 5 bytes short");
        assert!(fits(&[], 10) && fits(&[100..100], 10));
        assert!(!fits(&[], 250), "data of no buffer");
        assert!(!fits(&[200..250], 250), "the first CPU is missing");
        assert!(!fits(&[100..150], 250), "the last CPU is missing");
        assert!(!fits(&[100..150, 120..250], 250), "two CPUs have the same data");
        assert!(!fits(&[100..300], 250), "data beyond the section");
        assert!(!fits(&[0..250], 250), "data before the section");
    }
}
