//! The way to a listener, and which of the two kinds it is.
//! The description of a recording that leaves in trace-cmd's way: a file up to its options.
//! Streams or datagrams.

use crate::control::network::patient::{ConnectionError, Patient};
use crate::control::network::transport::{Address, Stream};
use crate::control::network::wire::{BANNER, VersionAnswer, version_answer};
use crate::file::trace_dat::Trace;
use crate::file::trace_dat::write::{NewFile, SectionWriter, Version, WriteError};
use nix::sys::memfd::{MFdFlags, memfd_create};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// Time that a listener gets for each answer of the greeting.
pub(super) const GREETING: Duration = Duration::from_secs(10);

/// Why there is no listener to send to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// No address belongs to the name, or the port is missing.
    #[error("failed to find {place}: {source}")]
    Address {
        /// As the user wrote it.
        place: String,
        /// Why not.
        source: io::Error,
    },
    /// The port is closed, or the way there is.
    #[error("failed to connect to {place}: {source}")]
    Connect {
        /// The address.
        place: String,
        /// Why not.
        source: ConnectionError,
    },
    /// A connection is taken and closed again, as listeners do that turn a sender away.
    #[error(
        "{0} closed the connection without an answer: it may take other senders only (--allow), or no more at once (--max-sessions); its log says why"
    )]
    TurnedAway(String),
    /// Somebody listens, who is no listener for recordings.
    #[error("{0} is no listener for recordings")]
    NoListener(String),
    /// A trace-cmd of before 2.8.
    #[error("the listener at {0} speaks only the protocol of trace-cmd before 2.8")]
    TooOld(String),
}

/// A listener, greeted.
pub(super) enum Greeted {
    /// One of ours: frames follow.
    Ours(Patient),
    /// One of ours that counts datagrams: V3's magic follows.
    Counted(Patient),
    /// trace-cmd's, which waits for a version that it knows.
    TraceCmd(Patient),
}

/// The addresses of `HOST:PORT`, of `@CID:PORT` over vsock, or of this machine with `PORT` alone.
pub(super) fn resolve(place: &str) -> Result<Vec<Address>, ConnectError> {
    let full = if place.contains([':', '@']) { place.to_owned() } else { format!("localhost:{place}") };
    Address::resolve(&full, None).map_err(|source| ConnectError::Address { place: place.to_owned(), source })
}

/// Connects to the first of `addresses` where somebody listens, and offers the version `offer`.
pub(super) fn greet(place: &str, addresses: &[Address], offer: &[u8]) -> Result<Greeted, ConnectError> {
    let failed = |source| ConnectError::Connect { place: place.to_owned(), source };
    let (stream, _) = Stream::connect_any(addresses, GREETING).map_err(|error| failed(error.into()))?;
    let control = Patient::new(stream, GREETING).map_err(|e| failed(e.into()))?;
    let mut wait = || Ok(());
    match control.bytes(BANNER.len(), &mut wait) {
        Ok(banner) if banner == BANNER => {}
        Ok(_) => return Err(ConnectError::NoListener(place.to_owned())),
        Err(ConnectionError::Closed) => return Err(ConnectError::TurnedAway(place.to_owned())),
        Err(error) => return Err(failed(error)),
    }
    control.write(offer).map_err(failed)?;
    let mut answer = match control.text(&mut wait) {
        Ok(answer) => answer,
        Err(ConnectionError::Closed) => return Err(ConnectError::TooOld(place.to_owned())),
        Err(error) => return Err(failed(error)),
    };
    answer.push(0);
    match version_answer(&answer) {
        Ok(VersionAnswer::Ours) => Ok(Greeted::Ours(control)),
        Ok(VersionAnswer::Counted) => Ok(Greeted::Counted(control)),
        Ok(VersionAnswer::V3) => Ok(Greeted::TraceCmd(control)),
        Ok(VersionAnswer::None) => Err(ConnectError::TooOld(place.to_owned())),
        Err(_) => Err(ConnectError::NoListener(place.to_owned())),
    }
}

/// A trace file that lies in memory.
///
/// # Errors
/// If it is none, or the machine has no memory.
pub(in crate::control::network) fn opened(bytes: &[u8]) -> io::Result<Trace> {
    Trace::open(in_memory(bytes)?).map_err(io::Error::other)
}

fn in_memory(bytes: &[u8]) -> io::Result<File> {
    let file = File::from(memfd_create(c"rtrace", MFdFlags::MFD_CLOEXEC)?);
    file.write_all_at(bytes, 0)?;
    Ok(file)
}

/// The description of `trace`, as a file of `version` begins. Its spools are not the receiver's, and it loses them.
///
/// # Errors
/// If the machine has no memory.
pub(in crate::control::network) fn description(trace: &mut Trace, version: Version) -> io::Result<Vec<u8>> {
    trace.spools = None; // a copy with them says that it is unfinished
    let write = |file: File| -> Result<u64, WriteError> {
        match version {
            Version::V6 => NewFile::create(file, trace, version, &[""])?.finish(),
            Version::V7(codec) => SectionWriter::copy_facts(file, trace, codec)?.describe(),
        }
    };
    let file = in_memory(&[])?;
    let size = write(file.try_clone()?).map_err(io::Error::other)?;
    let mut bytes = vec![0; size as usize];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(bytes)
}

/// The way that data takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// TCP, or vsock: in order, and nothing is lost.
    Stream,
    /// A datagram per sub-buffer.
    Udp,
}
