//! The clocks of two machines, compared while both record: trace-cmd's protocol `ptp`, and for guests of KVM `kvm`.
//! The controller's side: asks for measurements, stamps probes and sends them back, or says what KVM knows.
//! The offset of two clocks from the stamps of probes.
//!
//! On a connection of its own the controller asks for rounds: one before tracing is on, one from time to time, one after
//! CLOSE. In a round the agent sends probes for each of its CPUs ([`Prober`]), which the controller sends back at once and
//! stamps ([`Answerer`]). Stamps are readings of the trace clocks. A probe leaves at `s`, is stamped `c` at the controller, and
//! is back at `r`: `c` lies between, so that `c - (s + r) / 2`, to be added to the agent's times, is wrong by `(r - s) / 2` at
//! most. The fastest probe of a series counts.

use crate::control::network::patient::{ConnectionError, Patient, Tick};
use crate::control::network::transport::Stream;
use crate::control::network::wire::{KvmClock, MAX_PROBES, Message, ProbeStamp, TimeSync};
use crate::control::record::TraceClockReader;
use crate::control::tracefs::KvmGuest;
use crate::file::trace_dat::{ClockComparison, ClockSample, TimeShift};
use crossbeam_channel::{Receiver, RecvTimeoutError};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use std::collections::HashMap;
use std::io;
use std::time::{Duration, Instant};

/// Time without a message after which a measurement is given up.
const SILENCE: Duration = Duration::from_secs(10);

/// More messages than any agent sends for a measurement.
const MOST_MESSAGES: usize = MAX_PROBES + 16;

/// A way to compare the clocks.
#[derive(Debug)]
pub(super) enum Comparing {
    /// By probes, which are stamped with the host's clock.
    Probes(Box<TraceClockReader>),
    /// By what KVM knows of the guest's counters; the host's clock has that name.
    Kvm(KvmGuest, String),
}

/// A controller's connection for time synchronization.
#[derive(Debug)]
pub(super) struct Answerer {
    control: Patient,
    comparing: Comparing,
    cpus: Vec<Vec<ClockMeasurement>>,
    rounds: u32,
}

/// The result of all measurements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SyncResult {
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

// The agent's side: sends probes when it is asked to, and works out the offset, or asks the controller for it.
//
// trace-cmd's protocol `kvm`: the host knows the offset of its guest's counter, of which KVM keeps account.
//
// For each CPU the agent asks with the time of a marker that it has just written, and the controller answers with what is to
// be added to it: minus the offset that KVM adds to the host's counter. There is nothing to measure, and no error. Only counters
// that are not scaled are compared so: what trace-cmd does with the factor holds for no other.

/// Time after which a series has enough probes, if one of them was fast.
const ENOUGH: Duration = Duration::from_millis(50);
/// A round trip that is not worth waiting for a better one.
const FAST: Duration = Duration::from_micros(200);
/// Time after which a series has enough probes, on a busy machine or a long way.
const LONGEST: Duration = Duration::from_millis(500);
/// Probes that it has at least.
const FEWEST: u32 = 10;
/// The fastest probe counts alone; stamps are of the trace clock.
const FLAGS: u32 = 3;

/// An agent's connection for time synchronization.
#[derive(Debug)]
pub(super) struct Prober {
    pub(in crate::control::network) control: Patient,
    pub(in crate::control::network) clock: TraceClockReader,
    /// The controller takes the error of an offset.
    pub(in crate::control::network) ours: bool,
    /// The controller knows the offset by KVM.
    pub(in crate::control::network) kvm: bool,
}

impl Prober {
    /// Measures as often as the controller wishes, until it says that this is all.
    pub(in crate::control::network) fn serve(mut self, tick: &mut Tick<'_>) -> Result<(), ConnectionError> {
        for series in 1.. {
            // Also where the controller never pauses.
            tick()?;
            match self.next(tick)? {
                TimeSync::Measure(cpu) => {
                    // On a CPU that is not there or not allowed: where the thread is.
                    let mut cpus = CpuSet::new();
                    let _ = cpus.set(cpu.into()).and_then(|()| sched_setaffinity(Pid::from_raw(0), &cpus));
                    match self.kvm {
                        true => ask(&self.control, &mut self.clock, tick)?,
                        false => self.measure(series, tick)?,
                    }
                }
                TimeSync::Stop => break,
                other => return Err(unexpected(&other)),
            }
        }
        self.clock.close().map_err(|error| io::Error::other(error.to_string()).into())
    }

    fn measure(&mut self, series: u32, tick: &mut Tick<'_>) -> Result<(), ConnectionError> {
        self.echoed(TimeSync::Start { series, flags: FLAGS }, tick)?;
        let (since, mut fastest_trip) = (Instant::now(), Duration::MAX);
        for number in 1..=MAX_PROBES as u32 {
            let left = Instant::now();
            self.clock.read(number * 2)?;
            self.echoed(TimeSync::Probe(number), tick)?;
            self.clock.read(number * 2 + 1)?;
            fastest_trip = fastest_trip.min(left.elapsed());
            let enough = if fastest_trip < FAST { ENOUGH } else { LONGEST };
            if number >= FEWEST && since.elapsed() > enough {
                break;
            }
        }
        self.send(TimeSync::End)?;
        let there = match self.next(tick)? {
            TimeSync::Probes { series: of, stamps } if of == series => stamps,
            other => return Err(unexpected(&other)),
        };
        let mut here: HashMap<u32, (u64, u64)> = HashMap::new();
        for (reading, time) in self.clock.readings()? {
            let (left, back) = here.entry(reading / 2).or_insert((u64::MAX, 0));
            *(if reading % 2 == 0 { left } else { back }) = time;
        }
        let nothing = || io::Error::other("no probe was stamped on both sides");
        let measured = fastest(&here, &there).ok_or_else(nothing)?;
        let error = measured.error.filter(|_| self.ours);
        self.send(TimeSync::Offset { time: measured.time, offset: measured.offset, error })
    }

    fn send(&self, message: TimeSync) -> Result<(), ConnectionError> {
        self.control.write(&Message::TimeSync(message).bytes())
    }

    fn next(&self, tick: &mut Tick<'_>) -> Result<TimeSync, ConnectionError> {
        next(&self.control, tick)
    }

    /// Sends a message and waits for it to come back.
    fn echoed(&self, message: TimeSync, tick: &mut Tick<'_>) -> Result<(), ConnectionError> {
        self.send(message.clone())?;
        match self.next(tick)? {
            echo if echo == message => Ok(()),
            other => Err(unexpected(&other)),
        }
    }
}

/// The agent's part.
fn ask(control: &Patient, clock: &mut TraceClockReader, tick: &mut Tick<'_>) -> Result<(), ConnectionError> {
    clock.readings()?;
    clock.read(0)?;
    let found = clock.readings()?.pop();
    let (_, time) = found.ok_or_else(|| io::Error::other("the marker that was written is not in the ring"))?;
    let request = KvmClock { time: time.cast_signed(), ..KvmClock::default() };
    control.write(&Message::TimeSync(TimeSync::KvmRequest(request)).bytes())?;
    match next(control, tick)? {
        // The controller keeps it.
        TimeSync::KvmResponse(clock) if clock.time == request.time => Ok(()),
        other => Err(unexpected(&other)),
    }
}

/// The controller's part, for the CPU number `cpu` of `guest`.
fn answer(
    control: &Patient,
    guest: &KvmGuest,
    cpu: u16,
    tick: &mut Tick<'_>,
) -> Result<ClockMeasurement, ConnectionError> {
    let request = match next(control, tick)? {
        TimeSync::KvmRequest(request) => request,
        other => return Err(unexpected(&other)),
    };
    let offset = guest.offset(cpu.into())?.wrapping_neg();
    let response = KvmClock { time: request.time, offset, scaling: 1, fraction: 0 };
    control.write(&Message::TimeSync(TimeSync::KvmResponse(response)).bytes())?;
    Ok(ClockMeasurement { time: request.time.cast_unsigned(), offset, error: Some(0) })
}

/// The next message of time synchronization.
fn next(control: &Patient, tick: &mut Tick<'_>) -> Result<TimeSync, ConnectionError> {
    match control.message(tick)? {
        Message::TimeSync(message) => Ok(message),
        _ => Err(io::Error::other("the peer sent something else than time synchronization").into()),
    }
}

/// A message that is not the one that is due.
fn unexpected(message: &TimeSync) -> ConnectionError {
    let what: String = format!("{message:?}").chars().take(60).collect();
    io::Error::other(format!("the peer sent another message of time synchronization than the one that is due: {what}"))
        .into()
}

/// One measurement of the agent's clock against the controller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::control::network) struct ClockMeasurement {
    /// The agent's time when it was made.
    pub(in crate::control::network) time: u64,
    /// To be added to the agent's times.
    pub(in crate::control::network) offset: i64,
    /// The most by which it can be wrong, if that is known.
    pub(in crate::control::network) error: Option<u64>,
}

/// The probe that was back first decides. `there` are the controller's stamps; `here` the agent's: when the probe left, when it
/// was back. `None` without a probe that all three know.
fn fastest(here: &HashMap<u32, (u64, u64)>, there: &[ProbeStamp]) -> Option<ClockMeasurement> {
    let complete = there.iter().filter_map(|stamp| {
        let &(left, back) = here.get(&stamp.number)?;
        Some((left, back.checked_sub(left)?, stamp.time))
    });
    let (left, trip, time) = complete.min_by_key(|(_, trip, _)| *trip)?;
    let middle = left.wrapping_add(trip / 2);
    Some(ClockMeasurement {
        time: middle,
        offset: time.wrapping_sub(middle).cast_signed(),
        error: Some(trip.div_ceil(2)),
    })
}

/// The most by which the result of a series can be wrong, from the controller's `stamps` alone: a probe leaves after the one
/// before it was stamped, and is back before the next one is.
fn bound(stamps: &[u64]) -> Option<u64> {
    let trips = stamps.windows(3).filter_map(|three| three[2].checked_sub(three[0]));
    // That of the fastest: its trip is not longer than the shortest of these.
    trips.min().map(|trip| trip.div_ceil(2))
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod fastest_tests {
    use super::*;

    #[test]
    fn the_fastest_probe_decides() {
        // The controller is 1,000 ahead; the way there takes 30 and back 10, then 5 and 5.
        let here = HashMap::from([(1, (100, 140)), (2, (200, 210)), (3, (300, 290))]);
        let stamp = |number: u32, time: u64| ProbeStamp { number, time };
        let there = [stamp(1, 1130), stamp(2, 1205), stamp(3, 1300), stamp(4, 1400)];
        assert_eq!(fastest(&here, &there), Some(ClockMeasurement { time: 205, offset: 1000, error: Some(5) }));
        let slow = fastest(&here, &there[..1]).unwrap();
        assert_eq!((slow.offset, slow.error), (1010, Some(20)));
        assert_eq!(fastest(&here, &there[2..]), None);
        // One that is behind.
        let behind = fastest(&HashMap::from([(1, (10_000, 10_003))]), &[stamp(1, 2)]).unwrap();
        assert_eq!((behind.offset, behind.error), (-9999, Some(2)));
    }

    #[test]
    fn a_bound_from_one_side() {
        assert_eq!(bound(&[10, 20, 31, 40, 62]), Some(10));
        assert_eq!(bound(&[10, 20]), None);
    }
}
