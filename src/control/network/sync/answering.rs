//! The controller's side: asks for measurements, stamps probes and sends them back, or says what KVM knows.

use super::fastest::{ClockMeasurement, bound};
use super::probing::{answer, next, unexpected};
use crate::control::network::patient::{ConnectionError, Patient, Tick};
use crate::control::network::transport::Stream;
use crate::control::network::wire::{MAX_PROBES, Message, ProbeStamp, TimeSync};
use crate::control::record::TraceClockReader;
use crate::control::tracefs::KvmGuest;
use crate::file::trace_dat::{ClockComparison, ClockSample, TimeShift};
use crossbeam_channel::{Receiver, RecvTimeoutError};
use std::io;
use std::time::Duration;

/// Time without a message after which a measurement is given up.
const SILENCE: Duration = Duration::from_secs(10);

/// More messages than any agent sends for a measurement.
const MOST_MESSAGES: usize = MAX_PROBES + 16;

/// A way to compare the clocks.
#[derive(Debug)]
pub(in crate::control::network) enum Comparing {
    /// By probes, which are stamped with the host's clock.
    Probes(Box<TraceClockReader>),
    /// By what KVM knows of the guest's counters; the host's clock has that name.
    Kvm(KvmGuest, String),
}

/// A controller's connection for time synchronization.
#[derive(Debug)]
pub(in crate::control::network) struct Answerer {
    control: Patient,
    comparing: Comparing,
    cpus: Vec<Vec<ClockMeasurement>>,
    rounds: u32,
}

/// The result of all measurements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::control::network) struct SyncResult {
    /// The samples, for the guest's file.
    pub(in crate::control::network) shift: Option<TimeShift>,
    /// Their quality, or the reason why there are none.
    pub(in crate::control::network) comparison: ClockComparison,
    /// The reason why there were no more of them.
    pub(in crate::control::network) failed: Option<String>,
}

impl SyncResult {
    /// Without a measurement.
    pub(in crate::control::network) fn not(why: String) -> Self {
        SyncResult { shift: None, comparison: ClockComparison::Not(why), failed: None }
    }

    /// The last measurement of the first CPU: to be added to the guest's times.
    pub(in crate::control::network) fn offset(&self) -> Option<i64> {
        Some(self.shift.as_ref()?.cpus.first()?.last()?.offset)
    }
}

impl Answerer {
    /// For an agent with `cpus`, over `stream`.
    pub(in crate::control::network) fn new(stream: Stream, comparing: Comparing, cpus: usize) -> io::Result<Self> {
        let control = Patient::new(stream, SILENCE)?;
        Ok(Answerer { control, comparing, cpus: vec![Vec::new(); cpus], rounds: 0 })
    }

    /// Measures each CPU once. `tick` may end that while nothing comes.
    pub(in crate::control::network) fn round(&mut self, tick: &mut Tick<'_>) -> Result<(), ConnectionError> {
        let mut measured = Vec::new();
        for cpu in 0..self.cpus.len() {
            measured.push(self.measure(cpu as u16, tick)?);
        }
        self.cpus.iter_mut().zip(measured).for_each(|(cpu, measured)| cpu.push(measured));
        self.rounds += 1;
        Ok(())
    }

    /// Measures every so often (never, if that is 0) until something comes from `over`, and once more then; without that last
    /// time if nothing will come any more. `peer` is the TRACEID of the host's recording.
    pub(in crate::control::network) fn run(mut self, every: Duration, over: &Receiver<()>, peer: u64) -> SyncResult {
        let every = if every.is_zero() { Duration::MAX } else { every };
        let outcome = loop {
            match over.recv_timeout(every) {
                Ok(()) => break self.round(&mut || Ok(())),
                Err(RecvTimeoutError::Disconnected) => break Ok(()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if let Err(error) = self.round(&mut || Ok(())) {
                break Err(error);
            }
        };
        let _ = self.stop();
        self.into_result(peer, outcome.err().map(|error| error.to_string()))
    }

    /// Says that this was all.
    pub(in crate::control::network) fn stop(&self) -> Result<(), ConnectionError> {
        self.control.write(&Message::TimeSync(TimeSync::Stop).bytes())
    }

    fn into_result(self, peer: u64, failed: Option<String>) -> SyncResult {
        let Answerer { comparing, cpus, rounds, .. } = self;
        let (host, interpolate) = match comparing {
            Comparing::Probes(clock) => {
                let name = clock.name().to_owned();
                // A clock's instance that cannot be removed is a killed recorder's business: `reset --stale`.
                let _ = clock.close();
                (name, true)
            }
            Comparing::Kvm(_, name) => (name, false),
        };
        let errors: Option<Vec<u64>> = cpus.iter().flatten().map(|measured| measured.error).collect();
        let comparison =
            ClockComparison::Compared { host, error: errors.and_then(|errors| errors.into_iter().max()), rounds };
        let sample = |measured: &ClockMeasurement| ClockSample::new(measured.time, measured.offset);
        let cpus = cpus.iter().map(|cpu| cpu.iter().map(sample).collect()).collect();
        SyncResult { shift: Some(TimeShift { peer, interpolate, cpus }), comparison, failed }
    }

    fn measure(&mut self, cpu: u16, tick: &mut Tick<'_>) -> Result<ClockMeasurement, ConnectionError> {
        self.send(TimeSync::Measure(cpu))?;
        let clock = match &mut self.comparing {
            Comparing::Kvm(guest, _) => return answer(&self.control, guest, cpu, tick),
            Comparing::Probes(clock) => clock,
        };
        let send = |message: TimeSync| self.control.write(&Message::TimeSync(message).bytes());
        let (mut of, mut probes, mut last) = (0, 0, Vec::new());
        for _ in 0..MOST_MESSAGES {
            match next(&self.control, tick)? {
                TimeSync::Start { series, flags } => {
                    (of, probes) = (series, 0);
                    clock.readings()?;
                    send(TimeSync::Start { series, flags })?;
                }
                TimeSync::Probe(number) if probes < MAX_PROBES => {
                    clock.read(number)?;
                    send(TimeSync::Probe(number))?;
                    probes += 1;
                }
                TimeSync::End => {
                    let mut stamps: Vec<ProbeStamp> =
                        clock.readings()?.into_iter().map(|(number, time)| ProbeStamp { time, number }).collect();
                    stamps.sort_by_key(|stamp| stamp.time);
                    stamps.truncate(MAX_PROBES);
                    last = stamps.iter().map(|stamp| stamp.time).collect();
                    send(TimeSync::Probes { series: of, stamps })?;
                }
                TimeSync::Offset { time, offset, error } => {
                    return Ok(ClockMeasurement { time, offset, error: error.or_else(|| bound(&last)) });
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
