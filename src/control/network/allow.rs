//! Addresses that may connect.
//! The socket at which other machines ask for something.

use super::patient::TICK;
use super::transport::{Address, Host, ListenSocket, Stream};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::str::FromStr;
use std::{io, thread};

/// A network in CIDR notation, `10.0.0.0/8`; an address alone is a network of one, as is `@CID`, a machine over vsock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network(Members);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Members {
    Ip { address: IpAddr, prefix: u32 },
    Cid(u32),
}

/// A text that is no network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// It is none in CIDR notation.
    #[error("expected an address, a network such as 10.0.0.0/8, or @CID, not `{0}`")]
    Text(String),
    /// The address has bits after the prefix: it is longer than the network, and one of both is a slip.
    #[error("`{address}/{prefix}` is the network {network}/{prefix}: write that, or {address} for this address alone")]
    Bits {
        /// The address as it was written.
        address: IpAddr,
        /// Bits of the network.
        prefix: u32,
        /// The first address of the network.
        network: IpAddr,
    },
}

impl FromStr for Network {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let wrong = || NetworkError::Text(text.to_owned());
        if let Some(cid) = text.strip_prefix('@') {
            return cid.parse().map(Network::of_cid).map_err(|_| wrong());
        }
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let prefix = prefix.map_or(Ok(most), |prefix| prefix.parse().map_err(|_| wrong()))?;
        if prefix > most {
            return Err(wrong());
        }
        let network = first_of(address, prefix);
        if network != address {
            return Err(NetworkError::Bits { address, prefix, network });
        }
        Ok(Network(Members::Ip { address, prefix }))
    }
}

/// `address` without the bits after the first `prefix`.
fn first_of(address: IpAddr, prefix: u32) -> IpAddr {
    match address {
        IpAddr::V4(v4) => IpAddr::from((u32::from(v4) & !u32::MAX.checked_shr(prefix).unwrap_or(0)).to_be_bytes()),
        IpAddr::V6(v6) => IpAddr::from((u128::from(v6) & !u128::MAX.checked_shr(prefix).unwrap_or(0)).to_be_bytes()),
    }
}

impl Network {
    /// The network of one address.
    pub fn of(address: IpAddr) -> Self {
        Network(Members::Ip { address, prefix: if address.is_ipv4() { 32 } else { 128 } })
    }

    /// One machine over vsock: 2 is the host.
    pub fn of_cid(cid: u32) -> Self {
        Network(Members::Cid(cid))
    }

    /// True of a machine over vsock.
    pub fn is_vsock(&self) -> bool {
        matches!(self.0, Members::Cid(_))
    }

    /// True if all of its addresses are this machine's own.
    pub fn is_loopback(&self) -> bool {
        match self.0 {
            Members::Cid(cid) => cid == Address::LOCAL,
            Members::Ip { address, prefix } => {
                let whole = if address.is_ipv4() { 8 } else { 128 };
                address.to_canonical().is_loopback() && prefix >= whole
            }
        }
    }

    /// True if `host` is one of its machines. An IPv4 address mapped into IPv6 counts as what it is.
    fn contains(&self, host: &Host) -> bool {
        let same = |a: u128, b: u128, bits: u32, prefix: u32| {
            let shift = bits.saturating_sub(prefix.min(bits));
            shift >= bits || a >> shift == b >> shift
        };
        match (self.0, host.canonical()) {
            (Members::Cid(ours), Host::Cid(theirs)) => ours == theirs,
            (Members::Ip { address, prefix }, Host::Ip(theirs)) => match (address.to_canonical(), theirs) {
                (IpAddr::V4(a), IpAddr::V4(b)) => same(u32::from(a).into(), u32::from(b).into(), 32, prefix),
                (IpAddr::V6(a), IpAddr::V6(b)) => same(a.into(), b.into(), 128, prefix),
                _ => false,
            },
            _ => false,
        }
    }
}

/// A bound address, and the networks whose peers are served there.
#[derive(Debug)]
pub(super) struct Door {
    socket: ListenSocket,
    allow: Vec<Network>,
}

/// The event that a wait at the door ends with.
pub(super) enum Visit {
    /// It is over.
    Stop,
    /// A tick passed.
    Idle,
    /// A peer came.
    Peer(Stream, Address),
    /// A peer came that is not served, and why.
    Refused(Stream, Address, &'static str),
}

impl Door {
    /// Binds to `address`; only peers of `allow` are served, unless that is empty.
    pub(super) fn bind(address: Address, allow: Vec<Network>) -> io::Result<Self> {
        Ok(Door { socket: ListenSocket::bind(&address)?, allow })
    }

    /// Its address, with the port that the kernel chose if it was 0.
    pub(super) fn address(&self) -> io::Result<Address> {
        self.socket.address()
    }

    /// Waits for a peer, a [`TICK`] at most, or until `stop` is readable.
    pub(super) fn wait(&self, stop: BorrowedFd<'_>) -> Visit {
        let timeout = PollTimeout::try_from(TICK).unwrap_or(PollTimeout::MAX);
        let mut fds = [PollFd::new(stop, PollFlags::POLLIN), PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
        let _ = poll(&mut fds, timeout);
        if fds[0].any().unwrap_or(false) {
            return Visit::Stop;
        }
        match self.socket.accept() {
            Ok((stream, peer)) if self.allow.is_empty() || self.allow.iter().any(|net| net.contains(&peer.host())) => {
                Visit::Peer(stream, peer)
            }
            Ok((stream, peer)) => Visit::Refused(stream, peer, "its address is not allowed"),
            Err(_) => {
                // A connection that is gone by now is none; out of descriptors, others end first.
                if fds[1].any().unwrap_or(false) {
                    thread::sleep(TICK / 10);
                }
                Visit::Idle
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_contain_their_addresses() {
        let is_in = |network: &str, address: &str| {
            network.parse::<Network>().unwrap().contains(&Host::Ip(address.parse().unwrap()))
        };
        assert!(is_in("10.0.0.0/8", "10.255.1.2") && !is_in("10.0.0.0/8", "11.0.0.1"));
        assert!(is_in("0.0.0.0/0", "8.8.8.8") && !is_in("0.0.0.0/0", "::1"));
        assert!(is_in("127.0.0.1", "127.0.0.1") && !is_in("127.0.0.1", "127.0.0.2"));
        assert!(is_in("127.0.0.1", "::ffff:127.0.0.1"));
        assert!(is_in("fd00::/8", "fd12::1") && !is_in("fd00::/8", "fe80::1") && is_in("::/0", "::1"));
        assert!("@3".parse::<Network>().unwrap().contains(&Host::Cid(3)) && !is_in("@3", "0.0.0.3"));
        for wrong in ["", "@", "@x", "localhost", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "::/129"] {
            assert!(matches!(wrong.parse::<Network>(), Err(NetworkError::Text(_))), "{wrong}");
        }
        for (slip, network) in [("127.0.0.1/0", "0.0.0.0/0"), ("10.1.2.3/8", "10.0.0.0/8"), ("fe80::1/10", "fe80::/10")]
        {
            let why = slip.parse::<Network>().unwrap_err().to_string();
            assert!(why.contains(&format!("is the network {network}: write that")), "{why}");
        }
    }
}
