//! From the time stamp counter to nanoseconds, for the clock `x86-tsc`: `--tsc2nsec`, `-C tsc2nsec`.

use super::error::RecordError;
use super::offline::is_offline;
use crate::base::sys::{TaskEvents, page_size};
use crate::base::units::CpuId;
use crate::control::tracefs::Error;

/// The clock that counts what this is about.
pub(super) const CLOCK: &str = "x86-tsc";

/// Multiplier and shift that the kernel itself uses, from perf's first page (since Linux 3.14), the same on all
/// `cpus`.
///
/// # Errors
/// [`Error::NoFeature`] where the kernel keeps time by something else, as in many guests; [`RecordError::Start`] if perf
/// may not be used.
pub(super) fn conversion(cpus: impl Iterator<Item = CpuId>) -> Result<(u32, u32), RecordError> {
    let none = || Error::NoFeature { what: "time stamp counter that it keeps time by".to_owned(), config: None };
    let mut all = None;
    for cpu in cpus {
        let event = match TaskEvents::open(cpu.0, page_size(), page_size() / 4) {
            Err(error) if is_offline(&error) => continue,
            opened => opened.map_err(RecordError::Start)?,
        };
        let (multiplier, shift) = event.tsc_conversion().ok_or_else(none)?;
        let found = (multiplier, u32::from(shift));
        if *all.get_or_insert(found) != found {
            return Err(none().into());
        }
    }
    Ok(all.ok_or_else(none)?)
}

/// The option's data: multiplier, shift, and an offset that no reader uses.
pub(super) fn option((multiplier, shift): (u32, u32)) -> Vec<u8> {
    [&multiplier.to_ne_bytes()[..], &shift.to_ne_bytes(), &0u64.to_ne_bytes()].concat()
}
