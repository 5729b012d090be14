//! The arguments of each call, by its name.

use super::kind::ValueKind;
use super::machine::Dialect;
use super::result::ResultKind;
use std::collections::HashMap;

/// A call's arguments and result.
#[derive(Clone, Debug, Default)]
pub(super) struct Signature {
    /// Name and kind of each argument.
    pub(super) arguments: Vec<(&'static str, ValueKind)>,
    /// Notation of the result.
    pub(super) result: ResultKind,
}

/// A line per call: `NAME ARGUMENT:KIND... [=RESULT]`, with the names that the kernel's formats have.
const TABLE: &str = include_str!("signatures.txt");

/// The signatures of an architecture.
#[derive(Clone, Debug)]
pub(super) struct Signatures(HashMap<&'static str, Signature>);

impl Signatures {
    pub(super) fn new(dialect: Dialect) -> Self {
        Signatures(TABLE.lines().filter_map(|line| parse(line, dialect)).collect())
    }

    /// The signature of the call `name`. Calls with wider files or times on 32 bits share those of 64 bits.
    pub(super) fn get(&self, name: &str) -> Option<&Signature> {
        let wider =
            || name.strip_suffix("_time64").or_else(|| name.strip_suffix("64")).or_else(|| name.strip_suffix('2'));
        self.0.get(name).or_else(|| self.0.get(wider()?))
    }

    #[cfg(test)]
    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.0.keys().copied()
    }
}

fn parse(line: &'static str, dialect: Dialect) -> Option<(&'static str, Signature)> {
    let mut words = line.split(' ');
    let name = words.next().filter(|name| !name.is_empty())?;
    let mut signature = Signature::default();
    for word in words {
        match word.split_once(':') {
            Some((argument, kind)) => signature.arguments.push((argument, ValueKind::of(kind, dialect)?)),
            None if word == "=ptr" => signature.result = ResultKind::Pointer,
            None if word == "=mode" => signature.result = ResultKind::Mode,
            None => return None,
        }
    }
    Some((name, signature))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_understood() {
        for dialect in [Dialect::Generic, Dialect::X86, Dialect::Arm, Dialect::Powerpc] {
            for line in TABLE.lines() {
                assert!(parse(line, dialect).is_some(), "{line}");
            }
            assert_eq!(Signatures::new(dialect).names().count(), TABLE.lines().count(), "a name twice");
        }
    }
}
