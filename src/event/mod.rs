//! Event types: id to format, program and handler; the record every stage passes on.

mod record;

pub use record::{Lost, Record};
