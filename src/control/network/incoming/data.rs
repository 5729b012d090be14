//! Data connections of trace-cmd's kind: one per CPU, bare sub-buffers without framing.
//! Data of a guest's CPU that comes through a FIFO, which has no end.
//! Progress of a session, for the threads that take its data.

use crate::control::network::fifos::FifoReader;
use crate::control::network::patient::TICK;
use crate::control::network::transport::{Address, Host, ListenSocket, Stream};
use crate::control::network::wire::{DatagramStamp, RingCount};
use crate::control::record::Feed;
use crate::file::ring_buffer::{Lost, PageLayout};
use crate::file::trace_dat::ChunkScan;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{setsockopt, sockopt};
use std::io;
use std::io::Read;
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Data that is older than this is stored although its chunk is not full.
const AGE: Duration = Duration::from_millis(500);
/// After the end of the recording, the time without a datagram after which none is expected any more.
const QUIET: Duration = Duration::from_millis(300);
/// After the end of the control connection, the time that a data connection may take to say something.
const LAST: Duration = Duration::from_secs(10);
/// Receive buffer of a UDP socket, in bytes, for bursts. Without rights the kernel gives no more than net.core.rmem_max.
const RECEIVE_BUFFER: usize = 4 << 20;

/// A socket that waits for the data of one CPU.
#[derive(Debug)]
pub(in crate::control::network) enum DataSocket {
    Stream(ListenSocket),
    Udp(UdpSocket),
    /// The same for datagrams with stamps, before sub-buffers of that layout.
    Numbered(UdpSocket, PageLayout),
    /// One that is connected already.
    Connected(Stream),
    /// A FIFO instead, and its CPU.
    Fifo(FifoReader, u32),
}

impl DataSocket {
    /// The ports that trace-cmd uses; firewalls may be open for them.
    pub(in crate::control::network) const PORTS: std::ops::Range<u16> = 1500..6001;

    /// Binds a socket for each of `cpus` to free ports of this machine as `local`, in the order of the CPUs. Over IP `tcp` chooses
    /// streams.
    pub(in crate::control::network) fn bind_all(
        local: &Host,
        cpus: u32,
        tcp: bool,
    ) -> io::Result<Vec<(DataSocket, u16)>> {
        // Datagrams of a session that has ended may still be on their way to its port.
        let first = if tcp {
            0
        } else {
            SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.subsec_micros() as usize)
        };
        let (before, after) =
            (Self::PORTS.take(first % Self::PORTS.len()), Self::PORTS.skip(first % Self::PORTS.len()));
        let mut ports = after.chain(before);
        (0..cpus).map(|_| Self::bind(local, &mut ports, tcp)).collect()
    }

    fn bind(local: &Host, ports: &mut impl Iterator<Item = u16>, tcp: bool) -> io::Result<(DataSocket, u16)> {
        for port in ports {
            let at = match local {
                Host::Cid(_) => Address::Vsock { cid: Address::ANY, port: port.into() },
                Host::Ip(_) => local.at(port.into())?,
            };
            let bound = match at {
                Address::Ip(at) if !tcp => UdpSocket::bind(at).and_then(datagrams),
                at => ListenSocket::bind(&at).map(DataSocket::Stream),
            };
            match bound {
                Ok(socket) => return Ok((socket, port)),
                Err(e) if e.kind() == io::ErrorKind::AddrInUse => {}
                Err(e) => return Err(e),
            }
        }
        Err(io::Error::other("no port between 1500 and 6000 is free"))
    }

    /// Takes datagrams to be numbered, if it is for datagrams at all.
    pub(in crate::control::network) fn numbered(self, layout: PageLayout) -> Self {
        match self {
            DataSocket::Udp(socket) => DataSocket::Numbered(socket, layout),
            other => other,
        }
    }

    /// The connection of `peer`; `None` if the session is over before it comes.
    pub(in crate::control::network) fn accept(self, peer: &Host, phase: &Phase) -> io::Result<Option<Stream>> {
        match self {
            DataSocket::Stream(socket) => accept(&socket, peer, phase),
            DataSocket::Connected(stream) => Ok(Some(stream)),
            DataSocket::Udp(_) | DataSocket::Numbered(..) | DataSocket::Fifo(..) => Ok(None),
        }
    }

    /// Takes all that comes from `peer`, until its end. Gives the number of events noted as lost on the way, or what went wrong.
    pub(in crate::control::network) fn drain(
        self,
        feed: &mut Feed<'_>,
        peer: &Host,
        sub_buffer: usize,
        phase: &Phase,
    ) -> io::Result<u64> {
        match self {
            DataSocket::Connected(stream) => {
                stream.set_read_timeout(Some(TICK))?;
                drain_stream(stream, feed, phase).map(|()| 0)
            }
            DataSocket::Stream(socket) => match accept(&socket, peer, phase)? {
                Some(stream) => drain_stream(stream, feed, phase).map(|()| 0),
                None => Ok(0),
            },
            DataSocket::Fifo(fifo, cpu) => drain_fifo(fifo, cpu, sub_buffer, feed, phase).map(|()| 0),
            DataSocket::Udp(socket) => drain_datagrams(&socket, feed, peer, sub_buffer, None, phase),
            DataSocket::Numbered(socket, layout) => {
                drain_datagrams(&socket, feed, peer, sub_buffer, Some(layout), phase)
            }
        }
    }
}

/// A bound socket with a buffer for bursts.
fn datagrams(socket: UdpSocket) -> io::Result<DataSocket> {
    socket.set_nonblocking(true)?;
    if setsockopt(&socket, sockopt::RcvBufForce, &RECEIVE_BUFFER).is_err() {
        setsockopt(&socket, sockopt::RcvBuf, &RECEIVE_BUFFER)?;
    }
    Ok(DataSocket::Udp(socket))
}

/// Waits until `socket` is readable, a [`TICK`] at most.
fn readable(socket: &impl AsFd) -> bool {
    let mut fds = [PollFd::new(socket.as_fd(), PollFlags::POLLIN)];
    let timeout = PollTimeout::try_from(TICK).unwrap_or(PollTimeout::MAX);
    matches!(poll(&mut fds, timeout), Ok(1..))
}

/// The connection of `peer`; others are closed. `None` if the session is over before it comes.
fn accept(socket: &ListenSocket, peer: &Host, phase: &Phase) -> io::Result<Option<Stream>> {
    loop {
        // Before looking: what was connected by the end is found by the look after it.
        let over = phase.is_over();
        if readable(socket) {
            match socket.accept() {
                Ok((stream, from)) if from.host().is_same(peer) => {
                    stream.set_read_timeout(Some(TICK))?;
                    return Ok(Some(stream));
                }
                Ok(_) => continue,
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
                Err(e) => return Err(e),
            }
        }
        if over || phase.is_aborted() {
            return Ok(None);
        }
    }
}

fn drain_stream(stream: Stream, feed: &mut Feed<'_>, phase: &Phase) -> io::Result<()> {
    let mut since = Instant::now();
    loop {
        if feed.has_failed() {
            return Ok(()); // closing it tells the sender
        }
        match (&stream).read(feed.room()) {
            Ok(0) => return Ok(()),
            Ok(read) => {
                feed.filled(read);
                since = Instant::now();
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                feed.rest(AGE);
                if phase.is_aborted() {
                    return Err(io::Error::other("the data connection was still open"));
                }
                if phase.is_over() && since.elapsed() > LAST {
                    return Err(io::Error::other("the data connection stayed open after the end, and nothing came"));
                }
            }
            Err(e) => return Err(e),
        }
    }
}

/// Datagrams of one sub-buffer each. In numbered ones losses are noted where they happened; what comes late has been counted as
/// lost by then and is left out, as the events of one CPU are in order. Gives the number of events noted as lost.
fn drain_datagrams(
    socket: &UdpSocket,
    feed: &mut Feed<'_>,
    peer: &Host,
    sub_buffer: usize,
    numbered: Option<PageLayout>,
    phase: &Phase,
) -> io::Result<u64> {
    let stamp = numbered.map_or(0, |_| DatagramStamp::SIZE);
    let mut datagram = vec![0; stamp + sub_buffer + 1];
    let (mut last, mut wrong) = (Instant::now(), 0u64);
    let (mut next, mut noted) = (DatagramStamp::default(), 0);
    while !feed.has_failed() {
        if !readable(socket) {
            feed.rest(AGE);
            if phase.is_aborted() || phase.is_over() && last.elapsed() > QUIET {
                break;
            }
            continue;
        }
        match socket.recv_from(&mut datagram) {
            Ok((len, from)) if Address::Ip(from).host().is_same(peer) => {
                last = Instant::now();
                if len != stamp + sub_buffer {
                    wrong += 1;
                    continue;
                }
                let (front, page) = datagram[..len].split_at_mut(stamp);
                if let Some(layout) = &numbered {
                    let (at, _) = DatagramStamp::read(front).map_err(io::Error::other)?;
                    if at.number < next.number {
                        continue;
                    }
                    if at.number > next.number {
                        // Some lost sub-buffers may have had no events.
                        let lost = at.events.saturating_sub(next.events);
                        if lost > 0 && layout.add_lost(page, Lost::Count(lost)).is_ok() {
                            noted += lost;
                        }
                    }
                    let mut scan = ChunkScan::of(*layout);
                    scan.look(page);
                    let events = at.events.saturating_add(scan.events().unwrap_or(0));
                    next = DatagramStamp { number: at.number.saturating_add(1), events };
                }
                feed.add(page);
            }
            Ok(_) => {}
            Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(e) => return Err(e),
        }
    }
    match wrong {
        0 => Ok(noted),
        wrong => Err(io::Error::other(format!("{wrong} datagrams were not of one sub-buffer and were left out"))),
    }
}

/// Data that is older than this is stored although its chunk is not full.
const FIFO_AGE: Duration = Duration::from_millis(500);
/// After the end, the time without data after which none is expected any more, of an agent that does not count.
const FIFO_QUIET: Duration = Duration::from_secs(1);
/// The same if some that was counted is missing.
const FIFO_LAST: Duration = Duration::from_secs(10);

/// Takes all that comes for `cpu`: until what was counted is there, or until nothing comes any more after the end.
fn drain_fifo(mut fifo: FifoReader, cpu: u32, sub_buffer: usize, feed: &mut Feed<'_>, phase: &Phase) -> io::Result<()> {
    let (mut came, mut last, mut ended) = (0u64, Instant::now(), None);
    // Where what the file cannot take goes: the guest's agent would wait for the FIFO to have room.
    let mut dropped = vec![0; 64 << 10];
    loop {
        // Before looking: what came by the end is found by the look after it.
        let over = phase.is_over();
        let failed = feed.has_failed();
        if let Some(read) = fifo.read(if failed { &mut dropped } else { feed.room() })? {
            if !failed {
                feed.filled(read);
            }
            came += read as u64;
            last = Instant::now();
            continue;
        }
        feed.rest(FIFO_AGE);
        if phase.is_aborted() {
            return Err(io::Error::other("the FIFO was still in use"));
        }
        if over {
            let quiet = last.max(*ended.get_or_insert_with(Instant::now)).elapsed();
            match phase.sent(cpu) {
                Some(sent) if came >= sent.saturating_mul(sub_buffer as u64) => return Ok(()),
                Some(sent) if quiet > FIFO_LAST => {
                    let lost = sent.saturating_sub(came / (sub_buffer as u64).max(1));
                    return Err(io::Error::other(format!("{lost} of {sent} sub-buffers did not come out of the FIFO")));
                }
                None if quiet > FIFO_QUIET => return Ok(()),
                _ => {}
            }
        }
        fifo.wait();
    }
}

/// Progress of a session, as its data connections see it.
#[derive(Debug, Default)]
pub(in crate::control::network) struct Phase {
    state: AtomicU8,
    sent: OnceLock<Vec<RingCount>>,
}

impl Phase {
    /// The sender has said that it has sent everything, or is gone.
    pub(in crate::control::network) fn end(&self) {
        self.state.fetch_max(1, Ordering::Relaxed);
    }

    /// Nothing more is to be taken.
    pub(in crate::control::network) fn abort(&self) {
        self.state.fetch_max(2, Ordering::Relaxed);
    }

    /// The sender has said how much it has sent of each ring. Called before the end.
    pub(in crate::control::network) fn count(&self, sent: Vec<RingCount>) {
        let _ = self.sent.set(sent);
    }

    /// Sub-buffers of `cpu` that were sent, if the sender has said so.
    fn sent(&self, cpu: u32) -> Option<u64> {
        let sent = self.sent.get()?.iter().find(|count| count.cpu == cpu);
        Some(sent.map_or(0, |count| count.sub_buffers))
    }

    fn is_over(&self) -> bool {
        self.state.load(Ordering::Relaxed) >= 1
    }

    /// True if nothing more is to be taken.
    pub(in crate::control::network) fn is_aborted(&self) -> bool {
        self.state.load(Ordering::Relaxed) >= 2
    }
}
