//! trace-cmd's messages (V3).
//!
//! A header of three big-endian u32: bytes of the whole message, command, bytes of the fixed part. The fixed part follows,
//! then the variable part. A receiver reads what it knows of the fixed part and skips the rest; a shorter one than it knows
//! is filled up with zeros.
//!
//! FIFOs between a guest's agent of ours and its host's controller of ours: a mark where the data of a session begins.
//!
//! TRACE_PROXY: a guest asks its host's agent to record along, as if the host were the guest.
//!
//! ```text
//! TRACE_PROXY  TRACE_REQ's fixed part, then u32 CPUs of the guest, u32 siblings (0); values as in TRACE_REQ
//! ```

use super::WireError;
use super::frame::{MAX_CPUS, MAX_PAGE, Take, padded, port, with_nul};
use super::request::{TraceRequest, TraceResponse};
use super::sync::TimeSync;

/// Size of a message's header, in bytes.
pub const HEADER: usize = 12;
/// Size of the largest message, in bytes.
pub const MAX_MESSAGE: usize = 8192;
/// Bytes of data that one message can carry.
pub const MAX_DATA: usize = MAX_MESSAGE - HEADER;
/// Bytes of the text that a refusal carries at most.
const MAX_REFUSAL: usize = 4096;

/// Number of a message's command. Numbers that are not known stay what they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WireCommand(pub u32);

impl WireCommand {
    /// The recording is over.
    pub const CLOSE: WireCommand = WireCommand(0);
    /// The sender's CPUs, page size and options.
    pub const TINIT: WireCommand = WireCommand(1);
    /// The listener's ports.
    pub const RINIT: WireCommand = WireCommand(2);
    /// Bytes of the file.
    pub const SEND_DATA: WireCommand = WireCommand(3);
    /// No more of them.
    pub const FIN_DATA: WireCommand = WireCommand(4);
    /// The answer to what is not understood or not expected.
    pub const NOT_SUPP: WireCommand = WireCommand(5);
    /// A controller's request to record.
    pub const TRACE_REQ: WireCommand = WireCommand(6);
    /// The agent's answer.
    pub const TRACE_RESP: WireCommand = WireCommand(7);
    /// The agent has sent everything.
    pub const CLOSE_RESP: WireCommand = WireCommand(8);
    /// Time synchronization.
    pub const TIME_SYNC: WireCommand = WireCommand(9);
    /// A guest's request that its host record.
    pub const TRACE_PROXY: WireCommand = WireCommand(10);
    /// The guest has the first part of the end, and wants the second.
    pub const CONT: WireCommand = WireCommand(11);
    /// Between two of ours: how much of a ring was sent, or is stored ("rtCO").
    pub const COUNT: WireCommand = WireCommand(0x7274_434f);
}

/// The first 12 bytes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageHeader {
    /// Number of bytes that follow.
    pub body: usize,
    /// The command.
    pub command: WireCommand,
    /// Of the body, the bytes of the fixed part.
    pub fixed: usize,
}

impl MessageHeader {
    /// Reads it.
    ///
    /// # Errors
    /// [`WireError::Size`], [`WireError::FixedSize`].
    pub fn read(bytes: &[u8; HEADER]) -> Result<Self, WireError> {
        let mut take = Take::new("a message", bytes);
        let (size, command, fixed) = (take.u32()?, WireCommand(take.u32()?), take.u32()?);
        let body = size.checked_sub(HEADER as u32).filter(|_| size <= MAX_MESSAGE as u32);
        let body = body.ok_or(WireError::Size(size))?;
        if fixed > body {
            return Err(WireError::FixedSize { size, fixed });
        }
        Ok(MessageHeader { body: body as usize, command, fixed: fixed as usize })
    }
}

/// TINIT: how a sender wants to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceInit {
    /// Number of CPUs, one data connection for each.
    pub cpus: u32,
    /// Size of a sub-buffer, in bytes.
    pub page_size: u32,
    /// `tcp` or `vsock`; UDP without either. Others are to be ignored.
    pub options: Vec<String>,
}

impl TraceInit {
    /// True if the data comes over TCP.
    pub fn is_tcp(&self) -> bool {
        self.options.iter().any(|option| option == "tcp")
    }
}

/// A message of those that `record -N` and `listen` exchange, or `record -A` and `agent`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Message {
    /// The recording is over.
    Close,
    /// The sender's settings.
    TraceInit(TraceInit),
    /// The listener's port of each CPU.
    Ports(Vec<u16>),
    /// Bytes of the file: 1 to 8180.
    Data(Vec<u8>),
    /// The end of the data.
    EndOfData,
    /// The answer to what is not understood.
    NotSupported,
    /// The same from one of ours, which says why.
    Refused(String),
    /// A controller's request to record.
    TraceRequest(TraceRequest),
    /// The agent's answer.
    TraceResponse(TraceResponse),
    /// The agent has sent everything.
    Closed,
    /// Time synchronization.
    TimeSync(TimeSync),
    /// A guest's request that its host record.
    TraceProxy(TraceProxy),
    /// The first part of the end has come; the second is wanted.
    Continue,
    /// The part of a ring that was sent, or is stored.
    Count(RingCount),
    /// Anything else.
    Other(WireCommand),
}

impl Message {
    /// Reads the body of a message with `header`.
    ///
    /// # Errors
    /// [`WireError`] for numbers that cannot be and texts without an end.
    pub fn read(header: MessageHeader, body: &[u8]) -> Result<Self, WireError> {
        let (fixed, variable) = body.split_at_checked(header.fixed).ok_or(WireError::Cut("a message"))?;
        match header.command {
            WireCommand::CLOSE => Ok(Message::Close),
            WireCommand::TINIT => Ok(Message::TraceInit(trace_init(fixed, variable)?)),
            WireCommand::RINIT => Ok(Message::Ports(ports(fixed, variable)?)),
            WireCommand::SEND_DATA => Ok(Message::Data(variable.to_vec())),
            WireCommand::FIN_DATA => Ok(Message::EndOfData),
            WireCommand::NOT_SUPP if variable.is_empty() => Ok(Message::NotSupported),
            WireCommand::NOT_SUPP => Ok(Message::Refused(clipped(&String::from_utf8_lossy(variable)).to_owned())),
            WireCommand::TRACE_REQ => Ok(Message::TraceRequest(TraceRequest::read(fixed, variable)?)),
            WireCommand::TRACE_RESP => Ok(Message::TraceResponse(TraceResponse::read(fixed, variable)?)),
            WireCommand::CLOSE_RESP => Ok(Message::Closed),
            WireCommand::TIME_SYNC => Ok(Message::TimeSync(TimeSync::read(fixed, variable)?)),
            WireCommand::TRACE_PROXY => Ok(Message::TraceProxy(TraceProxy::read(fixed, variable)?)),
            WireCommand::CONT => Ok(Message::Continue),
            WireCommand::COUNT => Ok(Message::Count(RingCount::read(fixed)?)),
            other => Ok(Message::Other(other)),
        }
    }

    /// Its bytes, header included. Data beyond [`MAX_DATA`] does not fit into one message: see [`Message::data`].
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Message::Close => print(WireCommand::CLOSE, &[], &[]),
            Message::TraceInit(init) => {
                let variable: Vec<u8> = init.options.iter().flat_map(|option| with_nul(option)).collect();
                let numbers = [init.cpus, init.page_size, init.options.len() as u32];
                print(WireCommand::TINIT, &numbers, &variable)
            }
            Message::Ports(ports) => {
                let variable: Vec<u8> = ports.iter().flat_map(|port| with_nul(&port.to_string())).collect();
                print(WireCommand::RINIT, &[ports.len() as u32], &variable)
            }
            Message::Data(data) => print(WireCommand::SEND_DATA, &[], data),
            Message::EndOfData => print(WireCommand::FIN_DATA, &[], &[]),
            Message::NotSupported => print(WireCommand::NOT_SUPP, &[], &[]),
            Message::Refused(why) => print(WireCommand::NOT_SUPP, &[], clipped(why).as_bytes()),
            Message::TraceRequest(request) => print_parts(WireCommand::TRACE_REQ, request.parts()),
            Message::TraceResponse(response) => print_parts(WireCommand::TRACE_RESP, response.parts()),
            Message::Closed => print(WireCommand::CLOSE_RESP, &[], &[]),
            Message::TimeSync(sync) => print_parts(WireCommand::TIME_SYNC, sync.parts()),
            Message::TraceProxy(proxy) => print_parts(WireCommand::TRACE_PROXY, proxy.parts()),
            Message::Continue => print(WireCommand::CONT, &[], &[]),
            Message::Count(count) => print_parts(WireCommand::COUNT, (count.bytes(), Vec::new())),
            Message::Other(command) => print(*command, &[], &[]),
        }
    }

    /// The bytes of the messages that carry `data`.
    pub fn data(data: &[u8]) -> impl Iterator<Item = Vec<u8>> {
        data.chunks(MAX_DATA).map(|part| print(WireCommand::SEND_DATA, &[], part))
    }
}

fn trace_init(fixed: &[u8], variable: &[u8]) -> Result<TraceInit, WireError> {
    let fixed = padded::<12>(fixed);
    let mut take = Take::new("TINIT", &fixed);
    let (cpus, page_size, count) = (take.u32()?, take.u32()?, take.u32()?);
    if cpus == 0 || cpus > MAX_CPUS {
        return Err(WireError::Value { what: "the number of CPUs", value: cpus.to_string() });
    }
    if page_size == 0 || page_size > MAX_PAGE {
        return Err(WireError::Value { what: "the page size", value: page_size.to_string() });
    }
    let (mut take, mut options) = (Take::new("TINIT's options", variable), Vec::new());
    for _ in 0..count {
        options.push(take.text()?);
    }
    Ok(TraceInit { cpus, page_size, options })
}

fn ports(fixed: &[u8], variable: &[u8]) -> Result<Vec<u16>, WireError> {
    let fixed = padded::<4>(fixed);
    let cpus = Take::new("RINIT", &fixed).u32()?;
    if cpus > MAX_CPUS {
        return Err(WireError::Value { what: "the number of ports", value: cpus.to_string() });
    }
    let mut take = Take::new("RINIT's ports", variable);
    (0..cpus).map(|_| take.text().and_then(|text| port(&text))).collect()
}

/// As much of a refusal's text as a message carries.
fn clipped(why: &str) -> &str {
    let most = (0..=MAX_REFUSAL).rev().find(|at| why.is_char_boundary(*at)).unwrap_or(0);
    why.get(..most).unwrap_or(why)
}

fn print(command: WireCommand, fixed: &[u32], variable: &[u8]) -> Vec<u8> {
    let fixed = fixed.iter().flat_map(|number| number.to_be_bytes()).collect();
    print_parts(command, (fixed, variable.to_vec()))
}

fn print_parts(command: WireCommand, (fixed, variable): (Vec<u8>, Vec<u8>)) -> Vec<u8> {
    let size = HEADER.saturating_add(fixed.len()).saturating_add(variable.len());
    let mut out = Vec::with_capacity(size);
    for number in [size as u32, command.0, fixed.len() as u32] {
        out.extend_from_slice(&number.to_be_bytes());
    }
    out.extend_from_slice(&fixed);
    out.extend_from_slice(&variable);
    out
}

/// The first bytes of an agent's data in a FIFO. Bytes before them are an earlier session's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FifoMark(u64);

impl FifoMark {
    /// Size, in bytes.
    pub const SIZE: usize = 16;

    /// The mark of the recording whose TRACEID is `id`.
    pub fn new(id: u64) -> Self {
        FifoMark(id)
    }

    /// Its bytes: a name, and the TRACEID, big-endian.
    pub fn bytes(self) -> [u8; Self::SIZE] {
        ((u128::from(u64::from_be_bytes(*b"rt\x00fifo\n")) << 64) | u128::from(self.0)).to_be_bytes()
    }

    /// Offset of the first one in `bytes`.
    pub fn find(self, bytes: &[u8]) -> Option<usize> {
        let mark = self.bytes();
        bytes.windows(Self::SIZE).position(|window| window == mark)
    }
}

/// The protocol of probes ([`PTP`](super::PTP)) between a guest and an agent of ours, with the roles that they have without a proxy: the agent probes.
pub const GUEST_PTP: &str = "rtrace-ptp";

/// TRACE_PROXY: a guest's request to record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceProxy {
    /// The request, as a controller makes it.
    pub request: TraceRequest,
    /// Number of the guest's CPUs.
    pub cpus: u32,
    /// Number of the guest's siblings; trace-cmd sends 0.
    pub siblings: u32,
}

impl TraceProxy {
    pub(super) fn read(fixed: &[u8], variable: &[u8]) -> Result<Self, WireError> {
        let request = TraceRequest::read(fixed, variable)?;
        let fixed = padded::<24>(fixed);
        let mut take = Take::new("TRACE_PROXY", &fixed);
        take.bytes(16)?;
        let (cpus, siblings) = (take.u32()?, take.u32()?);
        if cpus > MAX_CPUS {
            return Err(WireError::Value { what: "the number of CPUs", value: cpus.to_string() });
        }
        Ok(TraceProxy { request, cpus, siblings })
    }

    fn parts(&self) -> (Vec<u8>, Vec<u8>) {
        let (fixed, variable) = self.request.parts();
        ([&fixed[..], &self.cpus.to_be_bytes(), &self.siblings.to_be_bytes()].concat(), variable)
    }
}

// Datagrams of a sender of ours to a listener of ours: a stamp of two big-endian u64 before each sub-buffer, by which
// losses are known where they happened, and the counts of a whole ring at the end.

/// The most bytes that one datagram carries over IPv4.
pub const MAX_DATAGRAM: usize = 65_507;

/// Sub-buffers and events of one ring that precede a datagram, lost ones included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DatagramStamp {
    /// Sub-buffers before this one.
    pub number: u64,
    /// Events in them.
    pub events: u64,
}

impl DatagramStamp {
    /// Size, in bytes.
    pub const SIZE: usize = 16;

    /// Reads it off the front of a datagram; gives the sub-buffer too.
    ///
    /// # Errors
    /// [`WireError::Cut`].
    pub fn read(datagram: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let mut take = Take::new("a datagram", datagram);
        let stamp = DatagramStamp { number: take.u64()?, events: take.u64()? };
        Ok((stamp, take.rest()))
    }

    /// Bytes of the header on the wire.
    pub fn bytes(self) -> [u8; Self::SIZE] {
        ((u128::from(self.number) << 64) | u128::from(self.events)).to_be_bytes()
    }
}

/// Sub-buffers and events of one ring: sent, or stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingCount {
    /// The ring's CPU.
    pub cpu: u32,
    /// Number of sub-buffers.
    pub sub_buffers: u64,
    /// Number of events in them.
    pub events: u64,
}

impl RingCount {
    pub(super) fn read(fixed: &[u8]) -> Result<Self, WireError> {
        let fixed = padded::<20>(fixed);
        let mut take = Take::new("a count", &fixed);
        Ok(RingCount { cpu: take.u32()?, sub_buffers: take.u64()?, events: take.u64()? })
    }

    pub(super) fn bytes(self) -> Vec<u8> {
        [&self.cpu.to_be_bytes()[..], &self.sub_buffers.to_be_bytes(), &self.events.to_be_bytes()].concat()
    }
}
