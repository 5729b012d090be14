//! The JSON Schema of the lines.

use super::kernel_names::{SUFFIX, UserNames, addresses, is_stack};
use super::{SCHEMA, VERSION};
use crate::kernel::event::{FieldKind, TypedEvent, TypedField};
use serde_json::{Map, Value, json};

/// The JSON Schema (draft 2020-12) that each line keeps to. With `events` it lists these events and their fields, and
/// lines of other events do not keep to it.
pub fn schema<'e>(events: Option<impl IntoIterator<Item = &'e TypedEvent>>) -> Value {
    let event = match events {
        None => event(json!({"type": "string"}), json!({"type": "object", "additionalProperties": any_field()})),
        Some(events) => json!({"oneOf": events.into_iter().map(own_event).collect::<Vec<_>>()}),
    };
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("{SCHEMA} version {VERSION}: a line of `rtrace report --format json`"),
        "oneOf": [header(), event, unknown(), lost(), syscall()],
    })
}

fn header() -> Value {
    let buffer = object(
        json!({
            "name": {"type": ["string", "null"], "description": "the instance; null is the top buffer"},
            "clock": {"type": ["string", "null"]},
            "unit": {"enum": ["ns", "ticks"], "description": "what `ts` counts"},
            "wall": object(
                json!({
                    "ts": {"type": "integer", "minimum": 0},
                    "unix_ns": {"type": "integer", "description": "the wall clock at `ts`, in ns since 1970 (UTC)"},
                    "error_ns": {"type": "integer", "minimum": 0, "description": "by which `unix_ns` may be wrong"},
                }),
                &["ts", "unix_ns", "error_ns"],
            ),
            "cpus": {"type": "array", "items": {"type": "integer", "minimum": 0}},
        }),
        &["name", "clock", "unit", "cpus"],
    );
    let source = object(
        json!({
            "file": {"type": "string"},
            "label": {"type": "string"},
            "uname": {"type": "string"},
            "cpus": {"type": "integer", "minimum": 0},
            "unfinished": {"const": true, "description": "the recorder runs or was killed: the latest events are missing"},
            "buffers": {"type": "array", "items": buffer},
        }),
        &["file", "cpus", "buffers"],
    );
    object(
        json!({
            "type": {"const": "header"},
            "schema": {"const": SCHEMA},
            "version": {"const": VERSION},
            "sources": {"type": "array", "items": source},
        }),
        &["type", "schema", "version", "sources"],
    )
}

fn event(name: Value, fields: Value) -> Value {
    let mut properties = task_properties("event");
    properties["event"] = name;
    properties["fields"] = fields;
    // Kernels differ in their common fields; all of those are numbers.
    json!({
        "type": "object",
        "properties": properties,
        "required": ["type", "ts", "cpu", "event", "fields"],
        "additionalProperties": {"type": ["integer", "null"]},
    })
}

fn own_event(of: &TypedEvent) -> Value {
    let names: Vec<&str> = of.fields.iter().map(|f| f.name.as_str()).collect();
    let mut properties: Map<String, Value> = of.fields.iter().map(|f| (f.name.clone(), field(f))).collect();
    for address in addresses(of) {
        let function = match is_stack(address) {
            true => {
                json!({"type": "array", "items": {"type": ["string", "null"]}, "description": "the functions there"})
            }
            false => json!({"type": "string", "description": "the function there, `NAME+0xOFFSET` within it"}),
        };
        properties.insert(format!("{}{SUFFIX}", address.name), function);
    }
    if of.system == "ftrace" && of.name == "user_stack" {
        properties.insert(UserNames::FIELD.to_owned(), user_symbols());
    }
    let fields = object(Value::Object(properties), &names);
    event(json!({"const": format!("{}:{}", of.system, of.name)}), fields)
}

/// The field that `--symbols user` adds to a stack of user space.
fn user_symbols() -> Value {
    json!({
        "type": "array",
        "description": "with --symbols user: what lies at the addresses, innermost first; null: in no known mapping",
        "items": user_symbol(),
    })
}

fn user_symbol() -> Value {
    let mut symbol = object(
        json!({
            "symbol": {"type": ["string", "null"]},
            "offset": {"type": "integer", "minimum": 0, "description": "from the symbol; without one, from the mapping"},
            "path": {"type": "string"},
        }),
        &["symbol", "offset", "path"],
    );
    symbol["type"] = json!(["object", "null"]);
    symbol
}

fn unknown() -> Value {
    let mut properties = task_properties("event");
    properties["event"] = json!({"type": "null", "description": "the file has no format of this event"});
    properties["id"] = json!({"type": ["integer", "null"]});
    properties["data"] = json!({"type": "string", "description": "the record's bytes in hexadecimal"});
    json!({
        "type": "object",
        "properties": properties,
        "required": ["type", "ts", "cpu", "event", "id", "data"],
        "additionalProperties": {"type": ["integer", "null"]},
    })
}

fn lost() -> Value {
    let mut properties = place_properties("lost");
    properties["count"] = json!({"type": ["integer", "null"], "description": "null: the kernel did not say how many"});
    object(properties, &["type", "ts", "cpu", "count"])
}

/// With `--syscalls`: a call instead of its two events.
fn syscall() -> Value {
    let mut properties = task_properties("syscall");
    properties["ts"] =
        json!({"type": "integer", "minimum": 0, "description": "of the exit; without one, of the entry"});
    properties["call"] = json!({"type": "string"});
    properties["number"] =
        json!({"type": ["integer", "null"], "description": "which each architecture has its own of"});
    properties["args"] = json!({
        "type": ["object", "null"],
        "additionalProperties": {"type": ["integer", "string"]},
        "description": "by name, as text where names stand for them; null: the entry is not recorded",
    });
    properties["values"] = json!({
        "type": ["array", "null"],
        "items": {"type": "string", "pattern": "^0x[0-9a-f]+$"},
        "description": "the same arguments as recorded",
    });
    properties["result"] = json!({"type": ["integer", "null"]});
    properties["error"] = json!({"type": ["string", "null"], "description": "the name of a negative result"});
    properties["entered"] = json!({"type": ["integer", "null"], "minimum": 0});
    properties["duration"] = json!({"type": ["integer", "null"], "minimum": 0, "description": "from entry to exit"});
    properties["state"] = json!({
        "enum": ["returned", "never returns", "unfinished", "lost", "resumed"],
        "description": "unfinished: no exit; lost: events were lost during the call; resumed: no entry",
    });
    let known = ["call", "number", "args", "values", "result", "error", "entered", "duration", "state"];
    let required: Vec<&str> = ["type", "ts", "cpu"].into_iter().chain(known).collect();
    object(properties, &required)
}

fn place_properties(kind: &str) -> Value {
    json!({
        "type": {"const": kind},
        "ts": {"type": "integer", "minimum": 0},
        "cpu": {"type": "integer", "minimum": 0},
        "source": {"type": "string", "description": "which of several files"},
        "buffer": {"type": "string", "description": "the instance; absent for the top buffer"},
    })
}

fn task_properties(kind: &str) -> Value {
    let mut properties = place_properties(kind);
    properties["pid"] = json!({"type": "integer"});
    properties["comm"] = json!({"type": ["string", "null"]});
    properties
}

fn object(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn any_field() -> Value {
    json!({"type": ["integer", "boolean", "string", "array", "null"], "items": {"type": ["integer", "object", "null"]}})
}

/// The schema of one field's value; `null` stands where the record is too short for the field.
fn field(field: &TypedField) -> Value {
    match field.kind {
        FieldKind::Unsigned => json!({"type": ["integer", "null"], "minimum": 0}),
        FieldKind::Signed => json!({"type": ["integer", "null"]}),
        FieldKind::Bool => json!({"type": ["boolean", "null"]}),
        FieldKind::Pointer => json!({"type": ["string", "null"], "pattern": "^0x[0-9a-f]+$"}),
        FieldKind::Text => json!({"type": ["string", "null"]}),
        FieldKind::Numbers { signed: true, .. } => json!({"type": ["array", "null"], "items": {"type": "integer"}}),
        FieldKind::Numbers { .. } | FieldKind::Bits => {
            json!({"type": ["array", "null"], "items": {"type": "integer", "minimum": 0}})
        }
        FieldKind::Bytes => json!({"type": ["string", "null"], "pattern": "^([0-9a-f]{2})*$"}),
    }
}
