//! Spans, diagnostics and tokens: shared by the little languages.
//!
//! Every language here works the same way: a [`Scanner`] walks the text, each node of the syntax tree keeps its
//! [`Span`], and what is wrong is a [`Diagnostic`], which shows the text with a caret under the place, as the
//! kernel's `error_log` does:
//!
//! ```text
//! field not found
//!   filter: nextpid == 1
//!           ^~~~~~~
//! ```

mod diagnostic;
mod nearest;
mod scanner;

pub use diagnostic::{Diagnostic, Span, Spanned, caret, one_line, widest};
pub use nearest::{did_you_mean, nearest};
pub use scanner::{NumberError, Scanner, parse_int};
