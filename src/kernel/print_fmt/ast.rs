//! The syntax tree of a `print fmt` argument.
//! Why a `print fmt` text could not become a program.
//! The two readings of a print format.
//! C types as far as print formats need them: width, sign, and what a pointer points to.

/// A C expression as print formats use it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum CExpr {
    /// An integer constant.
    Number(u64, CType),
    /// A string constant.
    Text(Vec<u8>),
    /// An enum constant the kernel did not translate, a kernel variable, or a name bound by a statement expression.
    Name(String),
    /// `REC->name`.
    Field(String),
    /// `a[b]`; `*a` is `a[0]`.
    Index(Box<CExpr>, Box<CExpr>),
    /// `&a`.
    Address(Box<CExpr>),
    /// `(type)a`; `None` where the type says nothing of width or sign.
    Cast(Option<CType>, Box<CExpr>),
    /// `!a`, `~a`, `-a`, `+a`.
    Unary(char, Box<CExpr>),
    /// `a op b`.
    Binary(&'static str, Box<CExpr>, Box<CExpr>),
    /// `c ? a : b`.
    Choice(Box<CExpr>, Box<CExpr>, Box<CExpr>),
    /// `name(args)`.
    Call(String, Vec<CExpr>),
    /// `{a, b}`: one entry of a table.
    Braces(Vec<CExpr>),
    /// `({ type name = value; ...; result; })`; the value of a table is [`CExpr::Braces`].
    Block(Vec<(String, Option<CType>, CExpr)>, Box<CExpr>),
}

/// A whole `print fmt` text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ast {
    /// The format string, unescaped.
    pub(super) format: Vec<u8>,
    /// The arguments of the call.
    pub(super) args: Vec<CExpr>,
}

/// A `print fmt` text that does not compile; the offsets count bytes from after `print fmt: `.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PrintFmtError {
    /// The text is not C as print formats use it.
    #[error("byte {offset}: expected {expected}, found `{found}`")]
    Syntax {
        /// Offset in the text, in bytes.
        offset: usize,
        /// The token that was expected.
        expected: &'static str,
        /// The token that was there; empty at the end of the text.
        found: String,
    },
    /// A string or a character constant without its closing quote.
    #[error("byte {offset}: unterminated quote")]
    Unterminated {
        /// Offset of the opening quote, in bytes.
        offset: usize,
    },
    /// Expressions nested deeper than any kernel nests them.
    #[error("byte {offset}: nested too deeply")]
    TooDeep {
        /// Offset at which the limit was reached, in bytes.
        offset: usize,
    },
    /// The program would be larger than any kernel's print format needs.
    #[error("expands to too large a program")]
    TooLarge,
    /// `REC->name` names no field of the event.
    #[error("no field `{0}`")]
    UnknownField(String),
    /// A function whose result cannot be known from a record.
    #[error("unknown function `{0}`")]
    UnknownFunction(String),
    /// An enumerator or a kernel variable whose value neither the recording nor its types tell.
    #[error("no value is known for `{0}`")]
    UnknownName(String),
    /// A type in `sizeof` that only the kernel's source has.
    #[error("no size is known for `{0}`")]
    UnknownType(String),
    /// A function called with arguments it does not take.
    #[error("wrong arguments for `{0}`")]
    BadArguments(String),
    /// Fewer arguments than conversions.
    #[error("no argument for conversion {0}")]
    MissingArgument(usize),
    /// A statement expression that does more than name values.
    #[error("statement expression")]
    Statements,
    /// An expression that has no value of the kind its conversion needs.
    #[error("argument {0} does not fit its conversion")]
    Unfit(usize),
}

/// The reader of a print format whose meaning a program follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Semantics {
    /// The kernel's: C's types, signs and conversions.
    Kernel,
    /// libtraceevent's, as trace-cmd 3.4 uses it: fields are read unsigned, casts only cut, all comparisons are unsigned.
    TraceCmd,
}

/// A C type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CType {
    /// Width in bytes: 1, 2, 4 or 8; of a pointer: the kernel's word.
    pub(super) size: u8,
    /// True if its numbers are signed.
    pub(super) signed: bool,
    /// For a pointer, the size of what it points to (1 where that is not known).
    pub(super) pointee: Option<u8>,
    /// True if libtraceevent cuts a value to this type in a cast (it leaves pointers, longs and names it does not know
    /// alone).
    pub(super) masks: bool,
    /// `bool`: every value but 0 is 1.
    pub(super) truth: bool,
}

impl CType {
    pub(super) const INT: CType = CType::number(4, true);

    pub(super) const fn number(size: u8, signed: bool) -> CType {
        CType { size, signed, pointee: None, masks: true, truth: false }
    }

    const fn pointer(to: u8, long_size: u8) -> CType {
        CType { size: long_size, signed: false, pointee: Some(to), masks: false, truth: false }
    }

    /// The type both operands of an arithmetic operator are converted to (C11 6.3.1.8).
    pub(super) fn common(self, other: CType) -> CType {
        let (a, b) = (self.promoted(), other.promoted());
        if a.pointee.is_some() {
            return a;
        }
        if b.pointee.is_some() {
            return b;
        }
        let size = a.size.max(b.size);
        let unsigned = (a.size == size && !a.signed) || (b.size == size && !b.signed);
        CType::number(size, !unsigned)
    }

    /// After the integer promotions: nothing narrower than `int`.
    pub(super) fn promoted(self) -> CType {
        if self.size < 4 { CType::INT } else { self }
    }
}

/// The words a type can start with; any other word is a type only where nothing else makes sense.
pub(super) fn starts_type(word: &str) -> bool {
    matches!(
        word,
        "unsigned"
            | "signed"
            | "long"
            | "int"
            | "short"
            | "char"
            | "void"
            | "const"
            | "volatile"
            | "struct"
            | "union"
            | "enum"
            | "bool"
            | "_Bool"
            | "static"
    ) || known(word, 8).is_some()
}

/// A typedef of the kernel.
fn known(word: &str, long_size: u8) -> Option<CType> {
    let bare = word.trim_start_matches("__").trim_end_matches("_t");
    let exact = |masks: bool, size, signed| Some(CType { masks, ..CType::number(size, signed) });
    let masks = matches!(word, "u8" | "u16" | "u32" | "u64" | "s8" | "s16" | "s32" | "s64");
    match bare {
        "u8" | "uint8" => exact(masks, 1, false),
        "u16" | "uint16" | "le16" | "be16" | "umode" => exact(masks, 2, false),
        "u32" | "uint32" | "le32" | "be32" | "uint" | "gfp" | "fmode" | "dev" if word != "dev" => {
            exact(masks, 4, false)
        }
        "u64" | "uint64" | "le64" | "be64" | "sector" | "dma_addr" | "phys_addr" | "blkcnt" if word != "sector" => {
            exact(masks, 8, false)
        }
        "s8" | "int8" => exact(masks, 1, true),
        "s16" | "int16" => exact(masks, 2, true),
        "s32" | "int32" | "pid" | "kernel_rwf" if word != "pid" => exact(masks, 4, true),
        "s64" | "int64" | "loff" | "ktime" | "time64" => exact(masks, 8, true),
        "size" | "ulong" | "uintptr" | "ino" if word.ends_with("_t") || word == "ulong" => {
            exact(false, long_size, false)
        }
        "ssize" | "ptrdiff" if word.ends_with("_t") => exact(false, long_size, true),
        _ => None,
    }
}

/// The type that `words` and `stars` pointer stars spell; `None` for a structure by value or an unknown name.
pub(super) fn of_words(words: &[&str], stars: usize, long_size: u8) -> Option<CType> {
    let base = base(words, long_size);
    match stars {
        0 => base,
        1 => Some(CType::pointer(base.map_or(1, |b| b.size), long_size)),
        _ => Some(CType::pointer(long_size, long_size)),
    }
}

fn base(words: &[&str], long_size: u8) -> Option<CType> {
    let count = |w: &str| words.iter().filter(|x| **x == w).count();
    if words.iter().any(|w| matches!(*w, "struct" | "union")) {
        return None;
    }
    if count("enum") > 0 {
        return Some(CType { masks: false, ..CType::number(4, false) });
    }
    if count("bool") > 0 || count("_Bool") > 0 {
        return Some(CType { masks: false, truth: true, ..CType::number(1, false) });
    }
    let signed = count("unsigned") == 0;
    if count("char") > 0 {
        return Some(CType::number(1, signed));
    }
    if count("short") > 0 {
        return Some(CType::number(2, signed));
    }
    match count("long") {
        0 => {}
        1 => return Some(CType { masks: false, ..CType::number(long_size, signed) }),
        _ => return Some(CType { masks: false, ..CType::number(8, signed) }),
    }
    if count("int") > 0 || count("unsigned") > 0 || count("signed") > 0 {
        return Some(CType::number(4, signed));
    }
    words.iter().find_map(|w| known(w, long_size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c_type_names() {
        assert_eq!(of_words(&["unsigned", "int"], 0, 8), Some(CType::number(4, false)));
        assert_eq!(of_words(&["unsigned", "long", "long"], 0, 4).map(|t| t.size), Some(8));
        assert_eq!(of_words(&["long"], 0, 4).map(|t| (t.size, t.signed)), Some((4, true)));
        assert_eq!(of_words(&["u32"], 1, 8), Some(CType::pointer(4, 8)));
        assert_eq!(of_words(&["struct", "page"], 0, 8), None);
        assert_eq!(of_words(&["struct", "page"], 1, 8), Some(CType::pointer(1, 8)));
    }

    #[test]
    fn c_conversions() {
        let (u8_, i32_, u32_, i64_) =
            (CType::number(1, false), CType::INT, CType::number(4, false), CType::number(8, true));
        assert_eq!(u8_.common(u8_), i32_);
        assert_eq!(i32_.common(u32_), u32_);
        assert_eq!(u32_.common(i64_), i64_);
    }
}
