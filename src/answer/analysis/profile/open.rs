//! Activities that have begun and not ended.

use super::stacks::StackId;
use crate::base::units::CpuId;
use std::collections::HashMap;

/// Whose, of what pair, with which value to match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct IntervalKey {
    /// The task's number.
    pub(super) task: usize,
    /// The pair's number.
    pub(super) pair: usize,
    pub(super) matching: u64,
}

/// One beginning.
#[derive(Clone, Debug)]
pub(super) struct Beginning {
    number: u64,
    pub(super) at: u64,
    cpu: CpuId,
    pinned: bool,
    /// The value that it is counted under.
    pub(super) value: u64,
    /// Its stack trace, and when that came.
    pub(super) stack: Option<(StackId, u64)>,
    /// The one before of the same key, which ends later.
    older: Option<Box<Beginning>>,
    depth: u32,
}

/// A reference to a beginning, which may have ended since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BeginningRef {
    key: IntervalKey,
    number: u64,
}

/// All of them. The last to begin ends first.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenInterval {
    open: HashMap<IntervalKey, Beginning>,
    /// Counts beginnings and losses.
    now: u64,
    /// Time of the latest loss: on any CPU, and by CPU.
    lost: u64,
    lost_on: HashMap<CpuId, u64>,
}

/// No more of one key than this; functions nest 50 deep. Of what begins again and again without an end, most is forgotten.
const DEPTH: u32 = 1024;

impl OpenInterval {
    pub(super) fn begin(&mut self, key: IntervalKey, value: u64, at: u64, cpu: CpuId, pinned: bool) -> BeginningRef {
        self.now += 1;
        let number = self.now;
        let older = self.open.remove(&key).filter(|older| older.depth < DEPTH);
        let depth = older.as_ref().map_or(0, |older| older.depth + 1);
        let older = older.map(Box::new);
        self.open.insert(key, Beginning { number, at, cpu, pinned, value, stack: None, older, depth });
        BeginningRef { key, number }
    }

    /// Takes the latest of that key.
    pub(super) fn end(&mut self, key: IntervalKey) -> Option<Beginning> {
        let mut found = self.open.remove(&key)?;
        while !self.counts(&found) {
            found = *found.older?;
        }
        if let Some(older) = found.older.take() {
            self.open.insert(key, *older);
        }
        Some(found)
    }

    /// It, if it still counts.
    pub(super) fn get(&mut self, of: BeginningRef) -> Option<&mut Beginning> {
        let found = self.open.get(&of.key)?;
        if found.number != of.number || !self.counts(found) {
            return None;
        }
        self.open.get_mut(&of.key)
    }

    /// Events of `cpu` were lost: what began there may have ended unseen, and what may have moved there too.
    pub(super) fn lose(&mut self, cpu: CpuId) {
        self.now += 1;
        self.lost = self.now;
        self.lost_on.insert(cpu, self.now);
    }

    fn counts(&self, beginning: &Beginning) -> bool {
        let lost = if beginning.pinned { self.lost_on.get(&beginning.cpu).copied().unwrap_or(0) } else { self.lost };
        beginning.number > lost
    }
}
