//! Stack traces, each kept once.

use super::times::Times;
use crate::base::abi::Abi;
use std::collections::HashMap;
use std::sync::Arc;

/// Number of a stack trace in [`StackTraces`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct StackId(u32);

/// All stack traces: their words, innermost first.
#[derive(Clone, Debug, Default)]
pub(super) struct StackTraces {
    words: Vec<Arc<[u64]>>,
    numbers: HashMap<Arc<[u64]>, StackId>,
    /// For the one that is searched for.
    scratch: Vec<u64>,
}

/// The stack traces of one event.
pub(super) type StackTimes = HashMap<StackId, Times>;

impl StackTraces {
    /// The number of the trace that these bytes of a record are.
    pub(super) fn number(&mut self, abi: Abi, bytes: &[u8]) -> StackId {
        let long = usize::from(abi.long_size).max(1);
        self.scratch.clear();
        self.scratch.extend(bytes.chunks_exact(long).map(|word| abi.uint(word, 0, long).unwrap_or(0)));
        if let Some(known) = self.numbers.get(self.scratch.as_slice()) {
            return *known;
        }
        let new = StackId(self.words.len() as u32);
        let words: Arc<[u64]> = self.scratch.as_slice().into();
        self.words.push(Arc::clone(&words));
        self.numbers.insert(words, new);
        new
    }

    pub(super) fn words(&self, id: StackId) -> &[u64] {
        self.words.get(id.0 as usize).map_or(&[], |words| words)
    }
}
