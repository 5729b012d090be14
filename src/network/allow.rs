//! Addresses that may connect.

use std::net::IpAddr;
use std::str::FromStr;

/// A network in CIDR notation, `10.0.0.0/8`; an address alone is a network of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    prefix: u32,
}

/// A text that is no network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected an address or a network such as 10.0.0.0/8, not `{0}`")]
pub struct NetworkError(String);

impl FromStr for Network {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let wrong = || NetworkError(text.to_owned());
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let most = if address.is_ipv4() { 32 } else { 128 };
        let prefix = prefix.map_or(Ok(most), |prefix| prefix.parse().map_err(|_| wrong()))?;
        if prefix > most { Err(wrong()) } else { Ok(Network { address, prefix }) }
    }
}

impl Network {
    /// The network of one address.
    pub fn of(address: IpAddr) -> Self {
        Network { address, prefix: if address.is_ipv4() { 32 } else { 128 } }
    }

    /// True if all of its addresses are this machine's own.
    pub fn is_loopback(&self) -> bool {
        let whole = if self.address.is_ipv4() { 8 } else { 128 };
        self.address.to_canonical().is_loopback() && self.prefix >= whole
    }

    /// True if `address` is one of its addresses. An IPv4 address mapped into IPv6 counts as what it is.
    pub fn contains(&self, address: IpAddr) -> bool {
        let (ours, theirs) = (self.address.to_canonical(), address.to_canonical());
        let same = |a: u128, b: u128, bits: u32| {
            let shift = bits.saturating_sub(self.prefix.min(bits));
            shift >= bits || a >> shift == b >> shift
        };
        match (ours, theirs) {
            (IpAddr::V4(a), IpAddr::V4(b)) => same(u32::from(a).into(), u32::from(b).into(), 32),
            (IpAddr::V6(a), IpAddr::V6(b)) => same(a.into(), b.into(), 128),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_contain_their_addresses() {
        let is_in =
            |network: &str, address: &str| network.parse::<Network>().unwrap().contains(address.parse().unwrap());
        assert!(is_in("10.0.0.0/8", "10.255.1.2") && !is_in("10.0.0.0/8", "11.0.0.1"));
        assert!(is_in("0.0.0.0/0", "8.8.8.8") && !is_in("0.0.0.0/0", "::1"));
        assert!(is_in("127.0.0.1", "127.0.0.1") && !is_in("127.0.0.1", "127.0.0.2"));
        assert!(is_in("127.0.0.1", "::ffff:127.0.0.1"));
        assert!(is_in("fd00::/8", "fd12::1") && !is_in("fd00::/8", "fe80::1") && is_in("::/0", "::1"));
        for wrong in ["", "localhost", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "::/129"] {
            assert!(wrong.parse::<Network>().is_err(), "{wrong}");
        }
    }
}
