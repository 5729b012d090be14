//! A controller's session, from its request to the end of the recording.

use super::controller::Controller;
use super::job::{AgentJob, AgentRecorder};
use super::notice::AgentNotice;
use super::turn::Turn;
use crate::base::units::CpuId;
use crate::control::network::patient::{ConnectionError, Patient};
use crate::control::network::transport::{Address, Host, Stream};
use crate::control::network::wire::{Message, TraceProxy};
use crate::control::record::Remote;
use crate::control::tracefs::Journal;
use crate::file::trace_dat::GuestFacts;
use nix::sys::eventfd::{EfdFlags, EventFd};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time that a controller gets for its request.
const REQUEST: Duration = Duration::from_secs(10);

/// A controller's connection.
pub(super) struct ControllerSession<'a> {
    pub(super) stream: &'a Stream,
    pub(super) peer: Address,
    /// Folder of the ports to the host's FIFOs.
    pub(super) ports: &'a Path,
    /// The agent is to end.
    pub(super) ended: &'a Arc<AtomicBool>,
    /// Guests are served, and no controllers.
    pub(super) proxy: bool,
}

impl ControllerSession<'_> {
    /// Tells the controller that there will be nothing.
    pub(super) fn refuse(&self, why: &str) {
        // A text goes to those only who sent nothing yet that would say otherwise: trace-cmd's read it as NOT_SUPP alone.
        let _ = self.stream.set_write_timeout(Some(Duration::from_secs(1)));
        let _ = (&mut &*self.stream).write_all(&Message::Refused(why.to_owned()).bytes());
    }

    /// Serves it. Its turn is over, and what it had set is put back, before the controller hears of the end: it may reconnect
    /// at once.
    pub(super) fn run(
        &self,
        turn: Turn<'_>,
        journal: Journal,
        recorder: &AgentRecorder<'_>,
        log: &(dyn Fn(&AgentNotice) + Sync),
    ) {
        let peer = self.peer;
        let outcome = self.serve(turn, journal, recorder, log);
        log(&match outcome {
            Ok(what) => AgentNotice::Ended { peer, what },
            Err(why) => {
                self.refuse(&why);
                AgentNotice::Refused { peer, why }
            }
        });
    }

    fn serve(
        &self,
        turn: Turn<'_>,
        journal: Journal,
        recorder: &AgentRecorder<'_>,
        log: &(dyn Fn(&AgentNotice) + Sync),
    ) -> Result<String, String> {
        let io = |error: io::Error| error.to_string();
        let control = Patient::new(self.stream.try_clone().map_err(io)?, REQUEST).map_err(io)?;
        let until = Instant::now() + REQUEST;
        let mut tick = || match self.ended.load(Ordering::Relaxed) {
            true => Err(ConnectionError::Stopped),
            false if Instant::now() > until => Err(ConnectionError::Silent(REQUEST)),
            false => Ok(()),
        };
        let TraceProxy { request, cpus, .. } = match control.message(&mut tick) {
            Ok(Message::TraceRequest(request)) if !self.proxy => TraceProxy { request, ..TraceProxy::default() },
            Ok(Message::TraceProxy(proxy)) if self.proxy => proxy,
            Ok(Message::TraceRequest(_)) => return Err("it serves guests (-P), by their `record --proxy`".to_owned()),
            Ok(Message::TraceProxy(_)) => return Err("it serves no guests: `rtrace agent -P CID` does".to_owned()),
            Ok(_) => return Err("its first message is not TRACE_REQ".to_owned()),
            Err(error) => return Err(error.to_string()),
        };
        log(&AgentNotice::Asked { peer: self.peer, args: request.args.clone() });
        let stop = Arc::new(EventFd::from_flags(EfdFlags::EFD_CLOEXEC).map_err(|e| io(e.into()))?);
        let (args, ended) = (request.args.clone(), Arc::clone(self.ended));
        let guest = (self.proxy && !request.ours).then(|| GuestFacts {
            name: match self.peer.host() {
                Host::Cid(cid) => format!("cid{cid}"),
                Host::Ip(address) => address.to_string(),
            },
            id: request.id,
            cpus: (0..cpus).map(|cpu| (CpuId(cpu), None)).collect(),
        });
        let controller =
            Controller::new(self.peer, control, request, self.ports.into(), Arc::clone(&stop), ended, journal);
        let controller = if self.proxy { controller.of_guest(cpus) } else { controller };
        let controller = Arc::new(controller);
        let remote = Arc::clone(&controller) as Arc<dyn Remote>;
        let recorded = recorder(AgentJob { args: &args, guest, remote, stop: stop.as_fd() });
        let remarks = controller.leave();
        drop(turn);
        if recorded.is_ok() {
            controller.close().map_err(io)?;
        }
        let remarks: String = remarks.iter().map(|remark| format!("; {remark}")).collect();
        recorded.map(|what| what + &remarks)
    }
}
