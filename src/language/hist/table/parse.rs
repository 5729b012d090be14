//! The text of a `hist` file to its tables.
//! A table back to the kernel's own text, byte for byte.

use super::entry::{EntryColumns, TextCursor};
use super::{ColumnValue, HistEntry, HistKey, HistTable, KeyValue, Saved, Snapshot, TableError};
use crate::language::hist::spec::Echo;
use std::fmt;
use std::fmt::{Display, Formatter};

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
        measured: None,
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

impl Display for HistTable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "# event histogram\n#\n# trigger info: {}\n#\n\n", self.trigger)?;
        self.entries.iter().try_for_each(|entry| writeln!(f, "{entry}"))?;
        if let Some(snapshot) = &self.snapshot {
            f.write_str("\nSnapshot taken (see tracing/snapshot).  Details:\n")?;
            write!(f, "\ttriggering value {{ {} }}: {:10}", snapshot.handler, snapshot.value)?;
            f.write_str("\ttriggered by event with key: ")?;
            keys(f, &snapshot.keys)?;
            f.write_str("\n")?;
        }
        let (hits, entries, dropped) = (self.hits, self.entry_count, self.dropped);
        write!(f, "\nTotals:\n    Hits: {hits}\n    Entries: {entries}\n    Dropped: {dropped}\n")?;
        self.more.iter().try_for_each(|(name, n)| writeln!(f, "    {name}: {n}"))
    }
}

impl Display for HistEntry {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        keys(f, &self.keys)?;
        if let Some(hitcount) = self.hitcount {
            write!(f, " hitcount: {hitcount:10}")?;
        }
        for column in &self.values {
            let name = &column.name;
            match column.value {
                ColumnValue::Number(n) => write!(f, "  {name}: {n:10}")?,
                ColumnValue::Hex(n) => write!(f, "  {name}: {n:10x}")?,
                ColumnValue::Percent(None) => write!(f, "  {name} (%):[ERROR]")?,
                ColumnValue::Percent(Some(p)) => write!(f, "  {name} (%): {:3}.{:02}", p / 100, p % 100)?,
                ColumnValue::Bar(n) => write!(f, "  {name}: {:20}", "#".repeat(n.into()))?,
            }
        }
        for tracked in &self.tracked {
            write!(f, "\n\t{}: {:10}", if tracked.change { "changed" } else { "max" }, tracked.value)?;
            for (name, value) in &tracked.saved {
                match value {
                    Saved::Number(n) => write!(f, "  {name}: {n:10}")?,
                    Saved::Text(text) => write!(f, "  {name}: {}", Padded(text, 32))?,
                }
            }
        }
        Ok(())
    }
}

fn keys(f: &mut Formatter<'_>, keys: &[HistKey]) -> fmt::Result {
    f.write_str("{ ")?;
    for (at, key) in keys.iter().enumerate() {
        if at > 0 {
            f.write_str(", ")?;
        }
        key.fmt(f)?;
    }
    let multiline = keys.iter().any(|k| matches!(k.value, KeyValue::Stack { .. }));
    f.write_str(if multiline { "}" } else { " }" })
}

impl Display for HistKey {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        match &self.value {
            KeyValue::Number(n) => write!(f, "{name}: {n:10}"),
            KeyValue::Hex(n) => write!(f, "{name}: {n:x}"),
            KeyValue::Symbol { address, name: symbol, offset } => {
                write!(f, "{name}: [{address:x}] {}", Padded(symbol, if *offset { 55 } else { 45 }))
            }
            KeyValue::Execname { comm, pid } => write!(f, "{name}: {}[{pid:10}]", Padded(comm, 16)),
            KeyValue::Syscall { name: syscall, id } => write!(f, "{name}: {}[{id:3}]", Padded(syscall, 30)),
            KeyValue::Log2(n) => write!(f, "{name}: ~ 2^{n:<2}"),
            KeyValue::Bucket { low, high } => write!(f, "{name}: ~ {low}-{high}"),
            KeyValue::Text(text) => write!(f, "{name}: {}", Padded(text, 50)),
            KeyValue::Stack { frames, field } => {
                if *field {
                    write!(f, "{name}.stacktrace")?;
                } else {
                    writeln!(f, "{name}:")?;
                }
                frames.iter().try_for_each(|frame| writeln!(f, "         {frame}"))
            }
        }
    }
}

/// Left-justified by bytes, as the kernel counts.
struct Padded<'a>(&'a str, usize);

impl Display for Padded<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{:2$}", self.0, "", self.1.saturating_sub(self.0.len()))
    }
}
