//! The file `metadata`: of CTF 1.8 in TSDL, of CTF 2 a sequence of JSON objects, each after a record separator (RFC 7464); and
//! what it says of the recording.

use super::program::{CtfField, CtfKind, CtfProgram};
use crate::base::abi::Abi;
use crate::kernel::format::EventFormat;
use crate::kernel::symbols::Comms;
use serde_json::{Value, json};
use std::fmt::Write;

/// The metadata before the events' declarations.
pub(super) fn tsdl_head(file: &CtfFile<'_>) -> String {
    let uuid = file.uuid_text();
    let (number, wide) = (tsdl_integer(4, false, false), tsdl_integer(8, false, false));
    let clocked = "integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; }";
    let mut out = String::from("/* CTF 1.8 */\n\n");
    let _ = write!(
        out,
        "trace {{\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"{uuid}\";\n\tbyte_order = le;\n\tpacket.header := struct {{\n\
         \t\t{number} magic;\n\t\t{byte} uuid[16];\n\t\t{number} stream_id;\n\t}};\n}};\n\n",
        byte = tsdl_integer(1, false, false),
    );
    out.push_str("env {\n");
    for (name, value) in file.environment() {
        let value: String = value.chars().filter(|c| !c.is_control() && !matches!(c, '"' | '\\')).collect();
        let _ = writeln!(out, "\t{name} = \"{value}\";");
    }
    for (name, number) in TRACER {
        let _ = writeln!(out, "\t{name} = {number};");
    }
    out.push_str("};\n\n");
    let (seconds, rest) = file.clock_offset();
    let _ = write!(
        out,
        "clock {{\n\tname = \"monotonic\";\n\tdescription = \"trace clock\";\n\tfreq = 1000000000;\n\toffset_s = {seconds};\n\
         \toffset = {rest};\n}};\n\n"
    );
    let _ = write!(
        out,
        "stream {{\n\tid = 0;\n\tevent.header := struct {{\n\t\t{id} id;\n\t\t{clocked} timestamp;\n\t}};\n\
         \tpacket.context := struct {{\n\t\t{clocked} timestamp_begin;\n\t\t{clocked} timestamp_end;\n\
         \t\t{wide} content_size;\n\t\t{wide} packet_size;\n\t\t{wide} events_discarded;\n\t\t{number} cpu_id;\n\t}};\n\
         \tevent.context := struct {{\n\t\t{tid} _tid;\n\t\tstring {{ encoding = UTF8; }} _procname;\n\t}};\n}};\n\n",
        id = tsdl_integer(2, false, false),
        tid = tsdl_integer(4, true, false),
    );
    out
}

/// The declaration of an event.
pub(super) fn tsdl_event(program: &CtfProgram, id: u16, out: &mut String) {
    let name = program.name.replace(['"', '\\', '\n'], "_");
    let _ = writeln!(out, "event {{\n\tname = \"{name}\";\n\tid = {id};\n\tstream_id = 0;\n\tfields := struct {{");
    for CtfField { name, kind, .. } in &program.fields {
        let _ = match kind {
            CtfKind::Integer { size, signed, hexadecimal } => {
                writeln!(out, "\t\t{} _{name};", tsdl_integer(*size, *signed, *hexadecimal))
            }
            CtfKind::Text => writeln!(out, "\t\tstring {{ encoding = UTF8; }} _{name};"),
            CtfKind::Sequence { size, signed } => {
                let (length, item) = (tsdl_integer(4, false, false), tsdl_integer(*size, *signed, false));
                writeln!(out, "\t\t{length} __{name}_length;\n\t\t{item} _{name}[ __{name}_length ];")
            }
        };
    }
    out.push_str("\t};\n};\n\n");
}

/// The type of a number.
fn tsdl_integer(size: u8, signed: bool, hexadecimal: bool) -> String {
    let base = if hexadecimal { " base = 16;" } else { "" };
    format!("integer {{ size = {}; align = 8; signed = {signed};{base} }}", u32::from(size) * 8)
}

/// The metadata before the events' classes.
pub(super) fn json_head(file: &CtfFile<'_>, out: &mut Vec<u8>) {
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
                member("magic", role(json_integer(4, false, false), "packet-magic-number")),
                member("uuid", role(json!({ "type": "static-length-blob", "length": 16 }), "metadata-stream-uuid")),
                member("stream_id", role(json_integer(4, false, false), "data-stream-class-id")),
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
    let wide = |what| role(json_integer(8, false, false), what);
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
                member("cpu_id", json_integer(4, false, false)),
            ]),
            "event-record-header-field-class": structure(vec![
                member("id", role(json_integer(2, false, false), "event-record-class-id")),
                member("timestamp", wide("default-clock-timestamp")),
            ]),
            "event-record-common-context-field-class": structure(vec![
                member("tid", json_integer(4, true, false)),
                member("procname", text()),
            ]),
        }),
    );
}

/// The class of an event.
pub(super) fn json_event(program: &CtfProgram, id: u16, out: &mut Vec<u8>) {
    let mut members = Vec::new();
    for CtfField { name, kind, .. } in &program.fields {
        match *kind {
            CtfKind::Integer { size, signed, hexadecimal } => {
                members.push(member(name, json_integer(size, signed, hexadecimal)));
            }
            CtfKind::Text => members.push(member(name, text())),
            CtfKind::Sequence { size, signed } => {
                let length = format!("_{name}_length");
                let class = json!({
                    "type": "dynamic-length-array",
                    "element-field-class": json_integer(size, signed, false),
                    "length-field-location": { "path": [length] },
                });
                members.push(member(&length, json_integer(4, false, false)));
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
fn json_integer(size: u8, signed: bool, hexadecimal: bool) -> Value {
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

/// A version of the format. They differ in the file `metadata` alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CtfVersion {
    /// CTF 1.8: metadata in TSDL, a language of its own.
    V1,
    /// CTF 2: metadata in JSON.
    V2,
}

/// A recording that becomes a trace.
pub struct CtfFile<'t> {
    /// The formats of its events.
    pub formats: Vec<&'t EventFormat>,
    /// The recorded kernel's ABI.
    pub abi: Abi,
    /// Task names of the file.
    pub comms: &'t Comms,
    /// The directory of its trace, with the `/` at the end; empty for the top.
    pub directory: String,
    /// The recorded machine's name.
    pub host: String,
    /// Release of the recorded kernel.
    pub kernel: String,
    /// Nanoseconds to add to a time to get one since 1970; 0 if that is not known.
    pub offset: i64,
    /// Tells traces apart.
    pub uuid: [u8; 16],
}

impl CtfFile<'_> {
    /// The UUID as it is written.
    fn uuid_text(&self) -> String {
        let hex: Vec<String> = self.uuid.iter().map(|byte| format!("{byte:02x}")).collect();
        let group = |from: usize, to: usize| hex.get(from..to).unwrap_or_default().concat();
        [group(0, 4), group(4, 6), group(6, 8), group(8, 10), group(10, 16)].join("-")
    }

    /// Texts of the trace's environment: those that LTTng has, so that viewers take the trace for one of its kernel.
    fn environment(&self) -> [(&'static str, &str); 6] {
        [
            ("hostname", &self.host),
            ("domain", "kernel"),
            ("sysname", "Linux"),
            ("kernel_release", &self.kernel),
            ("tracer_name", "lttng-modules"),
            ("trace_written_by", concat!("rtrace ", env!("CARGO_PKG_VERSION"))),
        ]
    }

    /// Offset of the clock, in seconds and nanoseconds.
    fn clock_offset(&self) -> (i64, i64) {
        (self.offset.div_euclid(1_000_000_000), self.offset.rem_euclid(1_000_000_000))
    }
}

/// Version of LTTng whose names and fields these are.
pub(super) const TRACER: [(&str, u32); 2] = [("tracer_major", 2), ("tracer_minor", 13)];
