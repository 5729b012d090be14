//! Answers in each form: text, CSV, JSON, Markdown.

mod documents;
mod json;
mod layout;
mod text;
mod unit;

pub use documents::{answer_html, answer_markdown, csv_heading, csv_rows, put_html, quoted};
pub use json::{SMALL_JSON, answer_json, json_text};
pub use layout::{TextTable, markdown_text};
pub use text::{ALL_COLUMNS, AnswerStyle, answer_text, cell_text, not_shown};
pub use unit::ClockUnit;
