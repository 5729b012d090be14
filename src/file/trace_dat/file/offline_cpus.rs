//! CPUs that were offline while a recording was made: the content of our RTRACE_OFFLINE option.

use crate::base::units::CpuId;
use std::fmt;

/// A list of CPUs as the kernel writes them in `/sys/devices/system/cpu`: `0-3,8`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuRanges {
    /// First and last of each range, in order.
    ranges: Vec<(u32, u32)>,
}

impl CpuRanges {
    /// Reads a list; `None` if the text is none. An empty one is a list without CPUs.
    pub fn parse(text: &str) -> Option<Self> {
        let range = |text: &str| {
            let (first, last) = text.split_once('-').unwrap_or((text, text));
            let (first, last) = (first.parse().ok()?, last.parse().ok()?);
            (first <= last).then_some((first, last))
        };
        let ranges = text.trim().split(',').filter(|text| !text.is_empty()).map(range).collect::<Option<_>>()?;
        Some(CpuRanges { ranges })
    }

    /// True if `cpu` is one of them.
    pub fn contains(&self, cpu: CpuId) -> bool {
        self.ranges.iter().any(|(first, last)| (*first..=*last).contains(&cpu.0))
    }

    /// True if it names no CPU.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// True if it names one CPU only.
    pub fn is_one(&self) -> bool {
        matches!(self.ranges.as_slice(), [(first, last)] if first == last)
    }
}

/// CPUs in rising order.
impl FromIterator<CpuId> for CpuRanges {
    fn from_iter<T: IntoIterator<Item = CpuId>>(cpus: T) -> Self {
        let mut ranges: Vec<(u32, u32)> = Vec::new();
        for CpuId(cpu) in cpus {
            match ranges.last_mut() {
                Some((_, last)) if last.checked_add(1) == Some(cpu) => *last = cpu,
                _ => ranges.push((cpu, cpu)),
            }
        }
        CpuRanges { ranges }
    }
}

impl fmt::Display for CpuRanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (first, last)) in self.ranges.iter().enumerate() {
            let comma = if at == 0 { "" } else { "," };
            match first == last {
                true => write!(f, "{comma}{first}")?,
                false => write!(f, "{comma}{first}-{last}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_as_they_are_written() {
        for text in ["0", "0-3", "0,2-3,8", ""] {
            assert_eq!(CpuRanges::parse(text).unwrap().to_string(), text);
        }
        assert!(["x", "3-1", "1-", "-1", "0 1"].iter().all(|text| CpuRanges::parse(text).is_none()));
        let cpus: CpuRanges = [1, 3, 4, 5, u32::MAX].map(CpuId).into_iter().collect();
        assert_eq!(cpus.to_string(), "1,3-5,4294967295");
        assert!(cpus.contains(CpuId(4)) && !cpus.contains(CpuId(2)) && !cpus.is_one());
        assert!(CpuRanges::parse("7\n").unwrap().is_one());
    }
}
