//! Text of `format` and `header_page` files to [`EventFormat`] and [`HeaderPage`].

use super::{EventFormat, Field, HeaderPage, Shape};
use crate::base::units::EventId;
use std::sync::Arc;

/// A format file that is not what a kernel writes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: expected {expected}, found `{found}`")]
pub struct FormatError {
    /// Line within the text, from 1.
    pub line: usize,
    /// The text that was expected.
    pub expected: &'static str,
    /// The text that was found: the line, cut to 120 characters.
    pub found: String,
}

/// The lines of a text, with their numbers.
struct FormatLines<'a> {
    rest: &'a str,
    number: usize,
}

impl<'a> FormatLines<'a> {
    fn new(text: &'a str) -> Self {
        FormatLines { rest: text, number: 0 }
    }

    /// The next line without its newline; `None` at the end of the text.
    fn next(&mut self) -> Option<&'a str> {
        if self.rest.is_empty() {
            return None;
        }
        self.number = self.number.saturating_add(1);
        let (line, rest) = split_at_byte(self.rest, b'\n').unwrap_or((self.rest, ""));
        self.rest = rest;
        Some(line)
    }

    fn error(&self, expected: &'static str, found: &str) -> FormatError {
        FormatError { line: self.number.max(1), expected, found: found.chars().take(120).collect() }
    }

    /// The next line, which must start with `prefix`: what follows the prefix.
    fn expect(&mut self, prefix: &str, expected: &'static str) -> Result<&'a str, FormatError> {
        let line = self.next().unwrap_or("");
        line.strip_prefix(prefix).ok_or_else(|| self.error(expected, line))
    }

    /// The `field:` lines up to an empty line, which is consumed.
    fn fields(&mut self) -> Result<Vec<Field>, FormatError> {
        let mut fields = Vec::new();
        loop {
            match self.next() {
                Some("") => return Ok(fields),
                Some(line) => {
                    let field = line.strip_prefix('\t').and_then(field);
                    fields.push(field.ok_or_else(|| self.error("a `field:` line", line))?);
                }
                None => return Err(self.error("an empty line after the fields", "")),
            }
        }
    }
}

/// The block of fields that every event begins with, as the last event had it: a kernel's two thousand events have the
/// same, and share it in memory.
#[derive(Clone, Debug, Default)]
pub struct CommonBlock {
    /// Lines of the block.
    text: String,
    fields: Arc<[Field]>,
}

impl CommonBlock {
    /// Takes the block off `lines`, if it is the same.
    fn take(&self, lines: &mut FormatLines<'_>) -> Option<Arc<[Field]>> {
        let rest = lines.rest.strip_prefix(self.text.as_str())?.strip_prefix('\n')?;
        if self.fields.is_empty() {
            return None;
        }
        lines.rest = rest;
        lines.number = lines.number.saturating_add(self.fields.len()).saturating_add(1);
        Some(self.fields.clone())
    }
}

pub(super) fn event(system: &str, text: &str, last: &mut CommonBlock) -> Result<EventFormat, FormatError> {
    let mut lines = FormatLines::new(text);
    let name = lines.expect("name: ", "`name: NAME`")?.to_owned();
    let id = lines.expect("ID: ", "`ID: NUMBER`")?;
    let id = EventId(id.parse().map_err(|_| lines.error("`ID: NUMBER`", id))?);
    lines.expect("format:", "`format:`")?;
    let first = lines.rest;
    let mut common = match last.take(&mut lines) {
        Some(common) => common,
        None => lines.fields()?.into(),
    };
    // Events without fields of their own still have the empty second block; the very old kernels
    // and some dynamic events have only one block, then the print fmt follows at once.
    let own = if lines.rest.starts_with("print fmt: ") { Vec::new() } else { lines.fields()? };
    let single_block = own.is_empty() && common.iter().any(|f| !f.name.starts_with("common_"));
    let fields = if single_block {
        let first_own = common.iter().position(|f| !f.name.starts_with("common_")).unwrap_or(common.len());
        let (first, own) = common.split_at_checked(first_own).unwrap_or_default();
        let own = own.to_vec();
        common = first.into();
        own
    } else {
        if !Arc::ptr_eq(&common, &last.fields)
            && let Some((text, _)) = first.split_once("\n\n")
        {
            *last = CommonBlock { text: format!("{text}\n"), fields: common.clone() };
        }
        own
    };
    let rest = lines.rest;
    let print_fmt = rest.strip_prefix("print fmt: ").ok_or_else(|| {
        lines.number = lines.number.saturating_add(1);
        lines.error("`print fmt: `", rest.lines().next().unwrap_or(""))
    })?;
    Ok(EventFormat { system: system.to_owned(), name, id, common, fields, print_fmt: print_fmt.to_owned() })
}

pub(super) fn header_page(text: &str) -> Result<HeaderPage, FormatError> {
    let mut lines = FormatLines::new(text);
    let mut commit = None;
    let mut data = None;
    while let Some(line) = lines.next() {
        let field = line.strip_prefix('\t').and_then(field).ok_or_else(|| lines.error("a `field:` line", line))?;
        match field.name.as_str() {
            "commit" => commit = Some(field),
            "data" => data = Some(field),
            _ => {}
        }
    }
    let (Some(commit), Some(data)) = (commit, data) else {
        return Err(lines.error("the fields `commit` and `data`", ""));
    };
    let sub_buffer_size = data.offset.checked_add(data.size).filter(|s| (64..=1 << 30).contains(s));
    match (commit.size, data.offset, sub_buffer_size) {
        (4 | 8, 12 | 16, Some(sub_buffer_size)) => {
            Ok(HeaderPage { long_size: commit.size as u8, data_offset: data.offset, sub_buffer_size })
        }
        _ => Err(lines.error("a `commit` of 4 or 8 bytes and `data` at 12 or 16", "")),
    }
}

/// `field:DECL;\toffset:N;\tsize:N;[\tsigned:N;]`
fn field(line: &str) -> Option<Field> {
    let line = line.strip_prefix("field:")?;
    let (decl, rest) = split_at_byte(line, b';')?;
    if let Some((offset, size, signed)) = usual_numbers(rest.as_bytes()) {
        return with_numbers(decl, offset, size, signed);
    }
    let mut offset = None;
    let mut size = None;
    let mut signed = None;
    for part in rest.split(';').map(str::trim).filter(|p| !p.is_empty()) {
        match part.split_once(':')? {
            ("offset", n) => offset = Some(n.parse().ok()?),
            ("size", n) => size = Some(n.parse().ok()?),
            ("signed", n) => signed = Some(n.parse::<u8>().ok()? != 0),
            _ => return None,
        }
    }
    with_numbers(decl, offset?, size?, signed)
}

fn with_numbers(decl: &str, offset: usize, size: usize, signed: Option<bool>) -> Option<Field> {
    let (type_name, name, length) = split_decl(decl)?;
    let shape = shape(&type_name, length, size);
    Some(Field { decl: decl.to_owned(), name, type_name, offset, size, signed, shape })
}

/// Offset, size and sign as kernels write them since 2.6.32: nothing to look for.
fn usual_numbers(rest: &[u8]) -> Option<(usize, usize, Option<bool>)> {
    let (offset, rest) = number(rest.strip_prefix(b"\toffset:")?)?;
    let (size, rest) = number(rest.strip_prefix(b"\tsize:")?)?;
    match rest.strip_prefix(b"\tsigned:")? {
        b"0;" => Some((offset, size, Some(false))),
        b"1;" => Some((offset, size, Some(true))),
        _ => None,
    }
}

/// The text before the first `byte`, an ASCII character, and after it.
fn split_at_byte(text: &str, byte: u8) -> Option<(&str, &str)> {
    let at = memchr::memchr(byte, text.as_bytes())?;
    Some((text.get(..at)?, text.get(at.checked_add(1)?..)?))
}

/// Up to nine digits and a semicolon, and what follows it.
fn number(text: &[u8]) -> Option<(usize, &[u8])> {
    let (mut value, mut rest) = (0usize, text);
    for at in 0..10 {
        let (byte, after) = rest.split_first()?;
        match byte {
            // nine digits fit
            b'0'..=b'9' if at < 9 => value = value.wrapping_mul(10).wrapping_add((byte & 0xf).into()),
            b';' if at > 0 => return Some((value, after)),
            _ => return None,
        }
        rest = after;
    }
    None
}

/// A declaration's type, name and, for an array, what stands between its brackets.
///
/// `char prev_comm[16]`, `__data_loc char[] name`, `u8[6] addr`, `unsigned long __data[0]`.
fn split_decl(decl: &str) -> Option<(String, String, Option<&str>)> {
    let decl = decl.trim();
    let (head, mut length) = match decl.strip_suffix(']') {
        Some(inner) => {
            let (head, length) = inner.split_once('[')?; // `a[2][3]` stays one bracket text, `2][3`
            (head.trim_end(), Some(length))
        }
        None => (decl, None),
    };
    let is_plain = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.');
    let name_at = match head.as_bytes().iter().rposition(|b| !is_plain(b)) {
        Some(before) if head.as_bytes().get(before).is_some_and(u8::is_ascii) => before.saturating_add(1),
        Some(_) => head.trim_end_matches(|c: char| c.is_alphanumeric() || c == '_' || c == '.').len(),
        None => 0,
    };
    let (ty, name) = head.split_at_checked(name_at)?;
    if name.is_empty() {
        return None;
    }
    let ty = ty.trim_end();
    if length.is_none()
        && let Some(inner) = ty.strip_suffix(']')
    {
        length = Some(inner.rsplit_once('[')?.1);
    }
    Some((ty.to_owned(), name.to_owned(), length))
}

fn shape(type_name: &str, length: Option<&str>, size: usize) -> Shape {
    if type_name.starts_with("__data_loc") {
        return Shape::DataLoc { elem_size: element_size(type_name) };
    }
    if type_name.starts_with("__rel_loc") {
        return Shape::RelLoc { elem_size: element_size(type_name) };
    }
    match length {
        None if size == 0 => Shape::Array { elem_size: element_size(type_name) },
        None => Shape::Scalar,
        Some(text) => {
            let len =
                text.split("][").map(|n| n.trim().parse::<usize>().ok()).try_fold(1usize, |a, n| a.checked_mul(n?));
            let elem_size = match len {
                Some(len) if len > 0 && size > 0 => size.checked_div(len).unwrap_or_default(),
                _ => element_size(type_name),
            };
            Shape::Array { elem_size }
        }
    }
}

/// The size of the elements of an array whose length is not declared, in bytes; 0 if unknown.
fn element_size(type_name: &str) -> usize {
    let is = |word: &str| type_name.split(|c: char| !(c.is_alphanumeric() || c == '_')).any(|w| w == word);
    if is("u16") || is("s16") || is("__u16") || is("__s16") || is("short") {
        2
    } else if is("u32") || is("s32") || is("__u32") || is("__s32") || (is("int") && !is("long")) {
        4
    } else if is("u64") || is("s64") || is("__u64") || is("__s64") {
        8
    } else if is("char") || is("u8") || is("s8") || is("__u8") || is("__s8") {
        1
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape_of(decl: &str, size: usize) -> (String, String, Shape) {
        let f = field(&format!("field:{decl};\toffset:8;\tsize:{size};\tsigned:0;")).expect(decl);
        (f.type_name, f.name, f.shape)
    }

    #[test]
    fn declarations() {
        let s = String::from;
        assert_eq!(shape_of("char prev_comm[16]", 16), (s("char"), s("prev_comm"), Shape::Array { elem_size: 1 }));
        assert_eq!(
            shape_of("__data_loc char[] name", 4),
            (s("__data_loc char[]"), s("name"), Shape::DataLoc { elem_size: 1 })
        );
        assert_eq!(shape_of("__rel_loc u32[] v", 4), (s("__rel_loc u32[]"), s("v"), Shape::RelLoc { elem_size: 4 }));
        assert_eq!(shape_of("const char * devname", 8), (s("const char *"), s("devname"), Shape::Scalar));
        assert_eq!(shape_of("const char *name", 8), (s("const char *"), s("name"), Shape::Scalar));
        assert_eq!(
            shape_of("unsigned long args[6]", 48),
            (s("unsigned long"), s("args"), Shape::Array { elem_size: 8 })
        );
        assert_eq!(shape_of("char buf[]", 0), (s("char"), s("buf"), Shape::Array { elem_size: 1 }));
        assert_eq!(shape_of("u8[6] addr", 6), (s("u8[6]"), s("addr"), Shape::Array { elem_size: 1 }));
        assert_eq!(
            shape_of("struct ip_address a[2][3]", 24),
            (s("struct ip_address"), s("a"), Shape::Array { elem_size: 4 })
        );
    }

    #[test]
    fn a_bad_line_is_named() {
        let text = "name: x\nID: 5\nformat:\n\tfield:int a;\toffset:0;\tsize:4;\tsigned:1;\n\tfeld:int b;\n";
        let err = EventFormat::parse("s", text).unwrap_err();
        assert_eq!(err.line, 5);
        assert_eq!(err.found, "\tfeld:int b;");
        assert_eq!(EventFormat::parse("s", "").unwrap_err().line, 1);
    }

    #[test]
    fn a_block_that_was_seen_before_changes_nothing() {
        let common = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n";
        let more = "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n";
        let own = "\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n\n";
        let text = |fields: &str| format!("name: x\nID: 5\nformat:\n{fields}print fmt: \"%d\", REC->a\n");
        let texts = [
            text(&format!("{common}\n{own}")),
            text(&format!("{common}\n{own}")),
            text(&format!("{common}{more}\n{own}")),
            text(&format!("{common}{more}\n\n")),
            text(&format!("{common}{own}")), // one block
            text(&format!("{common}{more}\n\tfeld:int b;\n\n")),
            text(&format!("{common}\n{own}")),
        ];
        let mut last = CommonBlock::default();
        for text in &texts {
            let alone = EventFormat::parse("s", text);
            assert_eq!(EventFormat::parse_next("s", text, &mut last), alone, "{text}");
            if let Ok(format) = alone {
                assert_eq!(format.to_string().contains("common_pid"), text.contains("common_pid"));
            }
        }
        let first = EventFormat::parse_next("s", &texts[0], &mut last).unwrap();
        let second = EventFormat::parse_next("s", &texts[1], &mut last).unwrap();
        assert!(Arc::ptr_eq(&first.common, &second.common), "the block is not shared");
    }

    #[test]
    fn a_name_may_follow_any_character() {
        assert_eq!(shape_of("int 𜐒.", 4), (String::from("int 𜐒"), String::from("."), Shape::Scalar));
    }

    #[test]
    fn header_pages() {
        let text = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
                    \tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
                    \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\
                    \tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";
        let page = HeaderPage::parse(text).unwrap();
        assert_eq!(page, HeaderPage { long_size: 8, data_offset: 16, sub_buffer_size: 4096 });
        assert!(HeaderPage::parse("").is_err());
    }
}
