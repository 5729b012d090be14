//! The hash map of the analyses.

use std::collections::HashMap;

/// A hash map whose hashes cost little: analyses look up a task for nearly every event. Keys come from files that anybody may
/// have made; the hashes are seeded, so that nobody can choose keys that collide.
pub(super) type Map<K, V> = HashMap<K, V, foldhash::fast::RandomState>;
