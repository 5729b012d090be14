//! One type.

use super::kind::{Int, Kind, number};
use super::walk::TYPE;
use super::{Btf, Parameter};

/// How many typedefs, qualifiers or arrays deep a type may be: kernels have a handful, a damaged file may have a ring.
const DEPTH: usize = 64;

/// A type of a file; cheap to copy.
#[derive(Clone, Copy, Debug)]
pub struct Type<'a> {
    pub(super) btf: &'a Btf,
    pub(super) id: u32,
}

impl<'a> Type<'a> {
    /// Its number.
    pub fn id(self) -> u32 {
        self.id
    }

    /// Word `nth` of it: name, info, size or type, and those that its kind adds.
    pub(super) fn word(self, nth: usize) -> Option<u32> {
        let (btf, at) = self.btf.find(self.id)?;
        btf.word(at + 4 * nth)
    }

    /// Its name: empty if it has none.
    pub fn name(self) -> &'a str {
        self.word(0).map_or("", |offset| self.btf.name(offset))
    }

    /// What it is.
    pub fn kind(self) -> Kind {
        let Some(info) = self.word(1) else { return Kind::Void };
        let flag = info >> 31 != 0;
        match (info >> 24 & 0x1f) as u8 {
            number::INT => Kind::Int(Int::from_word(self.word(TYPE / 4).unwrap_or(0))),
            number::POINTER => Kind::Pointer,
            number::ARRAY => Kind::Array(self.word(TYPE / 4 + 2).unwrap_or(0)),
            number::STRUCT => Kind::Struct,
            number::UNION => Kind::Union,
            number::ENUM => Kind::Enum { signed: flag },
            number::ENUM64 => Kind::Enum64 { signed: flag },
            number::FORWARD => Kind::Forward { union: flag },
            number::TYPEDEF => Kind::Typedef,
            number::VOLATILE => Kind::Volatile,
            number::CONST => Kind::Const,
            number::RESTRICT => Kind::Restrict,
            number::FUNCTION => Kind::Function,
            number::PROTOTYPE => Kind::Prototype,
            number::VARIABLE => Kind::Variable,
            number::DATA_SECTION => Kind::DataSection,
            number::FLOAT => Kind::Float,
            number::DECL_TAG => Kind::DeclTag,
            number::TYPE_TAG => Kind::TypeTag,
            _ => Kind::Void,
        }
    }

    /// The type that it points to, stands for, qualifies, consists of (an array) or returns (a prototype).
    pub fn target(self) -> Type<'a> {
        let word = match self.kind() {
            Kind::Array(_) => self.word(TYPE / 4),
            Kind::Int(_) | Kind::Struct | Kind::Union | Kind::Enum { .. } | Kind::Enum64 { .. } | Kind::Float => None,
            _ => self.word(2),
        };
        self.btf.get(word.unwrap_or(0))
    }

    /// What it is behind typedefs, qualifiers and tags.
    pub fn resolved(self) -> Type<'a> {
        let mut of = self;
        for _ in 0..DEPTH {
            match of.kind() {
                Kind::Typedef | Kind::Volatile | Kind::Const | Kind::Restrict | Kind::TypeTag => of = of.target(),
                _ => return of,
            }
        }
        self.btf.get(0)
    }

    /// How many bytes it takes, of an integer, floating-point number, enumeration, structure or union; `None` for all
    /// else. Typedefs and qualifiers are seen through.
    pub fn size(self) -> Option<u32> {
        let of = self.resolved();
        match of.kind() {
            Kind::Int(_) | Kind::Struct | Kind::Union | Kind::Enum { .. } | Kind::Enum64 { .. } | Kind::Float => {
                of.word(2)
            }
            _ => None,
        }
    }

    /// The names and values of an enumeration; none of any other type. Unsigned values of 64 bits come as the signed number
    /// of the same bits.
    pub fn enumerators(self) -> impl ExactSizeIterator<Item = (&'a str, i64)> {
        let kind = self.kind();
        let (count, words) = match kind {
            Kind::Enum { .. } => (self.word(1).unwrap_or(0) & 0xffff, 2),
            Kind::Enum64 { .. } => (self.word(1).unwrap_or(0) & 0xffff, 3),
            _ => (0, 0),
        };
        (0..count as usize).map(move |nth| {
            let word = |at: usize| self.word(TYPE / 4 + words * nth + at).unwrap_or(0);
            let value = match kind {
                Kind::Enum { signed: true } => i64::from(word(1) as i32),
                Kind::Enum { signed: false } => i64::from(word(1)),
                _ => (u64::from(word(2)) << 32 | u64::from(word(1))) as i64,
            };
            (self.btf.name(word(0)), value)
        })
    }

    /// The parameters of a prototype; none of any other type.
    pub fn parameters(self) -> impl ExactSizeIterator<Item = Parameter<'a>> {
        let count = match self.kind() {
            Kind::Prototype => self.word(1).unwrap_or(0) & 0xffff,
            _ => 0,
        };
        (0..count as usize).map(move |nth| {
            let words = [self.word(TYPE / 4 + 2 * nth), self.word(TYPE / 4 + 2 * nth + 1)];
            let [name, of] = words.map(|word| word.unwrap_or(0));
            Parameter { name: self.btf.name(name), of: self.btf.get(of) }
        })
    }
}
