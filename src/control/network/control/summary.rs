//! The outcome of a guest's recording.
//! Reasons why an agent does not record.
//! Ways to compare a guest's clock with the host's, of which its agent chooses one.

use super::target::GuestTarget;
use crate::base::units::{ByteSize, RecordedClock, counted};
use crate::control::network::patient::{ConnectionError, Tick};
use crate::control::network::sync::{Answerer, Comparing};
use crate::control::network::transport::{Address, Stream};
use crate::control::network::wire::{GUEST_PTP, KVM, PTP, TraceResponse};
use crate::control::record::{RecordError, TraceClockReader};
use crate::control::tracefs::KvmGuest;
use crate::file::trace_dat::ClockComparison;
use serde_json::json;
use std::path::PathBuf;
use std::time::Duration;
use std::{fmt, io};

/// A guest's recording that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestSummary {
    /// Name of the guest.
    pub name: String,
    /// File of the guest's events.
    pub path: PathBuf,
    /// Size of the file, in bytes.
    pub size: u64,
    /// Events that came, as far as they were counted.
    pub events: Option<u64>,
    /// Quality of the comparison of its clock with the host's.
    pub clocks: ClockComparison,
    /// To be added to its times at the end, in the clock's unit; of its first CPU.
    pub offset: Option<i64>,
    /// The reason why its clock was not compared until the end, if it was not.
    pub unsynchronized: Option<String>,
    /// Its data came through FIFOs, not over connections.
    pub through_fifos: bool,
    /// The reason why it is incomplete, if it is.
    pub incomplete: Option<String>,
}

impl fmt::Display for GuestSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: guest {}: ", self.path.display(), self.name)?;
        if let Some(events) = self.events {
            write!(f, "{}, ", counted(events, "event"))?;
        }
        write!(f, "{} written", ByteSize(self.size))?;
        if self.through_fifos {
            f.write_str(" from FIFOs")?;
        }
        match (&self.clocks, self.offset) {
            (ClockComparison::Not(why), _) => write!(f, ", clocks not compared: {why}")?,
            (clocks, offset) => {
                let offset = offset.unwrap_or_default();
                let which = if offset < 0 { "ahead" } else { "behind" };
                write!(f, ", times {clocks}: its own was {} {which}", shown(offset))?;
            }
        }
        if let Some(why) = &self.unsynchronized {
            write!(f, ", not to the end: {why}")?;
        }
        match &self.incomplete {
            Some(why) => write!(f, ", INCOMPLETE: {why}"),
            None => Ok(()),
        }
    }
}

/// A span of the clock, without its sign: nanoseconds as seconds. Ticks are close to it.
fn shown(offset: i64) -> String {
    let span = offset.unsigned_abs();
    format!("{}.{:09} s", span / 1_000_000_000, span % 1_000_000_000)
}

impl GuestSummary {
    /// The fields of a recording's summary about it.
    pub fn json(&self) -> serde_json::Value {
        let clock = match &self.clocks {
            ClockComparison::Not(why) => json!({"not_compared": why}),
            ClockComparison::Compared { host, error, rounds } => json!({
                "host": host,
                "unit": if RecordedClock::of(host).counts_nanoseconds() { "ns" } else { "ticks" },
                "offset": self.offset,
                "error": error,
                "measurements": rounds,
                "failed": self.unsynchronized,
            }),
        };
        json!({
            "name": self.name,
            "file": self.path.to_string_lossy(),
            "file_size": self.size,
            "events": self.events,
            "clock": clock,
            "through_fifos": self.through_fifos,
            "incomplete": self.incomplete,
        })
    }
}

/// Why an agent does not record.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GuestError {
    /// No address belongs to the name.
    #[error("failed to find {place}: {source}")]
    Address {
        /// As the user wrote it.
        place: String,
        /// Why not.
        source: io::Error,
    },
    /// The port is closed, or the way there is.
    #[error("failed to connect to the agent at {place}: {source}")]
    Connect {
        /// The address.
        place: String,
        /// Why not.
        source: io::Error,
    },
    /// The options are more than a message holds.
    #[error("the options for {0} are longer than the agent's protocol allows (8 KiB)")]
    TooLong(String),
    /// It says why.
    #[error("the agent at {place} does not record: {why}")]
    Refused {
        /// The address.
        place: String,
        /// Reason, in the agent's words.
        why: String,
    },
    /// It says nothing.
    #[error(
        "the agent at {0} closed the connection: an event or option that it does not know, another controller, or no rights; \
         its log says which"
    )]
    Closed(String),
    /// The connection broke, or what came is no answer.
    #[error("failed to set up the recording at {place}: {source}")]
    Broken {
        /// The address.
        place: String,
        /// Why.
        source: ConnectionError,
    },
    /// The description of its recording is none.
    #[error("the description of the recording at {place} cannot be read: {why}")]
    Metadata {
        /// The address.
        place: String,
        /// Why.
        why: String,
    },
    /// Its data does not come through the FIFOs.
    #[error("the data of {place} does not come through its FIFOs: {source} (--no-fifos does without)")]
    Fifos {
        /// The address.
        place: String,
        /// Why not.
        source: io::Error,
    },
    /// Its file cannot be made.
    #[error(transparent)]
    File(#[from] RecordError),
    /// A spool beside its file cannot be made.
    #[error("failed to create a spool of {path}: {source}")]
    Spool {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// The counter of which KVM keeps account.
const COUNTER: &str = "x86-tsc";

/// Ways that are offered to an agent.
pub(super) struct OfferedClocks {
    /// Reads the host's; else says why it is not compared.
    clock: Result<TraceClockReader, String>,
    /// The guest as KVM knows it, if its clock is the counter.
    kvm: Option<Result<KvmGuest, String>>,
    /// Name of the protocol of probes.
    probes: &'static str,
}

impl OfferedClocks {
    /// Those for `target`, whose agent is at `peer`.
    pub(super) fn of(target: &GuestTarget, peer: &Address, clock: Result<TraceClockReader, String>) -> Self {
        let counter = clock.as_ref().is_ok_and(|clock| clock.name() == COUNTER);
        let kvm = match (peer, &target.kvm) {
            (Address::Vsock { cid, .. }, Some(kvm)) if counter && !target.is_host => Some(kvm.guest(*cid)),
            _ => None,
        };
        let probes = if target.is_host { GUEST_PTP } else { PTP };
        OfferedClocks { clock, kvm, probes }
    }

    /// The host's clock.
    pub(super) fn name(&self) -> Option<String> {
        self.clock.as_ref().ok().map(|clock| clock.name().to_owned())
    }

    /// Protocols of the request.
    pub(super) fn protocols(&self) -> Vec<String> {
        let kvm = matches!(self.kvm, Some(Ok(_))).then(|| KVM.to_owned());
        kvm.into_iter().chain(self.clock.iter().map(|_| self.probes.to_owned())).collect()
    }

    /// A note for the user: why KVM is not asked, where that could be.
    pub(super) fn note(&self) -> Option<String> {
        let why = self.kvm.as_ref()?.as_ref().err()?;
        Some(format!("its clock is compared by probes, not by KVM's offsets: {why}"))
    }

    /// Compares the clocks for the first time, as the agent that gave `response` has chosen; else gives why it cannot be.
    pub(super) fn compare(
        self,
        response: &TraceResponse,
        peer: Address,
        connecting: Duration,
        tick: &mut Tick<'_>,
    ) -> Result<Answerer, String> {
        let clock = self.clock?;
        let comparing = match (response.protocol.as_str(), self.kvm) {
            (probes, _) if probes == self.probes => Comparing::Probes(Box::new(clock)),
            (KVM, Some(Ok(guest))) => {
                let name = clock.name().to_owned();
                clock.close().map_err(|error| error.to_string())?;
                Comparing::Kvm(guest, name)
            }
            ("", _) => return Err("the agent does not offer it".to_owned()),
            (other, _) => return Err(format!("the agent wants the protocol {other}, which was not offered")),
        };
        let address = peer.host().at(response.sync_port);
        let stream = address.and_then(|address| Stream::connect(&address, connecting)).map_err(|e| e.to_string())?;
        let mut answerer = Answerer::new(stream, comparing, response.ports.len()).map_err(|e| e.to_string())?;
        answerer.round(tick).map_err(|e| e.to_string())?;
        Ok(answerer)
    }
}
