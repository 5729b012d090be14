//! Unpacked chunks that are kept, for those who read the same times again and again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The chunks that were unpacked last, of any number of CPUs of one recording.
pub struct KeptChunks {
    /// The most that is kept, in bytes.
    most: usize,
    kept: Mutex<KeptState>,
}

#[derive(Default)]
struct KeptState {
    chunks: HashMap<ChunkPlace, KeptChunk>,
    bytes: usize,
    uses: u64,
}

/// File and offset.
type ChunkPlace = (usize, u64);

/// A chunk, and the moment it was used last.
type KeptChunk = (Arc<Vec<u8>>, u64);

impl KeptChunks {
    /// Keeps up to `most` bytes.
    pub fn new(most: usize) -> Self {
        KeptChunks { most, kept: Mutex::default() }
    }

    /// The most that is kept, in bytes.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// The chunk at an offset of a file.
    pub(super) fn get(&self, place: ChunkPlace) -> Option<Arc<Vec<u8>>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.uses = kept.uses.saturating_add(1);
        let now = kept.uses;
        let (chunk, used) = kept.chunks.get_mut(&place)?;
        *used = now;
        Some(Arc::clone(chunk))
    }

    /// Keeps a chunk in place of those that were not used for longest, unless it is too large.
    pub(super) fn put(&self, place: ChunkPlace, chunk: Vec<u8>) -> Arc<Vec<u8>> {
        let chunk = Arc::new(chunk);
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = &mut *kept;
        while kept.bytes.saturating_add(chunk.len()) > self.most {
            let Some(oldest) = kept.chunks.iter().min_by_key(|(_, (_, used))| *used).map(|(place, _)| *place) else {
                return chunk;
            };
            let gone = kept.chunks.remove(&oldest).map_or(0, |(chunk, _)| chunk.len());
            kept.bytes = kept.bytes.saturating_sub(gone);
        }
        kept.uses = kept.uses.saturating_add(1);
        let before = kept.chunks.insert(place, (Arc::clone(&chunk), kept.uses));
        let replaced = before.map_or(0, |(chunk, _)| chunk.len());
        kept.bytes = kept.bytes.saturating_add(chunk.len()).saturating_sub(replaced);
        chunk
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_last_stays() {
        let kept = KeptChunks::new(10);
        kept.put((0, 1), vec![1; 4]);
        kept.put((0, 2), vec![2; 4]);
        assert_eq!(kept.get((0, 1)).as_deref(), Some(&vec![1; 4]));
        kept.put((1, 1), vec![3; 4]);
        assert_eq!(kept.get((0, 2)), None, "that one was used first");
        assert_eq!(kept.get((0, 1)).as_deref(), Some(&vec![1; 4]));
        assert_eq!(kept.get((1, 1)).as_deref(), Some(&vec![3; 4]));
        kept.put((1, 2), vec![4; 11]);
        assert_eq!((kept.get((1, 2)), kept.get((0, 1))), (None, None), "nothing is kept of what is too large");
    }
}
