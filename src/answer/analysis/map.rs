//! The hash map of the analyses.

use std::collections::HashMap;

/// A hash map whose hashes cost little: analyses look up a task for nearly every event. Keys come from untrusted
/// files; the hashes are seeded, so that keys cannot be chosen to collide.
pub(crate) type Map<K, V> = HashMap<K, V, foldhash::fast::RandomState>;
