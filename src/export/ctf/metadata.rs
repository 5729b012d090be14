//! The file `metadata`, in TSDL.
//! The packets of one stream.
//! The recording behind a trace.

use super::program::integer;
use crate::base::abi::Abi;
use crate::export::frames::frame;
use crate::kernel::format::EventFormat;
use crate::kernel::symbols::Comms;
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

/// Size at which a packet is closed, in bytes.
const FULL: usize = 64 << 10;
const MAGIC: u32 = 0xC1FC_1FC1;
/// Bytes of the header and context.
const HEAD: usize = 4 + 16 + 4 + 5 * 8 + 4;

/// A stream: the packet that is being filled.
#[derive(Debug)]
pub(super) struct Packets {
    name: String,
    uuid: [u8; 16],
    cpu: u32,
    events: Vec<u8>,
    span: Option<(u64, u64)>,
    discarded: u64,
}

impl Packets {
    pub(super) fn new(name: String, uuid: [u8; 16], cpu: u32) -> Self {
        Packets { name, uuid, cpu, events: Vec::new(), span: None, discarded: 0 }
    }

    /// Adds an event. `lost` were lost before it, which readers see between two packets.
    pub(super) fn add(&mut self, time: u64, event: &[u8], lost: u64, out: &mut Vec<u8>) {
        if lost > 0 || self.events.len() >= FULL {
            self.close(out);
            self.discarded = self.discarded.saturating_add(lost);
        }
        self.events.extend_from_slice(event);
        self.span = Some((self.span.map_or(time, |span| span.0), time));
    }

    /// Closes the packet, if there is anything in it.
    pub(super) fn close(&mut self, out: &mut Vec<u8>) {
        let Some((begin, end)) = self.span.take() else { return };
        let mut packet = Vec::with_capacity(HEAD.saturating_add(self.events.len()));
        packet.extend_from_slice(&MAGIC.to_le_bytes());
        packet.extend_from_slice(&self.uuid);
        packet.extend_from_slice(&0u32.to_le_bytes());
        let bits = (HEAD.saturating_add(self.events.len()) as u64).saturating_mul(8);
        for number in [begin, end, bits, bits, self.discarded] {
            packet.extend_from_slice(&number.to_le_bytes());
        }
        packet.extend_from_slice(&self.cpu.to_le_bytes());
        packet.append(&mut self.events);
        frame(out, &self.name, &packet);
    }
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
    /// The kernel's release.
    pub kernel: String,
    /// Nanoseconds to add to a time to get one since 1970; 0 if that is not known.
    pub offset: i64,
    /// Tells traces apart.
    pub uuid: [u8; 16],
}
