//! The columns of a part.

use crate::export::table::column::CellType;

/// The name of the column with the machine's name.
pub(super) const HOST: &str = "host";

/// A table's own columns, without `host`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableColumns(pub(super) Vec<(String, CellType)>);

impl TableColumns {
    /// Those of a file. A part has the column `host` itself; that of an event is another.
    pub(super) fn of(columns: &[(String, CellType)], is_part: bool) -> Self {
        let own = columns.iter().filter(|(name, _)| !is_part || name != HOST);
        let renamed = |(name, cell): &(String, CellType)| {
            (if name == HOST { format!("field_{name}") } else { name.clone() }, *cell)
        };
        TableColumns(own.map(renamed).collect())
    }

    /// Those that hold the rows of both; `None` if a column's types have none in common.
    pub fn union(&self, other: &TableColumns) -> Option<TableColumns> {
        let mut columns = self.0.clone();
        for (name, cell) in &other.0 {
            match columns.iter_mut().find(|(own, _)| own == name) {
                Some((_, own)) => *own = wider(*own, *cell)?,
                None => columns.push((name.clone(), *cell)),
            }
        }
        Some(TableColumns(columns))
    }
}

/// The least type that holds the values of both.
fn wider(one: CellType, other: CellType) -> Option<CellType> {
    match (one, other) {
        (CellType::Number { size: a, signed: x }, CellType::Number { size: b, signed: y }) => {
            number(a, x, b, y).map(|(size, signed)| CellType::Number { size, signed })
        }
        (CellType::List { size: a, signed: x }, CellType::List { size: b, signed: y }) => {
            number(a, x, b, y).map(|(size, signed)| CellType::List { size, signed })
        }
        _ => (one == other).then_some(one),
    }
}

fn number(a: u8, x: bool, b: u8, y: bool) -> Option<(u8, bool)> {
    let signed = x || y;
    // With a sign, an unsigned number takes the next size.
    let size = |size: u8, of: bool| if signed && !of { size.saturating_mul(2) } else { size };
    let size = size(a, x).max(size(b, y));
    (size <= 8).then_some((size, signed))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(of: &[(&str, CellType)]) -> TableColumns {
        TableColumns(of.iter().map(|(name, cell)| ((*name).to_owned(), *cell)).collect())
    }

    #[test]
    fn columns_of_two_kernels() {
        let number = |size, signed| CellType::Number { size, signed };
        let old = columns(&[("ts", CellType::I64), ("state", number(4, true)), ("flags", number(2, false))]);
        let new = columns(&[("ts", CellType::I64), ("state", number(4, false)), ("name", CellType::Text)]);
        let both =
            [("ts", CellType::I64), ("state", CellType::I64), ("flags", number(2, false)), ("name", CellType::Text)];
        assert_eq!(old.union(&new), Some(columns(&both)));
        assert_eq!(old.union(&columns(&[("state", CellType::Text)])), None);
        assert_eq!(old.union(&columns(&[("state", CellType::U64)])), None);
        let own = columns(&[("ts", CellType::I64), ("host", CellType::I32)]);
        assert_eq!(TableColumns::of(&own.0, false).0[1].0, "field_host");
        assert_eq!(TableColumns::of(&own.0, true).0.len(), 1);
    }
}
