//! Answers as JSON; times in the clock's unit.

use crate::answer::table::{Answer, AnswerCell, AnswerGrid, GridRow};
use crate::base::wall_time::with_zone;
use crate::file::trace_dat::WallClock;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The end of the name of a point's local time.
const WALL: &str = "_wall";

/// An answer as members of an object, at most `rows` of each table: its tables and facts, `notes`, `at_least` (names of
/// numbers of which there is at least so much) and, if rows are left out, their `total` by table. With a `clock` each point
/// in time has a member beside it, `NAME_wall`, with its local time.
pub fn answer_json(answer: &Answer, rows: usize, clock: Option<WallClock>) -> Map<String, Value> {
    let mut document = AnswerDocument { members: Map::new(), at_least: BTreeSet::new(), clock };
    let mut total = Map::new();
    for grid in answer.grids().filter(|grid| grid.in_json) {
        document.add(grid, rows);
        if grid.total > grid.rows.len().min(rows) {
            total.insert(grid.key.to_owned(), json!(grid.total));
        }
    }
    let AnswerDocument { mut members, at_least, .. } = document;
    members.insert("notes".to_owned(), json!(answer.notes));
    if !at_least.is_empty() {
        members.insert("at_least".to_owned(), json!(at_least));
    }
    if !total.is_empty() {
        members.insert("total".to_owned(), Value::Object(total));
    }
    members
}

struct AnswerDocument {
    members: Map<String, Value>,
    at_least: BTreeSet<String>,
    clock: Option<WallClock>,
}

impl AnswerDocument {
    fn add(&mut self, grid: &AnswerGrid, rows: usize) {
        if grid.key.is_empty() {
            let mut members = std::mem::take(&mut self.members);
            grid.rows.iter().for_each(|row| self.row(grid, row, grid.key, &mut members));
            self.members = members;
            return;
        }
        let rows = grid.rows.iter().take(rows);
        let rows = if grid.is_keyed {
            let named = rows.map(|row| {
                let key = row.cells.first().map(|cell| plain(cell.clone())).unwrap_or_default();
                let mut members = Map::new();
                self.row(grid, row, &format!("{}.{key}", grid.key), &mut members);
                (key, Value::Object(members))
            });
            Value::Object(named.collect())
        } else {
            let row = |row: &GridRow| {
                let mut members = Map::new();
                self.row(grid, row, grid.key, &mut members);
                Value::Object(members)
            };
            rows.map(row).collect()
        };
        insert(&mut self.members, &grid.key.split('.').collect::<Vec<_>>(), Some(rows));
    }

    /// The members of a row of the table that has the place `place`.
    fn row(&mut self, grid: &AnswerGrid, row: &GridRow, place: &str, members: &mut Map<String, Value>) {
        for (column, cell) in grid.columns.iter().zip(&row.cells).filter(|(column, _)| column.in_json) {
            let value = match (cell, column.member) {
                // Of no durations only their number is told, and of none that are known nothing.
                (AnswerCell::Undefined, Some(member)) if member != "count" => continue,
                (AnswerCell::Undefined, Some(_)) => {
                    insert(members, &place_of(column.key, None), None);
                    continue;
                }
                (AnswerCell::AtLeast(of), Some(_)) if **of == AnswerCell::Undefined => continue,
                (AnswerCell::Absent, _) => None,
                (cell, _) => {
                    let name = column.name.strip_prefix(grid.key).unwrap_or(&column.name);
                    Some(self.value(cell, &format!("{place}{name}")))
                }
            };
            insert(members, &place_of(column.key, column.member), value);
            if let Some(wall) = self.wall(cell) {
                insert(members, &place_of(&format!("{}{WALL}", column.key), None), Some(wall));
            }
        }
    }

    /// Local time of a point in time, if it is known.
    fn wall(&self, cell: &AnswerCell) -> Option<Value> {
        match cell {
            AnswerCell::Point(at) => self.clock.map(|clock| json!(with_zone(clock.wall(*at)))),
            _ => None,
        }
    }

    fn value(&mut self, cell: &AnswerCell, name: &str) -> Value {
        let mut below = |member: &str, cell: &AnswerCell| self.value(cell, &format!("{name}.{member}"));
        match cell {
            AnswerCell::Absent | AnswerCell::Undefined | AnswerCell::Unknown => Value::Null,
            AnswerCell::Count(number) | AnswerCell::Time(number) | AnswerCell::Point(number) => json!(number),
            AnswerCell::Share(part, _) => json!(part),
            AnswerCell::Signed(number) => json!(number),
            AnswerCell::Flag(flag) => json!(flag),
            AnswerCell::Decimal(number) => json!(number),
            AnswerCell::Text(text) => json!(text),
            AnswerCell::Address(address) => json!(format!("{address:#x}")),
            AnswerCell::Tally(names) => names.iter().map(|(name, count)| (name.clone(), json!(count))).collect(),
            AnswerCell::Distribution(of) => {
                let numbers = AnswerCell::numbers(of).into_iter();
                numbers.map(|(member, cell)| (member.to_owned(), below(member, &cell))).collect()
            }
            AnswerCell::List(cells) => cells.iter().map(|cell| self.value(cell, name)).collect(),
            AnswerCell::Record(members) => {
                let mut object: Map<String, Value> =
                    members.iter().map(|(member, cell)| (member.clone(), below(member, cell))).collect();
                for (member, cell) in members {
                    object.extend(self.wall(cell).map(|wall| (format!("{member}{WALL}"), wall)));
                }
                Value::Object(object)
            }
            AnswerCell::AtLeast(cell) => {
                match &**cell {
                    AnswerCell::Undefined => {}
                    AnswerCell::Tally(names) => {
                        self.at_least.extend(names.iter().map(|(member, _)| format!("{name}.{member}")));
                    }
                    _ => {
                        self.at_least.insert(name.to_owned());
                    }
                }
                self.value(cell, name)
            }
            AnswerCell::Between(least, most) => {
                json!({"least": below("least", least), "most": below("most", most)})
            }
        }
    }
}

/// The names on the way to a cell; that of a distribution's number may have a dot.
fn place_of<'n>(key: &'n str, member: Option<&'n str>) -> Vec<&'n str> {
    key.split('.').chain(member).collect()
}

/// A name as a member of an object.
fn plain(cell: AnswerCell) -> String {
    match cell {
        AnswerCell::Text(text) => text,
        AnswerCell::Address(address) => format!("{address:#x}"),
        AnswerCell::Count(number) => number.to_string(),
        _ => String::new(),
    }
}

/// Puts a value where `path` says; `None` is a null for the whole of what is not there.
fn insert(members: &mut Map<String, Value>, path: &[&str], value: Option<Value>) {
    match path {
        [] => {}
        [name] => {
            members.insert((*name).to_owned(), value.unwrap_or(Value::Null));
        }
        [name, rest @ ..] => {
            let place = members.entry(*name).or_insert(Value::Null);
            if place.is_null() && value.is_some() {
                *place = json!({});
            }
            if let Value::Object(place) = place {
                insert(place, rest, value);
            }
        }
    }
}

/// Bytes of a document that nobody has asked to be longer.
pub const SMALL_JSON: usize = 24_000;

/// Writes a document: what fits in a line stands in one.
pub fn json_text(value: &Value) -> String {
    let mut text = String::new();
    write(value, 0, &mut text);
    text.push('\n');
    text
}

fn write(value: &Value, depth: usize, text: &mut String) {
    const LINE: usize = 120;
    let line = value.to_string();
    let (open, close, count) = match value {
        Value::Object(members) => ('{', '}', members.len()),
        Value::Array(values) => ('[', ']', values.len()),
        _ => ('"', '"', 0),
    };
    if count == 0 || line.len() + depth * 2 <= LINE {
        text.push_str(&line);
        return;
    }
    let mut separator = open;
    let mut next = |text: &mut String| {
        text.push(separator);
        text.push('\n');
        text.push_str(&"  ".repeat(depth + 1));
        separator = ',';
    };
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                next(text);
                text.push_str(&format!("{}: ", json!(name)));
                write(value, depth + 1, text);
            }
        }
        Value::Array(values) => {
            for value in values {
                next(text);
                write(value, depth + 1, text);
            }
        }
        _ => {}
    }
    text.push('\n');
    text.push_str(&"  ".repeat(depth));
    text.push(close);
}
