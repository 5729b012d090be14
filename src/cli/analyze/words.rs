//! Words, names and numbers as answers have them.

use rtrace::internal::table::AnswerCell;
use rtrace::symbols::Kallsyms;
use std::cmp::Reverse;
use std::collections::BTreeMap;

pub(in crate::cli) use rtrace::units::counted as many;

/// `part` of `whole` in per cent with one decimal.
pub(in crate::cli) fn percent(part: u64, whole: u64) -> String {
    if whole == 0 { "-".to_owned() } else { format!("{:.1}", part as f64 * 100.0 / whole as f64) }
}

/// The counts above 0, as `12 events that ...`: of each a number, a noun and what tells these from others.
pub(in crate::cli) fn left_out(counts: &[(u64, &str, &str)]) -> Vec<String> {
    let there = counts.iter().filter(|(count, ..)| *count > 0);
    there.map(|(count, noun, which)| format!("{} {which}", many(*count, noun))).collect()
}

/// The sentence on places where events were lost, and on what that does to `things`, of which `censored` went on there.
pub(super) fn losses(losses: u64, censored: u64, thing: &str) -> Option<String> {
    let (places, things) = (many(losses, "place"), many(censored, thing));
    (losses > 0).then(|| format!("events were lost at {places}: {things} that went on there are not counted"))
}

/// The function at `address`; the address itself if it has no name.
pub(in crate::cli) fn function(kallsyms: &Kallsyms, address: u64) -> String {
    match kallsyms.lookup(address) {
        Some(symbol) => String::from_utf8_lossy(symbol.name).into_owned(),
        None => format!("{address:#x}"),
    }
}

/// `name+0x1c`: the place in the function at `address`.
pub(super) fn place(kallsyms: &Kallsyms, address: u64) -> String {
    match kallsyms.lookup(address) {
        Some(symbol) => {
            format!("{}+{:#x}", String::from_utf8_lossy(symbol.name), address.saturating_sub(symbol.address))
        }
        None => format!("{address:#x}"),
    }
}

/// `name+0x10`, or `name` at its beginning: the variable at `address`. Most of the kernel's data is allocated and has no name:
/// what lies further from a symbol than any variable is long is an address.
pub(in crate::cli) fn variable(kallsyms: &Kallsyms, address: u64) -> String {
    const LONGEST: u64 = 64 << 10;
    match kallsyms.lookup(address).map(|symbol| (symbol.name, address.saturating_sub(symbol.address))) {
        Some((name, 0)) => String::from_utf8_lossy(name).into_owned(),
        Some((name, offset)) if offset < LONGEST => format!("{}+{offset:#x}", String::from_utf8_lossy(name)),
        _ => format!("{address:#x}"),
    }
}

/// Error numbers by name (include/uapi/asm-generic/errno.h, include/linux/errno.h), the most frequent first.
pub(super) fn errors(errors: &BTreeMap<i32, u64>) -> AnswerCell {
    let mut errors: Vec<(i32, u64)> = errors.iter().map(|(errno, count)| (*errno, *count)).collect();
    errors.sort_by_key(|(errno, count)| (Reverse(*count), *errno));
    let name = |errno| syscalls::Errno::new(errno).name().map_or_else(|| format!("error {errno}"), str::to_owned);
    AnswerCell::Tally(errors.into_iter().map(|(errno, count)| (name(errno), count)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_names_and_the_most_frequent_comes_first() {
        let counts = BTreeMap::from([(2, 5), (11, 9), (512, 5), (4000, 1)]);
        let named = [("EAGAIN", 9), ("ENOENT", 5), ("ERESTARTSYS", 5), ("error 4000", 1)];
        assert_eq!(errors(&counts), AnswerCell::Tally(named.map(|(name, count)| (name.to_owned(), count)).into()));
    }
}
