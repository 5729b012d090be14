//! trace-cmd's protocol `kvm`: the host knows the offset of its guest's counter, of which KVM keeps account.
//!
//! For each CPU the agent asks with the time of a marker that it has just written, and the controller answers with what is to
//! be added to it: minus the offset that KVM adds to the host's counter. There is nothing to measure, and no error. Only counters
//! that are not scaled are compared so: what trace-cmd does with the factor holds for no other.

use super::fastest::ClockMeasurement;
use super::messages::{next, unexpected};
use crate::control::network::patient::{ConnectionError, Patient, Tick};
use crate::control::network::wire::{KvmClock, Message, TimeSync};
use crate::control::record::TraceClockReader;
use crate::control::tracefs::KvmGuest;
use std::io;

/// The agent's part.
pub(super) fn ask(control: &Patient, clock: &mut TraceClockReader, tick: &mut Tick<'_>) -> Result<(), ConnectionError> {
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
