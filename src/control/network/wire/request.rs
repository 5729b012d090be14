//! TRACE_REQ and TRACE_RESP: a controller asks an agent to record, and learns where the data is available.
//!
//! ```text
//! TRACE_REQ   u32 flags, u32 0, u64 trace id of the controller's file; then values of u32 id, u32 bytes, the value:
//!             0  u32 count, that many texts, each with NUL: options of record
//!             1  names of time synchronization protocols, each with NUL, and one more NUL
//!             [`OURS_ID`]  empty: the controller is ours
//!             [`FIFOS_ID`] u32 number of its FIFOs
//! TRACE_RESP  u32 flags, u32 CPUs, u32 bytes of a sub-buffer, u64 trace id of the agent's recording, 16 bytes name of a
//!             time synchronization protocol (empty: none), u32 its port; then each CPU's port as a decimal text with NUL
//! ```
//!
//! All numbers are big-endian. Values of unknown ids are skipped, by trace-cmd 3.4 too.

use super::WireError;
use super::frame::{MAX_CPUS, MAX_PAGE, Take, decimal, padded, with_nul};

/// A value that only ours send; trace-cmd skips it.
const OURS_ID: u32 = u32::from_be_bytes(*b"rtra");
/// Another one.
const FIFOS_ID: u32 = u32::from_be_bytes(*b"rtff");
const ARGS_ID: u32 = 0;
const PROTOCOLS_ID: u32 = 1;
/// More options than any message holds.
const MAX_ARGS: u32 = 8192;
/// Size of the name of a protocol, in bytes.
pub(super) const NAME: usize = 16;

/// Flag of a request and of an answer: data comes through FIFOs.
pub const FLAG_FIFOS: u32 = 1;
/// Flag of an answer of ours to one of ours: the data in each FIFO follows a [mark](super::FifoMark), and is counted at the end.
pub const FLAG_MARKED: u32 = 1 << 31;

/// TRACE_REQ: a controller's request to record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceRequest {
    /// [`FLAG_FIFOS`].
    pub flags: u32,
    /// TRACEID of the controller's file.
    pub id: u64,
    /// Options of record.
    pub args: Vec<String>,
    /// Protocols of time synchronization that the controller knows.
    pub protocols: Vec<String>,
    /// The controller is ours: it takes names of tasks and statistics at the end, and reads the text of a refusal.
    pub ours: bool,
    /// Number of the controller's FIFOs, from CPU 0 on; only ours say it.
    pub fifos: Option<u32>,
}

/// TRACE_RESP: an agent's answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceResponse {
    /// [`FLAG_FIFOS`], [`FLAG_MARKED`].
    pub flags: u32,
    /// Size of a sub-buffer, in bytes.
    pub page_size: u32,
    /// TRACEID of the agent's recording.
    pub id: u64,
    /// Protocol of time synchronization; none if empty.
    pub protocol: String,
    /// Port for time synchronisation.
    pub sync_port: u32,
    /// Port of each CPU's data.
    pub ports: Vec<u32>,
}

impl TraceRequest {
    pub(super) fn read(fixed: &[u8], variable: &[u8]) -> Result<Self, WireError> {
        let fixed = padded::<16>(fixed);
        let mut take = Take::new("TRACE_REQ", &fixed);
        let (flags, _, id) = (take.u32()?, take.u32()?, take.u64()?);
        let mut request = TraceRequest { flags, id, ..TraceRequest::default() };
        let mut values = Take::new("TRACE_REQ's values", variable);
        while !values.is_empty() {
            let (kind, len) = (values.u32()?, values.u32()?);
            let value = values.bytes(len as usize)?;
            match kind {
                ARGS_ID => request.args = args(value)?,
                PROTOCOLS_ID => request.protocols = protocols(value)?,
                OURS_ID => request.ours = true,
                FIFOS_ID => request.fifos = Some(Take::new("TRACE_REQ's number of FIFOs", value).u32()?),
                _ => {}
            }
        }
        Ok(request)
    }

    pub(super) fn parts(&self) -> (Vec<u8>, Vec<u8>) {
        let fixed = [&self.flags.to_be_bytes()[..], &[0; 4], &self.id.to_be_bytes()].concat();
        let mut variable = Vec::new();
        let mut value = |id: u32, bytes: &[u8]| {
            variable.extend_from_slice(&id.to_be_bytes());
            variable.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
            variable.extend_from_slice(bytes);
        };
        let texts = |texts: &[String]| -> Vec<u8> { texts.iter().flat_map(|text| text.bytes().chain([0])).collect() };
        if !self.args.is_empty() {
            value(ARGS_ID, &[&(self.args.len() as u32).to_be_bytes()[..], &texts(&self.args)].concat());
        }
        if !self.protocols.is_empty() {
            value(PROTOCOLS_ID, &[&texts(&self.protocols)[..], &[0]].concat());
        }
        if self.ours {
            value(OURS_ID, &[]);
        }
        if let Some(fifos) = self.fifos {
            value(FIFOS_ID, &fifos.to_be_bytes());
        }
        (fixed, variable)
    }
}

fn args(value: &[u8]) -> Result<Vec<String>, WireError> {
    let mut take = Take::new("TRACE_REQ's options", value);
    let count = take.u32()?;
    if count > MAX_ARGS {
        return Err(WireError::Value { what: "the number of options", value: count.to_string() });
    }
    (0..count).map(|_| take.text()).collect()
}

fn protocols(value: &[u8]) -> Result<Vec<String>, WireError> {
    let mut take = Take::new("TRACE_REQ's protocols", value);
    let mut names = Vec::new();
    loop {
        match take.text()? {
            name if name.is_empty() => return Ok(names),
            name => names.push(name),
        }
    }
}

impl TraceResponse {
    pub(super) fn read(fixed: &[u8], variable: &[u8]) -> Result<Self, WireError> {
        let fixed = padded::<40>(fixed);
        let mut take = Take::new("TRACE_RESP", &fixed);
        let (flags, cpus, page_size, id) = (take.u32()?, take.u32()?, take.u32()?, take.u64()?);
        let (protocol, sync_port) = (name(take.bytes(NAME)?)?, take.u32()?);
        if cpus == 0 || cpus > MAX_CPUS {
            return Err(WireError::Value { what: "the number of CPUs", value: cpus.to_string() });
        }
        if page_size == 0 || page_size > MAX_PAGE {
            return Err(WireError::Value { what: "the page size", value: page_size.to_string() });
        }
        let mut take = Take::new("TRACE_RESP's ports", variable);
        let port = |text: String| {
            let number = decimal("a port", text.as_bytes())?;
            u32::try_from(number).map_err(|_| WireError::value("a port", text.as_bytes()))
        };
        let ports = (0..cpus).map(|_| take.text().and_then(port)).collect::<Result<_, _>>()?;
        Ok(TraceResponse { flags, page_size, id, protocol, sync_port, ports })
    }

    pub(super) fn parts(&self) -> (Vec<u8>, Vec<u8>) {
        let numbers = [self.flags, self.ports.len() as u32, self.page_size];
        let mut fixed: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
        fixed.extend_from_slice(&self.id.to_be_bytes());
        fixed.extend_from_slice(&name_bytes(&self.protocol));
        fixed.extend_from_slice(&self.sync_port.to_be_bytes());
        (fixed, self.ports.iter().flat_map(|port| with_nul(&port.to_string())).collect())
    }
}

/// A protocol's name, filled up with NULs.
pub(super) fn name(bytes: &[u8]) -> Result<String, WireError> {
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    let sound = str::from_utf8(text).ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_graphic()));
    sound.map(str::to_owned).ok_or_else(|| WireError::value("a protocol's name", text))
}

/// The first 16 bytes of a name, filled up with NULs.
pub(super) fn name_bytes(name: &str) -> [u8; NAME] {
    padded::<NAME>(name.as_bytes())
}
