//! Kinds of types.

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
