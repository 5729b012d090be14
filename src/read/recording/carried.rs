//! Losses whose record a selection refuses.

use crate::base::units::Lost;
use crate::kernel::event::Record;
use std::collections::HashMap;

/// Losses before records that were refused: each goes to the next record of its buffer and CPU that is handed out.
#[derive(Clone, Debug, Default)]
pub(super) struct CarriedLosses {
    /// By source and CPU.
    pending: HashMap<(usize, u32), Lost>,
    /// True for events that come later, while the losses before them are not all known.
    is_fork: bool,
    /// In a fork, by source and CPU: true if a record was handed out, to whose first an earlier loss may have belonged.
    handed_out: Vec<Vec<bool>>,
}

impl CarriedLosses {
    pub(super) fn fork() -> Self {
        CarriedLosses { is_fork: true, ..CarriedLosses::default() }
    }

    /// Keeps the loss before a record that is refused.
    #[inline(always)]
    pub(super) fn refuse(&mut self, record: &Record<'_>) {
        if record.lost != Lost::None {
            self.keep((record.buffer, record.cpu.0), record.lost);
        }
    }

    #[cold]
    fn keep(&mut self, stream: (usize, u32), lost: Lost) {
        let pending = self.pending.entry(stream).or_default();
        *pending = pending.plus(lost);
    }

    /// The loss before a record that is handed out: its own, and those of the refused ones before it.
    #[inline]
    pub(super) fn hand_out(&mut self, record: &Record<'_>) -> Lost {
        if self.is_fork {
            self.note(record.buffer, record.cpu.0 as usize & 0xffff);
        }
        match self.pending.is_empty() {
            true => record.lost,
            false => self.pending.remove(&(record.buffer, record.cpu.0)).unwrap_or_default().plus(record.lost),
        }
    }

    fn note(&mut self, source: usize, cpu: usize) {
        if self.handed_out.len() <= source {
            self.handed_out.resize_with(source + 1, Vec::new);
        }
        let cpus = &mut self.handed_out[source];
        if cpus.len() <= cpu {
            cpus.resize(cpu + 1, false);
        }
        cpus[cpu] = true;
    }

    /// True if the fork `later` handed out a record to which a loss known here belongs.
    pub(super) fn belong_to(&self, later: &CarriedLosses) -> bool {
        let of = |source: usize, cpu: u32| later.handed_out.get(source)?.get(cpu as usize & 0xffff);
        self.pending.keys().any(|(source, cpu)| of(*source, *cpu) == Some(&true))
    }

    /// Takes over the losses of the fork `later`.
    pub(super) fn join(&mut self, later: &mut CarriedLosses) {
        later.pending.drain().for_each(|(stream, lost)| self.keep(stream, lost));
    }

    /// The losses that no record that was handed out follows.
    pub(super) fn rest(&mut self) -> impl Iterator<Item = Lost> {
        self.pending.drain().map(|(_, lost)| lost)
    }
}
