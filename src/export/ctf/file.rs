//! The recording behind a trace.

use crate::base::abi::Abi;
use crate::kernel::format::EventFormat;
use crate::kernel::symbols::Comms;

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
