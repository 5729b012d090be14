//! FIFOs by which a guest's data comes, if the host has some for it and its agent opens them.

use super::target::GuestTarget;
use crate::control::network::fifos::{FifoReader, GuestFifos};
use crate::control::network::wire::{FLAG_FIFOS, FLAG_MARKED, FifoMark, TraceResponse};
use std::io;
use std::time::Duration;

/// Time in which the agent's mark comes through a FIFO that is this guest's.
const MARK: Duration = Duration::from_secs(5);

/// FIFOs that are offered to an agent.
#[derive(Debug, Default)]
pub(super) struct OfferedFifos {
    readers: Vec<FifoReader>,
    /// The reason why there are none, if there should be.
    why: Option<String>,
}

impl OfferedFifos {
    /// Those of `target`.
    pub(super) fn of(target: &GuestTarget) -> Self {
        let found = target
            .fifos
            .as_deref()
            .filter(|_| !target.is_host)
            .and_then(|folder| GuestFifos::of(folder, &target.name()));
        match found.map_or(Ok(Vec::new()), |fifos| fifos.open()) {
            Ok(readers) => OfferedFifos { readers, why: None },
            Err(error) => OfferedFifos { readers: Vec::new(), why: Some(error.to_string()) },
        }
    }

    /// Flags of the request, and the number of FIFOs.
    pub(super) fn request(&self) -> (u32, Option<u32>) {
        match self.readers.len() {
            0 => (0, None),
            len => (FLAG_FIFOS, Some(len as u32)),
        }
    }

    /// Those that the agent which gave `response` writes to, from its first byte on; none if it takes connections. Gives a note
    /// for the user, too.
    ///
    /// # Errors
    /// The bytes that come out of them are not of this recording.
    pub(super) fn agreed(self, response: &TraceResponse) -> io::Result<(Vec<FifoReader>, Option<String>)> {
        let OfferedFifos { mut readers, mut why } = self;
        let cpus = response.ports.len();
        if response.flags & FLAG_FIFOS == 0 {
            why = why.or_else(|| match readers.len() {
                0 => None,
                len if len < cpus => Some(format!("there are FIFOs for {len} of its {cpus} CPUs")),
                _ => Some("its agent cannot open the ports to the FIFOs, and its log says why".to_owned()),
            });
            return Ok((Vec::new(), why.map(|why| format!("its data comes over connections: {why}"))));
        }
        if readers.len() < cpus {
            return Err(io::Error::other(format!(
                "its agent writes to FIFOs of {cpus} CPUs, of which {} are there (`rtrace setup-guest -c {cpus}`)",
                readers.len()
            )));
        }
        readers.truncate(cpus);
        let mark = FifoMark::new(response.id);
        let mut dropped = 0u64;
        for reader in &mut readers {
            dropped += match response.flags & FLAG_MARKED {
                0 => reader.drop_rest()?,
                _ => reader.skip_to(mark, MARK)?,
            };
        }
        let note =
            (dropped > 0).then(|| format!("{dropped} bytes that an earlier recording left in its FIFOs are dropped"));
        Ok((readers, note))
    }
}
