//! One event's format file, as data.
//! One field of an event's record.
//! `events/header_page`: the layout of a sub-buffer's header.
//! The format of the blk tracer's events, for which the kernel has no format file.
//! Values by the ids of event types.

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

/// The fields of `struct blk_io_trace` (include/uapi/linux/blktrace_api.h); its first eight bytes are the common fields.
const FIRST: &str = "name: blktrace
ID: 0
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:u64 sector;\toffset:16;\tsize:8;\tsigned:0;
\tfield:u32 bytes;\toffset:24;\tsize:4;\tsigned:0;
\tfield:u32 action;\toffset:28;\tsize:4;\tsigned:0;
\tfield:u32 pid;\toffset:32;\tsize:4;\tsigned:0;
\tfield:u32 device;\toffset:36;\tsize:4;\tsigned:0;
\tfield:u32 cpu;\toffset:40;\tsize:4;\tsigned:0;
\tfield:u16 error;\toffset:44;\tsize:2;\tsigned:0;
\tfield:u16 pdu_len;\toffset:46;\tsize:2;\tsigned:0;
\tfield:void data;\toffset:48;\tsize:0;\tsigned:0;

print fmt: \"%d\", REC->pid
";

/// The same of `struct blk_io_trace2`, with an action of 64 bits (seen in Linux 7.3, not in 6.18).
const SECOND: &str = "name: blktrace
ID: 0
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:u64 sector;\toffset:16;\tsize:8;\tsigned:0;
\tfield:u32 bytes;\toffset:24;\tsize:4;\tsigned:0;
\tfield:u32 pid;\toffset:28;\tsize:4;\tsigned:0;
\tfield:u64 action;\toffset:32;\tsize:8;\tsigned:0;
\tfield:u32 device;\toffset:40;\tsize:4;\tsigned:0;
\tfield:u32 cpu;\toffset:44;\tsize:4;\tsigned:0;
\tfield:u16 error;\toffset:48;\tsize:2;\tsigned:0;
\tfield:u16 pdu_len;\toffset:50;\tsize:2;\tsigned:0;
\tfield:void data;\toffset:64;\tsize:0;\tsigned:0;

print fmt: \"%d\", REC->pid
";

/// The event's format in the kernel with these other formats, of which `uname` is `sysname nodename release machine`; `None`
/// if it has no such event. Its number is that after the event which stands before it in `enum trace_type`
/// (kernel/trace/trace.h): `power`, `kmem_free` or `user_stack`, by the kernel's age.
pub fn blk_format<'f>(formats: impl Iterator<Item = &'f EventFormat> + Clone, uname: &str) -> Option<EventFormat> {
    let before = ["power", "kmem_free", "user_stack"]
        .iter()
        .find_map(|name| formats.clone().find(|f| f.system == "ftrace" && f.name == *name))?;
    let id = EventId(before.id.0.checked_add(1)?);
    let free = formats.clone().all(|f| f.id != id);
    let text = if is_since(uname, (6, 19)) { SECOND } else { FIRST };
    let mut format = EventFormat::parse("ftrace", text).ok().filter(|_| free)?;
    format.id = id;
    Some(format)
}

/// True of Linux `version` (major and minor number) and later; false if `uname`, which is `sysname nodename release
/// machine`, tells no release.
pub fn is_since(uname: &str, version: (u32, u32)) -> bool {
    let release = uname.split_whitespace().nth(2).unwrap_or_default();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map_while(|n| n.parse::<u32>().ok());
    matches!((numbers.next(), numbers.next()), (Some(major), Some(minor)) if (major, minor) >= version)
}

/// Values by event id: a table as long as the greatest id, since each record is looked up.
#[derive(Clone, Debug)]
pub struct ById<T>(Vec<Option<T>>);

impl<T> ById<T> {
    /// The value of an id, as records have it.
    #[inline]
    pub fn get(&self, id: u16) -> Option<&T> {
        self.0.get(usize::from(id))?.as_ref()
    }

    /// Sets the value of an id.
    pub fn insert(&mut self, id: EventId, value: T) {
        let at = usize::from(id.0);
        if self.0.len() <= at {
            self.0.resize_with(at.saturating_add(1), || None);
        }
        if let Some(slot) = self.0.get_mut(at) {
            *slot = Some(value);
        }
    }

    /// All values, by rising ids.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.0.iter().flatten()
    }
}

impl<T> Default for ById<T> {
    fn default() -> Self {
        ById(Vec::new())
    }
}

impl<T> FromIterator<(EventId, T)> for ById<T> {
    fn from_iter<I: IntoIterator<Item = (EventId, T)>>(values: I) -> Self {
        let mut all = ById::default();
        values.into_iter().for_each(|(id, value)| all.insert(id, value));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_follows_user_stack() {
        let mut user_stack = EventFormat::parse("ftrace", FIRST).unwrap();
        user_stack.name = "user_stack".into();
        user_stack.id = EventId(12);
        let blk = blk_format([&user_stack].into_iter(), "").unwrap();
        assert_eq!((blk.name.as_str(), blk.id), ("blktrace", EventId(13)));
        let mut taken = user_stack.clone();
        taken.id = EventId(13);
        assert_eq!(blk_format([&user_stack, &taken].into_iter(), ""), None);
    }

    #[test]
    fn the_action_has_grown() {
        let mut user_stack = EventFormat::parse("ftrace", FIRST).unwrap();
        user_stack.name = "user_stack".into();
        for (release, size) in [("6.1.0-1", 4), ("6.18.5", 4), ("6.19-rc1", 8), ("7.0", 8), ("", 4)] {
            let blk = blk_format([&user_stack].into_iter(), &format!("Linux vm {release} x86_64")).unwrap();
            assert_eq!(blk.fields.iter().find(|f| f.name == "action").unwrap().size, size, "{release}");
        }
    }

    #[test]
    fn the_last_value_of_an_id_counts() {
        let all: ById<&str> = [(EventId(7), "a"), (EventId(u16::MAX), "b"), (EventId(7), "c")].into_iter().collect();
        assert_eq!([all.get(7), all.get(u16::MAX), all.get(6)], [Some(&"c"), Some(&"b"), None]);
        assert_eq!(all.values().collect::<Vec<_>>(), [&"c", &"b"]);
        assert_eq!(ById::<u8>::default().get(0), None);
    }
}
