//! CPUs that were offline while a recording was made: the content of our RTRACE_OFFLINE option.
//! The memory node of each CPU: the content of our RTRACE_NODES option, a line `node NUMBER CPUS` for each.

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

/// The CPUs of each NUMA node of a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NumaNodes(Vec<(u32, CpuRanges)>);

impl NumaNodes {
    /// Reads the lines; `None` if the text is something else, or names no node.
    pub fn parse(text: &str) -> Option<Self> {
        let node = |line: &str| {
            let (number, cpus) = line.strip_prefix("node ")?.split_once(' ')?;
            Some((number.parse().ok()?, CpuRanges::parse(cpus)?))
        };
        let nodes = text.lines().map(node).collect::<Option<Vec<_>>>()?;
        (!nodes.is_empty()).then_some(NumaNodes(nodes))
    }

    /// The node of `cpu`; `None` if no node has it.
    pub fn of(&self, cpu: CpuId) -> Option<u32> {
        self.0.iter().find(|(_, cpus)| cpus.contains(cpu)).map(|(node, _)| *node)
    }

    /// Number of nodes that have CPUs.
    pub fn with_cpus(&self) -> usize {
        self.0.iter().filter(|(_, cpus)| !cpus.is_empty()).count()
    }
}

/// Numbers of nodes, each with its CPUs.
impl FromIterator<(u32, CpuRanges)> for NumaNodes {
    fn from_iter<T: IntoIterator<Item = (u32, CpuRanges)>>(nodes: T) -> Self {
        NumaNodes(nodes.into_iter().collect())
    }
}

impl fmt::Display for NumaNodes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(node, cpus)| writeln!(f, "node {node} {cpus}"))
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

    #[test]
    fn nodes_are_read_as_they_are_written() {
        let text = "node 0 0-3,8\nnode 2 4-7\nnode 3 \n";
        let nodes = NumaNodes::parse(text).unwrap();
        assert_eq!((nodes.to_string().as_str(), nodes.with_cpus()), (text, 2));
        assert_eq!([0, 8, 4, 9].map(|cpu| nodes.of(CpuId(cpu))), [Some(0), Some(0), Some(2), None]);
        for text in ["", "node 0", "node x 0", "node 0 x", "0 0"] {
            assert_eq!(NumaNodes::parse(text), None, "{text}");
        }
    }
}
