//! Answers in each form: text, CSV, JSON, Markdown.

mod csv;
mod html;
mod json;
mod layout;
mod markdown;
mod text;
mod unit;

pub use csv::{csv_heading, csv_rows, quoted};
pub use html::{answer_html, put_html};
pub use json::{SMALL_JSON, answer_json, json_text};
pub use layout::{TextTable, markdown_text};
pub use markdown::answer_markdown;
pub use text::{ALL_COLUMNS, AnswerStyle, answer_text, cell_text, not_shown};
pub use unit::ClockUnit;
