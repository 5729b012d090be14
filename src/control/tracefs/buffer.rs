//! `buffer_size_kb`: the ring buffer's size, in KiB per CPU.

/// The contents of `buffer_size_kb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferSize {
    /// `1410`: every CPU has this many KiB.
    Kib(u64),
    /// `7 (expanded: 1408)`: never used yet; the first write to any knob makes it the larger size, for good.
    Unexpanded {
        /// KiB per CPU now.
        now: u64,
        /// KiB per CPU once it is used.
        expanded: u64,
    },
    /// `X`: the CPUs differ; `per_cpu/cpuN/buffer_size_kb` has each one's.
    PerCpu,
}

impl BufferSize {
    /// Parses the file's text.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text == "X" {
            return Some(BufferSize::PerCpu);
        }
        match text.split_once(" (expanded: ") {
            None => text.parse().ok().map(BufferSize::Kib),
            Some((now, expanded)) => Some(BufferSize::Unexpanded {
                now: now.parse().ok()?,
                expanded: expanded.strip_suffix(')')?.parse().ok()?,
            }),
        }
    }

    /// KiB per CPU that tracing has once it runs; `None` if the CPUs differ.
    pub fn kib(self) -> Option<u64> {
        match self {
            BufferSize::Kib(kib) | BufferSize::Unexpanded { expanded: kib, .. } => Some(kib),
            BufferSize::PerCpu => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::BufferSize;

    #[test]
    fn texts() {
        assert_eq!(BufferSize::parse("1410\n"), Some(BufferSize::Kib(1410)));
        assert_eq!(BufferSize::parse("X\n"), Some(BufferSize::PerCpu));
        let fresh = BufferSize::Unexpanded { now: 7, expanded: 1408 };
        assert_eq!(BufferSize::parse("7 (expanded: 1408)\n"), Some(fresh));
        assert_eq!(fresh.kib(), Some(1408));
        for bad in ["", "-1", "7 (expanded: 1408", "7 (x)"] {
            assert_eq!(BufferSize::parse(bad), None, "{bad}");
        }
    }
}
