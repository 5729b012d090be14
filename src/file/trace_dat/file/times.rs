//! Options that say how time stamps become the ones that are shown: DATE, OFFSET, TSC2NSEC, TIME_SHIFT. They are read
//! once; a malformed one is damage, and the recording is read without it.

use super::time_shift::{ClockSample, TimeShift};
use crate::base::abi::Abi;
use crate::file::trace_dat::{FileError, OptionId, RawOption};
use std::sync::Arc;

/// Facts in a file's options about its times.
#[derive(Clone, Debug, Default)]
pub(in crate::file::trace_dat) struct FileTimes {
    /// To be added where the date is wanted, in nanoseconds.
    pub(in crate::file::trace_dat) date: i64,
    /// To be added, in the clock's unit.
    pub(in crate::file::trace_dat) offset: i64,
    /// From ticks to nanoseconds: multiplier and shift.
    pub(in crate::file::trace_dat) tsc: Option<(u32, u32)>,
    /// From the guest's clock to its host's, by CPU.
    pub(in crate::file::trace_dat) shifts: Shifts,
    /// True if the time between two samples is interpolated.
    pub(in crate::file::trace_dat) interpolate: bool,
}

/// Each CPU's samples.
type Shifts = Vec<Arc<[ClockSample]>>;

impl FileTimes {
    /// Reads the facts of `options`; malformed ones go to `damage`.
    pub(in crate::file::trace_dat) fn read(options: &[RawOption], abi: Abi, damage: &mut Vec<FileError>) -> Self {
        let mut times = FileTimes::default();
        for option in options {
            damage.extend(times.take(option, abi).err());
        }
        times
    }

    fn take(&mut self, option: &RawOption, abi: Abi) -> Result<(), FileError> {
        let error = |what| option.error(what);
        match option.id {
            OptionId::DATE => self.date = self.date.wrapping_add(date(option).map_err(error)?),
            OptionId::OFFSET => {
                let offset: i64 = option.text().trim().parse().map_err(|_| error("it is not a number"))?;
                self.offset = self.offset.wrapping_add(offset);
            }
            OptionId::TSC2NSEC => self.tsc = Some(tsc(option, abi).map_err(error)?),
            OptionId::TIME_SHIFT => {
                let shift = TimeShift::read(option, abi)?;
                self.shifts = shift.cpus.into_iter().map(Arc::from).collect();
                self.interpolate = shift.interpolate;
            }
            _ => {}
        }
        Ok(())
    }
}

/// `0x<hex>` microseconds, to nanoseconds.
pub(super) fn date(option: &RawOption) -> Result<i64, &'static str> {
    let text = option.text();
    let text = text.trim();
    let us = match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).map(|n| n as i64),
        None => text.parse(),
    };
    us.ok().and_then(|us| us.checked_mul(1000)).ok_or("it is not a hexadecimal number")
}

/// u32 multiplier, u32 shift, u64 offset, which is not used.
fn tsc(option: &RawOption, abi: Abi) -> Result<(u32, u32), &'static str> {
    let mut scan = option.scan(abi);
    let cut = |_| "it ends too early";
    let (mult, shift) = (scan.u32().map_err(cut)?, scan.u32().map_err(cut)?);
    if mult == 0 || shift > 63 {
        return Err("its multiplier or shift cannot be");
    }
    Ok((mult, shift))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::abi::Endian;
    use crate::file::trace_dat::FilePart;

    fn read(id: OptionId, data: &[u8]) -> (FileTimes, usize) {
        let option = RawOption { id, data: data.to_vec(), offset: 0, place: FilePart::Prefix };
        let mut damage = Vec::new();
        let abi = Abi { endian: Endian::Little, long_size: 8 };
        (FileTimes::read(&[option], abi, &mut damage), damage.len())
    }

    #[test]
    fn what_is_malformed_is_damage_and_counts_for_nothing() {
        assert_eq!(read(OptionId::DATE, b"0x10\0").0.date, 16_000);
        assert_eq!(read(OptionId::OFFSET, b"-5\0").0.offset, -5);
        for (id, data) in [
            (OptionId::DATE, &b"0x1g\0"[..]),
            (OptionId::OFFSET, b"5x\0"),
            (OptionId::TSC2NSEC, b"\0\0\0\0\x01\0\0\0"),
            (OptionId::TIME_SHIFT, b"\0\0\0\0\0\0\0\0\0\0\0\0\x01\0\0\0\xff\0\0\0"),
        ] {
            let (times, damage) = read(id, data);
            assert_eq!(damage, 1, "{id}");
            assert!(times.date == 0 && times.offset == 0 && times.tsc.is_none() && times.shifts.is_empty());
        }
    }
}
