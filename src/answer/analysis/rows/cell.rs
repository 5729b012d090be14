//! The value in one place of a row.

use std::sync::Arc;

/// The value in one place of a row. No value comes before all others, and numbers before texts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RowCell {
    /// No value.
    Null,
    /// A whole number.
    Number(i128),
    /// A mean in thousandths, rounded to the nearest one, halves away from 0.
    Thousandths(i128),
    /// A text without its NUL.
    Text(Arc<[u8]>),
    /// Return addresses, the innermost first.
    Stack(Arc<[u64]>),
}
