//! The file `metadata` of CTF 1.8, in TSDL.

use super::file::{CtfFile, TRACER};
use super::program::{CtfField, CtfKind, CtfProgram};
use std::fmt::Write;

/// The metadata before the events' declarations.
pub(super) fn head(file: &CtfFile<'_>) -> String {
    let uuid = file.uuid_text();
    let (number, wide) = (integer(4, false, false), integer(8, false, false));
    let clocked = "integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; }";
    let mut out = String::from("/* CTF 1.8 */\n\n");
    let _ = write!(
        out,
        "trace {{\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"{uuid}\";\n\tbyte_order = le;\n\tpacket.header := struct {{\n\
         \t\t{number} magic;\n\t\t{byte} uuid[16];\n\t\t{number} stream_id;\n\t}};\n}};\n\n",
        byte = integer(1, false, false),
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
        id = integer(2, false, false),
        tid = integer(4, true, false),
    );
    out
}

/// The declaration of an event.
pub(super) fn event(program: &CtfProgram, id: u16, out: &mut String) {
    let name = program.name.replace(['"', '\\', '\n'], "_");
    let _ = writeln!(out, "event {{\n\tname = \"{name}\";\n\tid = {id};\n\tstream_id = 0;\n\tfields := struct {{");
    for CtfField { name, kind, .. } in &program.fields {
        let _ = match kind {
            CtfKind::Integer { size, signed, hexadecimal } => {
                writeln!(out, "\t\t{} _{name};", integer(*size, *signed, *hexadecimal))
            }
            CtfKind::Text => writeln!(out, "\t\tstring {{ encoding = UTF8; }} _{name};"),
            CtfKind::Sequence { size, signed } => {
                let (length, item) = (integer(4, false, false), integer(*size, *signed, false));
                writeln!(out, "\t\t{length} __{name}_length;\n\t\t{item} _{name}[ __{name}_length ];")
            }
        };
    }
    out.push_str("\t};\n};\n\n");
}

/// The type of a number.
fn integer(size: u8, signed: bool, hexadecimal: bool) -> String {
    let base = if hexadecimal { " base = 16;" } else { "" };
    format!("integer {{ size = {}; align = 8; signed = {signed};{base} }}", u32::from(size) * 8)
}
