//! Time for which quotas of CPU time kept cgroups off, read again and again: the content of our RTRACE_QUOTAS option.
//!
//! ```text
//! cgroup /system.slice/db.service          path; a cgroup whose quota was changed comes again
//! samples 812004500 18 0 50012 9 0 49998 11 61204000
//! ```
//!
//! A sample is begin, length, throttled time; from the second one on how far begin and throttled time lie after those of the one before.
//! Begin and length are microseconds of the trace clock, between which the time was read; throttled time is nanoseconds. Of
//! samples with equal throttled time that follow each other there are the first and the last.

use std::fmt::Write;

/// Readings of the throttled time of cgroups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuotaSamples {
    series: Vec<QuotaSeries>,
}

/// Readings of one cgroup between which its quota was not changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuotaSeries {
    /// Path of the cgroup.
    pub cgroup: String,
    samples: Vec<QuotaSample>,
}

/// A reading of a cgroup's throttled time (`cpu.stat`), which the kernel adds to as a CPU's tasks of it may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotaSample {
    /// A time before it, by the trace clock in nanoseconds.
    pub begin: u64,
    /// A time after it.
    pub end: u64,
    /// Throttled time so far in nanoseconds, summed over CPUs.
    pub throttled: u64,
}

/// A microsecond in nanoseconds.
const MICROSECOND: u64 = 1_000;

impl QuotaSeries {
    /// None yet.
    pub fn new(cgroup: impl Into<String>) -> Self {
        QuotaSeries { cgroup: cgroup.into(), samples: Vec::new() }
    }

    /// Adds a reading that comes after those before.
    pub fn add(&mut self, sample: QuotaSample) {
        let is_equal = |former: &QuotaSample| former.throttled == sample.throttled;
        match &mut self.samples[..] {
            [.., before, last] if is_equal(before) && is_equal(last) => *last = sample,
            _ => self.samples.push(sample),
        }
    }

    /// The readings in order.
    pub fn samples(&self) -> &[QuotaSample] {
        &self.samples
    }

    /// Throttled time that was counted from a reading before `begin` to one after `end`; `None` if there are none.
    pub fn growth(&self, (begin, end): (u64, u64)) -> Option<u64> {
        let before = self.samples.partition_point(|sample| sample.end <= begin).checked_sub(1)?;
        let after = self.samples.partition_point(|sample| sample.begin < end);
        let (before, after) = (self.samples.get(before)?, self.samples.get(after)?);
        after.throttled.checked_sub(before.throttled)
    }
}

impl QuotaSamples {
    /// Adds a series, if it has readings.
    pub fn add(&mut self, series: QuotaSeries) {
        if !series.samples.is_empty() {
            self.series.push(series);
        }
    }

    /// All series; a cgroup may have several.
    pub fn series(&self) -> &[QuotaSeries] {
        &self.series
    }

    /// Throttled time of `cgroup` that was counted from a reading before the first time to one after the second.
    pub fn growth(&self, cgroup: &str, ends: (u64, u64)) -> Option<u64> {
        self.series.iter().filter(|series| series.cgroup == cgroup).find_map(|series| series.growth(ends))
    }

    /// True without any reading.
    pub fn is_empty(&self) -> bool {
        self.series.is_empty()
    }

    /// As the option holds them.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for QuotaSeries { cgroup, samples } in &self.series {
            let _ = write!(text, "cgroup {cgroup}\nsamples");
            let (mut begin_before, mut throttled_before) = (0, 0);
            for sample in samples {
                let (begin, end) = (sample.begin / MICROSECOND, sample.end.div_ceil(MICROSECOND));
                let (since, length) = (begin.saturating_sub(begin_before), end.saturating_sub(begin));
                let _ = write!(text, " {since} {length} {}", sample.throttled.saturating_sub(throttled_before));
                (begin_before, throttled_before) = (begin, sample.throttled);
            }
            text.push('\n');
        }
        text
    }

    /// The inverse of [`QuotaSamples::to_text`]; `None` if the text is something else.
    pub fn parse(text: &str) -> Option<Self> {
        let mut found = QuotaSamples::default();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let mut series = QuotaSeries::new(line.strip_prefix("cgroup ")?);
            let mut numbers = lines.next()?.strip_prefix("samples ")?.split(' ').map(str::parse::<u64>);
            let (mut begin, mut throttled) = (0u64, 0u64);
            while let Some(since) = numbers.next() {
                begin = begin.checked_add(since.ok()?)?;
                let end = begin.checked_add(numbers.next()?.ok()?)?;
                throttled = throttled.checked_add(numbers.next()?.ok()?)?;
                let (begin, end) = (begin.checked_mul(MICROSECOND)?, end.checked_mul(MICROSECOND)?);
                series.samples.push(QuotaSample { begin, end, throttled });
            }
            found.series.push(series);
        }
        Some(found)
    }

    pub(super) fn map(&mut self, to_path: impl Fn(&str) -> String, to_time: impl Fn(u64) -> u64) {
        for series in &mut self.series {
            series.cgroup = to_path(&series.cgroup);
            for sample in &mut series.samples {
                (sample.begin, sample.end) = (to_time(sample.begin), to_time(sample.end));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(begin: u64, throttled: u64) -> QuotaSample {
        QuotaSample { begin: begin * MICROSECOND, end: (begin + 9) * MICROSECOND, throttled }
    }

    fn series(samples: &[(u64, u64)]) -> QuotaSeries {
        let mut series = QuotaSeries::new("/a b");
        samples.iter().for_each(|(begin, throttled)| series.add(sample(*begin, *throttled)));
        series
    }

    #[test]
    fn what_is_written_is_read() {
        let mut all = QuotaSamples::default();
        all.add(QuotaSeries::new("/none"));
        assert!(all.is_empty());
        all.add(series(&[(50, 7), (100, 7), (150, 7), (200, 9_000_000)]));
        all.add(series(&[(250, 0)]));
        assert_eq!(all.to_text(), "cgroup /a b\nsamples 50 9 7 100 9 0 50 9 8999993\ncgroup /a b\nsamples 250 9 0\n");
        assert_eq!(QuotaSamples::parse(&all.to_text()), Some(all));
        for text in ["x", "cgroup /a", "cgroup /a\nsamples 1 2", "cgroup /a\nsamples 1 2 -3"] {
            assert_eq!(QuotaSamples::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_growth_is_that_between_readings_around() {
        let series = series(&[(50, 7), (150, 7), (200, 90), (300, 95)]);
        let growth = |begin: u64, end: u64| series.growth((begin * MICROSECOND, end * MICROSECOND));
        assert_eq!((growth(59, 150), growth(60, 149), growth(159, 200)), (Some(0), Some(0), Some(83)));
        assert_eq!((growth(158, 201), growth(59, 151)), (Some(88), Some(83)), "a reading within says nothing");
        assert_eq!((growth(58, 100), growth(100, 301)), (None, None), "outside");
    }
}
