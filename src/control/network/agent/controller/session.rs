//! The answer to a controller, the description of the recording, and its end.
//! The end of a recording, as its controller says it.
//! The clocks of controller and agent, compared beside the recording.
//! A guest as the controller, which asks its host (TRACE_PROXY): the end in two parts, and trace-cmd's roles in comparing clocks.
//! The ways of the data to a controller: FIFOs of the host, or a connection per CPU.

use super::remote::{Controller, ControllerState, io_error};
use crate::base::abi::Abi;
use crate::base::units::RecordedClock;
use crate::control::network::fifos::{GuestPort, open_ports};
use crate::control::network::incoming::DataSocket;
use crate::control::network::patient::{ConnectionError, Patient};
use crate::control::network::send::{DataStreams, DataWay, description, opened};
use crate::control::network::sync::{Answerer, Comparing, Prober};
use crate::control::network::wire::{
    FLAG_FIFOS, FLAG_MARKED, FifoMark, GUEST_PTP, KVM, Message, PTP, TraceRequest, TraceResponse,
};
use crate::control::record::TraceClockReader;
use crate::file::trace_dat::OptionId;
use crate::file::trace_dat::write::Version;
use crossbeam_channel::{Receiver, Sender, unbounded};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};
use std::{io, thread};

impl Controller {
    /// Answers, sends the description and connects the data.
    pub(super) fn begin(&self, state: &mut ControllerState, id: u64, file: &[u8]) -> io::Result<()> {
        let mut trace = opened(file)?;
        let description = description(&mut trace, Version::V6)?;
        let mut ways = self.ways(state)?;
        let sync = self.comparison(&trace.clock())?;
        let (protocol, sync_port) =
            sync.as_ref().map_or((String::new(), 0), |sync| (sync.protocol.to_owned(), sync.port.into()));
        let (flags, page_size, ports) = (ways.flags(&self.request), trace.prefix.page_size, ways.ports());
        let response = TraceResponse { flags, page_size, id, protocol, sync_port, ports };
        self.control.write(&Message::TraceResponse(response).bytes()).map_err(io_error)?;
        let (closing, over) = unbounded();
        if let Some(sync) = sync {
            let thread = thread::Builder::new().name("rtrace/clocks".to_owned());
            state.sync = Some(match self.guest_cpus.filter(|_| !self.request.ours) {
                Some(cpus) => thread.spawn(self.answering(sync, cpus, id, over))?,
                None => thread.spawn(self.syncing(sync))?,
            });
        }
        if let DataWays::Fifos(ports) = &mut ways {
            state.through_fifos = Some(page_size);
            // Before the description: a controller takes that after it has dropped what an earlier session left.
            self.mark(ports, id)?;
        }
        for message in Message::data(&description) {
            self.control.write(&message).map_err(io_error)?;
        }
        self.control.write(&Message::EndOfData.bytes()).map_err(io_error)?;
        let watching = self.watching(closing);
        state.watch = Some(thread::Builder::new().name("rtrace/control".to_owned()).spawn(watching)?);
        self.connect(&state.streams, ways)?;
        self.shared.connected.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Says how much went into each FIFO, which has no end.
    pub(super) fn send_counts(&self, state: &ControllerState) -> io::Result<()> {
        let counts = state.through_fifos.map_or_else(Vec::new, |size| state.streams.counts(size));
        let messages = counts.into_iter().flat_map(|count| Message::Count(count).bytes());
        self.control.write(&messages.collect::<Vec<u8>>()).map_err(io_error)
    }

    /// Names of tasks, statistics and other facts that were not known at the beginning.
    pub(super) fn send_rest(&self, file: &[u8]) -> io::Result<()> {
        let mut trace = opened(file)?;
        // The controller has them.
        trace.kallsyms = Vec::new().into();
        trace.btf = Vec::new().into();
        for message in Message::data(&description(&mut trace, Version::V6)?) {
            self.control.write(&message).map_err(io_error)?;
        }
        self.control.write(&Message::EndOfData.bytes()).map_err(io_error)
    }
}

/// Time that a controller gets to connect to the ports of the data.
const CONNECT: Duration = Duration::from_secs(60);

impl Controller {
    /// Waits for the controller's CLOSE or end, and ends the recording then. `closing` hears of a CLOSE.
    fn watching(&self, closing: Sender<()>) -> impl FnOnce() + Send + use<> {
        let (control, shared, stop) = (Arc::clone(&self.control), Arc::clone(&self.shared), Arc::clone(&self.stop));
        let ended = Arc::clone(&self.ended);
        move || {
            let until = Instant::now() + CONNECT;
            let mut tick = || match shared.connected.load(Ordering::Relaxed) {
                _ if shared.left.load(Ordering::Relaxed) || ended.load(Ordering::Relaxed) => {
                    Err(ConnectionError::Stopped)
                }
                false if Instant::now() > until => Err(ConnectionError::Silent(CONNECT)),
                _ => Ok(()),
            };
            loop {
                match control.message(&mut tick) {
                    Ok(Message::Close) => {
                        shared.closed.store(true, Ordering::Relaxed);
                        let _ = closing.send(());
                        shared.phase.end();
                        break;
                    }
                    Ok(Message::NotSupported | Message::Refused(_)) => {}
                    Ok(_) if control.write(&Message::NotSupported.bytes()).is_ok() => {}
                    _ => {
                        shared.phase.abort();
                        break;
                    }
                }
            }
            let _ = stop.write(1);
        }
    }
}

/// Time after CLOSE that the last comparison of the clocks may take.
const LAST: Duration = Duration::from_secs(30);

/// A comparison that is offered to the controller.
struct Offer {
    socket: DataSocket,
    port: u16,
    protocol: &'static str,
    clock: TraceClockReader,
}

impl Controller {
    /// Makes ready to compare the clock `name`, if the controller wishes that and this machine can.
    fn comparison(&self, name: &str) -> io::Result<Option<Offer>> {
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
    fn syncing(&self, offer: Offer) -> impl FnOnce() -> Option<String> + Send + use<> {
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

/// Time in which the guest asks for the second part.
const PROXY_LAST: Duration = Duration::from_secs(30);

impl Controller {
    /// Compares the clock of a guest of trace-cmd's, with `cpus`, as a controller does, until it says CLOSE. `id` is the TRACEID of
    /// the recording here.
    fn answering(
        &self,
        offer: Offer,
        cpus: u32,
        id: u64,
        over: Receiver<()>,
    ) -> impl FnOnce() -> Option<String> + Send + use<> {
        let (shared, peer) = (Arc::clone(&self.shared), self.peer.host());
        let Offer { socket, clock, .. } = offer;
        move || {
            let stream = match socket.accept(&peer, &shared.phase) {
                Ok(Some(stream)) => stream,
                Ok(None) => return Some("the guest did not connect for it".to_owned()),
                Err(error) => return Some(error.to_string()),
            };
            let mut answerer = match Answerer::new(stream, Comparing::Probes(Box::new(clock)), cpus as usize) {
                Ok(answerer) => answerer,
                Err(error) => return Some(error.to_string()),
            };
            if let Err(error) = answerer.round(&mut || Ok(())) {
                return Some(error.to_string());
            }
            let compared = answerer.run(Duration::ZERO, &over, id);
            let failed = compared.failed.clone();
            *shared.compared.lock().unwrap_or_else(PoisonError::into_inner) = Some(compared);
            failed
        }
    }

    /// The second part of the end, for a guest: options for its own file, by which its times become this machine's.
    pub(super) fn end_proxy(&self) -> io::Result<()> {
        let since = Instant::now();
        let mut tick = || match self.ended.load(Ordering::Relaxed) {
            true => Err(ConnectionError::Stopped),
            false if since.elapsed() > PROXY_LAST => Err(ConnectionError::Silent(PROXY_LAST)),
            false => Ok(()),
        };
        match self.control.message(&mut tick).map_err(io_error)? {
            Message::Continue => {}
            _ => return Err(io::Error::other("the guest sent another message than CONT")),
        }
        let compared = self.shared.compared.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(shift) = compared.and_then(|compared| compared.shift) {
            let data = shift.write(Abi::HOST);
            let (id, size) = (OptionId::TIME_SHIFT.0.to_ne_bytes(), (data.len() as u32).to_ne_bytes());
            for message in Message::data(&[&id[..], &size, &data].concat()) {
                self.control.write(&message).map_err(io_error)?;
            }
        }
        self.control.write(&Message::EndOfData.bytes()).map_err(io_error)
    }
}

/// Time in which a controller must take some data, or it counts as gone.
const STALLED: Duration = Duration::from_secs(30);

/// The way of each CPU's data, in the order of their numbers.
enum DataWays {
    Fifos(Vec<GuestPort>),
    /// With their ports.
    Sockets(Vec<(DataSocket, u16)>),
}

impl DataWays {
    /// Flags of the answer to `request`.
    fn flags(&self, request: &TraceRequest) -> u32 {
        match self {
            DataWays::Fifos(_) if request.ours => FLAG_FIFOS | FLAG_MARKED,
            DataWays::Fifos(_) => FLAG_FIFOS,
            DataWays::Sockets(_) => 0,
        }
    }

    /// Ports of the answer: zeros of FIFOs.
    fn ports(&self) -> Vec<u32> {
        match self {
            DataWays::Fifos(ports) => vec![0; ports.len()],
            DataWays::Sockets(sockets) => sockets.iter().map(|socket| socket.1.into()).collect(),
        }
    }
}

impl Controller {
    /// Opens the ports to the controller's FIFOs, if it has some, or binds sockets.
    fn ways(&self, state: &mut ControllerState) -> io::Result<DataWays> {
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
    fn mark(&self, ports: &mut [GuestPort], id: u64) -> io::Result<()> {
        if self.request.ours {
            let mark = FifoMark::new(id).bytes();
            ports.iter_mut().try_for_each(|port| port.write_all(&mark, &|| self.is_over()))?;
        }
        Ok(())
    }

    /// Takes the controller's connections, or what else leads there.
    fn connect(&self, streams: &DataStreams, ways: DataWays) -> io::Result<()> {
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
