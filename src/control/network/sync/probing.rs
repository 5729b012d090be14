//! The agent's side: sends probes when it is asked to, and works out the offset, or asks the controller for it.
//!
//! trace-cmd's protocol `kvm`: the host knows the offset of its guest's counter, of which KVM keeps account.
//!
//! For each CPU the agent asks with the time of a marker that it has just written, and the controller answers with what is to
//! be added to it: minus the offset that KVM adds to the host's counter. There is nothing to measure, and no error. Only counters
//! that are not scaled are compared so: what trace-cmd does with the factor holds for no other.

use super::fastest::{ClockMeasurement, fastest};
use crate::control::network::patient::{ConnectionError, Patient, Tick};
use crate::control::network::wire::{KvmClock, MAX_PROBES, Message, TimeSync};
use crate::control::record::TraceClockReader;
use crate::control::tracefs::KvmGuest;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use std::collections::HashMap;
use std::io;
use std::time::{Duration, Instant};

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
pub(in crate::control::network) struct Prober {
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
pub(super) fn answer(
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
pub(super) fn next(control: &Patient, tick: &mut Tick<'_>) -> Result<TimeSync, ConnectionError> {
    match control.message(tick)? {
        Message::TimeSync(message) => Ok(message),
        _ => Err(io::Error::other("the peer sent something else than time synchronization").into()),
    }
}

/// A message that is not the one that is due.
pub(super) fn unexpected(message: &TimeSync) -> ConnectionError {
    let what: String = format!("{message:?}").chars().take(60).collect();
    io::Error::other(format!("the peer sent another message of time synchronization than the one that is due: {what}"))
        .into()
}
