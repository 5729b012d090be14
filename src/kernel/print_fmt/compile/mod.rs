//! Syntax tree to program.

mod compiler;
mod format;
mod names;
mod number;
mod place;
mod strings;

use compiler::{PrintFmtCompiler, ScopeDepth};
pub use format::compile;
