//! Compression effort of a recording thread: less when its ring fills up.

use serde::Serialize;
use std::time::Instant;

/// The form of a stored chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PackingEffort {
    /// A frame of the level asked for.
    #[default]
    Full,
    /// A zstd frame of uncompressed blocks: a copy. Ten times as fast, and ten times as large.
    Stored,
}

/// The choices, and the times of their changes.
#[derive(Clone, Debug, Default)]
pub struct Efforts {
    now: PackingEffort,
    changes: Vec<(Instant, PackingEffort)>,
    full: u64,
    stored: u64,
}

/// Changes that are remembered; the counts go on.
const REMEMBERED: usize = 256;

impl Efforts {
    /// Chooses for the next chunk. `waited` bytes were found in a ring of `ring` bytes (0 if that is not known) since
    /// its reader was woken and has not found it empty. The ring is half full then, or fills as fast as it is emptied.
    pub(crate) fn choose(&mut self, waited: usize, ring: usize) -> PackingEffort {
        let effort = Self::of(waited, ring);
        if effort != self.now {
            self.now = effort;
            if self.changes.len() < REMEMBERED {
                self.changes.push((Instant::now(), effort));
            }
        }
        match effort {
            PackingEffort::Full => self.full += 1,
            PackingEffort::Stored => self.stored += 1,
        }
        effort
    }

    /// The choice of [`Efforts::choose`].
    pub(crate) fn of(waited: usize, ring: usize) -> PackingEffort {
        if ring > 0 && waited > ring / 2 { PackingEffort::Stored } else { PackingEffort::Full }
    }

    /// Each change and its time, the first 256; it begins with [`PackingEffort::Full`].
    pub fn changes(&self) -> &[(Instant, PackingEffort)] {
        &self.changes
    }

    /// Chunks that were compressed, and that were only stored.
    pub fn counts(&self) -> (u64, u64) {
        (self.full, self.stored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_that_fills_up_gets_less_effort() {
        let mut efforts = Efforts::default();
        let chosen: Vec<_> = [10, 50, 51, 99, 20].iter().map(|&waited| efforts.choose(waited, 100)).collect();
        use PackingEffort::{Full, Stored};
        assert_eq!(chosen, [Full, Full, Stored, Stored, Full]);
        assert_eq!(efforts.choose(usize::MAX, 0), Full);
        assert_eq!(efforts.counts(), (4, 2));
        assert_eq!(efforts.changes().iter().map(|c| c.1).collect::<Vec<_>>(), [Stored, Full]);
    }
}
