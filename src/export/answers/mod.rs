//! Answers in each form: text, CSV, JSON.

mod csv;
mod json;
mod layout;
mod text;
mod unit;

pub use csv::{csv_heading, csv_rows, quoted};
pub use json::{SMALL_JSON, answer_json, json_text};
pub use layout::TextTable;
pub use text::{AnswerStyle, answer_text, cell_text, not_shown};
pub use unit::ClockUnit;
