//! The file `metadata`, in TSDL.

use super::file::CtfFile;
use super::program::integer;
use std::fmt::Write;

/// The metadata before the events' declarations.
pub(super) fn head(file: &CtfFile<'_>, uuid: [u8; 16]) -> String {
    let hex: Vec<String> = uuid.iter().map(|byte| format!("{byte:02x}")).collect();
    let group = |from: usize, to: usize| hex.get(from..to).unwrap_or_default().concat();
    let uuid = [group(0, 4), group(4, 6), group(6, 8), group(8, 10), group(10, 16)].join("-");
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
    for (name, value) in [
        ("hostname", file.host.as_str()),
        ("domain", "kernel"),
        ("sysname", "Linux"),
        ("kernel_release", &file.kernel),
        ("tracer_name", "lttng-modules"),
        ("trace_written_by", concat!("rtrace ", env!("CARGO_PKG_VERSION"))),
    ] {
        let value: String = value.chars().filter(|c| !c.is_control() && !matches!(c, '"' | '\\')).collect();
        let _ = writeln!(out, "\t{name} = \"{value}\";");
    }
    // Those whose names and fields these are.
    out.push_str("\ttracer_major = 2;\n\ttracer_minor = 13;\n};\n\n");
    let (seconds, rest) = (file.offset.div_euclid(1_000_000_000), file.offset.rem_euclid(1_000_000_000));
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
