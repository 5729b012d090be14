//! Types: the kind of each, and the members of structures and unions.

use super::parse::TYPE;
use super::{Btf, Parameter};

/// Limit of typedefs, qualifiers or arrays around a type: kernels have a handful, a damaged file may have a ring.
const DEPTH: usize = 64;

/// A type of a file; cheap to copy.
#[derive(Clone, Copy, Debug)]
pub struct Type<'a> {
    pub(super) btf: &'a Btf,
    pub(super) id: u32,
}

impl<'a> Type<'a> {
    /// Number of the type.
    pub fn id(self) -> u32 {
        self.id
    }

    /// Word `nth` of it: name, info, size or type, and those that its kind adds.
    pub(super) fn word(self, nth: usize) -> Option<u32> {
        let (btf, at) = self.btf.find(self.id)?;
        btf.word(nth.checked_mul(4)?.checked_add(at)?)
    }

    /// Its name: empty if it has none.
    pub fn name(self) -> &'a str {
        self.word(0).map_or("", |offset| self.btf.name(offset))
    }

    /// Kind of the type.
    pub fn kind(self) -> TypeKind {
        let Some(info) = self.word(1) else { return TypeKind::Void };
        let flag = info >> 31 != 0;
        match (info >> 24 & 0x1f) as u8 {
            number::INT => TypeKind::Int(Int::from_word(self.word(TYPE / 4).unwrap_or(0))),
            number::POINTER => TypeKind::Pointer,
            number::ARRAY => TypeKind::Array(self.word(TYPE / 4 + 2).unwrap_or(0)),
            number::STRUCT => TypeKind::Struct,
            number::UNION => TypeKind::Union,
            number::ENUM => TypeKind::Enum { signed: flag },
            number::ENUM64 => TypeKind::Enum64 { signed: flag },
            number::FORWARD => TypeKind::Forward { union: flag },
            number::TYPEDEF => TypeKind::Typedef,
            number::VOLATILE => TypeKind::Volatile,
            number::CONST => TypeKind::Const,
            number::RESTRICT => TypeKind::Restrict,
            number::FUNCTION => TypeKind::Function,
            number::PROTOTYPE => TypeKind::Prototype,
            number::VARIABLE => TypeKind::Variable,
            number::DATA_SECTION => TypeKind::DataSection,
            number::FLOAT => TypeKind::Float,
            number::DECL_TAG => TypeKind::DeclTag,
            number::TYPE_TAG => TypeKind::TypeTag,
            _ => TypeKind::Void,
        }
    }

    /// The type that it points to, stands for, qualifies, consists of (an array) or returns (a prototype).
    pub fn target(self) -> Type<'a> {
        let word = match self.kind() {
            TypeKind::Array(_) => self.word(TYPE / 4),
            TypeKind::Int(_)
            | TypeKind::Struct
            | TypeKind::Union
            | TypeKind::Enum { .. }
            | TypeKind::Enum64 { .. }
            | TypeKind::Float => None,
            _ => self.word(2),
        };
        self.btf.get(word.unwrap_or(0))
    }

    /// The type below typedefs, qualifiers and tags.
    pub fn resolved(self) -> Type<'a> {
        let mut of = self;
        for _ in 0..DEPTH {
            match of.kind() {
                TypeKind::Typedef | TypeKind::Volatile | TypeKind::Const | TypeKind::Restrict | TypeKind::TypeTag => {
                    of = of.target()
                }
                _ => return of,
            }
        }
        self.btf.get(0)
    }

    /// Size in bytes of an integer, floating-point number, enumeration, structure or union; `None` for all else.
    /// Typedefs and qualifiers are seen through.
    pub fn size(self) -> Option<u32> {
        let of = self.resolved();
        match of.kind() {
            TypeKind::Int(_)
            | TypeKind::Struct
            | TypeKind::Union
            | TypeKind::Enum { .. }
            | TypeKind::Enum64 { .. }
            | TypeKind::Float => of.word(2),
            _ => None,
        }
    }

    /// The names and values of an enumeration; none of any other type. Unsigned values of 64 bits come as the signed number
    /// of the same bits.
    pub fn enumerators(self) -> impl ExactSizeIterator<Item = (&'a str, i64)> {
        let kind = self.kind();
        let (count, words) = match kind {
            TypeKind::Enum { .. } => (self.word(1).unwrap_or(0) & 0xffff, 2usize),
            TypeKind::Enum64 { .. } => (self.word(1).unwrap_or(0) & 0xffff, 3),
            _ => (0, 0),
        };
        (0..count as usize).map(move |nth| {
            let first = words.saturating_mul(nth).saturating_add(TYPE / 4);
            let word = |at: usize| self.word(first.saturating_add(at)).unwrap_or(0);
            let value = match kind {
                TypeKind::Enum { signed: true } => i64::from(word(1) as i32),
                TypeKind::Enum { signed: false } => i64::from(word(1)),
                _ => (u64::from(word(2)) << 32 | u64::from(word(1))) as i64,
            };
            (self.btf.name(word(0)), value)
        })
    }

    /// The parameters of a prototype; none of any other type.
    pub fn parameters(self) -> impl ExactSizeIterator<Item = Parameter<'a>> {
        let count = match self.kind() {
            TypeKind::Prototype => self.word(1).unwrap_or(0) & 0xffff,
            _ => 0,
        };
        (0..count as usize).map(move |nth| {
            let first = nth.saturating_mul(2).saturating_add(TYPE / 4);
            let words = [self.word(first), self.word(first.saturating_add(1))];
            let [name, of] = words.map(|word| word.unwrap_or(0));
            Parameter { name: self.btf.name(name), of: self.btf.get(of) }
        })
    }
}

/// Limit of anonymous structures and unions within each other: kernels have a handful, a damaged file may have a ring.
const MEMBERS_DEPTH: usize = 16;

impl<'a> Type<'a> {
    /// The type of a member of a structure or union, searched in anonymous members too; `None` of any other type.
    pub fn member(self, name: &str) -> Option<Type<'a>> {
        self.member_within(name, MEMBERS_DEPTH)
    }

    fn member_within(self, name: &str, depth: usize) -> Option<Type<'a>> {
        let deeper = depth.checked_sub(1)?;
        let found = self.members().find(|(of_member, _)| *of_member == name).map(|(_, of)| of);
        found.or_else(|| self.anonymous().find_map(|of| of.member_within(name, deeper)))
    }

    /// The names of all members, those of anonymous ones after the others.
    pub fn member_names(self) -> Vec<&'a str> {
        let mut names = Vec::new();
        self.add_names(&mut names, MEMBERS_DEPTH);
        names
    }

    fn add_names(self, names: &mut Vec<&'a str>, depth: usize) {
        let Some(deeper) = depth.checked_sub(1) else { return };
        names.extend(self.members().map(|(name, _)| name).filter(|name| !name.is_empty()));
        self.anonymous().for_each(|of| of.add_names(names, deeper));
    }

    fn anonymous(self) -> impl Iterator<Item = Type<'a>> {
        self.members().filter(|(name, _)| name.is_empty()).map(|(_, of)| of.resolved())
    }

    /// Name and type of each member of a structure or union; none of any other type.
    fn members(self) -> impl Iterator<Item = (&'a str, Type<'a>)> {
        let count = match self.kind() {
            TypeKind::Struct | TypeKind::Union => self.word(1).unwrap_or(0) & 0xffff,
            _ => 0,
        };
        (0..count as usize).map(move |nth| {
            let first = nth.saturating_mul(3).saturating_add(TYPE / 4);
            let word = |at: usize| self.word(first.saturating_add(at)).unwrap_or(0);
            (self.btf.name(word(0)), self.btf.get(word(1)))
        })
    }
}

/// The kind of a type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TypeKind {
    /// Type 0, or a type that the file refers to and does not have.
    Void,
    /// An integer, `char` and `_Bool` among them.
    Int(Int),
    /// A pointer.
    Pointer,
    /// An array of this many elements.
    Array(u32),
    /// A structure.
    Struct,
    /// A union.
    Union,
    /// An enumeration of at most 32 bits; `signed` if a value is negative (known since Linux 6.0).
    Enum {
        /// True if its values are signed.
        signed: bool,
    },
    /// An enumeration of 64 bits.
    Enum64 {
        /// True if its values are signed.
        signed: bool,
    },
    /// A structure or (`union`) a union of which only the name is known.
    Forward {
        /// True if it is a union.
        union: bool,
    },
    /// Another name for a type.
    Typedef,
    /// `volatile`.
    Volatile,
    /// `const`.
    Const,
    /// `restrict`.
    Restrict,
    /// A function.
    Function,
    /// A function's parameters and what it returns.
    Prototype,
    /// A variable.
    Variable,
    /// Variables that lie together.
    DataSection,
    /// A floating-point number.
    Float,
    /// A tag on a declaration.
    DeclTag,
    /// A tag on a type, such as `__user`.
    TypeTag,
}

impl TypeKind {
    /// The kernel's name of it in messages (kernel/bpf/btf.c, `btf_kind_str`).
    pub fn word(self) -> &'static str {
        match self {
            TypeKind::Void => "UNKNOWN",
            TypeKind::Int(_) => "INT",
            TypeKind::Pointer => "PTR",
            TypeKind::Array(_) => "ARRAY",
            TypeKind::Struct => "STRUCT",
            TypeKind::Union => "UNION",
            TypeKind::Enum { .. } => "ENUM",
            TypeKind::Enum64 { .. } => "ENUM64",
            TypeKind::Forward { .. } => "FWD",
            TypeKind::Typedef => "TYPEDEF",
            TypeKind::Volatile => "VOLATILE",
            TypeKind::Const => "CONST",
            TypeKind::Restrict => "RESTRICT",
            TypeKind::Function => "FUNC",
            TypeKind::Prototype => "FUNC_PROTO",
            TypeKind::Variable => "VAR",
            TypeKind::DataSection => "DATASEC",
            TypeKind::Float => "FLOAT",
            TypeKind::DeclTag => "DECL_TAG",
            TypeKind::TypeTag => "TYPE_TAG",
        }
    }
}

/// The storage of an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Int {
    /// Width, in bits.
    pub bits: u8,
    /// The first of them, from the least significant one.
    pub offset: u8,
    /// True if the highest bit is the sign.
    pub signed: bool,
    /// True if it is `char`.
    pub character: bool,
    /// True if it is `_Bool`.
    pub boolean: bool,
}

impl Int {
    /// From the word after an integer's type: encoding in bits 24 to 27, offset in 16 to 23, bits in 0 to 7.
    fn from_word(word: u32) -> Int {
        let [bits, _, offset, encoding] = word.to_le_bytes();
        Int { bits, offset, signed: encoding & 1 != 0, character: encoding & 2 != 0, boolean: encoding & 4 != 0 }
    }
}

/// The numbers of the kinds in a file.
pub(super) mod number {
    pub(in super::super) const INT: u8 = 1;
    pub(in super::super) const POINTER: u8 = 2;
    pub(in super::super) const ARRAY: u8 = 3;
    pub(in super::super) const STRUCT: u8 = 4;
    pub(in super::super) const UNION: u8 = 5;
    pub(in super::super) const ENUM: u8 = 6;
    pub(in super::super) const FORWARD: u8 = 7;
    pub(in super::super) const TYPEDEF: u8 = 8;
    pub(in super::super) const VOLATILE: u8 = 9;
    pub(in super::super) const CONST: u8 = 10;
    pub(in super::super) const RESTRICT: u8 = 11;
    pub(in super::super) const FUNCTION: u8 = 12;
    pub(in super::super) const PROTOTYPE: u8 = 13;
    pub(in super::super) const VARIABLE: u8 = 14;
    pub(in super::super) const DATA_SECTION: u8 = 15;
    pub(in super::super) const FLOAT: u8 = 16;
    pub(in super::super) const DECL_TAG: u8 = 17;
    pub(in super::super) const TYPE_TAG: u8 = 18;
    pub(in super::super) const ENUM64: u8 = 19;
}

/// Number of bytes after the twelve that every type begins with; `None` for an unknown kind.
pub(super) fn tail(kind: u8, count: usize) -> Option<usize> {
    use number::*;
    Some(match kind {
        POINTER | FORWARD | TYPEDEF | VOLATILE | CONST | RESTRICT | FUNCTION | FLOAT | TYPE_TAG => 0,
        INT | VARIABLE | DECL_TAG => 4,
        ARRAY => 12,
        ENUM | PROTOTYPE => count.saturating_mul(8),
        STRUCT | UNION | DATA_SECTION | ENUM64 => count.saturating_mul(12),
        _ => return None,
    })
}
