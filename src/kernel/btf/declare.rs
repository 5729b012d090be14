//! Types as C declares them.
//! Functions and their parameters.

use super::{Type, TypeKind};
use std::fmt;

/// Limit of the types that one declaration may name: a damaged file may have prototypes of prototypes without end.
const TYPES: u32 = 1000;

impl Type<'_> {
    /// The C declaration of `name` with this type: `char *name`, `int (*name)(void)`. Tags on types are left out.
    pub fn declare(self, name: &str) -> String {
        let mut left = TYPES;
        declare(self, name.to_owned(), &mut left)
    }
}

impl fmt::Display for Type<'_> {
    /// The type as in a cast: `struct file *`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.declare(""))
    }
}

/// From the name outwards: what is wrapped around it so far is `inner`.
fn declare(of: Type<'_>, inner: String, left: &mut u32) -> String {
    let (mut of, mut inner) = (of, inner);
    let mut qualifiers = String::new();
    loop {
        let Some(fewer) = left.checked_sub(1) else { return format!("... {inner}") };
        *left = fewer;
        let kind = of.kind();
        let word = match kind {
            TypeKind::Const => "const ",
            TypeKind::Volatile => "volatile ",
            TypeKind::Restrict => "restrict ",
            _ => "",
        };
        match kind {
            TypeKind::Const | TypeKind::Volatile | TypeKind::Restrict => qualifiers.push_str(word),
            TypeKind::TypeTag => {}
            TypeKind::Pointer => {
                inner = format!("*{}{inner}", std::mem::take(&mut qualifiers));
                if matches!(after_tags(of.target()).kind(), TypeKind::Array(_) | TypeKind::Prototype) {
                    inner = format!("({})", inner.trim_end());
                }
            }
            // Qualifiers of an array are its elements'.
            TypeKind::Array(0) => inner.push_str("[]"),
            TypeKind::Array(len) => inner = format!("{inner}[{len}]"),
            TypeKind::Prototype => {
                qualifiers.clear();
                inner = format!("{inner}({})", parameters(of, left));
            }
            _ => {
                let base = format!("{qualifiers}{}", named(of, kind));
                return match inner.trim_end() {
                    "" => base,
                    inner => format!("{base} {inner}"),
                };
            }
        }
        of = of.target();
    }
}

/// Tags are not shown, so they do not stand between a pointer and what it points to.
fn after_tags(mut of: Type<'_>) -> Type<'_> {
    for _ in 0..8 {
        if of.kind() != TypeKind::TypeTag {
            break;
        }
        of = of.target();
    }
    of
}

fn parameters(of: Type<'_>, left: &mut u32) -> String {
    let mut text = String::new();
    for parameter in of.parameters() {
        if !text.is_empty() {
            text.push_str(", ");
        }
        if *left == 0 {
            text.push_str("...");
            break;
        }
        match parameter.is_rest() {
            true => text.push_str("..."),
            false => text.push_str(&declare(parameter.of(), parameter.name().to_owned(), left)),
        }
    }
    if text.is_empty() { "void".to_owned() } else { text }
}

fn named(of: Type<'_>, kind: TypeKind) -> String {
    let word = match kind {
        TypeKind::Void => return "void".to_owned(),
        TypeKind::Struct | TypeKind::Forward { union: false } => "struct ",
        TypeKind::Union | TypeKind::Forward { union: true } => "union ",
        TypeKind::Enum { .. } | TypeKind::Enum64 { .. } => "enum ",
        _ => "",
    };
    match of.name() {
        "" if word.is_empty() => "?".to_owned(),
        "" => format!("{word}{{...}}"),
        name => format!("{word}{name}"),
    }
}

/// A function; shown as its prototype: `ssize_t vfs_read(struct file *file, char *buf, size_t count, loff_t *pos)`.
#[derive(Clone, Copy, Debug)]
pub struct Function<'a> {
    of: Type<'a>,
}

impl<'a> Function<'a> {
    pub(super) fn new(of: Type<'a>) -> Self {
        Function { of }
    }

    /// Name of the function.
    pub fn name(self) -> &'a str {
        self.of.name()
    }

    /// Its return type; `void` if it returns nothing.
    pub fn returns(self) -> Type<'a> {
        self.of.target().target()
    }

    /// Its parameters, in order.
    pub fn parameters(self) -> impl ExactSizeIterator<Item = Parameter<'a>> {
        self.of.target().parameters()
    }
}

impl fmt::Display for Function<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.of.target().declare(self.name()))
    }
}

/// A parameter of a function.
#[derive(Clone, Copy, Debug)]
pub struct Parameter<'a> {
    pub(super) name: &'a str,
    pub(super) of: Type<'a>,
}

impl<'a> Parameter<'a> {
    /// Its name; empty if it has none.
    pub fn name(self) -> &'a str {
        self.name
    }

    /// Its type, as it is declared.
    pub fn of(self) -> Type<'a> {
        self.of
    }

    /// True if this is the `...` at the end of the parameters: no name and no type.
    pub fn is_rest(self) -> bool {
        self.name.is_empty() && self.of.id() == 0
    }
}

impl fmt::Display for Parameter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_rest() { f.write_str("...") } else { f.write_str(&self.of.declare(self.name)) }
    }
}
