//! Error numbers as names, and how often each came.

use serde_json::{Map, Value, json};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The name of an error number (include/uapi/asm-generic/errno.h, include/linux/errno.h).
pub(super) fn name(errno: i32) -> String {
    syscalls::Errno::new(errno).name().map_or_else(|| format!("error {errno}"), str::to_owned)
}

/// `EAGAIN 12, EINTR 1`: the most frequent first.
pub(super) fn list(errors: &BTreeMap<i32, u64>) -> String {
    let mut errors: Vec<(i32, u64)> = errors.iter().map(|(errno, count)| (*errno, *count)).collect();
    errors.sort_by_key(|(errno, count)| (Reverse(*count), *errno));
    let words: Vec<String> = errors.iter().map(|(errno, count)| format!("{} {count}", name(*errno))).collect();
    words.join(", ")
}

/// Numbers by name.
pub(super) fn json(errors: &BTreeMap<i32, u64>) -> Map<String, Value> {
    errors.iter().map(|(errno, count)| (name(*errno), json!(count))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_names_and_the_most_frequent_comes_first() {
        let errors = BTreeMap::from([(2, 5), (11, 9), (512, 5), (4000, 1)]);
        assert_eq!(list(&errors), "EAGAIN 9, ENOENT 5, ERESTARTSYS 5, error 4000 1");
        assert_eq!(json(&errors)["EAGAIN"], 9);
    }
}
