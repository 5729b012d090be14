//! From a CPU's raw time stamps to the ones that are shown.

use crate::abi::Abi;
use crate::ring_buffer::Item;
use crate::trace_dat::{FileError, OptionId, RawOption, Trace};
use crate::units::CpuId;
use std::num::NonZero;
use std::sync::Arc;

/// Which of a file's corrections are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeOptions {
    /// None at all: raw time stamps.
    pub raw: bool,
    /// Whether to add the DATE option.
    pub date: bool,
    /// To be added to every time stamp, in the clock's unit.
    pub offset: i64,
    /// The clock's frequency per second, if its numbers are to be made nanoseconds.
    pub frequency: Option<NonZero<u64>>,
}

impl Default for TimeOptions {
    fn default() -> Self {
        TimeOptions { raw: false, date: true, offset: 0, frequency: None }
    }
}

/// What is to be done to one CPU's time stamps: first the guest's shift to its host, then ticks to nanoseconds, then
/// the offsets.
#[derive(Clone, Debug, Default)]
pub struct Correction {
    any: bool,
    shift: Option<Arc<Vec<Sample>>>,
    interpolate: bool,
    tsc: Option<(u32, u32)>,
    frequency: Option<NonZero<u64>>,
    offset: i64,
}

/// One measurement of a guest's clock against its host's: from `time` on, `ts * scaling >> fraction + offset`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sample {
    time: u64,
    offset: i64,
    scaling: u64,
    fraction: u64,
}

const INTERPOLATE: u32 = 1;

impl Correction {
    /// Applies it.
    #[inline]
    pub fn apply(&self, timestamp: u64) -> u64 {
        if self.any { self.slow(timestamp) } else { timestamp }
    }

    /// Applies it to the times of records.
    pub(crate) fn apply_to(&self, items: &mut [Item]) {
        if self.any {
            items.iter_mut().for_each(|item| item.timestamp = self.slow(item.timestamp));
        }
    }

    #[inline(never)]
    fn slow(&self, mut ts: u64) -> u64 {
        if let Some(samples) = &self.shift {
            ts = to_host(samples, self.interpolate, ts);
        }
        if let Some(frequency) = self.frequency {
            // What does not fit is a clock of which the frequency is not this one.
            let nanos = u128::from(ts) * 1_000_000_000 / u128::from(frequency.get());
            ts = u64::try_from(nanos).unwrap_or(u64::MAX);
        } else if let Some((mult, shift)) = self.tsc {
            ts = ((u128::from(ts) * u128::from(mult)) >> shift) as u64;
        }
        ts.wrapping_add_signed(self.offset)
    }
}

/// A guest's time stamp on its host's clock. Before the first and after the last sample the nearest interval holds.
fn to_host(samples: &[Sample], interpolate: bool, ts: u64) -> u64 {
    let scaled = |s: &Sample| ((u128::from(ts) * u128::from(s.scaling)) >> s.fraction.min(127)) as u64;
    let after = samples.partition_point(|s| s.time <= ts);
    let low = after.saturating_sub(1).min(samples.len().saturating_sub(2));
    let Some(a) = samples.get(low) else { return ts };
    let mut offset = a.offset;
    if let Some(b) = samples.get(low + 1)
        && interpolate
        && b.time > a.time
    {
        let run = i128::from(ts) - i128::from(a.time);
        let rise = i128::from(b.offset) - i128::from(a.offset);
        let between = i128::from(b.time - a.time);
        // half a unit is added before the fraction is cut off, also where the offset falls, as trace-cmd does
        let twice = run.saturating_mul(rise).saturating_mul(2).saturating_add(between);
        offset = offset.wrapping_add((twice / (2 * between)) as i64);
    }
    scaled(a).wrapping_add_signed(offset)
}

impl Trace {
    /// The correction of the time stamps of `cpu`.
    ///
    /// # Errors
    /// [`FileError::Option`] if an option that says so is malformed.
    pub fn correction(&self, cpu: CpuId, options: &TimeOptions) -> Result<Correction, FileError> {
        let mut to = Correction { offset: options.offset, frequency: options.frequency, ..Correction::default() };
        if options.raw {
            return Ok(Correction::default());
        }
        for option in &self.options {
            match option.id {
                OptionId::DATE if options.date => to.offset = to.offset.wrapping_add(date(option)?),
                OptionId::OFFSET => to.offset = to.offset.wrapping_add(offset(option)?),
                OptionId::TSC2NSEC => to.tsc = Some(tsc(option, self.abi)?),
                OptionId::TIME_SHIFT => {
                    let (samples, flags) = time_shift(option, self.abi, cpu)?;
                    to.shift = (!samples.is_empty()).then(|| Arc::new(samples));
                    to.interpolate = flags & INTERPOLATE != 0;
                }
                _ => {}
            }
        }
        to.any = to.shift.is_some() || to.tsc.is_some() || to.frequency.is_some() || to.offset != 0;
        Ok(to)
    }
}

/// `0x<hex>` microseconds, to nanoseconds.
fn date(option: &RawOption) -> Result<i64, FileError> {
    let text = option.text();
    let text = text.trim();
    let us = match text.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).map(|n| n as i64),
        None => text.parse(),
    };
    us.ok().and_then(|us| us.checked_mul(1000)).ok_or_else(|| option.error("it is not a hexadecimal number"))
}

fn offset(option: &RawOption) -> Result<i64, FileError> {
    option.text().trim().parse().map_err(|_| option.error("it is not a number"))
}

fn tsc(option: &RawOption, abi: Abi) -> Result<(u32, u32), FileError> {
    let mut scan = option.scan(abi);
    let cut = |_| option.error("it ends too early");
    let (mult, shift) = (scan.u32().map_err(cut)?, scan.u32().map_err(cut)?);
    if mult == 0 || shift > 63 {
        return Err(option.error("its multiplier or shift cannot be"));
    }
    Ok((mult, shift))
}

/// u64 peer, u32 flags, u32 CPUs, per CPU {u32 n, n times, n offsets, n scalings}, then, in newer files, per CPU n
/// fraction bits.
fn time_shift(option: &RawOption, abi: Abi, wanted: CpuId) -> Result<(Vec<Sample>, u32), FileError> {
    let mut scan = option.scan(abi);
    let cut = |_| option.error("it ends too early");
    let _peer = scan.u64().map_err(cut)?;
    let flags = scan.u32().map_err(cut)?;
    let cpus = scan.u32().map_err(cut)?;
    let mut samples = Vec::new();
    let mut counts = Vec::new();
    for cpu in 0..cpus {
        let n = scan.u32().map_err(cut)?;
        if u64::from(n) * 24 > scan.remain() {
            return Err(option.error("it ends too early"));
        }
        counts.push(n);
        let mut columns = Vec::with_capacity(3 * n as usize);
        for _ in 0..3 * n {
            columns.push(scan.u64().map_err(cut)?);
        }
        if cpu == wanted.0 {
            let n = n as usize;
            samples = (0..n)
                .map(|i| Sample {
                    time: columns[i],
                    offset: columns[n + i] as i64,
                    scaling: columns[2 * n + i],
                    fraction: 0,
                })
                .collect();
        }
    }
    if scan.remain() > 0 {
        let mut fractions = Vec::new();
        for (cpu, &n) in counts.iter().enumerate() {
            for _ in 0..n {
                fractions.push(scan.u64().map_err(cut)?);
            }
            if cpu == wanted.0 as usize {
                for (sample, &fraction) in samples.iter_mut().zip(&fractions) {
                    sample.fraction = fraction;
                }
            }
            fractions.clear();
        }
    }
    samples.sort_by_key(|s| s.time);
    Ok((samples, flags))
}
