//! Which bytes of the file belong to which CPU: nothing between them may be left over, nothing may belong to two.
//!
//! The places of CPUs' data stand in tables without a checksum. The data lies back to back, each CPU's at the next
//! multiple of the sub-buffer size, up to the end of its section. A wrong offset, size or number of CPUs leaves a gap
//! or an overlap.

use super::Trace;
use crate::trace_dat::FileError;
use crate::units::CpuId;
use std::ops::Range;

/// trace-cmd 3.1 declares sizes that do not count the 4 bytes of the chunk count.
const SHORT: u64 = 4;

/// The first bytes of `whole` that belong to none of `parts` or to two of them. Up to `align` bytes before each part may
/// be unused.
pub(super) fn misfit(mut parts: Vec<Range<u64>>, whole: &Range<u64>, align: u64) -> Option<Range<u64>> {
    parts.retain(|part| part.start != part.end);
    parts.sort_by_key(|part| part.start);
    let mut at = whole.start;
    for part in parts {
        let gap = part.start.checked_sub(at);
        if part.end < part.start || gap.is_none_or(|gap| gap >= align.saturating_add(SHORT)) {
            return Some(at.min(part.start)..part.start.max(at));
        }
        at = part.end;
    }
    (at != whole.end && at.saturating_add(SHORT) != whole.end).then(|| at.min(whole.end)..at.max(whole.end))
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

    #[test]
    #[expect(clippy::single_range_in_vec_init, reason = "a section of one CPU")]
    fn gaps_and_overlaps_are_found() {
        let fits = |parts: &[Range<u64>], end: u64| misfit(parts.to_vec(), &(10..end), 100).is_none();
        assert!(fits(&[100..150, 200..250], 250) && fits(&[200..250, 100..150], 250));
        assert!(fits(&[100..150, 200..246], 250), "a size that is 4 bytes short");
        assert!(fits(&[], 10) && fits(&[100..100], 10));
        assert!(!fits(&[], 250), "data of nobody");
        assert!(!fits(&[200..250], 250), "the first CPU is missing");
        assert!(!fits(&[100..150], 250), "the last CPU is missing");
        assert!(!fits(&[100..150, 120..250], 250), "two CPUs have the same data");
        assert!(!fits(&[100..300], 250), "data beyond the section");
        assert!(!fits(&[0..250], 250), "data before the section");
    }
}
