//! Ways to compare a guest's clock with the host's, of which its agent chooses one.

use super::target::GuestTarget;
use crate::control::network::patient::Tick;
use crate::control::network::sync::{Answerer, Comparing};
use crate::control::network::transport::{Address, Stream};
use crate::control::network::wire::{GUEST_PTP, KVM, PTP, TraceResponse};
use crate::control::record::TraceClockReader;
use crate::control::tracefs::KvmGuest;
use std::time::Duration;

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
