//! `rtrace schema`: the layouts of the JSON that rtrace prints.

use super::exit::{Exit, Failure, print};
use super::own_documents::Document;
use super::schema_of_analyses;
use anyhow::anyhow;
use rtrace::event::TypedEvent;
use rtrace::export::{SCHEMA, schema};
use rtrace::syntax::did_you_mean;
use serde_json::{Value, json};

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
    if let Some(Value::Object(members)) = schema_of_analyses::members(name) {
        members.into_iter().for_each(|(member, schema)| document["properties"][member] = schema);
        document["required"] = json!(["schema", "version", "buffers", "truncated"]);
    }
    document
}
