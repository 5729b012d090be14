//! Text that is no table.

/// A `hist` file that is not what a kernel prints.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: expected {expected}, found `{found}`")]
pub struct TableError {
    /// Line within the text, from 1.
    pub line: usize,
    /// The text that was expected.
    pub expected: String,
    /// The text that was found, cut to 80 characters.
    pub found: String,
}
