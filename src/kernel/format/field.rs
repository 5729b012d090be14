//! One field of an event's record.

use std::fmt;

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
