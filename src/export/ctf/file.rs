//! The recording behind a trace.

use crate::base::abi::Abi;
use crate::kernel::format::EventFormat;
use crate::kernel::symbols::Comms;

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
    pub(super) fn uuid_text(&self) -> String {
        let hex: Vec<String> = self.uuid.iter().map(|byte| format!("{byte:02x}")).collect();
        let group = |from: usize, to: usize| hex.get(from..to).unwrap_or_default().concat();
        [group(0, 4), group(4, 6), group(6, 8), group(8, 10), group(10, 16)].join("-")
    }

    /// Texts of the trace's environment: those that LTTng has, so that viewers take the trace for one of its kernel.
    pub(super) fn environment(&self) -> [(&'static str, &str); 6] {
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
    pub(super) fn clock_offset(&self) -> (i64, i64) {
        (self.offset.div_euclid(1_000_000_000), self.offset.rem_euclid(1_000_000_000))
    }
}

/// Version of LTTng whose names and fields these are.
pub(super) const TRACER: [(&str, u32); 2] = [("tracer_major", 2), ("tracer_minor", 13)];
