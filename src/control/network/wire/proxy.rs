//! TRACE_PROXY: a guest asks its host's agent to record along, as if the host were the guest.
//!
//! ```text
//! TRACE_PROXY  TRACE_REQ's fixed part, then u32 CPUs of the guest, u32 siblings (0); values as in TRACE_REQ
//! ```

use super::WireError;
use super::numbers::MAX_CPUS;
use super::request::TraceRequest;
use super::take::{Take, padded};

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

    pub(super) fn parts(&self) -> (Vec<u8>, Vec<u8>) {
        let (fixed, variable) = self.request.parts();
        ([&fixed[..], &self.cpus.to_be_bytes(), &self.siblings.to_be_bytes()].concat(), variable)
    }
}
