//! Data of a recording that leaves over UDP: one datagram per sub-buffer, one socket per CPU.
//!
//! A datagram that this machine does not take is counted here. To a listener of ours each has a stamp, so that the listener
//! knows of those that are lost on the way.

use crate::base::units::CpuId;
use crate::control::network::transport::Host;
use crate::control::network::wire::{DatagramStamp, MAX_DATAGRAM, RingCount};
use crate::control::record::{Dropped, RemoteRing};
use crate::file::trace_dat::{ChunkScan, Trace};
use std::fmt::Debug;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says at the end what the listener has stored of each ring; nothing if it does not count.
pub(super) trait StoredCounts: Debug + Send + Sync {
    /// Asks once all rings have ended.
    fn stored(&self) -> io::Result<Option<Vec<RingCount>>>;
}

/// The sockets of a recording's rings.
#[derive(Debug, Default)]
pub(super) struct Datagrams {
    rings: Vec<Arc<Mutex<DatagramRing>>>,
}

/// A ring on its way.
#[derive(Debug, Default)]
struct DatagramRing {
    way: Option<Way>,
    /// All sub-buffers so far, whether they were sent or refused.
    count: RingCount,
    refused: Dropped,
}

/// A connected socket, and what it carries.
#[derive(Debug)]
struct Way {
    socket: UdpSocket,
    scan: ChunkScan,
    stamped: bool,
    datagram: Vec<u8>,
}

impl Datagrams {
    /// Announces the ring of `cpu`.
    pub(super) fn ring(&mut self, cpu: CpuId, stored: Arc<dyn StoredCounts>) -> Box<dyn RemoteRing> {
        let count = RingCount { cpu: cpu.0, ..RingCount::default() };
        let ring = Arc::new(Mutex::new(DatagramRing { count, ..DatagramRing::default() }));
        self.rings.push(Arc::clone(&ring));
        Box::new(DatagramSenderRing { ring, stored })
    }

    /// Opens the socket of each ring to the port of its CPU at `peer`.
    ///
    /// # Errors
    /// The kernel's, or sub-buffers that no datagram takes.
    pub(super) fn connect(&self, peer: &Host, ports: &[u16], trace: &Trace, stamped: bool) -> io::Result<()> {
        let size = trace.prefix.page_size as usize;
        if size + DatagramStamp::SIZE > MAX_DATAGRAM {
            let why = format!("sub-buffers of {size} bytes do not fit into datagrams; TCP takes them");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let (peer, any) = match *peer {
            Host::Ip(ip @ IpAddr::V4(_)) => (ip, IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
            Host::Ip(ip @ IpAddr::V6(_)) => (ip, IpAddr::V6(Ipv6Addr::UNSPECIFIED)),
            Host::Cid(_) => return Err(io::Error::new(io::ErrorKind::InvalidInput, "there is no UDP over vsock")),
        };
        for ring in &self.rings {
            let mut ring = locked(ring);
            let port = ports.get(ring.count.cpu as usize).ok_or(io::ErrorKind::InvalidData)?;
            let socket = UdpSocket::bind(SocketAddr::new(any, 0))?;
            socket.connect(SocketAddr::new(peer, *port))?;
            let scan = ChunkScan::new(&trace.header_page, size);
            ring.way = Some(Way { socket, scan, stamped, datagram: Vec::new() });
        }
        Ok(())
    }

    /// The counts of `cpus` CPUs; of those without a ring too.
    pub(super) fn counts(&self, cpus: u32) -> Vec<RingCount> {
        let mut counts: Vec<_> = (0..cpus).map(|cpu| RingCount { cpu, ..RingCount::default() }).collect();
        for ring in &self.rings {
            let count = locked(ring).count;
            if let Some(of_cpu) = counts.get_mut(count.cpu as usize) {
                *of_cpu = count;
            }
        }
        counts
    }

    /// True if this machine did not take some.
    pub(super) fn refused(&self) -> bool {
        self.rings.iter().any(|ring| locked(ring).refused.bytes > 0)
    }
}

impl DatagramRing {
    fn send(&mut self, chunk: &[u8]) -> io::Result<()> {
        let way = self.way.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        for page in chunk.chunks(way.scan.layout().size) {
            let stamp = DatagramStamp { number: self.count.sub_buffers, events: self.count.events };
            let events = way.events(page);
            if !way.send(stamp, page)? {
                self.refused.bytes += page.len() as u64;
                self.refused.events += events;
            }
            self.count.sub_buffers += 1;
            self.count.events += events;
        }
        Ok(())
    }
}

impl Way {
    fn events(&self, page: &[u8]) -> u64 {
        let mut scan = self.scan;
        scan.look(page);
        scan.events().unwrap_or(0)
    }

    /// Sends one datagram; false if this machine does not take it.
    fn send(&mut self, stamp: DatagramStamp, page: &[u8]) -> io::Result<bool> {
        let bytes = if self.stamped {
            self.datagram.clear();
            self.datagram.extend_from_slice(&stamp.bytes());
            self.datagram.extend_from_slice(page);
            &self.datagram
        } else {
            page
        };
        loop {
            match self.socket.send(bytes) {
                Ok(_) => return Ok(true),
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                // The port is closed: there is no listener any more.
                Err(e) if e.kind() == io::ErrorKind::ConnectionRefused => return Err(e),
                Err(_) => return Ok(false),
            }
        }
    }
}

#[derive(Debug)]
struct DatagramSenderRing {
    ring: Arc<Mutex<DatagramRing>>,
    stored: Arc<dyn StoredCounts>,
}

impl RemoteRing for DatagramSenderRing {
    fn append(&mut self, chunk: &[u8], _raw: u64) -> io::Result<()> {
        let mut ring = locked(&self.ring);
        let (count, refused) = (ring.count, ring.refused);
        ring.send(chunk).inspect_err(|_| {
            // All of the chunk counts as not taken.
            (ring.count, ring.refused) = (count, refused);
        })
    }

    fn note(&mut self, _events: u64) {}

    fn taken(&self) -> u64 {
        let ring = locked(&self.ring);
        ring.count.sub_buffers * ring.size()
    }

    fn settle(&mut self) -> Dropped {
        let stored = self.stored.stored();
        let ring = locked(&self.ring);
        let there = match stored {
            Ok(None) => return ring.refused,
            Ok(Some(stored)) => stored.into_iter().find(|count| count.cpu == ring.count.cpu).unwrap_or_default(),
            // Nothing is known to be there.
            Err(_) => RingCount::default(),
        };
        Dropped {
            bytes: ring.count.sub_buffers.saturating_sub(there.sub_buffers) * ring.size(),
            events: ring.count.events.saturating_sub(there.events),
        }
    }
}

impl DatagramRing {
    /// Size of a sub-buffer, in bytes; 0 before the first was sent.
    fn size(&self) -> u64 {
        self.way.as_ref().map_or(0, |way| way.scan.layout().size as u64)
    }
}
