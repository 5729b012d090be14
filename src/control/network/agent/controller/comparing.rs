//! The clocks of controller and agent, compared beside the recording.

use super::remote::Controller;
use crate::base::units::RecordedClock;
use crate::control::network::incoming::DataSocket;
use crate::control::network::patient::{ConnectionError, Patient};
use crate::control::network::sync::Prober;
use crate::control::network::wire::{GUEST_PTP, KVM, PTP};
use crate::control::record::TraceClockReader;
use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

/// Time after CLOSE that the last comparison of the clocks may take.
const LAST: Duration = Duration::from_secs(30);

/// A comparison that is offered to the controller.
pub(super) struct Offer {
    pub(super) socket: DataSocket,
    pub(super) port: u16,
    pub(super) protocol: &'static str,
    pub(super) clock: TraceClockReader,
}

impl Controller {
    /// Makes ready to compare the clock `name`, if the controller wishes that and this machine can.
    pub(super) fn comparison(&self, name: &str) -> io::Result<Option<Offer>> {
        let knows = |protocol: &&str| self.request.protocols.iter().any(|known| known == protocol);
        let probes = if self.guest_cpus.is_some() && self.request.ours { GUEST_PTP } else { PTP };
        let protocol = match name {
            // The counter that KVM shifts. This is more exact than probes are.
            "x86-tsc" if knows(&KVM) && self.guest_cpus.is_none() => Some(KVM),
            _ => Some(probes).filter(|probes| knows(probes) && RecordedClock::of(name).is_fine()),
        };
        let journal = self.journal.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((protocol, journal)) = protocol.zip(journal) else { return Ok(None) };
        let Some(clock) = TraceClockReader::new(journal, Some(name)).ok() else {
            return Ok(None);
        };
        let local = self.control.stream().local()?.host();
        let bound = DataSocket::bind_all(&local, 1, true)?.pop();
        Ok(bound.map(|(socket, port)| Offer { socket, port, protocol, clock }))
    }

    /// Compares the clocks until the controller says that this was all.
    pub(super) fn syncing(&self, offer: Offer) -> impl FnOnce() -> Option<String> + Send + use<> {
        let (shared, ended) = (Arc::clone(&self.shared), Arc::clone(&self.ended));
        let (peer, ours) = (self.peer.host(), self.request.ours);
        let Offer { socket, clock, protocol, .. } = offer;
        let kvm = protocol == KVM;
        move || {
            let mut closed: Option<Instant> = None;
            let mut tick = || {
                let over = shared.left.load(Ordering::Relaxed) || ended.load(Ordering::Relaxed);
                if over || shared.phase.is_aborted() {
                    return Err(ConnectionError::Stopped);
                }
                if shared.closed.load(Ordering::Relaxed) && closed.get_or_insert_with(Instant::now).elapsed() > LAST {
                    return Err(ConnectionError::Silent(LAST));
                }
                Ok(())
            };
            let stream = match socket.accept(&peer, &shared.phase) {
                Ok(Some(stream)) => stream,
                Ok(None) => return Some("the controller did not connect for it".to_owned()),
                Err(error) => return Some(error.to_string()),
            };
            let served = Patient::new(stream, Duration::MAX).map_err(ConnectionError::from);
            let served = served.and_then(|control| Prober { control, clock, ours, kvm }.serve(&mut tick));
            served.err().map(|error| error.to_string())
        }
    }
}
