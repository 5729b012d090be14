//! Data of a recording that leaves in trace-cmd's way: a connection or a FIFO per CPU, bare sub-buffers.
//! The description of one buffer of several, as if it were the only one.

use crate::base::units::CpuId;
use crate::control::network::fifos::GuestPort;
use crate::control::network::transport::Stream;
use crate::control::network::wire::RingCount;
use crate::control::record::{Dropped, RemoteRing};
use crate::file::trace_dat::{OptionId, Trace};
use std::io::Write;
use std::net::Shutdown;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fmt, io};

/// Takes the data of one ring.
pub(in crate::control::network) enum DataWay {
    Socket(Stream),
    /// A FIFO, until the function says that it has no reader.
    Fifo(GuestPort, Box<dyn Fn() -> bool + Send>),
}

impl DataWay {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            DataWay::Socket(stream) => (&*stream).write_all(bytes),
            DataWay::Fifo(port, is_over) => port.write_all(bytes, is_over),
        }
    }

    fn end(self) {
        match self {
            DataWay::Socket(stream) => drop(stream.shutdown(Shutdown::Write)),
            DataWay::Fifo(port, _) => drop(port),
        }
    }
}

impl fmt::Debug for DataWay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DataWay::Socket(stream) => stream.fmt(f),
            DataWay::Fifo(port, _) => port.fmt(f),
        }
    }
}

/// A ring's way, from the beginning to its end.
#[derive(Debug, Default)]
struct Slot {
    way: Option<DataWay>,
    /// Bytes that went it.
    sent: u64,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The ways of a recording's rings.
#[derive(Debug, Default)]
pub(in crate::control::network) struct DataStreams {
    rings: Vec<(CpuId, Arc<Mutex<Slot>>)>,
}

impl DataStreams {
    /// Announces the ring of `cpu`.
    pub(in crate::control::network) fn ring(&mut self, cpu: CpuId) -> Box<dyn RemoteRing> {
        let slot = Arc::default();
        self.rings.push((cpu, Arc::clone(&slot)));
        Box::new(StreamSenderRing(slot))
    }

    /// Number of connections: ports have the numbers of the CPUs, which may have gaps.
    pub(in crate::control::network) fn cpus(&self) -> u32 {
        self.rings.iter().map(|ring| ring.0.0 + 1).max().unwrap_or(1)
    }

    /// Gives the ring of `cpu` its way. A CPU that is not recorded has no data: its connection ends at once.
    pub(in crate::control::network) fn connect(&self, cpu: usize, way: DataWay) {
        if let Some((_, slot)) = self.rings.iter().find(|ring| ring.0.0 as usize == cpu) {
            locked(slot).way = Some(way);
        }
    }

    /// The number of sub-buffers of `size` bytes that were sent, for each CPU. Events are not counted.
    pub(in crate::control::network) fn counts(&self, size: u32) -> Vec<RingCount> {
        let mut counts: Vec<RingCount> =
            (0..self.cpus()).map(|cpu| RingCount { cpu, ..RingCount::default() }).collect();
        for (cpu, slot) in &self.rings {
            counts[cpu.0 as usize].sub_buffers = locked(slot).sent / u64::from(size.max(1));
        }
        counts
    }
}

#[derive(Debug)]
struct StreamSenderRing(Arc<Mutex<Slot>>);

impl RemoteRing for StreamSenderRing {
    fn append(&mut self, chunk: &[u8], _raw: u64) -> io::Result<()> {
        let mut slot = locked(&self.0);
        slot.way.as_mut().ok_or(io::ErrorKind::NotConnected)?.write_all(chunk)?;
        slot.sent += chunk.len() as u64;
        Ok(())
    }

    fn note(&mut self, _events: u64) {}

    fn taken(&self) -> u64 {
        locked(&self.0).sent
    }

    fn settle(&mut self) -> Dropped {
        if let Some(way) = locked(&self.0).way.take() {
            way.end();
        }
        Dropped::default()
    }
}

/// Makes `trace`, an unfinished recording, that of its `buffer` alone: its clock, sub-buffers and events.
pub(super) fn narrow_to(trace: &mut Trace, buffer: &str) {
    let entry = trace.spools.as_ref().and_then(|spools| spools.entries.iter().find(|entry| entry.buffer == buffer));
    let Some((clock, page_size)) = entry.map(|entry| (entry.clock.clone(), entry.page_size)) else { return };
    trace.prefix.page_size = page_size;
    let (own, all) = (format!("buffer {buffer}\n"), "buffer \n");
    trace.options.retain(|option| option.id != OptionId::RTRACE_EVENTS || option.data.starts_with(own.as_bytes()));
    for option in &mut trace.options {
        match option.id {
            OptionId::RTRACE_EVENTS => {
                option.data.splice(..own.len(), all.bytes());
            }
            OptionId::TRACECLOCK => option.data = marked(&option.text(), &clock).into_bytes(),
            _ => {}
        }
    }
}

/// The text of `trace_clock` with `clock` as the current one.
fn marked(clocks: &str, clock: &str) -> String {
    let mark = |name: &str| match name.trim_matches(['[', ']']) {
        name if name == clock => format!("[{name}]"),
        name => name.to_owned(),
    };
    clocks.split_whitespace().map(mark).collect::<Vec<_>>().join(" ") + "\n"
}

#[cfg(test)]
mod tests {

    #[test]
    fn the_clock_of_a_buffer_is_marked() {
        assert_eq!(super::marked("[local] global mono\n", "mono"), "local global [mono]\n");
        assert_eq!(super::marked("local [mono]\n", "mono"), "local [mono]\n");
    }
}
