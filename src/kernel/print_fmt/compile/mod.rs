//! Syntax tree to program.

mod compiler;
mod format;
mod number;
mod strings;

use compiler::{PrintFmtCompiler, ScopeDepth};
pub use format::compile;
