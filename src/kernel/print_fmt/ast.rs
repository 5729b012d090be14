//! The syntax tree of a `print fmt` argument.

use super::ctype::CType;

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
