//! The agent: another machine's recording is this machine's too, and its events go there.
//!
//! One controller at a time. Its options go to the caller's recorder, which records to a [`Remote`](crate::record::Remote)
//! until the controller says CLOSE or is gone. A controller of trace-cmd's hears of a failure by NOT_SUPP, one of ours why.

mod controller;
mod job;
mod notice;
mod session;

use super::allow::Network;
use super::patient::TICK;
pub use job::{AgentJob, AgentRecorder};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
pub use notice::AgentNotice;
use session::Session;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// The port of trace-cmd's agents.
pub const AGENT_PORT: u16 = 823;

/// An agent that is bound to its address.
#[derive(Debug)]
pub struct Agent {
    socket: TcpListener,
    allow: Vec<Network>,
}

impl Agent {
    /// Binds to `address`; only peers of `allow` are served, unless that is empty.
    ///
    /// # Errors
    /// The kernel's: the address is taken, is not this machine's, or the port needs rights.
    pub fn bind(address: SocketAddr, allow: Vec<Network>) -> io::Result<Self> {
        let socket = TcpListener::bind(address)?; // with SO_REUSEADDR
        socket.set_nonblocking(true)?;
        Ok(Agent { socket, allow })
    }

    /// Its address, with the port that the kernel chose if it was 0.
    ///
    /// # Errors
    /// The kernel's.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.local_addr()
    }

    /// Serves until `stop` is readable, which ends a recording too.
    pub fn run(self, stop: BorrowedFd<'_>, recorder: &AgentRecorder<'_>, log: &(dyn Fn(&AgentNotice) + Sync)) {
        let busy = AtomicBool::new(false);
        let ended = Arc::new(AtomicBool::new(false));
        thread::scope(|scope| {
            let (busy, ended) = (&busy, &ended);
            loop {
                let timeout = PollTimeout::try_from(TICK).unwrap_or(PollTimeout::MAX);
                let mut fds =
                    [PollFd::new(stop, PollFlags::POLLIN), PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
                let _ = poll(&mut fds, timeout);
                if fds[0].any().unwrap_or(false) {
                    ended.store(true, Ordering::Relaxed);
                    return;
                }
                let Ok((stream, peer)) = self.socket.accept() else {
                    thread::sleep(if fds[1].any().unwrap_or(false) { TICK / 10 } else { Duration::ZERO });
                    continue;
                };
                let refused = |why: &str| {
                    let session = Session { stream: &stream, peer, ended };
                    session.refuse(why);
                    log(&AgentNotice::Refused { peer, why: why.to_owned() });
                };
                if !self.allow.is_empty() && !self.allow.iter().any(|net| net.contains(peer.ip())) {
                    refused("its address is not allowed");
                    continue;
                }
                if busy.swap(true, Ordering::Relaxed) {
                    refused("the agent records for another controller");
                    continue;
                }
                let serve = move || {
                    let session = Session { stream: &stream, peer, ended };
                    session.run(recorder, log);
                    busy.store(false, Ordering::Relaxed);
                };
                let spawned = thread::Builder::new().name("rtrace/session".to_owned()).spawn_scoped(scope, serve);
                if let Err(error) = spawned {
                    busy.store(false, Ordering::Relaxed);
                    log(&AgentNotice::Refused { peer, why: error.to_string() });
                }
            }
        });
    }
}
