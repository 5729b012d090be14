//! One event's format file, as data.
//! One field of an event's record.
//! `events/header_page`: the layout of a sub-buffer's header.

use super::{CommonBlock, FormatError, parse};
use crate::base::abi::{Abi, Endian};
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

/// A line `field:DECL; offset:N; size:N; signed:N;`. `Display` writes it back byte for byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The C declaration as the kernel wrote it: `char prev_comm[16]`, `__data_loc char[] name`.
    pub decl: String,
    /// The field's name.
    pub name: String,
    /// The declaration without name and array length: `char`, `__data_loc char[]`, `struct page *`.
    pub type_name: String,
    /// Offset in the record, in bytes.
    pub offset: usize,
    /// Size in the record's fixed part, in bytes; 0 means the rest of the record.
    pub size: usize,
    /// True if its numbers are signed; `None` in formats from before Linux 2.6.32, which do not say.
    pub signed: Option<bool>,
    /// The interpretation of its bytes.
    pub shape: Shape,
}

/// The interpretation of a field's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// One number or pointer of [`Field::size`] bytes.
    Scalar,
    /// `type name[N]`: `elem_size` bytes each, directly in the record; size 0 means it takes the rest of the record.
    Array {
        /// Bytes per element; 0 if the declaration does not tell.
        elem_size: usize,
    },
    /// `__data_loc type[] name`: a u32 whose low half is an offset from the record's start, high half a length in bytes.
    DataLoc {
        /// Bytes per element; 0 if the declaration does not tell.
        elem_size: usize,
    },
    /// `__rel_loc type[] name` (since Linux 5.16): like `DataLoc`, the offset counted from the end of the field itself.
    RelLoc {
        /// Bytes per element; 0 if the declaration does not tell.
        elem_size: usize,
    },
}

impl Field {
    /// True if its numbers are signed; `false` if the format does not say.
    pub fn is_signed(&self) -> bool {
        self.signed.unwrap_or(false)
    }

    /// True if it is an array of characters: text, up to the first NUL (`char`, `u8` or `s8` arrays).
    pub fn is_string(&self) -> bool {
        self.shape != Shape::Scalar && ["char", "u8", "s8"].iter().any(|t| self.type_name.contains(t))
    }

    /// True if it is declared as a pointer.
    pub fn is_pointer(&self) -> bool {
        self.type_name.contains('*')
    }

    /// True if its type is one of C's `long`s (as wide as the kernel's words).
    pub fn is_long(&self) -> bool {
        self.type_name.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == "long")
    }

    /// True if its place is found through a location word ([`Shape::DataLoc`], [`Shape::RelLoc`]).
    pub fn is_dynamic(&self) -> bool {
        matches!(self.shape, Shape::DataLoc { .. } | Shape::RelLoc { .. })
    }

    /// The number of elements of a fixed array, if the declaration has their size.
    pub fn array_len(&self) -> Option<usize> {
        match self.shape {
            Shape::Array { elem_size } => self.size.checked_div(elem_size),
            _ => None,
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "field:{};\toffset:{};\tsize:{};", self.decl, self.offset, self.size)?;
        if let Some(signed) = self.signed {
            write!(f, "\tsigned:{};", u8::from(signed))?;
        }
        Ok(())
    }
}

/// Sizes that the kernel states in `events/header_page`, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderPage {
    /// Size of the `commit` word, which is the kernel's `long`: 4 or 8.
    pub long_size: u8,
    /// Offset of a sub-buffer's events, in bytes: 16 on 64-bit kernels, 12 on 32-bit ones.
    pub data_offset: usize,
    /// Size of a whole sub-buffer: header and events.
    pub sub_buffer_size: usize,
}

impl HeaderPage {
    /// Parses the text of `events/header_page`.
    ///
    /// # Errors
    /// [`FormatError`] if a line is malformed, or `commit` or `data` is missing or absurd.
    pub fn parse(text: &str) -> Result<Self, FormatError> {
        parse::header_page(text)
    }

    /// The ABI of a kernel with this header page and byte order.
    pub fn abi(&self, endian: Endian) -> Abi {
        Abi { endian, long_size: self.long_size }
    }
}
