//! The times in which events of a CPU were lost.

use super::Analysis;
use crate::base::units::CpuId;
use crate::kernel::event::{Lost, Record};
use std::collections::BTreeMap;

/// Finds the [`LossSpells`] of one buffer's records; an [`Analysis`].
#[derive(Clone, Copy, Debug)]
pub struct LossSpellFinder;

/// The times in which events of CPUs were lost, each from the CPU's last event before to the one that tells of the loss: others'
/// events between those times may lack what belongs to them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LossSpells(BTreeMap<CpuId, Vec<(u64, u64)>>);

/// The losses of a CPU, as far as some of its records tell.
#[derive(Clone, Debug)]
pub struct CpuSpells {
    first: u64,
    /// True if events were lost before the first of them.
    begins_lossy: bool,
    last: u64,
    spells: Vec<(u64, u64)>,
}

impl LossSpells {
    /// True if events of CPUs other than `cpu` were lost about this time.
    pub fn cover(&self, at: u64, cpu: CpuId) -> bool {
        self.0.iter().filter(|(of, _)| **of != cpu).any(|(_, spells)| {
            let after = spells.partition_point(|(_, end)| *end <= at);
            spells.get(after).is_some_and(|(begin, _)| *begin < at)
        })
    }
}

impl Analysis for LossSpellFinder {
    type Part = BTreeMap<CpuId, CpuSpells>;
    type Finding = LossSpells;

    fn begin(&self) -> Self::Part {
        BTreeMap::new()
    }

    fn fork(&self, _: Option<Self::Part>) -> Self::Part {
        BTreeMap::new()
    }

    #[inline]
    fn record<'n>(&self, record: &Record<'_>, _: impl FnOnce() -> Option<Record<'n>>, part: &mut Self::Part) {
        let (at, is_lossy) = (record.timestamp.0, record.lost != Lost::None);
        let new = || CpuSpells { first: at, begins_lossy: is_lossy, last: at, spells: Vec::new() };
        let seen = part.entry(record.cpu).or_insert_with(new);
        if is_lossy && seen.first < at {
            seen.spells.push((seen.last, at));
        }
        seen.last = at;
    }

    fn merge(&self, known: &mut Self::Part, later: &mut Self::Part) {
        for (cpu, mut later) in std::mem::take(later) {
            match known.get_mut(&cpu) {
                Some(known) => {
                    if later.begins_lossy {
                        known.spells.push((known.last, later.first));
                    }
                    known.spells.append(&mut later.spells);
                    known.last = later.last;
                }
                None => drop(known.insert(cpu, later)),
            }
        }
    }

    fn finish(self, known: Self::Part) -> LossSpells {
        let of_cpu = |mut seen: CpuSpells| {
            if seen.begins_lossy {
                // What came before the first event may be any time before.
                seen.spells.insert(0, (0, seen.first));
            }
            seen.spells
        };
        LossSpells(
            known.into_iter().map(|(cpu, seen)| (cpu, of_cpu(seen))).filter(|(_, spells)| !spells.is_empty()).collect(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::units::Timestamp;

    /// The same in one part as in several.
    #[test]
    fn spells_are_from_the_event_before_to_the_one_that_tells() {
        let events = [(0, 10, false), (1, 11, true), (0, 20, false), (1, 25, false), (0, 40, true), (1, 50, true)];
        let find = |ends: &[usize]| {
            let (finder, mut known, mut at) = (LossSpellFinder, LossSpellFinder.begin(), 0);
            for end in ends {
                let mut part = finder.fork(None);
                for (cpu, time, is_lossy) in &events[at..*end] {
                    let lost = if *is_lossy { Lost::Count(3) } else { Lost::None };
                    let record = Record { timestamp: Timestamp(*time), cpu: CpuId(*cpu), buffer: 0, lost, data: &[] };
                    finder.record(&record, || None, &mut part);
                }
                finder.merge(&mut known, &mut part);
                at = *end;
            }
            finder.finish(known)
        };
        let whole = find(&[6]);
        assert_eq!(whole.0, [(CpuId(0), vec![(20, 40)]), (CpuId(1), vec![(0, 11), (25, 50)])].into());
        for cut in 1..5 {
            assert_eq!(find(&[cut, 6]), whole, "{cut}");
            assert_eq!(find(&[cut, cut + 1, 6]), whole, "{cut}");
        }
        let covered = |cpu: u32| (0..60).filter(|at| whole.cover(*at, CpuId(cpu))).collect::<Vec<u64>>();
        assert_eq!(covered(1), (21..40).collect::<Vec<_>>());
        assert_eq!(covered(0), (1..11).chain(26..50).collect::<Vec<_>>());
    }
}
