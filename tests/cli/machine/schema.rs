//! Every JSON line keeps to the schema that `--json-schema` prints.

use super::files;
use crate::common::environment::TestEnvironment;
use serde_json::Value;

/// Holds `value` against a JSON Schema: the keywords that ours uses, and a panic at any other.
fn check(schema: &Value, value: &Value) -> Result<(), String> {
    let keywords = schema.as_object().expect("a schema is an object");
    for (keyword, wanted) in keywords {
        let holds = match keyword.as_str() {
            "$schema" | "title" | "description" => true,
            "properties" => {
                for (name, inner) in value.as_object().into_iter().flatten() {
                    wanted.get(name).map_or(Ok(()), |own| check(own, inner)).map_err(|e| format!("{name}: {e}"))?;
                }
                true
            }
            "const" => value == wanted,
            "enum" => wanted.as_array().unwrap().contains(value),
            "type" => {
                let is = |name: &Value| match name.as_str().unwrap() {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "integer" => value.is_i64() || value.is_u64(),
                    "boolean" => value.is_boolean(),
                    "null" => value.is_null(),
                    "number" => value.is_number(),
                    other => panic!("type {other}"),
                };
                wanted.as_array().map_or_else(|| is(wanted), |names| names.iter().any(is))
            }
            "minimum" => value.as_i64().is_none_or(|n| n >= wanted.as_i64().unwrap()),
            "pattern" => {
                value.as_str().is_none_or(|s| regex::Regex::new(wanted.as_str().unwrap()).unwrap().is_match(s))
            }
            "items" => {
                for item in value.as_array().into_iter().flatten() {
                    check(wanted, item)?;
                }
                true
            }
            "required" => value.as_object().is_none_or(|object| {
                wanted.as_array().unwrap().iter().all(|k| object.contains_key(k.as_str().unwrap()))
            }),
            "additionalProperties" => {
                for (name, inner) in value.as_object().into_iter().flatten() {
                    match keywords.get("properties").and_then(|p| p.get(name)) {
                        Some(_) => {}
                        None if wanted == &Value::Bool(false) => return Err(format!("{name} is too much")),
                        None => check(wanted, inner).map_err(|e| format!("{name}: {e}"))?,
                    }
                }
                true
            }
            "oneOf" => {
                let tries: Vec<_> = wanted.as_array().unwrap().iter().map(|one| check(one, value)).collect();
                match tries.iter().filter(|t| t.is_ok()).count() {
                    1 => true,
                    0 => return Err(format!("none of {}: {tries:?}", tries.len())),
                    _ => return Err("several at once".to_owned()),
                }
            }
            other => panic!("the schema uses `{other}`, which this test does not know"),
        };
        if !holds {
            return Err(format!("{value} breaks `{keyword}`: {wanted}"));
        }
    }
    Ok(())
}

/// The part of the schema of a file that a line is to keep to: its own event's, which is found by name, because trying
/// two thousand of them on each line would take minutes.
fn part<'s>(schema: &'s Value, line: &Value) -> &'s Value {
    let parts = schema["oneOf"].as_array().unwrap();
    if line["type"] != "event" || line["event"].is_null() {
        return schema;
    }
    let events = parts.iter().find_map(|p| p.get("oneOf")).expect("the schema of a file lists its events");
    let named = |e: &&Value| e["properties"]["event"]["const"] == line["event"];
    events.as_array().unwrap().iter().find(named).unwrap_or_else(|| panic!("no schema of {}", line["event"]))
}

fn schema_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn every_line_keeps_to_the_schema() {
    let environment = crate::common::environment::TestEnvironment::new();
    let general = schema_of(&environment.rtrace(&["report", "--json-schema"]).stdout());
    let (mut lines, mut kinds) = (0, std::collections::BTreeSet::new());
    for file in files::recordings() {
        let own = schema_of(&files::report(&file, &["--json-schema"]));
        for line in files::json(&file, &[]).iter().take(3000) {
            for schema in [&general, part(&own, line)] {
                check(schema, line).unwrap_or_else(|e| panic!("{}: {line}\n{e}", file.display()));
            }
            lines += 1;
            kinds.insert(line["type"].as_str().unwrap().to_owned());
        }
    }
    println!("{lines} lines: {kinds:?}");
    assert!(kinds.contains("header") && kinds.contains("event"));
}

#[test]
fn the_check_can_fail() {
    let environment = crate::common::environment::TestEnvironment::new();
    let schema = schema_of(&environment.rtrace(&["report", "--json-schema"]).stdout());
    let line = |text: &str| check(&schema, &serde_json::from_str(text).unwrap());
    let good = r#"{"type":"event","ts":1,"cpu":0,"event":"a:b","fields":{"x":[1],"y":"0x1"}}"#;
    line(good).unwrap();
    for (from, to) in [("\"ts\":1", "\"ts\":1.5"), ("[1]", "[\"1\"]"), (",\"cpu\":0", ""), ("\"event\",", "\"evnt\",")]
    {
        assert!(line(&good.replace(from, to)).is_err(), "{to}");
    }
}

#[test]
fn documents_keep_to_the_schema_of_their_name() {
    let env = TestEnvironment::new();
    let listed = env.rtrace(&["schema"]).exits(0).stdout();
    let names: Vec<&str> = listed.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(names.len() > 40 && names.iter().all(|name| name.starts_with("rtrace.")), "{listed}");
    let schema_named = |name: &str| schema_of(&env.rtrace(&["schema", name]).exits(0).stdout());
    for name in &names {
        let schema = schema_named(name);
        let named = &schema["properties"]["schema"]["const"];
        assert!(*name == "rtrace.events" || named == name, "{name}: {named}");
    }
    let whole = schema_of(&env.rtrace(&["report", "--json-schema"]).stdout());
    assert!(schema_named("events") == whole && schema_named("rtrace.events") == whole);
    let recording = crate::files::recording("host/small-zlib.dat");
    let file = recording.to_str().expect("a path");
    for words in ["analyze sched", "analyze irq", "analyze all", "report --count", "report --summary", "dump", "why *"]
    {
        let words: Vec<&str> = words.split(' ').chain([file, "--json"]).collect();
        let document = schema_of(&env.rtrace(&words).exits(0).stdout());
        let schema = schema_named(document["schema"].as_str().expect("a name"));
        check(&schema, &document).unwrap_or_else(|e| panic!("{words:?}: {e}"));
        let mut other = document.clone();
        other["schema"] = "rtrace.other".into();
        assert!(check(&schema, &other).is_err(), "{words:?}");
    }
    env.rtrace(&["schema", "rtrace.analyse.sched"]).exits(2).complains_with("did you mean `rtrace.analyze.sched`");
}
