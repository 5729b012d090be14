//! Data connections of a recording that leaves in trace-cmd's way: one per CPU, bare sub-buffers.

use crate::network::transport::Stream;
use crate::record::{Dropped, RemoteRing};
use crate::units::CpuId;
use std::io::{self, Write};
use std::net::Shutdown;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A ring's connection, from the beginning to its end.
type Slot = Arc<Mutex<Option<Stream>>>;

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The connections of a recording's rings.
#[derive(Debug, Default)]
pub(in crate::network) struct DataStreams {
    rings: Vec<(CpuId, Slot)>,
}

impl DataStreams {
    /// Announces the ring of `cpu`.
    pub(in crate::network) fn ring(&mut self, cpu: CpuId) -> Box<dyn RemoteRing> {
        let slot = Slot::default();
        self.rings.push((cpu, Arc::clone(&slot)));
        Box::new(SenderRing { slot, sent: 0 })
    }

    /// Number of connections: ports have the numbers of the CPUs, which may have gaps.
    pub(in crate::network) fn cpus(&self) -> u32 {
        self.rings.iter().map(|ring| ring.0.0 + 1).max().unwrap_or(1)
    }

    /// Connects the ring of `cpu`. A CPU that is not recorded has no data: its connection ends at once.
    pub(in crate::network) fn connect(&self, cpu: usize, stream: Stream) {
        if let Some((_, slot)) = self.rings.iter().find(|ring| ring.0.0 as usize == cpu) {
            *locked(slot) = Some(stream);
        }
    }
}

#[derive(Debug)]
struct SenderRing {
    slot: Slot,
    sent: u64,
}

impl RemoteRing for SenderRing {
    fn append(&mut self, chunk: &[u8], _raw: u64) -> io::Result<()> {
        let slot = locked(&self.slot);
        let mut stream = slot.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        stream.write_all(chunk)?;
        self.sent += chunk.len() as u64;
        Ok(())
    }

    fn note(&mut self, _events: u64) {}

    fn taken(&self) -> u64 {
        self.sent
    }

    fn settle(&mut self) -> Dropped {
        if let Some(stream) = locked(&self.slot).take() {
            let _ = stream.shutdown(Shutdown::Write);
        }
        Dropped::default()
    }
}
