//! Enumerators that the kernel left as names in its print formats (`{ I_DIRTY_SYNC, "I_DIRTY_SYNC" }`), because no
//! `TRACE_DEFINE_ENUM()` (`include/trace/stages/stage1_struct_define.h`) has them replaced: their values stand in the
//! kernel's BTF.

use super::Btf;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Names and what they stand for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Enumerators(BTreeMap<Box<str>, i64>);

impl Enumerators {
    /// The names in these print formats (or whole `format` files): what begins with a capital letter in the values of
    /// `__print_symbolic()` and `__print_flags()`.
    pub fn wanted<'a>(formats: impl IntoIterator<Item = &'a str>) -> BTreeSet<&'a str> {
        let mut wanted = BTreeSet::new();
        for format in formats {
            let from = format.find("print fmt:").unwrap_or(0);
            // The text behind each `{` and before the next comma.
            let values = format[from..].split('{').skip(1).filter_map(|rest| rest.split(',').next());
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            for value in values.filter(|value| value.bytes().any(|b| b.is_ascii_uppercase())) {
                let words =
                    value.split(|c| !is_name(c)).filter(|word| word.starts_with(|c: char| c.is_ascii_uppercase()));
                wanted.extend(words);
            }
        }
        wanted
    }

    /// Takes out of `wanted` what the types tell the value of. Where several enumerations have a name, the one counts that
    /// has more of the others.
    pub fn find(wanted: &mut BTreeSet<&str>, btf: &Btf) -> Self {
        let mut found: BTreeMap<Box<str>, (usize, i64)> = BTreeMap::new();
        for id in btf.own() {
            let of = btf.get(id);
            let together = of.enumerators().filter(|(name, _)| wanted.contains(name)).count();
            if together == 0 {
                continue;
            }
            for (name, value) in of.enumerators().filter(|(name, _)| wanted.contains(name)) {
                let best = found.entry(name.into()).or_insert((together, value));
                if best.0 < together {
                    *best = (together, value);
                }
            }
        }
        wanted.retain(|name| !found.contains_key(*name));
        Enumerators(found.into_iter().map(|(name, (_, value))| (name, value)).collect())
    }

    /// Adds others.
    pub fn extend(&mut self, others: Enumerators) {
        self.0.extend(others.0);
    }

    /// What `name` stands for; unsigned values of 64 bits as the signed number of the same bits.
    pub fn get(&self, name: &str) -> Option<i64> {
        self.0.get(name).copied()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Lines `NAME VALUE`, as trace files of ours have them.
    pub fn to_text(&self) -> String {
        self.0.iter().fold(String::new(), |mut text, (name, value)| {
            let _ = writeln!(text, "{name} {value}"); // a String takes everything
            text
        })
    }

    /// Reads [`Self::to_text`]; lines that are none are left out.
    pub fn parse(text: &str) -> Self {
        let pair = |line: &str| line.split_once(' ').and_then(|(name, value)| Some((name.into(), value.parse().ok()?)));
        Enumerators(text.lines().filter_map(pair).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_values_only() {
        let format = r#"name: x
print fmt: "{A} %s %s", __print_flags(REC->f, "|", {(unsigned long)(1 << MINE), "NOT_THIS"}, { 0x2, "TWO" }), __print_symbolic(REC->s, {  OTHER_ONE , "{y}" })"#;
        let wanted = Enumerators::wanted([format]);
        assert_eq!(wanted.into_iter().collect::<Vec<_>>(), ["A", "MINE", "OTHER_ONE"]);
    }

    #[test]
    fn text_comes_back() {
        let some = Enumerators([("A".into(), 1), ("MINUS".into(), -2), ("Z_Z".into(), 1 << 40)].into());
        assert_eq!(some.to_text(), "A 1\nMINUS -2\nZ_Z 1099511627776\n");
        assert_eq!(Enumerators::parse(&some.to_text()), some);
        assert_eq!(Enumerators::parse("A 1\nB\n\nC x\nMINUS -2\0").to_text(), "A 1\n");
    }
}
