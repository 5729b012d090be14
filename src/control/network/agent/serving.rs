//! The agent's loop.

use super::job::AgentRecorder;
use super::notice::AgentNotice;
use super::session::ControllerSession;
use super::turn::Turn;
use crate::control::network::allow::Network;
use crate::control::network::door::{Door, Visit};
use crate::control::network::fifos::PORT_FOLDER;
use crate::control::network::transport::{Address, Stream};
use crate::control::tracefs::Journal;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

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
