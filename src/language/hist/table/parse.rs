//! The text of a `hist` file to its tables.

use super::cursor::TextCursor;
use super::entry::EntryColumns;
use super::{HistTable, Snapshot, TableError};
use crate::language::hist::spec::Echo;

/// Parses the whole text of a `hist` file; without a trigger it is empty.
///
/// # Errors
/// [`TableError`] with the first line that is not what a kernel prints.
pub fn parse(text: &[u8]) -> Result<Vec<HistTable>, TableError> {
    let mut cursor = TextCursor::new(text);
    let mut tables = Vec::new();
    while !cursor.at_end() {
        tables.push(table(&mut cursor)?);
        if !cursor.at_end() {
            cursor.expect("\n\n")?;
        }
    }
    Ok(tables)
}

fn table(cursor: &mut TextCursor<'_>) -> Result<HistTable, TableError> {
    cursor.expect("# event histogram\n")?;
    cursor.expect("#\n")?;
    cursor.expect("# trigger info: ")?;
    let at_trigger = cursor.clone();
    let trigger = String::from_utf8_lossy(cursor.line()?).into_owned();
    let echo = Echo::parse(&trigger).map_err(|e| at_trigger.error(format!("a hist trigger ({e})")))?;
    cursor.expect("#\n\n")?;
    let columns = EntryColumns::of(&echo.spec);
    let mut table = HistTable {
        trigger,
        spec: echo.spec,
        state: echo.state,
        entries: Vec::new(),
        snapshot: None,
        hits: 0,
        entry_count: 0,
        dropped: 0,
        more: Vec::new(),
    };
    while cursor.rest().starts_with(b"{ ") {
        table.entries.push(columns.entry(cursor)?);
    }
    if cursor.eat(b"\nSnapshot taken (see tracing/snapshot).  Details:\n") {
        table.snapshot = Some(snapshot(cursor, &columns)?);
    }
    cursor.expect("\nTotals:\n")?;
    let mut seen = 0usize;
    while cursor.eat(b"    ") {
        let line = cursor.clone();
        let text = String::from_utf8_lossy(cursor.line()?).into_owned();
        let total = text.split_once(": ").and_then(|(name, n)| Some((name, n.trim().parse::<u64>().ok()?)));
        match total {
            Some(("Hits", n)) => table.hits = n,
            Some(("Entries", n)) => table.entry_count = n,
            Some(("Dropped", n)) => table.dropped = n,
            Some((name, n)) => table.more.push((name.to_owned(), n)),
            None => return Err(line.error("a total")),
        }
        seen = seen.saturating_add(1);
    }
    if seen < 3 {
        return Err(cursor.error("the totals Hits, Entries and Dropped"));
    }
    Ok(table)
}

fn snapshot(cursor: &mut TextCursor<'_>, columns: &EntryColumns) -> Result<Snapshot, TableError> {
    cursor.expect("\ttriggering value { ")?;
    let end = cursor.find(0, &[b" }: ".to_vec()]).ok_or_else(|| cursor.error("` }: `"))?;
    let handler = String::from_utf8_lossy(cursor.take(end).unwrap_or_default()).into_owned();
    cursor.expect(" }: ")?;
    let value = cursor.number(10)?;
    cursor.expect("\ttriggered by event with key: ")?;
    let keys = columns.keys(cursor)?;
    cursor.expect("\n")?;
    Ok(Snapshot { handler, value, keys })
}
