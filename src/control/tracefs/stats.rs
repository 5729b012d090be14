//! `per_cpu/cpuN/stats`: what one CPU's ring buffer holds and has lost.

/// The counters of one CPU's ring buffer; all of them count events except `bytes`.
///
/// ```text
/// entries: 12
/// overrun: 0
/// commit overrun: 0
/// bytes: 856
/// oldest event ts:  1127.951430
/// now ts:  1402.913664
/// dropped events: 0
/// read events: 0
/// ```
/// With the clocks `counter` and `x86-tsc` the two times are whole numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuStats {
    /// Events in the buffer.
    pub entries: u64,
    /// Events overwritten before they were read.
    pub overrun: u64,
    /// Events that could not be committed because of nesting within a full buffer.
    pub commit_overrun: u64,
    /// Bytes in the buffer.
    pub bytes: u64,
    /// Time of the oldest event, in the kernel's own words.
    pub oldest_ts: String,
    /// The trace clock's time now, in the kernel's own words.
    pub now_ts: String,
    /// Events refused because the buffer was full and overwriting was off.
    pub dropped: u64,
    /// Events read out.
    pub read: u64,
}

impl CpuStats {
    /// Parses the file's text. Lines of later kernels are skipped; a missing counter is 0.
    ///
    /// The kernel makes the text anew for each read(2). Where a counter got one more digit since the one before, what
    /// should be the end of the file gives the last bytes of a longer text: they are passed over.
    ///
    /// # Errors
    /// The line that is not `name: number`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut stats = CpuStats::default();
        let mut whole = false;
        for line in text.lines() {
            let (name, value) = match line.split_once(':') {
                Some(both) => both,
                None if whole => break,
                None => return Err(line.to_owned()),
            };
            let value = value.trim();
            let count = || value.parse::<u64>().map_err(|_| line.to_owned());
            match name {
                "entries" => stats.entries = count()?,
                "overrun" => stats.overrun = count()?,
                "commit overrun" => stats.commit_overrun = count()?,
                "bytes" => stats.bytes = count()?,
                "oldest event ts" => stats.oldest_ts = value.to_owned(),
                "now ts" => stats.now_ts = value.to_owned(),
                "dropped events" => stats.dropped = count()?,
                "read events" => (stats.read, whole) = (count()?, true),
                _ => {}
            }
        }
        Ok(stats)
    }

    /// Events that existed and can no longer be read.
    pub fn lost(&self) -> u64 {
        self.overrun.saturating_add(self.commit_overrun).saturating_add(self.dropped)
    }
}

#[cfg(test)]
mod tests {
    use super::CpuStats;

    #[test]
    fn texts() {
        let text = "entries: 12\noverrun: 3\ncommit overrun: 1\nbytes: 856\noldest event ts:  1127.951430\n\
                    now ts:  1402.913664\ndropped events: 2\nread events: 7\n";
        let stats = CpuStats::parse(text).unwrap();
        assert_eq!((stats.entries, stats.bytes, stats.read, stats.lost()), (12, 856, 7, 6));
        assert_eq!(stats.oldest_ts, "1127.951430");
        assert_eq!(CpuStats::parse("entries: x"), Err("entries: x".to_owned()));
        assert_eq!(CpuStats::parse("entries"), Err("entries".to_owned()));
    }

    #[test]
    fn the_tail_of_a_text_that_grew_between_two_reads() {
        for tail in ["\n", "0\n", "10\n"] {
            let text = format!("entries: 99\ndropped events: 0\nread events: 7\n{tail}");
            let stats = CpuStats::parse(&text).unwrap();
            assert_eq!((stats.entries, stats.read), (99, 7), "{tail:?}");
        }
        assert_eq!(CpuStats::parse("entries: 99\n\nread events: 7\n"), Err(String::new()));
    }
}
