//! The file `metadata` of CTF 2: a sequence of JSON objects, each after a record separator (RFC 7464).

use super::file::{CtfFile, TRACER};
use super::program::{CtfField, CtfKind, CtfProgram};
use serde_json::{Value, json};

/// The metadata before the events' classes.
pub(super) fn head(file: &CtfFile<'_>, out: &mut Vec<u8>) {
    let environment = file.environment().map(|(name, value)| (name.to_owned(), Value::from(value)));
    let tracer = TRACER.map(|(name, number)| (name.to_owned(), Value::from(number)));
    let environment: serde_json::Map<String, Value> = environment.into_iter().chain(tracer).collect();
    let (seconds, cycles) = file.clock_offset();
    fragment(out, &json!({ "type": "preamble", "version": 2, "uuid": file.uuid }));
    fragment(
        out,
        &json!({
            "type": "trace-class",
            "uid": file.uuid_text(),
            "environment": environment,
            "packet-header-field-class": structure(vec![
                member("magic", role(integer(4, false, false), "packet-magic-number")),
                member("uuid", role(json!({ "type": "static-length-blob", "length": 16 }), "metadata-stream-uuid")),
                member("stream_id", role(integer(4, false, false), "data-stream-class-id")),
            ]),
        }),
    );
    fragment(
        out,
        &json!({
            "type": "clock-class",
            "id": "monotonic",
            "name": "monotonic",
            "description": "trace clock",
            "frequency": 1_000_000_000,
            "origin": "unix-epoch",
            "offset-from-origin": { "seconds": seconds, "cycles": cycles },
        }),
    );
    let wide = |what| role(integer(8, false, false), what);
    fragment(
        out,
        &json!({
            "type": "data-stream-class",
            "id": 0,
            "default-clock-class-id": "monotonic",
            "packet-context-field-class": structure(vec![
                member("timestamp_begin", wide("default-clock-timestamp")),
                member("timestamp_end", wide("packet-end-default-clock-timestamp")),
                member("content_size", wide("packet-content-length")),
                member("packet_size", wide("packet-total-length")),
                member("events_discarded", wide("discarded-event-record-counter-snapshot")),
                member("cpu_id", integer(4, false, false)),
            ]),
            "event-record-header-field-class": structure(vec![
                member("id", role(integer(2, false, false), "event-record-class-id")),
                member("timestamp", wide("default-clock-timestamp")),
            ]),
            "event-record-common-context-field-class": structure(vec![
                member("tid", integer(4, true, false)),
                member("procname", text()),
            ]),
        }),
    );
}

/// The class of an event.
pub(super) fn event(program: &CtfProgram, id: u16, out: &mut Vec<u8>) {
    let mut members = Vec::new();
    for CtfField { name, kind, .. } in &program.fields {
        match *kind {
            CtfKind::Integer { size, signed, hexadecimal } => {
                members.push(member(name, integer(size, signed, hexadecimal)));
            }
            CtfKind::Text => members.push(member(name, text())),
            CtfKind::Sequence { size, signed } => {
                let length = format!("_{name}_length");
                let class = json!({
                    "type": "dynamic-length-array",
                    "element-field-class": integer(size, signed, false),
                    "length-field-location": { "path": [length] },
                });
                members.push(member(&length, integer(4, false, false)));
                members.push(member(name, class));
            }
        }
    }
    fragment(
        out,
        &json!({
            "type": "event-record-class",
            "id": id,
            "data-stream-class-id": 0,
            "name": program.name,
            "payload-field-class": structure(members),
        }),
    );
}

fn fragment(out: &mut Vec<u8>, object: &Value) {
    out.push(0x1e);
    out.extend_from_slice(object.to_string().as_bytes());
    out.push(b'\n');
}

fn structure(members: Vec<Value>) -> Value {
    json!({ "type": "structure", "member-classes": members })
}

fn member(name: &str, class: Value) -> Value {
    json!({ "name": name, "field-class": class })
}

/// The class of a number.
fn integer(size: u8, signed: bool, hexadecimal: bool) -> Value {
    json!({
        "type": if signed { "fixed-length-signed-integer" } else { "fixed-length-unsigned-integer" },
        "length": u32::from(size) * 8,
        "alignment": 8,
        "byte-order": "little-endian",
        "preferred-display-base": if hexadecimal { 16 } else { 10 },
    })
}

/// The class of a text, which a NUL ends.
fn text() -> Value {
    json!({ "type": "null-terminated-string" })
}

/// A class whose field has a meaning for readers.
fn role(mut class: Value, role: &str) -> Value {
    class["roles"] = json!([role]);
    class
}
