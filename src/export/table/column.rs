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
    /// Of text, bytes and lists, per row: the end of its bytes or numbers.
    ends: Vec<i32>,
    bytes: Vec<u8>,
}

impl Column {
    pub(super) fn new(cell: CellType) -> Self {
        Column { cell, valid: Vec::new(), numbers: Vec::new(), ends: Vec::new(), bytes: Vec::new() }
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
            CellType::Text | CellType::Bytes | CellType::List { .. } => self.ends.len(),
        }
    }

    pub(super) fn null(&mut self) {
        self.valid.resize(self.len(), true);
        self.valid.push(false);
        match self.cell {
            CellType::Number { .. } | CellType::Bool | CellType::Time => self.numbers.push(0),
            CellType::Text | CellType::Bytes => self.ends.push(self.bytes.len() as i32),
            CellType::List { .. } => self.ends.push(self.numbers.len() as i32),
        }
    }

    /// A number, of whatever sign, or a truth value.
    #[inline]
    pub(super) fn number(&mut self, number: u64) {
        self.numbers.push(number);
    }

    /// Such numbers, one per row.
    #[inline]
    pub(super) fn extend(&mut self, numbers: impl Iterator<Item = u64>) {
        self.numbers.extend(numbers);
    }

    /// The last cell, of text or bytes, once more.
    pub(super) fn repeat(&mut self) {
        if self.valid.len() == self.ends.len() && self.valid.last() == Some(&false) {
            return self.null();
        }
        let from =
            self.ends.len().checked_sub(2).and_then(|before| self.ends.get(before)).map_or(0, |end| *end as usize);
        self.bytes.extend_from_within(from..);
        self.ends.push(self.bytes.len() as i32);
    }

    pub(super) fn text(&mut self, text: &[u8]) {
        csv::text(&mut self.bytes, text);
        self.ends.push(self.bytes.len() as i32);
    }

    pub(super) fn text_or_null(&mut self, text: Option<&[u8]>) {
        match text {
            Some(text) => self.text(text),
            None => self.null(),
        }
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.ends.push(self.bytes.len() as i32);
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
        let base = match self.cell {
            CellType::List { .. } => self.numbers.len(),
            _ => self.bytes.len(),
        } as i32;
        self.ends.extend(later.ends.drain(..).map(|end| end.saturating_add(base)));
        self.numbers.append(&mut later.numbers);
        self.bytes.append(&mut later.bytes);
    }

    /// A text or bytes in `rows` cells, or nothing.
    pub(super) fn constant(text: Option<&[u8]>, rows: usize) -> Self {
        let Some(text) = text else { return Column::nulls(CellType::Text, rows) };
        let mut column = Column::new(CellType::Text);
        (0..rows).for_each(|_| column.bytes(text));
        column
    }

    /// Cells without values.
    pub(super) fn nulls(cell: CellType, rows: usize) -> Self {
        let mut column = Column::new(cell);
        (0..rows).for_each(|_| column.null());
        column
    }

    /// The same cells as those of a type that holds all their values.
    pub(super) fn retyped(self, cell: CellType) -> Self {
        Column { cell, ..self }
    }

    /// The number of bytes that it takes in memory.
    pub(super) fn weight(&self) -> usize {
        self.valid.len() + self.numbers.len() * 8 + self.ends.len() * 4 + self.bytes.len()
    }

    /// The begin and end of a cell of text, bytes or a list.
    fn span(&self, row: usize) -> (usize, usize) {
        let end = |row: usize| self.ends.get(row).map_or(0, |end| *end as usize);
        (row.checked_sub(1).map_or(0, end), end(row))
    }

    fn is_null(&self, row: usize) -> bool {
        self.valid.get(row) == Some(&false)
    }

    /// The text or bytes of a cell.
    pub(super) fn text_at(&self, row: usize) -> Option<&[u8]> {
        let (from, to) = self.span(row);
        self.bytes.get(from..to).filter(|_| !self.is_null(row) && row < self.ends.len())
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
                CellType::Text | CellType::Bytes => {
                    let (from, to) = self.span(row);
                    column.bytes(&self.bytes[from..to]);
                }
                CellType::List { .. } => {
                    let (from, to) = self.span(row);
                    column.list(self.numbers[from..to].iter().copied());
                }
            }
        }
        column
    }

    /// The first `rows` cells; there are at least that number.
    pub(super) fn front(&self, rows: usize) -> ColumnFront<'_> {
        let end = match rows.checked_sub(1) {
            Some(last) if !self.ends.is_empty() => self.ends[last] as usize,
            _ => 0,
        };
        let valid = &self.valid[..rows.min(self.valid.len())];
        match self.cell {
            CellType::Number { .. } | CellType::Bool | CellType::Time => {
                ColumnFront { rows, valid, numbers: &self.numbers[..rows], ends: &[], bytes: &[] }
            }
            CellType::List { .. } => {
                ColumnFront { rows, valid, numbers: &self.numbers[..end], ends: &self.ends[..rows], bytes: &[] }
            }
            CellType::Text | CellType::Bytes => {
                ColumnFront { rows, valid, numbers: &[], ends: &self.ends[..rows], bytes: &self.bytes[..end] }
            }
        }
    }

    /// Removes the first `rows` cells.
    pub(super) fn remove(&mut self, rows: usize) {
        let ColumnFront { numbers, bytes, .. } = self.front(rows);
        let (numbers, bytes) = (numbers.len(), bytes.len());
        let end = numbers.max(bytes) as i32;
        self.valid.drain(..rows.min(self.valid.len()));
        self.numbers.drain(..numbers);
        self.bytes.drain(..bytes);
        if !self.ends.is_empty() {
            self.ends.drain(..rows);
            self.ends.iter_mut().for_each(|later| *later -= end);
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
    /// Of text, bytes and lists, per row: the end of its bytes or numbers.
    pub(super) ends: &'c [i32],
    pub(super) bytes: &'c [u8],
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
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let spans = starts.zip(self.ends).zip(self.valid()).filter(|(_, valid)| *valid);
        spans.map(move |((from, to), _)| &self.bytes[from as usize..*to as usize])
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
        later.repeat();
        later.text(b"a\xff");
        later.repeat();
        later.text(b"b");
        text.append(&mut later);
        let first = text.front(6);
        assert_eq!(first.texts().collect::<Vec<_>>(), [&b"one"[..], b"a\\xff", b"a\\xff"]);
        assert_eq!(first.valid().collect::<Vec<_>>(), [true, false, false, false, true, true]);
        text.remove(6);
        assert_eq!(text.front(1).texts().collect::<Vec<_>>(), [b"b"]);

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
