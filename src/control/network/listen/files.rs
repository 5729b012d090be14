//! Names of the files that a listener writes: `NAME.HOST:PORT.dat` after the peer, as trace-cmd names them.

use crate::control::network::incoming::new_private;
use crate::control::network::transport::{Address, Host};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Names that one peer's address and port can have had before.
const TRIES: u32 = 1000;

/// Creates the file of a session, readable by its owner alone. A name that is taken gets a number: an address and port
/// repeat.
pub(super) fn create(dir: &Path, name: &str, peer: Address) -> io::Result<(PathBuf, File)> {
    for nth in 1..=TRIES {
        let path = dir.join(file_name(name, peer, nth));
        match new_private(&path) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|file| (path, file)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn file_name(name: &str, peer: Address, nth: u32) -> String {
    // No name server is asked, which can take seconds.
    let host = match peer.host().canonical() {
        Host::Ip(address) if address.is_loopback() => "localhost".to_owned(),
        Host::Ip(address) => address.to_string(),
        Host::Cid(cid) => format!("V{cid}"),
    };
    match nth {
        1 => format!("{name}.{host}:{}.dat", peer.port()),
        nth => format!("{name}.{host}:{}-{nth}.dat", peer.port()),
    }
}

/// True if `name` can be one that [`create`] gave: of a file in the listener's directory.
pub(super) fn is_ours(name: &str) -> bool {
    name.ends_with(".dat") && !name.starts_with('.') && !name.contains(['/', '\0'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_trace_cmds_and_new() {
        let dir = tempfile::tempdir().unwrap();
        let name = |peer: &str| {
            let (path, _) = create(dir.path(), "trace", Address::resolve(peer, None).unwrap()[0]).unwrap();
            path.file_name().unwrap().to_str().unwrap().to_owned()
        };
        assert_eq!(name("127.0.0.1:4242"), "trace.localhost:4242.dat");
        assert_eq!(name("127.0.0.1:4242"), "trace.localhost:4242-2.dat");
        assert_eq!(name("[::ffff:10.1.2.3]:7"), "trace.10.1.2.3:7.dat");
        assert_eq!(name("@3:1027"), "trace.V3:1027.dat");
        assert!(is_ours("trace.localhost:4242.dat"));
        for other in ["../trace.dat", "a/b.dat", ".dat", "trace.dat.cpu0.spool", "", "a\0.dat"] {
            assert!(!is_ours(other), "{other}");
        }
    }
}
