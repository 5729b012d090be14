//! Connections between machines: TCP over IP, and vsock between a host and its guests, as one type.

use crate::base::sys;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::socket::{
    self, AddressFamily, Backlog, MsgFlags, SockFlag, SockType, SockaddrLike, SockaddrStorage, VsockAddr, sockopt,
};
use nix::sys::time::{TimeVal, TimeValLike};
use std::io::{Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, SocketAddrV4, SocketAddrV6, TcpListener, TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;
use std::{fmt, io};

/// The port of a socket on some machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    /// Over IP.
    Ip(SocketAddr),
    /// Of a host (CID 2), a guest, or this machine (CID 1) over vsock: see vsock(7).
    Vsock {
        /// The machine's context identifier.
        cid: u32,
        /// The port.
        port: u32,
    },
}

/// A machine, as its addresses tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::control::network) enum Host {
    /// Over IP.
    Ip(IpAddr),
    /// Over vsock.
    Cid(u32),
}

/// A text that is no vsock address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected @CID or @CID:PORT in numbers, not `{0}`")]
pub struct AddressError(String);

impl Address {
    /// `@CID:PORT`, or `@CID` with a port that is known otherwise. `None` of a text without `@`.
    ///
    /// # Errors
    /// [`AddressError`] if one of the two is no number, or the port is missing.
    pub fn vsock(text: &str, port: Option<u32>) -> Option<Result<Self, AddressError>> {
        let wrong = || AddressError(text.to_owned());
        let (cid, given) = match text.strip_prefix('@')?.split_once(':') {
            Some((cid, port)) => (cid, port.parse().map(Some).map_err(|_| wrong())),
            None => (&text[1..], Ok(port)),
        };
        let address = |given: Option<u32>| {
            Ok(Address::Vsock { cid: cid.parse().map_err(|_| wrong())?, port: given.ok_or_else(wrong)? })
        };
        Some(given.and_then(address))
    }

    /// True if the text has the form of `HOST:PORT`, `[ADDRESS]:PORT`, `@CID:PORT`, or of a port alone. No name server is asked.
    pub fn is_place(text: &str) -> bool {
        let is_port = |text: &str| text.parse::<u16>().is_ok();
        let has_both = |(host, port): (&str, Option<&str>)| !host.is_empty() && port.is_some_and(is_port);
        match Address::vsock(text, None) {
            Some(vsock) => vsock.is_ok(),
            None if text.contains(':') => has_both(split(text)),
            None => is_port(text),
        }
    }

    /// The addresses of `@CID[:PORT]`, `HOST[:PORT]`, `[ADDRESS]:PORT`, or an IPv6 address; `port` is that of a text without one.
    ///
    /// # Errors
    /// The name server's; [`io::ErrorKind::InvalidInput`] of a text that is none of these, or lacks a port.
    pub(in crate::control::network) fn resolve(text: &str, port: Option<u16>) -> io::Result<Vec<Self>> {
        let wrong = |why: String| io::Error::new(io::ErrorKind::InvalidInput, why);
        if let Some(vsock) = Address::vsock(text, port.map(u32::from)) {
            return vsock.map(|address| vec![address]).map_err(|error| wrong(error.to_string()));
        }
        let (host, given) = split(text);
        let port = match given {
            None => port.ok_or_else(|| wrong("a port is needed".to_owned()))?,
            Some(port) => port.parse().map_err(|_| wrong(format!("`{port}` is no port")))?,
        };
        let found: Vec<Self> = (host, port).to_socket_addrs()?.map(Address::Ip).collect();
        if found.is_empty() { Err(io::ErrorKind::NotFound.into()) } else { Ok(found) }
    }

    /// Machine of the address.
    pub(in crate::control::network) fn host(&self) -> Host {
        match self {
            Address::Ip(address) => Host::Ip(address.ip()),
            Address::Vsock { cid, .. } => Host::Cid(*cid),
        }
    }

    /// Port of the address.
    pub(in crate::control::network) fn port(&self) -> u32 {
        match self {
            Address::Ip(address) => address.port().into(),
            Address::Vsock { port, .. } => *port,
        }
    }

    /// That of a socket, as the kernel gives it.
    fn of(storage: &SockaddrStorage) -> io::Result<Self> {
        let vsock = |address: &VsockAddr| Address::Vsock { cid: address.cid(), port: address.port() };
        let found = match storage.family() {
            Some(AddressFamily::Inet) => {
                storage.as_sockaddr_in().map(|address| Address::Ip(SocketAddrV4::from(*address).into()))
            }
            Some(AddressFamily::Inet6) => {
                storage.as_sockaddr_in6().map(|address| Address::Ip(SocketAddrV6::from(*address).into()))
            }
            Some(AddressFamily::Vsock) => storage.as_vsock_addr().map(vsock),
            _ => None,
        };
        found.ok_or_else(|| io::Error::other("its address is of another kind"))
    }
}

/// Host and port of `HOST`, `HOST:PORT`, `[ADDRESS]:PORT` or an IPv6 address.
pub(in crate::control::network) fn split(place: &str) -> (&str, Option<&str>) {
    if let Some((address, rest)) = place.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return (address, rest.strip_prefix(':'));
    }
    match place.split_once(':') {
        Some((host, port)) if !port.contains(':') => (host, Some(port)),
        _ => (place, None),
    }
}

impl Host {
    /// A port of this machine.
    pub(in crate::control::network) fn at(&self, port: u32) -> io::Result<Address> {
        Ok(match self {
            Host::Cid(cid) => Address::Vsock { cid: *cid, port },
            Host::Ip(ip) => {
                let port = u16::try_from(port).map_err(|_| io::Error::other(format!("{port} is no port")))?;
                Address::Ip(SocketAddr::new(*ip, port))
            }
        })
    }

    /// True if both are the same machine; an IPv4 address mapped into IPv6 counts as what it is.
    pub(in crate::control::network) fn is_same(&self, other: &Host) -> bool {
        self.canonical() == other.canonical()
    }

    /// With an IPv4 address that is mapped into IPv6 as what it is.
    pub(in crate::control::network) fn canonical(&self) -> Host {
        match self {
            Host::Ip(ip) => Host::Ip(ip.to_canonical()),
            Host::Cid(cid) => Host::Cid(*cid),
        }
    }
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Self {
        Address::Ip(address)
    }
}

impl fmt::Display for Address {
    /// `127.0.0.1:823`, or `@3:823` over vsock.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Ip(address) => address.fmt(f),
            Address::Vsock { cid: Self::ANY, port } => write!(f, "vsock port {port}"),
            Address::Vsock { cid, port } => write!(f, "@{cid}:{port}"),
        }
    }
}

impl Address {
    /// VMADDR_CID_ANY: all of this machine's own addresses.
    pub const ANY: u32 = u32::MAX;
    /// VMADDR_CID_LOCAL: this machine, for itself.
    pub const LOCAL: u32 = 1;
    /// VMADDR_CID_HOST: the host, for its guests.
    pub const HOST: u32 = 2;
}

/// Connections that wait to be accepted, at most.
const BACKLOG: i32 = 128;

/// A bound socket; accepting from it does not wait.
#[derive(Debug)]
pub(in crate::control::network) struct ListenSocket(OwnedFd);

impl ListenSocket {
    /// Binds to `address`, with SO_REUSEADDR over IP; port 0 is one that is free.
    pub(in crate::control::network) fn bind(address: &Address) -> io::Result<Self> {
        let fd: OwnedFd = match address {
            Address::Ip(address) => TcpListener::bind(address)?.into(),
            Address::Vsock { cid, port } => {
                let fd = vsock_socket()?;
                // As vsock(7) has it: any free port.
                let port = if *port == 0 { u32::MAX } else { *port };
                socket::bind(fd.as_raw_fd(), &VsockAddr::new(*cid, port))?;
                socket::listen(&fd, Backlog::new(BACKLOG)?)?;
                fd
            }
        };
        fcntl(&fd, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        Ok(ListenSocket(fd))
    }

    /// Its address, with the port that the kernel chose.
    pub(in crate::control::network) fn address(&self) -> io::Result<Address> {
        Address::of(&socket::getsockname::<SockaddrStorage>(self.0.as_raw_fd())?)
    }

    /// The next connection, which blocks, and from where; [`io::ErrorKind::WouldBlock`] if none waits.
    pub(in crate::control::network) fn accept(&self) -> io::Result<(Stream, Address)> {
        let stream = Stream::accepted(sys::accept(&self.0)?);
        let peer = stream.peer()?;
        Ok((stream, peer))
    }
}

impl AsFd for ListenSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// A connection: of TCP, or of vsock.
#[derive(Debug)]
pub(in crate::control::network) struct Stream(OwnedFd);

impl Stream {
    /// Connects to `address`. Over vsock the kernel gives up after two seconds by itself.
    pub(in crate::control::network) fn connect(address: &Address, timeout: Duration) -> io::Result<Self> {
        match address {
            Address::Ip(address) => Ok(Stream(TcpStream::connect_timeout(address, timeout)?.into())),
            Address::Vsock { cid, port } => {
                let fd = vsock_socket()?;
                socket::connect(fd.as_raw_fd(), &VsockAddr::new(*cid, *port))?;
                Ok(Stream(fd))
            }
        }
    }

    /// Connects to the first of `addresses` that is there, and gives that address too.
    pub(in crate::control::network) fn connect_any(
        addresses: &[Address],
        timeout: Duration,
    ) -> io::Result<(Self, Address)> {
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for address in addresses {
            match Self::connect(address, timeout) {
                Ok(stream) => return Ok((stream, *address)),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    /// One that was accepted.
    fn accepted(fd: OwnedFd) -> Self {
        Stream(fd)
    }

    pub(in crate::control::network) fn try_clone(&self) -> io::Result<Self> {
        self.0.try_clone().map(Stream)
    }

    /// The address of the other end.
    pub(in crate::control::network) fn peer(&self) -> io::Result<Address> {
        Address::of(&socket::getpeername::<SockaddrStorage>(self.0.as_raw_fd())?)
    }

    /// The address of this end.
    pub(in crate::control::network) fn local(&self) -> io::Result<Address> {
        Address::of(&socket::getsockname::<SockaddrStorage>(self.0.as_raw_fd())?)
    }

    /// True over IP.
    pub(in crate::control::network) fn is_ip(&self) -> bool {
        matches!(self.local(), Ok(Address::Ip(_)))
    }

    /// Limit of one read; without an end if `None`.
    pub(in crate::control::network) fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        Ok(socket::setsockopt(&self.0, sockopt::ReceiveTimeout, &time(timeout))?)
    }

    /// Limit of one write; without an end if `None`.
    pub(in crate::control::network) fn set_write_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        Ok(socket::setsockopt(&self.0, sockopt::SendTimeout, &time(timeout))?)
    }

    pub(in crate::control::network) fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        let how = match how {
            Shutdown::Read => socket::Shutdown::Read,
            Shutdown::Write => socket::Shutdown::Write,
            Shutdown::Both => socket::Shutdown::Both,
        };
        Ok(socket::shutdown(self.0.as_raw_fd(), how)?)
    }
}

/// A socket for vsock.
fn vsock_socket() -> io::Result<OwnedFd> {
    socket::socket(AddressFamily::Vsock, SockType::Stream, SockFlag::SOCK_CLOEXEC, None).map_err(|errno| match errno {
        nix::errno::Errno::EAFNOSUPPORT => io::Error::new(
            io::ErrorKind::Unsupported,
            "this kernel has no vsock (modules vsock, vmw_vsock_virtio_transport, vhost_vsock)",
        ),
        errno => errno.into(),
    })
}

fn time(timeout: Option<Duration>) -> TimeVal {
    TimeVal::microseconds(timeout.map_or(0, |timeout| i64::try_from(timeout.as_micros()).unwrap_or(i64::MAX)))
}

impl Read for &Stream {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        Ok(socket::recv(self.0.as_raw_fd(), into, MsgFlags::empty())?)
    }
}

impl Write for &Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(socket::send(self.0.as_raw_fd(), bytes, MsgFlags::MSG_NOSIGNAL)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_addresses() {
        let one = |text: &str| Address::resolve(text, Some(823)).map(|found| found[0].to_string());
        for (text, expected) in [
            ("@3", "@3:823"),
            ("@3:9", "@3:9"),
            ("127.0.0.1", "127.0.0.1:823"),
            ("127.0.0.1:7", "127.0.0.1:7"),
            ("::1", "[::1]:823"),
            ("[::1]:77", "[::1]:77"),
        ] {
            assert_eq!(one(text).unwrap(), expected);
        }
        for wrong in ["@", "@x", "@3:", "@3:x", "@-1", "127.0.0.1:x", "127.0.0.1:99999"] {
            assert!(one(wrong).is_err(), "{wrong}");
        }
        assert!(Address::resolve("@3", None).is_err() && Address::resolve("127.0.0.1", None).is_err());
        let host = |text: &str| Host::Ip(text.parse().unwrap());
        assert!(host("127.0.0.1").is_same(&host("::ffff:127.0.0.1")) && !host("127.0.0.1").is_same(&Host::Cid(1)));
        assert!(host("127.0.0.1").at(70_000).is_err() && Host::Cid(1).at(70_000).is_ok());
    }
}
