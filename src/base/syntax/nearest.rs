//! The name that was probably meant.

/// Up to three of `candidates` nearest to `name`, best first; none if nothing is near.
///
/// Near means: equal but for case, or at most a third of the letters (one at least) put in, left out, replaced or
/// swapped with their neighbour, or, after those, a name that contains the whole of `name` (from four letters on). Nearest is
/// `name` with a number behind, as `pread64` of `pread`.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let limit = (name.chars().count() / 3).max(1);
    let lower = name.to_lowercase();
    let mut found: Vec<(usize, &str)> = candidates
        .into_iter()
        .filter_map(|candidate| {
            let other = candidate.to_lowercase();
            let is_number = |rest: &str| rest.bytes().all(|byte| byte.is_ascii_digit());
            let with_number = lower.len() >= 4 && other.strip_prefix(&lower).is_some_and(is_number);
            let distance = with_number.then_some(0).or_else(|| distance(&lower, &other, limit));
            let contains = (lower.len() >= 4 && other.contains(&lower)).then_some(limit + 1);
            distance.or(contains).map(|d| (d, candidate))
        })
        .collect();
    found.sort();
    found.dedup();
    found.truncate(3);
    found.into_iter().map(|(_, candidate)| candidate).collect()
}

/// A sentence for a hint: `did you mean `a`, `b` or `c`?`; `None` if nothing is near.
pub fn did_you_mean<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    match nearest(name, candidates).as_slice() {
        [] => None,
        [a] => Some(format!("did you mean `{a}`?")),
        [a, b] => Some(format!("did you mean `{a}` or `{b}`?")),
        [a, b, c, ..] => Some(format!("did you mean `{a}`, `{b}` or `{c}`?")),
    }
}

/// Edit distance with swaps of neighbours (optimal string alignment), if it is at most `limit`.
fn distance(a: &str, b: &str, limit: usize) -> Option<usize> {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > limit {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut next = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = row[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            next[j] = replaced.min(row[j] + 1).min(next[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                next[j] = next[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut row, next);
    }
    row.last().copied().filter(|&d| d <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names() {
        let fields = ["prev_pid", "prev_prio", "next_pid", "next_comm", "prev_comm", "prev_state"];
        assert_eq!(nearest("nextpid", fields), ["next_pid"]);
        assert_eq!(nearest("prev_pdi", fields), ["prev_pid", "prev_prio"]);
        assert_eq!(nearest("NEXT_COMM", fields), ["next_comm"]);
        assert_eq!(nearest("comm", fields), ["next_comm", "prev_comm"]);
        let events = ["btrfs_finish_ordered_extent", "btrfs_ordered_extent_mark_finished", "io_shed", "sched"];
        assert_eq!(nearest("shed", events)[0], "sched");
        assert!(nearest("bytes_alloc", fields).is_empty());
        assert!(nearest("", fields).is_empty());
        assert_eq!(did_you_mean("nextpid", fields).unwrap(), "did you mean `next_pid`?");
        assert_eq!(did_you_mean("xyz", fields), None);
    }

    #[test]
    fn distances() {
        assert_eq!(distance("abc", "abc", 0), Some(0));
        assert_eq!(distance("abc", "acb", 1), Some(1));
        assert_eq!(distance("abc", "abxc", 1), Some(1));
        assert_eq!(distance("abc", "xyz", 2), None);
        assert_eq!(distance("", "ab", 2), Some(2));
    }
}
