//! A guest's clock against its host's: the content of TIME_SHIFT options.
//!
//! ```text
//! u64 peer's TRACEID, u32 flags (bit 0: interpolated), u32 CPUs
//! per CPU  u32 n, n times, n offsets, n scalings
//! per CPU  n fraction bits: not in older files
//! ```
//!
//! All but the counts are u64.

use crate::base::abi::Abi;
use crate::file::trace_dat::put::FileBytes;
use crate::file::trace_dat::{FileError, RawOption};

const INTERPOLATE: u32 = 1;

/// Measurements of a guest's clock against its host's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TimeShift {
    /// TRACEID of the host's recording.
    pub peer: u64,
    /// True if the offset between two samples is interpolated.
    pub interpolate: bool,
    /// Each CPU's samples.
    pub cpus: Vec<Vec<ClockSample>>,
}

/// One measurement: from `time` on, `ts * scaling >> fraction + offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockSample {
    /// The guest's time.
    pub time: u64,
    /// To be added to its times.
    pub offset: i64,
    /// Factor of its times.
    pub scaling: u64,
    /// Bits of the product to be cut off.
    pub fraction: u64,
}

impl ClockSample {
    /// A sample of a clock that runs as fast as its host's.
    pub fn new(time: u64, offset: i64) -> Self {
        ClockSample { time, offset, scaling: 1, fraction: 0 }
    }
}

impl TimeShift {
    /// Reads the bytes of a TIME_SHIFT option. Samples are in the order of their times.
    ///
    /// # Errors
    /// [`FileError::Option`] if they end too early or go on.
    pub fn read(option: &RawOption, abi: Abi) -> Result<Self, FileError> {
        const COLUMNS: u64 = 3 * 8;
        let mut scan = option.scan(abi);
        let cut = || option.error("it ends too early");
        let mut shift = TimeShift { peer: scan.u64().map_err(|_| cut())?, ..TimeShift::default() };
        shift.interpolate = scan.u32().map_err(|_| cut())? & INTERPOLATE != 0;
        for _ in 0..scan.u32().map_err(|_| cut())? {
            let count = u64::from(scan.u32().map_err(|_| cut())?);
            if count.saturating_mul(COLUMNS) > scan.remain() {
                return Err(cut());
            }
            let mut samples = vec![ClockSample { time: 0, offset: 0, scaling: 0, fraction: 0 }; count as usize];
            let mut column = |put: &dyn Fn(&mut ClockSample, u64)| {
                samples.iter_mut().try_for_each(|sample| scan.u64().map(|n| put(sample, n)).map_err(|_| cut()))
            };
            column(&|sample, n| sample.time = n)?;
            column(&|sample, n| sample.offset = n.cast_signed())?;
            column(&|sample, n| sample.scaling = n)?;
            shift.cpus.push(samples);
        }
        if scan.remain() > 0 {
            for sample in shift.cpus.iter_mut().flatten() {
                sample.fraction = scan.u64().map_err(|_| cut())?;
            }
        }
        if scan.remain() > 0 {
            return Err(option.error("it goes on after its end"));
        }
        shift.cpus.iter_mut().for_each(|samples| samples.sort_by_key(|sample| sample.time));
        Ok(shift)
    }

    /// The option's bytes.
    pub fn write(&self, abi: Abi) -> Vec<u8> {
        let mut out = FileBytes::new(abi);
        out.u64(self.peer).u32(if self.interpolate { INTERPOLATE } else { 0 }).u32(self.cpus.len() as u32);
        for samples in &self.cpus {
            out.u32(samples.len() as u32);
            let mut column = |of: &dyn Fn(&ClockSample) -> u64| {
                for sample in samples {
                    out.u64(of(sample));
                }
            };
            column(&|sample| sample.time);
            column(&|sample| sample.offset.cast_unsigned());
            column(&|sample| sample.scaling);
        }
        for sample in self.cpus.iter().flatten() {
            out.u64(sample.fraction);
        }
        out.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::abi::Endian;
    use crate::file::trace_dat::{FilePart, OptionId};

    #[test]
    fn what_is_written_is_read() {
        let option = |data| RawOption { id: OptionId::TIME_SHIFT, data, offset: 0, place: FilePart::Prefix };
        let cpus = vec![
            vec![ClockSample::new(5, -7), ClockSample { time: 9, offset: 8, scaling: 3, fraction: 32 }],
            Vec::new(),
            vec![ClockSample::new(u64::MAX, i64::MIN)],
        ];
        for endian in [Endian::Little, Endian::Big] {
            let abi = Abi { endian, long_size: 8 };
            for interpolate in [false, true] {
                let shift = TimeShift { peer: 77, interpolate, cpus: cpus.clone() };
                let bytes = shift.write(abi);
                assert_eq!(TimeShift::read(&option(bytes.clone()), abi).unwrap(), shift);
                assert!(TimeShift::read(&option(bytes[..bytes.len() - 1].to_vec()), abi).is_err());
                assert!(TimeShift::read(&option([&bytes[..], &[0]].concat()), abi).is_err());
                // trace-cmd 2.9 has no fractions
                let older = TimeShift::read(&option(bytes[..bytes.len() - 3 * 8].to_vec()), abi).unwrap();
                assert_eq!((older.cpus[0][0], older.cpus[0][1].fraction), (cpus[0][0], 0));
            }
        }
    }
}
