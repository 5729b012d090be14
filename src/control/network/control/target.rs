//! The agent that is asked, and what for.

use crate::control::network::agent::AGENT_PORT;
use crate::control::network::transport::{Address, split};
use crate::control::tracefs::KvmFolders;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// An agent, and what it is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GuestTarget {
    /// `HOST`, `HOST:PORT`, an address, `[ADDRESS]:PORT`, or over vsock `[NAME]@CID[:PORT]`.
    pub place: String,
    /// Name of the guest, in the name of its file and in the host's file.
    pub name: Option<String>,
    /// Options of `record`.
    pub args: Vec<String>,
    /// The clocks are compared this often, besides at the beginning and at the end; not at all if `None`.
    pub sync_every: Option<Duration>,
    /// Folder of all guests' FIFOs; its data comes over connections if `None`, or if the guest has none there.
    pub fifos: Option<PathBuf>,
    /// Places of what KVM knows of guests' counters; it is not asked if `None`.
    pub kvm: Option<KvmFolders>,
    /// It is the host of this machine, which is asked by its proxy agent.
    pub is_host: bool,
}

impl GuestTarget {
    /// Its name: the one given, or its address without the port; `cid3` of `@3`.
    pub fn name(&self) -> String {
        let own = || match self.parts() {
            ("", place) => split(place).0.replace('@', "cid"),
            (name, _) => name.to_owned(),
        };
        self.name.clone().unwrap_or_else(own)
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
    pub(super) fn addresses(&self) -> io::Result<Vec<Address>> {
        let (_, place) = self.parts();
        Address::resolve(place, Some(AGENT_PORT))
    }

    /// The name and the rest of `NAME@CID[:PORT]`.
    fn parts(&self) -> (&str, &str) {
        self.place.find('@').map_or(("", self.place.as_str()), |at| self.place.split_at(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_names_and_files() {
        let target = |place: &str| GuestTarget { place: place.to_owned(), ..GuestTarget::default() };
        for (place, name, port) in [
            ("127.0.0.1", "127.0.0.1", 823),
            ("127.0.0.1:9000", "127.0.0.1", 9000),
            ("::1", "::1", 823),
            ("[::1]:77", "::1", 77),
            ("vm@3", "vm", 823),
            ("vm@3:9", "vm", 9),
            ("@3:9", "cid3", 9),
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
