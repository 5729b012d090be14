//! The starts of CPUs' chunks, as the file's index tells them: read once for all who search by time.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The place of each stretch of chunks in the file and the time it begins with, uncorrected; both rise.
pub(in crate::file::trace_dat) type ChunkStarts = Vec<(u64, u64)>;

/// The starts of the chunks of all CPUs that were asked for, by where a CPU's data lies; `None` without an index.
#[derive(Default)]
pub(in crate::file::trace_dat) struct StartTables(Mutex<HashMap<(usize, u64, u64), StartTable>>);

type StartTable = Option<Arc<ChunkStarts>>;

impl StartTables {
    /// The starts of a CPU's chunks, whose data lies in this file, from this offset, of this size; `read` if they were not yet.
    pub(in crate::file::trace_dat) fn of(
        &self,
        place: (usize, u64, u64),
        read: impl FnOnce() -> Option<ChunkStarts>,
    ) -> StartTable {
        let mut tables = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tables.entry(place).or_insert_with(|| read().map(Arc::new)).clone()
    }
}
