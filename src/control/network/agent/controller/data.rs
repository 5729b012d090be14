//! The ways of the data to a controller: FIFOs of the host, or a connection per CPU.

use super::remote::Controller;
use super::state::ControllerState;
use crate::control::network::fifos::{GuestPort, open_ports};
use crate::control::network::incoming::DataSocket;
use crate::control::network::send::{DataStreams, DataWay};
use crate::control::network::wire::{FLAG_FIFOS, FLAG_MARKED, FifoMark, TraceRequest};
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// Time in which a controller must take some data, or it counts as gone.
const STALLED: Duration = Duration::from_secs(30);

/// The way of each CPU's data, in the order of their numbers.
pub(super) enum DataWays {
    Fifos(Vec<GuestPort>),
    /// With their ports.
    Sockets(Vec<(DataSocket, u16)>),
}

impl DataWays {
    /// Flags of the answer to `request`.
    pub(super) fn flags(&self, request: &TraceRequest) -> u32 {
        match self {
            DataWays::Fifos(_) if request.ours => FLAG_FIFOS | FLAG_MARKED,
            DataWays::Fifos(_) => FLAG_FIFOS,
            DataWays::Sockets(_) => 0,
        }
    }

    /// Ports of the answer: zeros of FIFOs.
    pub(super) fn ports(&self) -> Vec<u32> {
        match self {
            DataWays::Fifos(ports) => vec![0; ports.len()],
            DataWays::Sockets(sockets) => sockets.iter().map(|socket| socket.1.into()).collect(),
        }
    }
}

impl Controller {
    /// Opens the ports to the controller's FIFOs, if it has some, or binds sockets.
    pub(super) fn ways(&self, state: &mut ControllerState) -> io::Result<DataWays> {
        let cpus = state.streams.cpus();
        if self.request.flags & FLAG_FIFOS != 0 {
            let opened = match self.request.fifos.filter(|fifos| *fifos < cpus) {
                Some(fifos) => Err(io::Error::other(format!("the host has {fifos} for {cpus} CPUs"))),
                None => open_ports(&self.ports, cpus),
            };
            match opened {
                Ok(ports) => return Ok(DataWays::Fifos(ports)),
                Err(error) => state.remarks.push(format!("data not through FIFOs: {error}")),
            }
        }
        let local = self.control.stream().local()?.host();
        Ok(DataWays::Sockets(DataSocket::bind_all(&local, cpus, true)?))
    }

    /// Writes the mark to each of `ports` at which the data of the recording `id` begins, for a controller that knows it.
    pub(super) fn mark(&self, ports: &mut [GuestPort], id: u64) -> io::Result<()> {
        if self.request.ours {
            let mark = FifoMark::new(id).bytes();
            ports.iter_mut().try_for_each(|port| port.write_all(&mark, &|| self.is_over()))?;
        }
        Ok(())
    }

    /// Takes the controller's connections, or what else leads there.
    pub(super) fn connect(&self, streams: &DataStreams, ways: DataWays) -> io::Result<()> {
        match ways {
            DataWays::Fifos(ports) => {
                for (cpu, port) in ports.into_iter().enumerate() {
                    let shared = Arc::clone(&self.shared);
                    let is_over = Box::new(move || shared.phase.is_aborted());
                    streams.connect(cpu, DataWay::Fifo(port, is_over));
                }
            }
            DataWays::Sockets(sockets) => {
                for (cpu, (socket, _)) in sockets.into_iter().enumerate() {
                    let stream = socket.accept(&self.peer.host(), &self.shared.phase)?;
                    let gone = || io::Error::other("the controller did not connect to the ports of the data");
                    let stream = stream.ok_or_else(gone)?;
                    stream.set_write_timeout(Some(STALLED))?;
                    streams.connect(cpu, DataWay::Socket(stream));
                }
            }
        }
        Ok(())
    }
}
