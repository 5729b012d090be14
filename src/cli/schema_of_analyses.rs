//! The JSON Schema of the documents of `analyze`, from the definitions of their columns.

use super::analyze::definitions;
use rtrace::internal::table::{ColumnDefinition, ColumnKind};
use serde_json::{Map, Value, json};

/// The name of an analysis's document, but for the analysis.
const PREFIX: &str = "rtrace.analyze.";

/// The members of the document `name`, beside `schema` and `version`; `None` of one that has no columns.
pub(super) fn members(name: &str) -> Option<Value> {
    let purpose = name.strip_prefix(PREFIX)?;
    let (_, columns) = definitions().into_iter().find(|(analysis, _)| *analysis == purpose)?;
    Some(json!({
        "file": {"type": "string", "description": "the recording; of several there is `files`"},
        "files": {"type": "array", "items": {"type": "string"}},
        "truncated": {"type": "boolean", "description": "true if rows were left out"},
        "more": {"type": "string", "description": "the option that gives all rows"},
        "total": {"type": "object"},
        "buffers": {"type": "array", "items": buffer(&columns)},
    }))
}

/// The answer of one buffer: its columns by their places.
fn buffer(columns: &[ColumnDefinition]) -> Value {
    let whole = json!({"type": ["integer", "null"], "minimum": 0});
    let mut members = Map::from_iter([
        ("buffer".to_owned(), json!({"type": "string", "description": "instance; empty of the main buffer"})),
        ("file".to_owned(), json!({"type": "string", "description": "recording, if there are several"})),
        ("clock".to_owned(), json!({"type": "string"})),
        ("unit".to_owned(), json!({"enum": ["ns", "ticks"], "description": "unit of times"})),
        (
            "window".to_owned(),
            json!({"type": ["object", "null"], "properties": {"begin": whole.clone(), "end": whole.clone()}}),
        ),
        ("notes".to_owned(), json!({"type": "array", "items": {"type": "string"}})),
        (
            "at_least".to_owned(),
            json!({"type": "array", "items": {"type": "string"}, "description": "numbers that are known to be at least so"}),
        ),
        ("total".to_owned(), json!({"type": "object", "additionalProperties": whole})),
    ]);
    for column in columns.iter().filter(|column| !column.json.is_empty()) {
        let place: Vec<&str> = column.json.split('.').collect();
        insert(&mut members, &place, cell(column));
    }
    json!({"type": "object", "properties": members})
}

/// Puts a cell's schema at its place; what lies on the way is an object, or a table of such.
fn insert(members: &mut Map<String, Value>, place: &[&str], cell: Value) {
    match place {
        [] => {}
        [name] => {
            // A table in the place of a column keeps its members.
            let known = members.entry(*name).or_insert_with(|| json!({}));
            if let (Value::Object(known), Value::Object(cell)) = (known, cell) {
                for (key, value) in cell {
                    known.entry(key).or_insert(value);
                }
            }
        }
        [name, rest @ ..] => {
            let table = members.entry(*name).or_insert_with(|| json!({"type": ["array", "object", "null"]}));
            // Both the rows of a table, which are an array, and a single object have these members.
            let Value::Object(table) = table else { return };
            let mut inner = match table.remove("properties") {
                Some(Value::Object(inner)) => inner,
                _ => Map::new(),
            };
            insert(&mut inner, rest, cell);
            table.insert("items".to_owned(), json!({"type": "object", "properties": inner}));
            table.insert("properties".to_owned(), Value::Object(inner));
        }
    }
}

/// The schema of a cell. A number that is not known is null, one that is known within bounds has both.
fn cell(column: &ColumnDefinition) -> Value {
    let number = |kind: &str| json!({"type": [kind, "object", "null"]});
    let mut schema = match column.kind {
        ColumnKind::Text => json!({"type": ["string", "null"]}),
        ColumnKind::Address => json!({"type": ["string", "null"], "pattern": "^0x[0-9a-f]+$"}),
        ColumnKind::Flag => json!({"type": ["boolean", "null"]}),
        ColumnKind::Decimal(_) => number("number"),
        ColumnKind::Count
        | ColumnKind::Size
        | ColumnKind::Time
        | ColumnKind::Sum
        | ColumnKind::Point
        | ColumnKind::Share => number("integer"),
        ColumnKind::Tally => json!({"type": ["object", "null"]}),
        ColumnKind::Distribution => {
            let numbers = ["count", "total", "mean", "min", "p50", "p90", "p99", "p99.9", "max"];
            let mut numbers: Map<String, Value> =
                numbers.map(|of| (of.to_owned(), number("number"))).into_iter().collect();
            numbers.insert(
                "exact".to_owned(),
                json!({"type": ["boolean", "null"], "description": "false if quantiles may be 0.1 % too large"}),
            );
            json!({"type": ["object", "null"], "properties": numbers})
        }
        ColumnKind::Data => json!({}),
    };
    let unit = column.kind.unit();
    let unit = if unit.is_empty() { String::new() } else { format!(" In {unit}.") };
    schema["description"] = json!(format!("{}{unit}", column.definition));
    schema
}
