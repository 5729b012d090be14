//! Kinds of types.

/// What a type is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
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
    /// An enumeration of at most 32 bits; `signed` if a value is negative (told since Linux 6.0).
    Enum {
        /// Whether its values are signed.
        signed: bool,
    },
    /// An enumeration of 64 bits.
    Enum64 {
        /// Whether its values are signed.
        signed: bool,
    },
    /// A structure or (`union`) a union of which only the name is known.
    Forward {
        /// Whether it is a union.
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

impl Kind {
    /// What the kernel calls it in its messages (kernel/bpf/btf.c, `btf_kind_str`).
    pub fn word(self) -> &'static str {
        match self {
            Kind::Void => "UNKNOWN",
            Kind::Int(_) => "INT",
            Kind::Pointer => "PTR",
            Kind::Array(_) => "ARRAY",
            Kind::Struct => "STRUCT",
            Kind::Union => "UNION",
            Kind::Enum { .. } => "ENUM",
            Kind::Enum64 { .. } => "ENUM64",
            Kind::Forward { .. } => "FWD",
            Kind::Typedef => "TYPEDEF",
            Kind::Volatile => "VOLATILE",
            Kind::Const => "CONST",
            Kind::Restrict => "RESTRICT",
            Kind::Function => "FUNC",
            Kind::Prototype => "FUNC_PROTO",
            Kind::Variable => "VAR",
            Kind::DataSection => "DATASEC",
            Kind::Float => "FLOAT",
            Kind::DeclTag => "DECL_TAG",
            Kind::TypeTag => "TYPE_TAG",
        }
    }
}

/// How an integer is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Int {
    /// How many bits it has.
    pub bits: u8,
    /// The first of them, from the least significant one.
    pub offset: u8,
    /// Whether the highest bit is the sign.
    pub signed: bool,
    /// Whether it is `char`.
    pub character: bool,
    /// Whether it is `_Bool`.
    pub boolean: bool,
}

impl Int {
    /// From the word behind an integer's type: encoding in bits 24 to 27, offset in 16 to 23, bits in 0 to 7.
    pub(super) fn from_word(word: u32) -> Int {
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

/// How many bytes follow the twelve that every type begins with; `None` for a kind that is not known.
pub(super) fn tail(kind: u8, count: usize) -> Option<usize> {
    use number::*;
    Some(match kind {
        POINTER | FORWARD | TYPEDEF | VOLATILE | CONST | RESTRICT | FUNCTION | FLOAT | TYPE_TAG => 0,
        INT | VARIABLE | DECL_TAG => 4,
        ARRAY => 12,
        ENUM | PROTOTYPE => 8 * count,
        STRUCT | UNION | DATA_SECTION | ENUM64 => 12 * count,
        _ => return None,
    })
}
