//! JSON that rtrace itself writes: the documents, and what reads one that is named where a recording is wanted.

use rtrace::export::SCHEMA;
use rtrace::internal::comparison::SavedRuns;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::io::{BufReader, Read};
use std::path::Path;

/// The most of a file that is read to find its `schema`: lines have it at their begin, and other documents are smaller.
const MOST_BYTES: u64 = 64 << 20;

/// The members by which JSON is told apart.
#[derive(Deserialize)]
struct JsonStart {
    schema: Option<String>,
    #[serde(rename = "$schema")]
    of_others: Option<String>,
    #[serde(rename = "traceEvents")]
    chrome: Option<IgnoredAny>,
}

/// A row of the table of docs/json.md.
pub(super) struct Document {
    /// Name of its `schema`.
    pub(super) name: &'static str,
    /// The commands that print it, and its fields in words.
    pub(super) about: &'static str,
}

impl Document {
    pub(super) fn all() -> Vec<Self> {
        let mut found: Vec<Self> = Vec::new();
        for line in include_str!("../../docs/json.md").lines() {
            let Some((names, about)) = line.strip_prefix("| `rtrace.").and_then(|_| line[2..].split_once(" | ")) else {
                continue;
            };
            let about = about.trim_end_matches(" |");
            found.extend(names.split(", ").map(|name| Document { name: name.trim_matches('`'), about }));
        }
        found.sort_by_key(|document| document.name);
        found
    }

    /// The command, as the first words of the row say.
    pub(super) fn printed_by(&self) -> &'static str {
        self.about.split([':', ';']).next().unwrap_or(self.about)
    }
}

/// The command that prints the document `name`; `None` if rtrace has no such document.
fn printed_by(name: &str) -> Option<&'static str> {
    Document::all().into_iter().find(|document| document.name == name).map(|document| document.printed_by())
}

/// The kind of file that JSON is, and the way to what it holds. `text` is the file from its begin.
pub(super) fn kind(path: &Path, text: impl Read) -> (String, String) {
    let chrome = "Chrome's tracing JSON is opened by https://ui.perfetto.dev.".to_owned();
    let values = serde_json::Deserializer::from_reader(BufReader::new(text.take(MOST_BYTES)));
    let Some(Ok(start)) = values.into_iter::<JsonStart>().next() else { return ("JSON".to_owned(), chrome) };
    if let Some(schema) = start.schema {
        let what = document(&schema).unwrap_or_else(|| format!("JSON with the schema `{schema}`"));
        return (what, way(&schema, path));
    }
    if start.of_others.is_some_and(|schema| schema.contains("speedscope")) {
        return ("a profile for speedscope".to_owned(), "https://www.speedscope.app opens it.".to_owned());
    }
    match start.chrome {
        Some(_) => ("JSON, as Chrome's tracing has it".to_owned(), "https://ui.perfetto.dev opens it.".to_owned()),
        None => ("JSON".to_owned(), chrome),
    }
}

/// The words for the document of ours with this schema; `None` of another.
pub(super) fn document(schema: &str) -> Option<String> {
    let by = printed_by(schema)?;
    Some(match schema {
        SCHEMA => "rtrace's own JSON of events (rtrace.events)".to_owned(),
        _ => format!("rtrace's own JSON document {schema}, as {by} writes it"),
    })
}

/// The verbs, or other programs, that read the document with this schema at `path`.
fn way(schema: &str, path: &Path) -> String {
    let path = path.display();
    match schema {
        SavedRuns::SCHEMA => {
            format!("`rtrace baseline compare {path} NEW.dat`, `rtrace diff` and `rtrace check {path}` read it.")
        }
        SCHEMA => "jq, DuckDB and pandas read its lines; rtrace reads the recording that it was made from.".to_owned(),
        _ => format!("jq reads it, `rtrace schema {schema}` describes it; rtrace reads the recording it is about."),
    }
}

/// The `schema` of a text that is JSON of ours.
pub(super) fn schema_of(text: &str) -> Option<String> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<JsonStart>();
    values.next()?.ok()?.schema.filter(|schema| printed_by(schema).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_told_by_their_schema() {
        let of = |text: &str| {
            let (what, way) = kind(Path::new("x.json"), text.as_bytes());
            format!("{what}; {way}")
        };
        for (text, says) in [
            (
                r#"{"schema":"rtrace.baseline","version":2}"#,
                "`baseline save` writes it; `rtrace baseline compare x.json",
            ),
            (
                r#"{"buffers":[{"schema":"rtrace.baseline"}],"schema":"rtrace.analyze.sched"}"#,
                "`analyze sched` writes it",
            ),
            ("{\"schema\":\"rtrace.events\"}\n{\"ts\":1}\nnothing", "of events (rtrace.events); jq, DuckDB"),
            (r#"{"schema":"other"}"#, "JSON with the schema `other`"),
            (r#"{"traceEvents":[{"a":1}]}"#, "Chrome's tracing has it; https://ui.perfetto.dev"),
            (r#"{"$schema":"https://www.speedscope.app/file-format-schema.json"}"#, "speedscope.app opens it"),
            ("[{}]", "JSON; Chrome's"),
        ] {
            assert!(of(text).contains(says), "{text}: {}", of(text));
        }
        assert_eq!(schema_of(r#"{"version":1,"schema":"rtrace.diff"}"#).as_deref(), Some("rtrace.diff"));
        assert_eq!(schema_of(r#"{"schema":"x"}"#), None);
        assert_eq!(schema_of("{"), None);
    }
}
