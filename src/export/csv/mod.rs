//! Comma-separated values (RFC 4180): a line with the columns' names, then one line per event.
//!
//! A field that an event does not have is empty, as is one that does not lie within its record. Bytes that are not UTF-8
//! stand as `\xNN`, as in JSON; arrays are written as JSON arrays; cells with a comma, a quote or a line break are quoted.

mod exporter;
mod program;
mod quoting;

pub use exporter::Csv;
pub use program::{CsvBuffer, CsvColumn};
pub(super) use quoting::text;
