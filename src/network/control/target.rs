//! The agent that is asked, and what for.

use crate::network::agent::AGENT_PORT;
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// An agent, and what it is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuestTarget {
    /// `HOST`, `HOST:PORT`, an address, or `[ADDRESS]:PORT`.
    pub place: String,
    /// Name of the guest, in the name of its file and in the host's file.
    pub name: Option<String>,
    /// Options of `record`.
    pub args: Vec<String>,
    /// The clocks are compared this often, besides at the beginning and at the end; not at all if `None`.
    pub sync_every: Option<Duration>,
}

impl GuestTarget {
    /// Its name: the one given, or its address without the port.
    pub fn name(&self) -> String {
        self.name.clone().unwrap_or_else(|| split(&self.place).0.to_owned())
    }

    /// The file of its recording, beside the host's at `host`: `trace.dat` becomes `trace-NAME.dat`.
    pub fn file(&self, host: &Path) -> PathBuf {
        let stem = host.file_stem().unwrap_or_default().to_string_lossy();
        // The name is chosen by the user, and is not to lead elsewhere.
        let name = self.name().replace('/', "_");
        match host.extension() {
            Some(extension) => host.with_file_name(format!("{stem}-{name}.{}", extension.to_string_lossy())),
            None => host.with_file_name(format!("{stem}-{name}")),
        }
    }

    /// The addresses of its agent.
    pub(super) fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        let (host, port) = split(&self.place);
        let port = match port {
            None => AGENT_PORT,
            Some(port) => port.parse().map_err(|_| io::Error::other(format!("`{port}` is no port")))?,
        };
        let found: Vec<SocketAddr> = (host, port).to_socket_addrs()?.collect();
        if found.is_empty() { Err(io::ErrorKind::NotFound.into()) } else { Ok(found) }
    }
}

/// Host and port of `HOST`, `HOST:PORT`, `[ADDRESS]:PORT` or an IPv6 address.
fn split(place: &str) -> (&str, Option<&str>) {
    if let Some((address, rest)) = place.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return (address, rest.strip_prefix(':'));
    }
    match place.split_once(':') {
        Some((host, port)) if !port.contains(':') => (host, Some(port)),
        _ => (place, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_names_and_files() {
        let target =
            |place: &str| GuestTarget { place: place.to_owned(), name: None, args: Vec::new(), sync_every: None };
        for (place, name, port) in [
            ("127.0.0.1", "127.0.0.1", 823),
            ("127.0.0.1:9000", "127.0.0.1", 9000),
            ("::1", "::1", 823),
            ("[::1]:77", "::1", 77),
        ] {
            let target = target(place);
            assert_eq!(target.name(), name);
            assert_eq!(target.addresses().unwrap()[0].port(), port);
        }
        assert!(target("127.0.0.1:x").addresses().is_err());
        let named = GuestTarget { name: Some("../vm".to_owned()), ..target("127.0.0.1") };
        assert_eq!(named.file(Path::new("a/trace.dat")), Path::new("a/trace-.._vm.dat"));
        assert_eq!(target("1.2.3.4").file(Path::new("out")), Path::new("out-1.2.3.4"));
    }
}
