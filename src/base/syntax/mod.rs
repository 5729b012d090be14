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

mod columns;
mod diagnostic;
mod nearest;
mod number;
mod scanner;
mod span;

pub use columns::widest;
pub use diagnostic::{Diagnostic, caret, one_line};
pub use nearest::{did_you_mean, nearest};
pub use number::{NumberError, parse_int};
pub use scanner::Scanner;
pub use span::{Span, Spanned};
