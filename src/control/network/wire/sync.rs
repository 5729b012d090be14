//! TIME_SYNC: messages of time synchronization.
//!
//! ```text
//! fixed  16 bytes name of the protocol (`none`: control), u32 message
//! none   1 PROBE  u16 CPU, in the sender's byte order: one measurement for that CPU follows
//!        2 STOP
//! ptp    1 START  u32 series, u32 flags; sent back as it is
//!        2 PROBE  u32 number, from 1 on; sent back as it is
//!        3 PROBES u32 series, u32 count, 678 times {i64 stamp, u32 number}: the controller's stamps, 339 at most used
//!        4 OFFSET i64 agent's time, i64 to be added to it; ours: u64 error, all in the clock's unit
//!        5 END
//! kvm    1 REQUEST, 2 RESPONSE  i64 agent's time, i64 to be added to it, i64 factor, i64 bits of the product to be cut off
//! ```
//!
//! Numbers are big-endian but for PROBE's CPU and all of kvm's, which are in the sender's order. Seen: trace-cmd 3.4; not seen: kvm.

use super::WireError;
use super::frame::{Take, padded};
use super::request::{NAME, name, name_bytes};

/// The most probes of a series: their stamps fill a message.
pub const MAX_PROBES: usize = 339;
/// Stamps that PROBES has room for; all of it is sent.
const ROOM: usize = 2 * MAX_PROBES;

/// A controller's stamp of a probe that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeStamp {
    /// Reading of the trace clock.
    pub time: u64,
    /// The probe's number, from 1 on.
    pub number: u32,
}

/// The offset of a guest's counter from its host's, which KVM keeps. All but the time are zero in a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KvmClock {
    /// The agent's trace clock when it asked.
    pub time: i64,
    /// To be added to the agent's times.
    pub offset: i64,
    /// Factor of the agent's times; 1 if it is not scaled.
    pub scaling: i64,
    /// Bits of the product to be cut off.
    pub fraction: i64,
}

/// A message of time synchronization.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimeSync {
    /// Requests a clock measurement for this CPU.
    Measure(u16),
    /// No more measurements.
    Stop,
    /// A series of probes begins.
    Start {
        /// Number of the series.
        series: u32,
        /// Bit 0: the fastest probe counts alone; bit 1: stamps are of the trace clock.
        flags: u32,
    },
    /// A probe.
    Probe(u32),
    /// The controller's stamps of a series.
    Probes {
        /// Number of the series.
        series: u32,
        /// The stamps.
        stamps: Vec<ProbeStamp>,
    },
    /// The result of a series.
    Offset {
        /// The agent's trace clock when it was measured.
        time: u64,
        /// To be added to the agent's times.
        offset: i64,
        /// The most by which it can be wrong, if that is known.
        error: Option<u64>,
    },
    /// The end of a series.
    End,
    /// A guest asks for the offset of its counter.
    KvmRequest(KvmClock),
    /// The host's answer.
    KvmResponse(KvmClock),
    /// Anything else.
    Unknown {
        /// The protocol.
        protocol: String,
        /// The message.
        message: u32,
    },
}

/// Name of the protocol that controls.
const CONTROL: &str = "none";
/// Name of the protocol of probes that are sent back.
pub const PTP: &str = "ptp";
/// Name of the protocol that asks KVM.
pub const KVM: &str = "kvm";

impl TimeSync {
    pub(super) fn read(fixed: &[u8], variable: &[u8]) -> Result<Self, WireError> {
        let fixed = padded::<20>(fixed);
        let mut take = Take::new("TIME_SYNC", &fixed);
        let (protocol, message) = (name(take.bytes(NAME)?)?, take.u32()?);
        let mut body = Take::new("TIME_SYNC's body", variable);
        Ok(match (protocol.as_str(), message) {
            (CONTROL, 1) => TimeSync::Measure(u16::from_ne_bytes(padded(body.bytes(2)?))),
            (CONTROL, 2) => TimeSync::Stop,
            (PTP, 1) => TimeSync::Start { series: body.u32()?, flags: body.u32()? },
            (PTP, 2) => TimeSync::Probe(body.u32()?),
            (PTP, 3) => probes(&mut body)?,
            (PTP, 4) => {
                let (time, offset) = (body.u64()?, body.u64()?.cast_signed());
                let error = if body.is_empty() { None } else { Some(body.u64()?) };
                TimeSync::Offset { time, offset, error }
            }
            (PTP, 5) => TimeSync::End,
            (KVM, 1) => TimeSync::KvmRequest(KvmClock::read(&mut body)?),
            (KVM, 2) => TimeSync::KvmResponse(KvmClock::read(&mut body)?),
            _ => TimeSync::Unknown { protocol, message },
        })
    }

    pub(super) fn parts(&self) -> (Vec<u8>, Vec<u8>) {
        let numbers = |numbers: &[u32]| numbers.iter().flat_map(|number| number.to_be_bytes()).collect::<Vec<u8>>();
        let (protocol, message, body) = match self {
            TimeSync::Measure(cpu) => (CONTROL, 1, cpu.to_ne_bytes().to_vec()),
            TimeSync::Stop => (CONTROL, 2, Vec::new()),
            TimeSync::Start { series, flags } => (PTP, 1, numbers(&[*series, *flags])),
            TimeSync::Probe(number) => (PTP, 2, numbers(&[*number])),
            TimeSync::Probes { series, stamps } => {
                let mut body = numbers(&[*series, stamps.len() as u32]);
                let none = ProbeStamp { time: 0, number: 0 };
                for stamp in stamps.iter().chain(std::iter::repeat(&none)).take(ROOM) {
                    body.extend_from_slice(&stamp.time.to_be_bytes());
                    body.extend_from_slice(&stamp.number.to_be_bytes());
                }
                (PTP, 3, body)
            }
            TimeSync::Offset { time, offset, error } => {
                let mut body = [time.to_be_bytes(), offset.to_be_bytes()].concat();
                body.extend(error.iter().flat_map(|error| error.to_be_bytes()));
                (PTP, 4, body)
            }
            TimeSync::End => (PTP, 5, Vec::new()),
            TimeSync::KvmRequest(clock) => (KVM, 1, clock.bytes()),
            TimeSync::KvmResponse(clock) => (KVM, 2, clock.bytes()),
            TimeSync::Unknown { protocol, message } => (protocol.as_str(), *message, Vec::new()),
        };
        ([&name_bytes(protocol)[..], &u32::to_be_bytes(message)].concat(), body)
    }
}

impl KvmClock {
    fn read(body: &mut Take<'_>) -> Result<Self, WireError> {
        let mut number = || Ok(i64::from_ne_bytes(padded(body.bytes(8)?)));
        Ok(KvmClock { time: number()?, offset: number()?, scaling: number()?, fraction: number()? })
    }

    fn bytes(self) -> Vec<u8> {
        [self.time, self.offset, self.scaling, self.fraction].map(i64::to_ne_bytes).concat()
    }
}

fn probes(body: &mut Take<'_>) -> Result<TimeSync, WireError> {
    let (series, count) = (body.u32()?, body.u32()?);
    if count as usize > MAX_PROBES {
        return Err(WireError::Value { what: "the number of probes", value: count.to_string() });
    }
    let stamp = |_| Ok(ProbeStamp { time: body.u64()?, number: body.u32()? });
    Ok(TimeSync::Probes { series, stamps: (0..count).map(stamp).collect::<Result<_, WireError>>()? })
}
