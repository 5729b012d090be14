//! Mapped files of one process.

use super::image::Image;
use crate::base::units::Pid;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::OnceLock;

/// The named mappings of one process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessMap {
    /// The process.
    pub pid: Pid,
    /// In the order of the file, which is that of /proc/PID/maps: by rising address.
    pub mappings: Vec<Mapping>,
}

/// The file at a range of addresses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// The first address.
    pub start: u64,
    /// The first address after.
    pub end: u64,
    /// The file, or a name as `[vdso]`.
    pub path: String,
}

/// A process's mappings, ready to be looked up.
pub(super) struct Process {
    /// By rising address; of each the index into `placed`.
    ranges: Vec<(Range<u64>, usize)>,
    placed: Vec<Placed>,
}

/// A file that a process has mapped.
pub(super) struct Placed {
    /// Index of the file.
    pub(super) file: usize,
    /// Its mappings, by rising address.
    ranges: Vec<Range<u64>>,
    copies: OnceLock<Vec<Copy>>,
}

/// A file may be loaded more than once (`dlmopen()`), or be mapped as data besides.
struct Copy {
    range: Range<u64>,
    /// True if it is as large as the file that is there now.
    sound: bool,
}

impl Process {
    /// `file` gives the index of a path.
    pub(super) fn new(map: &ProcessMap, mut file: impl FnMut(&str) -> usize) -> Self {
        let mut mappings: Vec<_> = map.mappings.iter().collect();
        mappings.sort_by_key(|m| m.start);
        let mut process = Process { ranges: Vec::with_capacity(mappings.len()), placed: Vec::new() };
        let mut known = HashMap::new();
        for mapping in mappings {
            let file = file(&mapping.path);
            let range = mapping.start..mapping.end;
            let index = *known.entry(file).or_insert_with(|| {
                let index = process.placed.len();
                process.placed.push(Placed { file, ranges: Vec::new(), copies: OnceLock::new() });
                index
            });
            if let Some(placed) = process.placed.get_mut(index) {
                placed.ranges.push(range.clone());
            }
            process.ranges.push((range, index));
        }
        process
    }

    /// The mapping at an address, and its start.
    pub(super) fn at(&self, address: u64) -> Option<(u64, &Placed)> {
        let next = self.ranges.partition_point(|(range, _)| range.start <= address);
        let (range, placed) = self.ranges.get(next.checked_sub(1)?)?;
        let placed = self.placed.get(*placed).filter(|_| range.contains(&address))?;
        Some((range.start, placed))
    }
}

impl Placed {
    /// Start of the copy of the file that an address lies in; `None` if what is mapped there is not this file.
    pub(super) fn start(&self, address: u64, image: &Image) -> Option<u64> {
        let copies = self.copies.get_or_init(|| copies(&self.ranges, image));
        let copy = copies.iter().find(|copy| copy.range.contains(&address))?;
        copy.sound.then_some(copy.range.start)
    }
}

fn copies(ranges: &[Range<u64>], image: &Image) -> Vec<Copy> {
    let mut copies: Vec<Copy> = Vec::new();
    for range in ranges {
        match copies.last_mut() {
            Some(copy) if range.end.saturating_sub(copy.range.start) <= image.extent() => {
                copy.range.end = copy.range.end.max(range.end);
            }
            _ => copies.push(Copy { range: range.clone(), sound: false }),
        }
    }
    copies.iter_mut().for_each(|copy| copy.sound = image.fits(copy.range.end.saturating_sub(copy.range.start)));
    copies
}
