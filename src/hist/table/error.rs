//! Text that is no table.

/// A `hist` file that is not what a kernel prints.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: expected {expected}, found `{found}`")]
pub struct TableError {
    /// Line within the text, from 1.
    pub line: usize,
    /// What should have been there.
    pub expected: String,
    /// What was there, cut to 80 characters.
    pub found: String,
}
