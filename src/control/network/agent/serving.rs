//! The agent's loop.
//! A controller's session, from its request to the end of the recording.
//! The one recording at a time of an agent.
//! The work that an agent gives to its caller.
//! Events of an agent, for its log.

use super::controller::Controller;
use crate::base::units::CpuId;
use crate::control::network::allow::{Door, Network, Visit};
use crate::control::network::fifos::PORT_FOLDER;
use crate::control::network::patient::{ConnectionError, Patient};
use crate::control::network::transport::{Address, Host, Stream};
use crate::control::network::wire::{Message, TraceProxy};
use crate::control::record::Remote;
use crate::control::tracefs::Journal;
use crate::file::trace_dat::GuestFacts;
use nix::sys::eventfd::{EfdFlags, EventFd};
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{fmt, io, thread};

/// The port of trace-cmd's agents.
pub const AGENT_PORT: u16 = 823;

/// An agent that is bound to its address.
#[derive(Debug)]
pub struct Agent {
    door: Door,
    ports: PathBuf,
    proxy: bool,
}

impl Agent {
    /// Binds to `address`; only peers of `allow` are served, unless that is empty.
    ///
    /// # Errors
    /// The kernel's: the address is taken, is not this machine's, or the port needs rights.
    pub fn bind(address: Address, allow: Vec<Network>) -> io::Result<Self> {
        Ok(Agent { door: Door::bind(address, allow)?, ports: PORT_FOLDER.into(), proxy: false })
    }

    /// Looks for the ports to the host's FIFOs in `folder`, not in [`PORT_FOLDER`].
    pub fn with_ports(self, folder: PathBuf) -> Self {
        Agent { ports: folder, ..self }
    }

    /// Serves guests of this machine, which see it as a guest of theirs, and no other peers.
    pub fn as_proxy(self) -> Self {
        Agent { proxy: true, ..self }
    }

    /// Its address, with the port that the kernel chose if it was 0.
    ///
    /// # Errors
    /// The system call's error.
    pub fn address(&self) -> io::Result<Address> {
        self.door.address()
    }

    /// Serves until `stop` is readable, which ends a recording too. `journal` makes one for what comparing the clocks sets.
    pub fn run(
        self,
        stop: BorrowedFd<'_>,
        journal: &(dyn Fn() -> Journal + Sync),
        recorder: &AgentRecorder<'_>,
        log: &(dyn Fn(&AgentNotice) + Sync),
    ) {
        let busy = AtomicBool::new(false);
        let ended = Arc::new(AtomicBool::new(false));
        thread::scope(|scope| {
            let (busy, ended, ports, proxy) = (&busy, &ended, self.ports.as_path(), self.proxy);
            loop {
                let refused = |stream: &Stream, peer: Address, why: &str| {
                    ControllerSession { stream, peer, ports, ended, proxy }.refuse(why);
                    log(&AgentNotice::Refused { peer, why: why.to_owned() });
                };
                let (stream, peer) = match self.door.wait(stop) {
                    Visit::Stop => {
                        ended.store(true, Ordering::Relaxed);
                        return;
                    }
                    Visit::Idle => continue,
                    Visit::Peer(stream, peer) => (stream, peer),
                    Visit::Refused(stream, peer, why) => {
                        refused(&stream, peer, why);
                        continue;
                    }
                };
                let Some(turn) = Turn::take(busy) else {
                    refused(&stream, peer, "the agent records for another controller");
                    continue;
                };
                let serve = move || {
                    ControllerSession { stream: &stream, peer, ports, ended, proxy }.run(turn, journal(), recorder, log)
                };
                let spawned = thread::Builder::new().name("rtrace/session".to_owned()).spawn_scoped(scope, serve);
                if let Err(error) = spawned {
                    log(&AgentNotice::Refused { peer, why: error.to_string() });
                }
            }
        });
    }
}

/// Time that a controller gets for its request.
const REQUEST: Duration = Duration::from_secs(10);

/// A controller's connection.
struct ControllerSession<'a> {
    stream: &'a Stream,
    peer: Address,
    /// Folder of the ports to the host's FIFOs.
    ports: &'a Path,
    /// The agent is to end.
    ended: &'a Arc<AtomicBool>,
    /// Guests are served, and no controllers.
    proxy: bool,
}

impl ControllerSession<'_> {
    /// Tells the controller that there will be nothing.
    fn refuse(&self, why: &str) {
        // A text goes to those only who sent nothing yet that would say otherwise: trace-cmd's read it as NOT_SUPP alone.
        let _ = self.stream.set_write_timeout(Some(Duration::from_secs(1)));
        let _ = (&mut &*self.stream).write_all(&Message::Refused(why.to_owned()).bytes());
    }

    /// Serves it. Its turn is over, and what it had set is put back, before the controller hears of the end: it may reconnect
    /// at once.
    fn run(&self, turn: Turn<'_>, journal: Journal, recorder: &AgentRecorder<'_>, log: &(dyn Fn(&AgentNotice) + Sync)) {
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

/// A session's right to record; dropped it is free for the next one.
struct Turn<'a>(&'a AtomicBool);

impl<'a> Turn<'a> {
    /// Takes it; `None` if a session has it.
    fn take(busy: &'a AtomicBool) -> Option<Self> {
        (!busy.swap(true, Ordering::AcqRel)).then_some(Turn(busy))
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// A recording that a controller asks for.
pub struct AgentJob<'a> {
    /// Options of `record`.
    pub args: &'a [String],
    /// The machine that asks, if it is a guest whose file is not to name this one as its own guest.
    pub guest: Option<GuestFacts>,
    /// Takes the recording.
    pub remote: Arc<dyn Remote>,
    /// Readable when it is to end.
    pub stop: BorrowedFd<'a>,
}

/// Records what a controller asks for: gives a line about it, or why it came to nothing.
pub type AgentRecorder<'a> = dyn Fn(AgentJob<'_>) -> Result<String, String> + Sync + 'a;

/// Something that an agent's user may want to know.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AgentNotice {
    /// A connection came to nothing.
    Refused {
        /// From where.
        peer: Address,
        /// Why.
        why: String,
    },
    /// A controller asks for a recording.
    Asked {
        /// From where.
        peer: Address,
        /// Its options of `record`.
        args: Vec<String>,
    },
    /// A recording is over.
    Ended {
        /// From where.
        peer: Address,
        /// Its outcome, in a line.
        what: String,
    },
}

impl fmt::Display for AgentNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AgentNotice::Refused { peer, why } => write!(f, "refused {peer}: {why}"),
            AgentNotice::Asked { peer, args } => write!(f, "{peer} records: {}", args.join(" ")),
            AgentNotice::Ended { peer, what } => write!(f, "{peer}: {what}"),
        }
    }
}
