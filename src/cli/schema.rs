//! `rtrace schema`: the layouts of the JSON that rtrace prints.
//! The JSON Schema of the documents of `analyze`, from the definitions of their columns.

use super::analyze::definitions;
use super::exit::{Exit, Failure, print};
use super::own_documents::Document;
use anyhow::anyhow;
use rtrace::event::TypedEvent;
use rtrace::export::{SCHEMA, schema};
use rtrace::internal::table::{ColumnDefinition, ColumnKind};
use rtrace::syntax::did_you_mean;
use serde_json::{Map, Value, json};

/// Print the JSON Schema of a document, or list the documents
///
/// The schema of `rtrace.events` lists every field (`rtrace report FILE --json-schema` has those of a recording's events), those of
/// `rtrace.analyze.*` every column. Those of other documents name the document, say which command prints it, and have the
/// meaning of its fields in words; more fields may come in later versions.
#[derive(clap::Args)]
#[command(after_help = "\
EXAMPLES:
  rtrace schema                    the documents, each with the command that prints it
  rtrace schema rtrace.events      of the lines of `report --format json`
  rtrace schema doctor             the same as rtrace.doctor")]
pub(crate) struct SchemaArgs {
    /// The document, as its `schema` says; `rtrace.` may be left out
    name: Option<String>,
}

pub(crate) fn run(args: &SchemaArgs) -> Result<Exit, Failure> {
    let all = Document::all();
    let Some(name) = &args.name else {
        let width = all.iter().map(|document| document.name.len()).max().unwrap_or(0);
        let line = |of: &Document| format!("{:width$}  {}\n", of.name, of.printed_by().replace('`', ""));
        return print(&all.iter().map(line).collect::<String>());
    };
    let name = name.strip_suffix(".json").unwrap_or(name);
    let named: Vec<&Document> =
        all.iter().filter(|document| document.name == name || document.name[7..] == *name).collect();
    let Some(first) = named.first() else {
        let failure = Failure::new(Exit::Usage, anyhow!("no document is named `{name}`"));
        let names = all.iter().flat_map(|document| [document.name, &document.name[7..]]);
        if name.contains("junit") {
            return Err(failure
                .hint("JUnit is XML, which has no JSON Schema; `rtrace schema check` is that of `check --json`."));
        }
        return Err(failure.hint(did_you_mean(name, names).unwrap_or("`rtrace schema` lists them.".to_owned())));
    };
    let document = match first.name {
        SCHEMA => schema(None::<[&TypedEvent; 0]>),
        name => in_words(name, &named),
    };
    print(&format!("{document:#}\n"))
}

/// The schema of a document whose fields are told in words: several commands may print one.
fn in_words(name: &str, rows: &[&Document]) -> Value {
    let about: Vec<&str> = rows.iter().map(|row| row.about).collect();
    let mut document = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": name,
        "description": about.join("\n"),
        "type": "object",
        "properties": {
            "schema": {"const": name},
            "version": {"type": "integer", "minimum": 1, "description": "rises when a reader of the older would be wrong"},
        },
        "required": ["schema", "version"],
    });
    if let Some(Value::Object(members)) = members_of_analysis(name) {
        members.into_iter().for_each(|(member, schema)| document["properties"][member] = schema);
        document["required"] = json!(["schema", "version", "buffers", "truncated"]);
    }
    document
}

/// The name of an analysis's document, but for the analysis.
const PREFIX: &str = "rtrace.analyze.";

/// The members of the document `name`, beside `schema` and `version`; `None` of one that has no columns.
fn members_of_analysis(name: &str) -> Option<Value> {
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
