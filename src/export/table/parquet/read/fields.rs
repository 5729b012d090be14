//! Structs of Thrift's compact protocol, read as the trees of their fields.

use std::io;

/// A field's value.
#[derive(Debug)]
enum FieldValue<'b> {
    Bool(bool),
    Number(i64),
    Bytes(&'b [u8]),
    List(Vec<FieldValue<'b>>),
    Struct(FieldTree<'b>),
}

/// The fields of a struct, by their numbers.
#[derive(Debug, Default)]
pub(super) struct FieldTree<'b>(Vec<(u8, FieldValue<'b>)>);

/// Structs and lists within each other.
const DEPTH: usize = 12;

impl<'b> FieldTree<'b> {
    /// Reads the struct that `bytes` begins with, and leaves the rest there.
    pub(super) fn read(bytes: &mut &'b [u8]) -> Result<Self, TableReadError> {
        fields(bytes, DEPTH)
    }

    fn get(&self, number: u8) -> Option<&FieldValue<'b>> {
        self.0.iter().find(|(field, _)| *field == number).map(|(_, value)| value)
    }

    pub(super) fn number(&self, number: u8) -> Option<i64> {
        match self.get(number) {
            Some(FieldValue::Number(number)) => Some(*number),
            _ => None,
        }
    }

    /// A number that is a size, a count or an offset.
    pub(super) fn size(&self, number: u8) -> Result<u64, TableReadError> {
        self.number(number).and_then(|size| u64::try_from(size).ok()).ok_or(strange("a size is missing"))
    }

    pub(super) fn bool(&self, number: u8) -> Option<bool> {
        match self.get(number) {
            Some(FieldValue::Bool(value)) => Some(*value),
            _ => None,
        }
    }

    pub(super) fn text(&self, number: u8) -> Option<String> {
        match self.get(number) {
            Some(FieldValue::Bytes(bytes)) => Some(String::from_utf8_lossy(bytes).into_owned()),
            _ => None,
        }
    }

    pub(super) fn structure(&self, number: u8) -> Option<&FieldTree<'b>> {
        match self.get(number) {
            Some(FieldValue::Struct(fields)) => Some(fields),
            _ => None,
        }
    }

    /// The structs of a list.
    pub(super) fn structures(&self, number: u8) -> impl Iterator<Item = &FieldTree<'b>> {
        let list = match self.get(number) {
            Some(FieldValue::List(list)) => list.as_slice(),
            _ => &[],
        };
        list.iter().filter_map(|value| if let FieldValue::Struct(fields) = value { Some(fields) } else { None })
    }
}

/// A number of variable length.
pub(super) fn varint(bytes: &mut &[u8]) -> Result<u64, TableReadError> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = byte(bytes)?;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(strange("a number has more than 64 bits"))
}

/// A signed number of variable length.
pub(super) fn signed(bytes: &mut &[u8]) -> Result<i64, TableReadError> {
    varint(bytes).map(|value| (value >> 1) as i64 ^ -((value & 1) as i64))
}

pub(super) fn byte(bytes: &mut &[u8]) -> Result<u8, TableReadError> {
    let (first, rest) = bytes.split_first().ok_or(strange("it ends within a field"))?;
    *bytes = rest;
    Ok(*first)
}

/// The next `count` bytes.
pub(super) fn take<'b>(bytes: &mut &'b [u8], count: u64) -> Result<&'b [u8], TableReadError> {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let (first, rest) = bytes.split_at_checked(count).ok_or(strange("it ends within a value"))?;
    *bytes = rest;
    Ok(first)
}

fn fields<'b>(bytes: &mut &'b [u8], depth: usize) -> Result<FieldTree<'b>, TableReadError> {
    let depth = depth.checked_sub(1).ok_or(strange("structs are too deep"))?;
    let (mut found, mut last) = (Vec::new(), 0i64);
    loop {
        let head = byte(bytes)?;
        if head == 0 {
            return Ok(FieldTree(found));
        }
        last = match head >> 4 {
            0 => signed(bytes)?,
            more => last + i64::from(more),
        };
        let number = u8::try_from(last).map_err(|_| strange("a field has a strange number"))?;
        let value = match head & 15 {
            1 => FieldValue::Bool(true),
            2 => FieldValue::Bool(false),
            kind => value(bytes, kind, depth)?,
        };
        found.push((number, value));
    }
}

fn value<'b>(bytes: &mut &'b [u8], kind: u8, depth: usize) -> Result<FieldValue<'b>, TableReadError> {
    Ok(match kind {
        1 | 2 => FieldValue::Bool(byte(bytes)? == 1),
        3 => FieldValue::Number((byte(bytes)? as i8).into()),
        4..=6 => FieldValue::Number(signed(bytes)?),
        8 => {
            let length = varint(bytes)?;
            FieldValue::Bytes(take(bytes, length)?)
        }
        9 => {
            let head = byte(bytes)?;
            let depth = depth.checked_sub(1).ok_or(strange("lists are too deep"))?;
            let count = if head >> 4 == 15 { varint(bytes)? } else { u64::from(head >> 4) };
            // Each takes a byte at least.
            if count > bytes.len() as u64 {
                return Err(strange("it ends within a list"));
            }
            FieldValue::List((0..count).map(|_| value(bytes, head & 15, depth)).collect::<Result<_, _>>()?)
        }
        12 => FieldValue::Struct(fields(bytes, depth)?),
        _ => return Err(strange("a field has a strange type")),
    })
}

/// The reason why a Parquet file is not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableReadError {
    /// Reading failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// It does not end as a Parquet file does: it is not complete.
    #[error("it is no whole Parquet file")]
    NotWhole,
    /// It was written by another program, which may use what is not read here.
    #[error("`rtrace convert` did not write it, but {0}")]
    Foreign(String),
    /// It is damaged.
    #[error("it is damaged: {0}")]
    Damaged(&'static str),
}

pub(super) fn strange(what: &'static str) -> TableReadError {
    TableReadError::Damaged(what)
}

#[cfg(test)]
mod tests {
    use super::super::super::thrift::structure;
    use super::*;

    #[test]
    fn what_the_writer_writes() {
        let mut out = Vec::new();
        structure(&mut out, |fields| {
            fields.i32(1, -1);
            fields.binary(3, b"ab");
            fields.bool(4, true);
            fields.structures(5, &[7, 8], |number, fields| fields.i64(2, *number));
            fields.structure(6, |fields| fields.i64(1, i64::MIN));
        });
        out.push(9);
        let mut rest = out.as_slice();
        let read = FieldTree::read(&mut rest).expect("a struct");
        assert_eq!((read.number(1), read.text(3), read.bool(4)), (Some(-1), Some("ab".to_owned()), Some(true)));
        let listed: Vec<_> = read.structures(5).filter_map(|fields| fields.number(2)).collect();
        assert_eq!((listed, read.structure(6).and_then(|fields| fields.number(1))), (vec![7, 8], Some(i64::MIN)));
        assert_eq!(rest, [9]);
        (0..out.len() - 1).for_each(|end| assert!(FieldTree::read(&mut &out[..end]).is_err(), "{end}"));
        assert!(FieldTree::read(&mut &[0x1c; 100][..]).is_err(), "depth");
    }
}
