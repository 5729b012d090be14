//! The controller's side: asks for measurements, stamps probes and sends them back.

use super::fastest::{Measured, bound};
use super::probing::{next, unexpected};
use crate::network::patient::{ConnectionError, Patient, Tick};
use crate::network::transport::Stream;
use crate::network::wire::{MAX_PROBES, Message, ProbeStamp, TimeSync};
use crate::record::TraceClockReader;
use crate::trace_dat::{ClockComparison, ClockSample, TimeShift};
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

/// Time without a message after which a measurement is given up.
const SILENCE: Duration = Duration::from_secs(10);

/// More messages than any agent sends for a measurement.
const MOST_MESSAGES: usize = MAX_PROBES + 16;

/// A controller's connection for time synchronization.
#[derive(Debug)]
pub(in crate::network) struct Answerer {
    control: Patient,
    clock: TraceClockReader,
    cpus: Vec<Vec<Measured>>,
    rounds: u32,
}

/// The result of all measurements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::network) struct Compared {
    /// The samples, for the guest's file.
    pub(in crate::network) shift: Option<TimeShift>,
    /// Their quality, or the reason why there are none.
    pub(in crate::network) comparison: ClockComparison,
    /// The reason why there were no more of them.
    pub(in crate::network) failed: Option<String>,
}

impl Compared {
    /// Without a measurement.
    pub(in crate::network) fn not(why: String) -> Self {
        Compared { shift: None, comparison: ClockComparison::Not(why), failed: None }
    }

    /// The last measurement of the first CPU: to be added to the guest's times.
    pub(in crate::network) fn offset(&self) -> Option<i64> {
        Some(self.shift.as_ref()?.cpus.first()?.last()?.offset)
    }
}

impl Answerer {
    /// For an agent with `cpus`, over `stream`. `clock` is that of the host's recording.
    pub(in crate::network) fn new(stream: Stream, clock: TraceClockReader, cpus: usize) -> io::Result<Self> {
        let control = Patient::new(stream, SILENCE)?;
        Ok(Answerer { control, clock, cpus: vec![Vec::new(); cpus], rounds: 0 })
    }

    /// Measures each CPU once.
    pub(in crate::network) fn round(&mut self) -> Result<(), ConnectionError> {
        let mut measured = Vec::new();
        for cpu in 0..self.cpus.len() {
            measured.push(self.measure(cpu as u16, &mut || Ok(()))?);
        }
        self.cpus.iter_mut().zip(measured).for_each(|(cpu, measured)| cpu.push(measured));
        self.rounds += 1;
        Ok(())
    }

    /// Measures every so often (never, if that is 0) until something comes from `over`, and once more then; without that last
    /// time if nothing will come any more. `peer` is the TRACEID of the host's recording.
    pub(in crate::network) fn run(mut self, every: Duration, over: &Receiver<()>, peer: u64) -> Compared {
        let every = if every.is_zero() { Duration::MAX } else { every };
        let outcome = loop {
            match over.recv_timeout(every) {
                Ok(()) => break self.round(),
                Err(RecvTimeoutError::Disconnected) => break Ok(()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Err(error) = self.round() {
                break Err(error);
            }
        };
        let _ = self.stop();
        self.into_result(peer, outcome.err().map(|error| error.to_string()))
    }

    /// Says that this was all.
    pub(in crate::network) fn stop(&self) -> Result<(), ConnectionError> {
        self.control.write(&Message::TimeSync(TimeSync::Stop).bytes())
    }

    fn into_result(self, peer: u64, failed: Option<String>) -> Compared {
        let Answerer { clock, cpus, rounds, .. } = self;
        let errors: Option<Vec<u64>> = cpus.iter().flatten().map(|measured| measured.error).collect();
        let comparison = ClockComparison::Compared {
            host: clock.name().to_owned(),
            error: errors.and_then(|errors| errors.into_iter().max()),
            rounds,
        };
        let sample = |measured: &Measured| ClockSample::new(measured.time, measured.offset);
        let cpus = cpus.iter().map(|cpu| cpu.iter().map(sample).collect()).collect();
        // A clock's instance that cannot be removed is a killed recorder's business: `reset --stale`.
        let _ = clock.close();
        Compared { shift: Some(TimeShift { peer, interpolate: true, cpus }), comparison, failed }
    }

    fn measure(&mut self, cpu: u16, tick: &mut Tick<'_>) -> Result<Measured, ConnectionError> {
        self.send(TimeSync::Measure(cpu))?;
        let (mut of, mut probes, mut last) = (0, 0, Vec::new());
        for _ in 0..MOST_MESSAGES {
            match next(&self.control, tick)? {
                TimeSync::Start { series, flags } => {
                    (of, probes) = (series, 0);
                    self.clock.readings()?;
                    self.send(TimeSync::Start { series, flags })?;
                }
                TimeSync::Probe(number) if probes < MAX_PROBES => {
                    self.clock.read(number)?;
                    self.send(TimeSync::Probe(number))?;
                    probes += 1;
                }
                TimeSync::End => {
                    let mut stamps: Vec<ProbeStamp> =
                        self.clock.readings()?.into_iter().map(|(number, time)| ProbeStamp { time, number }).collect();
                    stamps.sort_by_key(|stamp| stamp.time);
                    stamps.truncate(MAX_PROBES);
                    last = stamps.iter().map(|stamp| stamp.time).collect();
                    self.send(TimeSync::Probes { series: of, stamps })?;
                }
                TimeSync::Offset { time, offset, error } => {
                    return Ok(Measured { time, offset, error: error.or_else(|| bound(&last)) });
                }
                other => return Err(unexpected(&other)),
            }
        }
        Err(io::Error::other("the agent sends probes without end").into())
    }

    fn send(&self, message: TimeSync) -> Result<(), ConnectionError> {
        self.control.write(&Message::TimeSync(message).bytes())
    }
}
