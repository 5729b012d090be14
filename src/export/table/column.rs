//! A column that is being filled.

use crate::export::csv;

/// The type of a column's cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CellType {
    /// A number of `size` bytes: 1, 2, 4 or 8.
    Number { size: u8, signed: bool },
    /// True or false.
    Bool,
    /// Text; bytes that are not UTF-8 stand as `\xNN`.
    Text,
    /// Bytes.
    Bytes,
    /// Numbers of `size` bytes.
    List { size: u8, signed: bool },
    /// Microseconds since 1970, UTC: Spark reads no file that has a column of nanoseconds.
    Time,
}

impl CellType {
    pub(super) const I64: CellType = CellType::Number { size: 8, signed: true };
    pub(super) const I32: CellType = CellType::Number { size: 4, signed: true };
    pub(super) const U64: CellType = CellType::Number { size: 8, signed: false };
}

/// Cells of one type, to which more are added; any number of the first ones can be taken as an array.
#[derive(Clone, Debug)]
pub(super) struct Column {
    cell: CellType,
    /// Per row: whether there is a value. Rows after its end have one.
    valid: Vec<bool>,
    /// One per row, or all of the lists.
    numbers: Vec<u64>,
    /// Of lists, per row: the end of its numbers.
    ends: Vec<i32>,
    /// Of text and bytes, per row: its place in `bytes`, which rows may share.
    spans: Vec<TextSpan>,
    bytes: Vec<u8>,
}

/// Begin and end of a cell's text.
pub(super) type TextSpan = (u32, u32);

impl Column {
    pub(super) fn new(cell: CellType) -> Self {
        let (valid, numbers, ends) = (Vec::new(), Vec::new(), Vec::new());
        Column { cell, valid, numbers, ends, spans: Vec::new(), bytes: Vec::new() }
    }

    /// No cells of the same type.
    pub(super) fn emptied(&self) -> Self {
        Column::new(self.cell)
    }

    /// No cells of another type, in the memory of these.
    pub(super) fn reused(mut self, cell: CellType) -> Self {
        self.cell = cell;
        self.valid.clear();
        self.numbers.clear();
        self.ends.clear();
        self.spans.clear();
        self.bytes.clear();
        self
    }

    #[cfg(feature = "arrow")]
    pub(super) fn cell(&self) -> CellType {
        self.cell
    }

    /// Number of cells.
    pub(super) fn len(&self) -> usize {
        match self.cell {
            CellType::Number { .. } | CellType::Bool | CellType::Time => self.numbers.len(),
            CellType::Text | CellType::Bytes => self.spans.len(),
            CellType::List { .. } => self.ends.len(),
        }
    }

    pub(super) fn null(&mut self) {
        self.add_nulls(1);
    }

    fn add_nulls(&mut self, count: usize) {
        let len = self.len();
        self.valid.resize(len, true);
        self.valid.resize(len + count, false);
        match self.cell {
            CellType::Number { .. } | CellType::Bool | CellType::Time => self.numbers.resize(len + count, 0),
            CellType::Text | CellType::Bytes => {
                let end = self.bytes.len() as u32;
                self.spans.resize(len + count, (end, end));
            }
            CellType::List { .. } => self.ends.resize(len + count, self.numbers.len() as i32),
        }
    }

    /// A number as 64 bits, with the sign of the column's type, or a truth value.
    #[inline]
    pub(super) fn number(&mut self, number: u64) {
        self.numbers.push(number);
    }

    /// Such numbers, one per row.
    #[inline]
    pub(super) fn extend(&mut self, numbers: impl Iterator<Item = u64>) {
        self.numbers.extend(numbers);
    }

    /// The last cell, of text or bytes; `None` if it is null.
    pub(super) fn last(&self) -> Option<TextSpan> {
        let row = self.spans.len().checked_sub(1)?;
        self.spans.get(row).copied().filter(|_| !self.is_null(row))
    }

    /// A cell of text or bytes that was there before.
    #[inline(always)]
    pub(super) fn again(&mut self, cell: Option<TextSpan>) {
        match cell {
            Some(span) => self.spans.push(span),
            None => self.add_nulls(1),
        }
    }

    /// The same so many times.
    pub(super) fn repeat(&mut self, cell: Option<TextSpan>, count: usize) {
        match cell {
            Some(span) => self.spans.resize(self.spans.len() + count, span),
            None => self.add_nulls(count),
        }
    }

    pub(super) fn text(&mut self, text: &[u8]) {
        let from = self.bytes.len() as u32;
        csv::text(&mut self.bytes, text);
        self.spans.push((from, self.bytes.len() as u32));
    }

    pub(super) fn text_or_null(&mut self, text: Option<&[u8]>) {
        match text {
            Some(text) => self.text(text),
            None => self.null(),
        }
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        let from = self.bytes.len() as u32;
        self.bytes.extend_from_slice(bytes);
        self.spans.push((from, self.bytes.len() as u32));
    }

    pub(super) fn list(&mut self, numbers: impl Iterator<Item = u64>) {
        self.numbers.extend(numbers);
        self.ends.push(self.numbers.len() as i32);
    }

    /// Moves all cells of `later`, which is of the same type, to the end of this one.
    pub(super) fn append(&mut self, later: &mut Column) {
        if !later.valid.is_empty() {
            self.valid.resize(self.len(), true);
            self.valid.append(&mut later.valid);
        }
        let (numbers, bytes) = (self.numbers.len() as i32, self.bytes.len() as u32);
        self.ends.extend(later.ends.drain(..).map(|end| end.saturating_add(numbers)));
        let moved = |(from, to): TextSpan| (from.saturating_add(bytes), to.saturating_add(bytes));
        self.spans.extend(later.spans.drain(..).map(moved));
        self.numbers.append(&mut later.numbers);
        self.bytes.append(&mut later.bytes);
    }

    /// A text or bytes in `rows` cells, or nothing.
    pub(super) fn constant(text: Option<&[u8]>, rows: usize) -> Self {
        let Some(text) = text else { return Column::nulls(CellType::Text, rows) };
        let mut column = Column::new(CellType::Text);
        column.bytes.extend_from_slice(text);
        column.repeat(Some((0, text.len() as u32)), rows);
        column
    }

    /// Cells without values.
    pub(super) fn nulls(cell: CellType, rows: usize) -> Self {
        let mut column = Column::new(cell);
        column.add_nulls(rows);
        column
    }

    /// The same cells as those of a type that holds all their values.
    pub(super) fn retyped(self, cell: CellType) -> Self {
        Column { cell, ..self }
    }

    /// The number of bytes that it takes in memory.
    pub(super) fn weight(&self) -> usize {
        self.valid.len() + self.numbers.len() * 8 + self.ends.len() * 4 + self.spans.len() * 8 + self.bytes.len()
    }

    /// The begin and end of a list.
    fn list_span(&self, row: usize) -> (usize, usize) {
        let end = |row: usize| self.ends.get(row).map_or(0, |end| *end as usize);
        (row.checked_sub(1).map_or(0, end), end(row))
    }

    fn is_null(&self, row: usize) -> bool {
        self.valid.get(row) == Some(&false)
    }

    /// The text or bytes of a cell.
    pub(super) fn text_at(&self, row: usize) -> Option<&[u8]> {
        let (from, to) = *self.spans.get(row)?;
        self.bytes.get(from as usize..to as usize).filter(|_| !self.is_null(row))
    }

    /// The number of a cell.
    pub(super) fn number_at(&self, row: usize) -> u64 {
        self.numbers.get(row).copied().unwrap_or_default()
    }

    /// The cells of these rows, in this order.
    pub(super) fn pick(&self, rows: &[u32]) -> Column {
        let mut column = self.emptied();
        for row in rows.iter().map(|row| *row as usize) {
            match self.cell {
                _ if self.is_null(row) => column.null(),
                CellType::Number { .. } | CellType::Bool | CellType::Time => column.number(self.number_at(row)),
                CellType::Text | CellType::Bytes => column.bytes(self.text_at(row).unwrap_or_default()),
                CellType::List { .. } => {
                    let (from, to) = self.list_span(row);
                    column.list(self.numbers[from..to].iter().copied());
                }
            }
        }
        column
    }

    /// The first `rows` cells; there are at least that number.
    pub(super) fn front(&self, rows: usize) -> ColumnFront<'_> {
        let valid = &self.valid[..rows.min(self.valid.len())];
        let none = ColumnFront { rows, valid, numbers: &[], ends: &[], spans: &[], bytes: &[] };
        match self.cell {
            CellType::Number { .. } | CellType::Bool | CellType::Time => {
                ColumnFront { numbers: &self.numbers[..rows], ..none }
            }
            CellType::List { .. } => {
                let end = rows.checked_sub(1).map_or(0, |last| self.ends[last] as usize);
                ColumnFront { numbers: &self.numbers[..end], ends: &self.ends[..rows], ..none }
            }
            CellType::Text | CellType::Bytes => ColumnFront { spans: &self.spans[..rows], bytes: &self.bytes, ..none },
        }
    }

    /// Removes the first `rows` cells.
    pub(super) fn remove(&mut self, rows: usize) {
        let numbers = self.front(rows).numbers.len();
        self.valid.drain(..rows.min(self.valid.len()));
        self.numbers.drain(..numbers);
        if !self.ends.is_empty() {
            self.ends.drain(..rows);
            self.ends.iter_mut().for_each(|later| *later -= numbers as i32);
        }
        if !self.spans.is_empty() {
            self.spans.drain(..rows);
            // Later cells may share the text of those that go.
            let first = self.spans.iter().map(|span| span.0).min().unwrap_or(self.bytes.len() as u32);
            self.bytes.drain(..first as usize);
            self.spans.iter_mut().for_each(|(from, to)| (*from, *to) = (*from - first, *to - first));
        }
    }
}

/// The first cells of a column.
#[derive(Clone, Copy, Debug)]
pub(super) struct ColumnFront<'c> {
    pub(super) rows: usize,
    /// Per row: whether there is a value. Rows after its end have one.
    valid: &'c [bool],
    /// Of numbers one per row, of lists all of them.
    pub(super) numbers: &'c [u64],
    /// Of lists, per row: the end of its numbers.
    pub(super) ends: &'c [i32],
    /// Of text and bytes, per row: its place in `bytes`.
    spans: &'c [TextSpan],
    bytes: &'c [u8],
}

impl<'c> ColumnFront<'c> {
    /// Number of rows without a value.
    pub(super) fn nulls(self) -> usize {
        self.valid.iter().filter(|valid| !**valid).count()
    }

    /// Per row: whether there is a value.
    pub(super) fn valid(self) -> impl Iterator<Item = bool> + Clone + 'c {
        self.valid.iter().copied().chain(std::iter::repeat(true)).take(self.rows)
    }

    /// The texts or bytes of the rows that have some.
    pub(super) fn texts(self) -> impl Iterator<Item = &'c [u8]> {
        self.spans().map(move |span| self.text(span))
    }

    /// Their places, which are the same of some that are the same.
    fn spans(self) -> impl Iterator<Item = TextSpan> {
        self.spans.iter().zip(self.valid()).filter(|(_, valid)| *valid).map(|(span, _)| *span)
    }

    /// The text of all rows, if all have the same.
    pub(super) fn only_text(self) -> Option<&'c [u8]> {
        let (first, rest) = self.spans.split_first()?;
        let (text, mut last) = (self.text(*first), *first);
        let is_same = |span: &TextSpan| *span == std::mem::replace(&mut last, *span) || self.text(*span) == text;
        (self.nulls() == 0 && rest.iter().all(is_same)).then_some(text)
    }

    /// Adds what `of` makes of them to `out`.
    pub(super) fn spans_into<T>(self, out: &mut Vec<T>, mut of: impl FnMut(TextSpan) -> T) {
        match self.nulls() {
            0 => out.extend(self.spans.iter().map(|span| of(*span))),
            _ => out.extend(self.spans().map(of)),
        }
    }

    /// The text at a place.
    pub(super) fn text(self, (from, to): TextSpan) -> &'c [u8] {
        &self.bytes[from as usize..to as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_taken_from_the_front_of_what_was_joined() {
        let mut text = Column::new(CellType::Text);
        text.text(b"one");
        text.null();
        let mut later = Column::new(CellType::Text);
        later.null();
        later.repeat(later.last(), 1);
        later.text(b"a\xff");
        let shared = later.last();
        later.repeat(shared, 1);
        later.text(b"b");
        later.repeat(shared, 1);
        text.append(&mut later);
        let first = text.front(6);
        assert_eq!(first.texts().collect::<Vec<_>>(), [&b"one"[..], b"a\\xff", b"a\\xff"]);
        assert_eq!(first.valid().collect::<Vec<_>>(), [true, false, false, false, true, true]);
        text.remove(6);
        assert_eq!(text.front(2).texts().collect::<Vec<_>>(), [&b"b"[..], b"a\\xff"]);
        assert_eq!((text.text_at(0), text.text_at(1), text.text_at(2)), (Some(&b"b"[..]), Some(&b"a\\xff"[..]), None));

        let mut list = Column::new(CellType::List { size: 2, signed: true });
        list.list([1, u64::MAX].into_iter());
        list.null();
        list.list([3].into_iter());
        assert_eq!((list.front(1).numbers, list.front(1).ends), (&[1, u64::MAX][..], &[2][..]));
        list.remove(1);
        let rest = list.front(2);
        assert_eq!(
            (rest.nulls(), rest.valid().last(), rest.numbers, rest.ends),
            (1, Some(true), &[3][..], &[0, 1][..])
        );
    }
}
