//! Syntax tree to program.

mod format;
mod names;
mod number;
mod place;
mod strings;

pub use format::compile;

use super::ast::CExpr;
use super::ctype::CType;
use super::expr::Ex;
use super::{PrintFmtError, Semantics};
use crate::abi::Abi;
use crate::format::EventFormat;
use crate::symbols::Symbols;

/// No kernel's print format needs more nodes than this; names bound in nested statement expressions could ask for 2^n.
const BUDGET: usize = 20_000;

/// State of the compiler while it compiles one event's print format.
struct Compiler<'a> {
    event: &'a EventFormat,
    abi: Abi,
    semantics: Semantics,
    symbols: &'a Symbols,
    /// Names that statement expressions have bound, innermost last; with the number of nodes they stand for.
    scope: Vec<(String, Ex, CType, usize)>,
    /// Tables that they have bound, innermost last.
    tables: Vec<(String, Vec<CExpr>)>,
    spent: usize,
}

/// Number of names bound before a statement expression.
#[derive(Clone, Copy)]
struct Depth {
    scope: usize,
    tables: usize,
}

impl Compiler<'_> {
    fn depth(&self) -> Depth {
        Depth { scope: self.scope.len(), tables: self.tables.len() }
    }

    fn unbind(&mut self, depth: Depth) {
        self.scope.truncate(depth.scope);
        self.tables.truncate(depth.tables);
    }

    fn kernel(&self) -> bool {
        self.semantics == Semantics::Kernel
    }

    fn spend(&mut self, nodes: usize) -> Result<(), PrintFmtError> {
        self.spent = self.spent.saturating_add(nodes);
        if self.spent > BUDGET { Err(PrintFmtError::TooLarge) } else { Ok(()) }
    }
}
