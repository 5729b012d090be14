//! Answers as data: an answer is notes and tables, a table rows of cells.
//!
//! An analysis says each column once, as an [`AnswerColumn`]: its names in text, CSV and JSON, its kind, its meaning, and
//! its cells. What is known of a number is found when rows become cells, so that no form can say more than another. The
//! renderers in `export/answers` write a form each.

mod cell;
mod column;
mod grid;

pub use cell::{AnswerCell, KnownNumbers};
pub use column::{AnswerColumn, ColumnDefinition, ColumnKind, QUANTILES};
pub use grid::{Answer, AnswerBlock, AnswerGrid, AnswerTable, GridColumn, Knowledge};
pub(crate) use grid::{GridRow, TextPart};
