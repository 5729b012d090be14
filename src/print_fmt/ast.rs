//! The syntax tree of a `print fmt` argument.

use super::ctype::CType;

/// A C expression as print formats use it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expr {
    /// An integer constant.
    Number(u64, CType),
    /// A string constant.
    Text(Vec<u8>),
    /// An enum constant the kernel did not translate, a kernel variable, or a name bound by a statement expression.
    Name(String),
    /// `REC->name`.
    Field(String),
    /// `a[b]`; `*a` is `a[0]`.
    Index(Box<Expr>, Box<Expr>),
    /// `&a`.
    Address(Box<Expr>),
    /// `(type)a`; `None` where the type says nothing of width or sign.
    Cast(Option<CType>, Box<Expr>),
    /// `!a`, `~a`, `-a`, `+a`.
    Unary(char, Box<Expr>),
    /// `a op b`.
    Binary(&'static str, Box<Expr>, Box<Expr>),
    /// `c ? a : b`.
    Choice(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `name(args)`.
    Call(String, Vec<Expr>),
    /// `{a, b}`: one entry of a table.
    Braces(Vec<Expr>),
    /// `({ type name = value; ...; result; })`; the value of a table is [`Expr::Braces`].
    Block(Vec<(String, Option<CType>, Expr)>, Box<Expr>),
}

/// A whole `print fmt` text.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ast {
    /// The format string, unescaped.
    pub(super) format: Vec<u8>,
    /// The arguments of the call.
    pub(super) args: Vec<Expr>,
}
