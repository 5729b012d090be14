//! One event's format file, as data.

use super::{CommonBlock, Field, FormatError, parse};
use crate::base::units::EventId;
use std::fmt;
use std::sync::Arc;

/// A `format` file. `Display` writes it back byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventFormat {
    /// The system (directory) the event belongs to; not part of the text.
    pub system: String,
    /// The event's name.
    pub name: String,
    /// The number its records carry in `common_type`.
    pub id: EventId,
    /// The fields every event has (`common_type`, `common_pid`, ...): the first block.
    pub common: Arc<[Field]>,
    /// The event's own fields: the second block.
    pub fields: Vec<Field>,
    /// All that stands after `print fmt: `, up to the end of the text: format string and arguments.
    pub print_fmt: String,
}

impl EventFormat {
    /// Parses the text of a `format` file of `system`.
    ///
    /// # Errors
    /// [`FormatError`] with the line that is not what a kernel writes.
    pub fn parse(system: &str, text: &str) -> Result<Self, FormatError> {
        parse::event(system, text, &mut CommonBlock::default())
    }

    /// Like [`EventFormat::parse`], of one format after the other of the same kernel.
    ///
    /// # Errors
    /// As [`EventFormat::parse`].
    pub fn parse_next(system: &str, text: &str, last: &mut CommonBlock) -> Result<Self, FormatError> {
        parse::event(system, text, last)
    }

    /// The field called `name`, the event's own before the common ones.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().chain(&*self.common).find(|f| f.name == name)
    }
}

impl fmt::Display for EventFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "name: {}\nID: {}\nformat:\n", self.name, self.id)?;
        for field in &*self.common {
            writeln!(f, "\t{field}")?;
        }
        f.write_str("\n")?;
        for field in &self.fields {
            writeln!(f, "\t{field}")?;
        }
        write!(f, "\nprint fmt: {}", self.print_fmt)
    }
}
