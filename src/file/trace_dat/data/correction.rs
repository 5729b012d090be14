//! From a CPU's raw time stamps to the ones that are shown.

use crate::base::units::CpuId;
use crate::file::ring_buffer::RecordPlace;
use crate::file::trace_dat::{Cgroups, ClockReading, ClockSample, OptionId, QuotaSamples, Trace, WallClock};
use std::num::NonZero;
use std::sync::Arc;

/// The corrections that are wanted, of those in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeOptions {
    /// None at all: raw time stamps.
    pub raw: bool,
    /// True if to add the DATE option.
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

/// The correction of one CPU's time stamps: first the guest's shift to its host, then ticks to nanoseconds, then the
/// offsets.
#[derive(Clone, Debug, Default)]
pub struct Correction {
    any: bool,
    shift: Option<Arc<[ClockSample]>>,
    interpolate: bool,
    tsc: Option<(u32, u32)>,
    frequency: Option<NonZero<u64>>,
    offset: i64,
}

impl Correction {
    /// Applies it.
    #[inline]
    pub fn apply(&self, timestamp: u64) -> u64 {
        if self.any { self.slow(timestamp) } else { timestamp }
    }

    /// Applies it to the times of records.
    pub(crate) fn apply_to(&self, items: &mut [RecordPlace]) {
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
            // A result that does not fit is of a clock with another frequency.
            let nanos = u128::from(ts).saturating_mul(1_000_000_000) / NonZero::<u128>::from(frequency);
            ts = u64::try_from(nanos).unwrap_or(u64::MAX);
        } else if let Some((mult, shift)) = self.tsc {
            ts = (u128::from(ts).saturating_mul(mult.into()) >> shift) as u64;
        }
        ts.wrapping_add_signed(self.offset)
    }
}

/// A guest's time stamp on its host's clock. Before the first and after the last sample the nearest interval holds.
fn to_host(samples: &[ClockSample], interpolate: bool, ts: u64) -> u64 {
    let scaled = |s: &ClockSample| (u128::from(ts).saturating_mul(s.scaling.into()) >> s.fraction.min(127)) as u64;
    let after = samples.partition_point(|s| s.time <= ts);
    let low = after.saturating_sub(1).min(samples.len().saturating_sub(2));
    let Some(a) = samples.get(low) else { return ts };
    let mut offset = a.offset;
    if let Some(b) = low.checked_add(1).and_then(|next| samples.get(next))
        && interpolate
        && let Some(between) = b.time.checked_sub(a.time).and_then(NonZero::new)
    {
        let run = i128::from(ts).saturating_sub(a.time.into());
        let rise = i128::from(b.offset).saturating_sub(a.offset.into());
        let between = i128::from(between.get());
        // half a unit is added before the fraction is cut off, also where the offset falls, as trace-cmd does
        let twice = run.saturating_mul(rise).saturating_mul(2).saturating_add(between);
        offset = offset.wrapping_add(twice.checked_div(between.saturating_mul(2)).unwrap_or_default() as i64);
    }
    scaled(a).wrapping_add_signed(offset)
}

impl Trace {
    /// The correction of the time stamps of `cpu`.
    pub fn correction(&self, cpu: CpuId, options: &TimeOptions) -> Correction {
        if options.raw {
            return Correction::default();
        }
        let times = &self.times;
        let date = if options.date { times.date } else { 0 };
        let shift = times.shifts.get(cpu.0 as usize).filter(|samples| !samples.is_empty()).cloned();
        let mut to = Correction {
            any: false,
            shift,
            interpolate: times.interpolate,
            tsc: times.tsc,
            frequency: options.frequency,
            offset: options.offset.wrapping_add(date).wrapping_add(times.offset),
        };
        to.any = to.shift.is_some() || to.tsc.is_some() || to.frequency.is_some() || to.offset != 0;
        to
    }
}

impl Trace {
    /// The wall clock by times as `options` correct them, if the recorder read it (or stored the date) and the times are
    /// nanoseconds. That of a guest's times is its host's: it takes `host`, the recording of the host, if that is at hand.
    pub fn wall_clock(&self, options: &TimeOptions, host: Option<&Trace>) -> Option<WallClock> {
        if options.raw || options.frequency.is_some() || self.times.tsc.is_some() {
            return None;
        }
        let offset = options.offset.wrapping_add(self.times.offset);
        let clock = match self.date() {
            Some(date) => WallClock::of_offset(if options.date { 0 } else { date }),
            None if self.times.shifts.is_empty() => self.read_clock()?,
            None => host?.read_clock()?,
        };
        Some(clock.shifted(offset))
    }

    /// The cgroups of its tasks, by times as `options` correct them; `None` if they were not recorded.
    pub fn cgroups(&self, options: &TimeOptions) -> Option<Cgroups> {
        let stored = Cgroups::parse(&self.options(OptionId::RTRACE_CGROUPS).last()?.text())?;
        let quotas = self.options(OptionId::RTRACE_QUOTAS).last();
        let quotas = quotas.and_then(|option| QuotaSamples::parse(&option.text())).unwrap_or_default();
        let correction = self.correction(CpuId(0), options);
        Some(stored.with_quotas(quotas).with_times(|time| correction.apply(time)))
    }

    /// The wall clock by times without any correction.
    fn read_clock(&self) -> Option<WallClock> {
        let mut readings = self.options(OptionId::RTRACE_WALL_CLOCK).map(|option| ClockReading::parse(&option.text()));
        let begin = readings.next()??;
        Some(WallClock::of_readings(begin, readings.last().flatten()))
    }
}
