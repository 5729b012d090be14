//! Data connections of trace-cmd's kind: one per CPU, bare sub-buffers without framing.

use crate::network::patient::TICK;
use crate::network::transport::{Address, Host, Listener, Stream};
use crate::record::Feed;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io::{self, Read};
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

/// The ports that trace-cmd uses; firewalls may be open for them.
const PORTS: std::ops::Range<u16> = 1500..6001;
/// Data that is older than this is stored although its chunk is not full.
const AGE: Duration = Duration::from_millis(500);
/// After the end of the recording, the time without a datagram after which none is expected any more.
const QUIET: Duration = Duration::from_millis(300);
/// After the end of the control connection, the time that a data connection may take to say something.
const LAST: Duration = Duration::from_secs(10);

/// A socket that waits for the data of one CPU.
#[derive(Debug)]
pub(in crate::network) enum DataSocket {
    Stream(Listener),
    Udp(UdpSocket),
    /// One that is connected already.
    Connected(Stream),
}

/// Progress of a session, as its data connections see it.
#[derive(Debug, Default)]
pub(in crate::network) struct Phase(AtomicU8);

impl Phase {
    /// The sender has said that it has sent everything, or is gone.
    pub(in crate::network) fn end(&self) {
        self.0.fetch_max(1, Ordering::Relaxed);
    }

    /// Nothing more is to be taken.
    pub(in crate::network) fn abort(&self) {
        self.0.fetch_max(2, Ordering::Relaxed);
    }

    fn is_over(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= 1
    }

    /// True if nothing more is to be taken.
    pub(in crate::network) fn is_aborted(&self) -> bool {
        self.0.load(Ordering::Relaxed) >= 2
    }
}

impl DataSocket {
    /// Binds a socket for each of `cpus` to free ports of this machine as `local`, in the order of the CPUs. Over IP `tcp` chooses
    /// streams.
    pub(in crate::network) fn bind_all(local: &Host, cpus: u32, tcp: bool) -> io::Result<Vec<(DataSocket, u16)>> {
        let mut ports = PORTS;
        (0..cpus).map(|_| Self::bind(local, &mut ports, tcp)).collect()
    }

    fn bind(local: &Host, ports: &mut impl Iterator<Item = u16>, tcp: bool) -> io::Result<(DataSocket, u16)> {
        for port in ports {
            let at = match local {
                Host::Cid(_) => Address::Vsock { cid: Address::ANY, port: port.into() },
                Host::Ip(_) => local.at(port.into())?,
            };
            let bound = match at {
                Address::Ip(at) if !tcp => {
                    UdpSocket::bind(at).and_then(|s| s.set_nonblocking(true).map(|()| DataSocket::Udp(s)))
                }
                at => Listener::bind(&at).map(DataSocket::Stream),
            };
            match bound {
                Ok(socket) => return Ok((socket, port)),
                Err(e) if e.kind() == io::ErrorKind::AddrInUse => {}
                Err(e) => return Err(e),
            }
        }
        Err(io::Error::other("no port between 1500 and 6000 is free"))
    }

    /// The connection of `peer`; `None` if the session is over before it comes.
    pub(in crate::network) fn accept(self, peer: &Host, phase: &Phase) -> io::Result<Option<Stream>> {
        match self {
            DataSocket::Stream(socket) => accept(&socket, peer, phase),
            DataSocket::Connected(stream) => Ok(Some(stream)),
            DataSocket::Udp(_) => Ok(None),
        }
    }

    /// Takes all that comes from `peer`, until its end. Gives what went wrong, if anything did.
    pub(in crate::network) fn drain(
        self,
        feed: &mut Feed<'_>,
        peer: &Host,
        sub_buffer: usize,
        phase: &Phase,
    ) -> Option<String> {
        let drained = match self {
            DataSocket::Connected(stream) => {
                stream.set_read_timeout(Some(TICK)).and_then(|()| drain_stream(stream, feed, phase))
            }
            DataSocket::Stream(socket) => accept(&socket, peer, phase).and_then(|stream| match stream {
                Some(stream) => drain_stream(stream, feed, phase),
                None => Ok(()),
            }),
            DataSocket::Udp(socket) => drain_datagrams(&socket, feed, peer, sub_buffer, phase),
        };
        drained.err().map(|e| e.to_string())
    }
}

/// Waits until `socket` is readable, a [`TICK`] at most.
fn readable(socket: &impl AsFd) -> bool {
    let mut fds = [PollFd::new(socket.as_fd(), PollFlags::POLLIN)];
    let timeout = PollTimeout::try_from(TICK).unwrap_or(PollTimeout::MAX);
    matches!(poll(&mut fds, timeout), Ok(1..))
}

/// The connection of `peer`; others are closed. `None` if the session is over before it comes.
fn accept(socket: &Listener, peer: &Host, phase: &Phase) -> io::Result<Option<Stream>> {
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

fn drain_datagrams(
    socket: &UdpSocket,
    feed: &mut Feed<'_>,
    peer: &Host,
    sub_buffer: usize,
    phase: &Phase,
) -> io::Result<()> {
    let mut datagram = vec![0; sub_buffer + 1];
    let (mut last, mut short) = (Instant::now(), 0u64);
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
                if len == sub_buffer {
                    feed.add(&datagram[..len]);
                } else {
                    short += 1;
                }
            }
            Ok(_) => {}
            Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            Err(e) => return Err(e),
        }
    }
    match short {
        0 => Ok(()),
        short => Err(io::Error::other(format!("{short} datagrams were not of one sub-buffer and were left out"))),
    }
}
