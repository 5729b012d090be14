//! Enumerators that the kernel left as names in its print formats (`{ I_DIRTY_SYNC, "I_DIRTY_SYNC" }`), because no
//! `TRACE_DEFINE_ENUM()` (`include/trace/stages/stage1_struct_define.h`) has them replaced: their values stand in the
//! kernel's BTF.
//!
//! The enumerations of a file where it lies, and nothing else of it: for who wants some of their values, and soon.

use super::Error;
use super::parse::{BtfHeader, TypeWalk, kind_and_count, name_in};
use super::types::number;
use crate::base::abi::Abi;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;

const PRINT_FMT: &str = "print fmt:";

/// Rest of `text` after its closing quote; `text` begins after the opening one.
fn after_text(text: &str) -> Option<&str> {
    let mut from = 0usize;
    loop {
        let at = from.checked_add(memchr::memchr2(b'"', b'\\', text.as_bytes().get(from..)?)?)?;
        let escape = text.as_bytes().get(at) == Some(&b'\\');
        from = at.checked_add(if escape { 2 } else { 1 })?;
        if !escape {
            return text.get(from..);
        }
    }
}

/// Names and what they stand for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Enumerators(BTreeMap<Box<str>, i64>);

impl Enumerators {
    /// The names in these print formats (or whole `format` files): what begins with a capital letter outside of texts, as in
    /// the values of `__print_symbolic()`, comparisons and indices of arrays.
    pub fn wanted<'a>(formats: impl IntoIterator<Item = &'a str>) -> BTreeSet<&'a str> {
        let mut wanted = BTreeSet::new();
        let print_fmt = memchr::memmem::Finder::new(PRINT_FMT);
        for format in formats {
            let from = print_fmt.find(format.as_bytes()).map_or(0, |at| at.saturating_add(PRINT_FMT.len()));
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let mut rest = format.get(from..).unwrap_or_default();
            loop {
                let (code, text) = rest.split_once('"').unwrap_or((rest, ""));
                let words =
                    code.split(|c| !is_name(c)).filter(|word| word.starts_with(|c: char| c.is_ascii_uppercase()));
                wanted.extend(words.filter(|word| *word != "REC"));
                let Some(after) = after_text(text) else { break };
                rest = after;
            }
        }
        wanted
    }

    /// Takes out of `wanted` what the types of the file `types` tell the value of, a kernel's or those of a module on top of
    /// its `kernel`'s. Where several enumerations have a name, the one counts that has more of the others.
    ///
    /// # Errors
    /// As [`Btf::parse`](super::Btf::parse) and [`Btf::parse_module`](super::Btf::parse_module).
    pub fn find(wanted: &mut BTreeSet<&str>, types: &[u8], kernel: Option<&[u8]>) -> Result<Self, Error> {
        // A kernel has some 20,000 enumerators, each of which is searched for.
        let names: HashMap<&[u8], &str> = wanted.iter().map(|name| (name.as_bytes(), *name)).collect();
        let mut found: BTreeMap<Box<str>, (usize, i64)> = BTreeMap::new();
        let mut here = Vec::new();
        let mut walk = Enumerations::of(types, kernel)?;
        while let Some(enumeration) = walk.next()? {
            here.clear();
            here.extend(enumeration.filter_map(|(name, value)| Some((*names.get(name)?, value))));
            for (name, value) in &here {
                let best = found.entry((*name).into()).or_insert((here.len(), *value));
                if best.0 < here.len() {
                    *best = (here.len(), *value);
                }
            }
        }
        wanted.retain(|name| !found.contains_key(*name));
        Ok(Enumerators(found.into_iter().map(|(name, (_, value))| (name, value)).collect()))
    }

    /// Adds others.
    pub fn extend(&mut self, others: Enumerators) {
        self.0.extend(others.0);
    }

    /// The value of `name`; unsigned values of 64 bits as the signed number of the same bits.
    pub fn get(&self, name: &str) -> Option<i64> {
        self.0.get(name).copied()
    }

    /// True if there are none.
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

/// Goes through a file's enumerations.
struct Enumerations<'a> {
    abi: Abi,
    walk: TypeWalk<'a>,
    names: EnumNames<'a>,
}

/// The names of a module's types lie after those of its kernel's.
#[derive(Clone, Copy)]
struct EnumNames<'a> {
    kernel: &'a [u8],
    own: &'a [u8],
}

impl<'a> EnumNames<'a> {
    fn get(self, offset: u32) -> &'a [u8] {
        match offset.checked_sub(self.kernel.len() as u32) {
            Some(offset) => name_in(self.own, offset),
            None => name_in(self.kernel, offset),
        }
    }
}

impl<'a> Enumerations<'a> {
    /// The enumerations of `types`, the file of a kernel or of a module on top of `kernel`.
    fn of(types: &'a [u8], kernel: Option<&'a [u8]>) -> Result<Self, Error> {
        let header = BtfHeader::read(types)?;
        let below = kernel.map(|kernel| Ok((kernel, BtfHeader::read(kernel)?))).transpose()?;
        let names = match below {
            Some((_, below)) if below.endian != header.endian => return Err(Error::ByteOrder),
            Some((kernel, below)) => kernel.get(below.names).unwrap_or_default(),
            None => &[],
        };
        let names = EnumNames { kernel: names, own: types.get(header.names.clone()).unwrap_or_default() };
        // The numbers of a module's types do not matter to its enumerators.
        Ok(Enumerations { abi: header.abi(), walk: TypeWalk::new(types, header.abi(), header.types, 1), names })
    }

    /// The names and values of the next one; an unsigned value of 64 bits as the signed number of the same bits.
    fn next(&mut self) -> Result<Option<impl Iterator<Item = (&'a [u8], i64)> + use<'a>>, Error> {
        let (abi, names) = (self.abi, self.names);
        for found in &mut self.walk {
            let found = found?;
            let (size, signed) = match kind_and_count(found.info).0 {
                number::ENUM => (8, found.info >> 31 != 0),
                number::ENUM64 => (12, true),
                _ => continue,
            };
            let enumerator = move |bytes: &'a [u8]| {
                let (words, _) = bytes.as_chunks::<4>();
                let word = |nth: usize| words.get(nth).map_or(0, |word| abi.u32(*word));
                let value = match (size, signed) {
                    (8, true) => i64::from(word(1) as i32),
                    (8, false) => i64::from(word(1)),
                    _ => (u64::from(word(2)) << 32 | u64::from(word(1))) as i64,
                };
                (names.get(word(0)), value)
            };
            return Ok(Some(found.tail.chunks_exact(size).map(enumerator)));
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::btf::{Btf, TypeKind};

    #[test]
    fn names_are_found_outside_of_texts() {
        let format = r#"name: x
print fmt: "{A} %s %s", __print_flags(REC->f, "|", {(unsigned long)(1 << MINE), "NOT_THIS"}, { 0x2, "TWO" }), __print_symbolic(REC->s, {  OTHER_ONE , "{y\" NOT}" }), REC->rate[BAND] == READY"#;
        let wanted = Enumerators::wanted([format]);
        assert_eq!(wanted.into_iter().collect::<Vec<_>>(), ["BAND", "MINE", "OTHER_ONE", "READY"]);
    }

    /// Every enumerator of the running kernel has the value that its whole types tell.
    #[test]
    fn they_are_those_of_the_whole_types() {
        let Ok(data) = std::fs::read("/sys/kernel/btf/vmlinux") else {
            let _ = std::io::Write::write_all(&mut std::io::stderr(), b"not run: no /sys/kernel/btf/vmlinux\n");
            return;
        };
        let btf = Btf::parse(&*data).unwrap();
        let mut walk = Enumerations::of(&data, None).unwrap();
        for id in btf.own().filter(|id| matches!(btf.get(*id).kind(), TypeKind::Enum { .. } | TypeKind::Enum64 { .. }))
        {
            let seen = walk.next().unwrap().unwrap();
            assert!(seen.eq(btf.get(id).enumerators().map(|(name, value)| (name.as_bytes(), value))), "type {id}");
        }
        assert!(walk.next().unwrap().is_none());
        let mut wanted = BTreeSet::from(["TASK_COMM_LEN", "ZONE_NORMAL", "NOT_A_NAME"]);
        let found = Enumerators::find(&mut wanted, &data, None).unwrap();
        assert!(found.get("ZONE_NORMAL").is_some() && found.get("NOT_A_NAME").is_none());
        assert!(wanted.contains("NOT_A_NAME") && !wanted.contains("ZONE_NORMAL"));
    }

    /// A module's file with one enumeration, whose first name is its kernel's.
    #[test]
    fn a_modules_names_go_on_where_the_kernels_end() {
        let file = |types: &[u32], names: &[u8]| {
            let types: Vec<u8> = types.iter().flat_map(|word| word.to_le_bytes()).collect();
            let sizes = [24, 0, types.len() as u32, types.len() as u32, names.len() as u32];
            let head = sizes.iter().flat_map(|word| word.to_le_bytes());
            [0x9f, 0xeb, 1, 0].into_iter().chain(head).chain(types).chain(names.iter().copied()).collect::<Vec<u8>>()
        };
        const SIGNED_ENUM_OF_TWO: u32 = 1 << 31 | 6 << 24 | 2;
        const ENUM64_OF_ONE: u32 = 19 << 24 | 1;
        let kernel = file(&[0, ENUM64_OF_ONE, 8, 1, 2, 1], b"\0OLD\0");
        let module = file(&[0, SIGNED_ENUM_OF_TWO, 4, 1, 7, 6, -2i32 as u32], b"\0NEW\0");
        let mut wanted = BTreeSet::from(["OLD", "NEW", "NONE"]);
        let found = Enumerators::find(&mut wanted.clone(), &kernel, None).unwrap();
        assert_eq!(found.to_text(), "OLD 4294967298\n");
        let found = Enumerators::find(&mut wanted, &module, Some(&kernel)).unwrap();
        assert_eq!((found.to_text().as_str(), wanted), ("NEW -2\nOLD 7\n", BTreeSet::from(["NONE"])));
    }

    #[test]
    fn text_comes_back() {
        let some = Enumerators([("A".into(), 1), ("MINUS".into(), -2), ("Z_Z".into(), 1 << 40)].into());
        assert_eq!(some.to_text(), "A 1\nMINUS -2\nZ_Z 1099511627776\n");
        assert_eq!(Enumerators::parse(&some.to_text()), some);
        assert_eq!(Enumerators::parse("A 1\nB\n\nC x\nMINUS -2\0").to_text(), "A 1\n");
    }
}
