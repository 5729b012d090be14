//! Functions and their parameters.

use super::Type;
use std::fmt;

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
