//! The memory node of each CPU: the content of our RTRACE_NODES option, a line `node NUMBER CPUS` for each.

use super::offline_cpus::CpuRanges;
use crate::base::units::CpuId;
use std::fmt;

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
