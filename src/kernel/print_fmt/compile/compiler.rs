//! The compiler's state, and its limits.

use crate::base::abi::Abi;
use crate::kernel::format::EventFormat;
use crate::kernel::print_fmt::ast::CExpr;
use crate::kernel::print_fmt::ctype::CType;
use crate::kernel::print_fmt::expr::Ex;
use crate::kernel::print_fmt::{PrintFmtError, Semantics};
use crate::kernel::symbols::Symbols;

/// No kernel's print format needs more nodes than this; names bound in nested statement expressions could ask for 2^n.
const BUDGET: usize = 20_000;

/// State of the compiler while it compiles one event's print format.
pub(super) struct PrintFmtCompiler<'a> {
    pub(super) event: &'a EventFormat,
    pub(super) abi: Abi,
    pub(super) semantics: Semantics,
    pub(super) symbols: &'a Symbols,
    /// Names that statement expressions have bound, innermost last; with the number of nodes they stand for.
    pub(super) scope: Vec<(String, Ex, CType, usize)>,
    /// Tables that they have bound, innermost last.
    pub(super) tables: Vec<(String, Vec<CExpr>)>,
    pub(super) spent: usize,
    /// True in the argument of a `%p`.
    pub(super) in_address: bool,
}

/// Number of names bound before a statement expression.
#[derive(Clone, Copy)]
pub(super) struct ScopeDepth {
    pub(super) scope: usize,
    pub(super) tables: usize,
}

impl PrintFmtCompiler<'_> {
    pub(super) fn depth(&self) -> ScopeDepth {
        ScopeDepth { scope: self.scope.len(), tables: self.tables.len() }
    }

    pub(super) fn unbind(&mut self, depth: ScopeDepth) {
        self.scope.truncate(depth.scope);
        self.tables.truncate(depth.tables);
    }

    pub(super) fn kernel(&self) -> bool {
        self.semantics == Semantics::Kernel
    }

    pub(super) fn spend(&mut self, nodes: usize) -> Result<(), PrintFmtError> {
        self.spent = self.spent.saturating_add(nodes);
        if self.spent > BUDGET { Err(PrintFmtError::TooLarge) } else { Ok(()) }
    }
}
