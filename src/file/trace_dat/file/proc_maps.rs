//! The PROCMAPS options: what files the recorded processes had mapped, as `record --proc-map` stores it.

use crate::base::units::Pid;
use crate::file::trace_dat::{FileError, OptionId, RawOption, Trace};
use crate::kernel::symbols::{Mapping, ProcessMap};

impl Trace {
    /// The memory maps of the processes that the file has them of.
    ///
    /// # Errors
    /// [`FileError::Option`] if an option that says so is malformed.
    pub fn process_maps(&self) -> Result<Vec<ProcessMap>, FileError> {
        self.options(OptionId::PROCMAPS).map(parse).collect()
    }
}

/// `PID COUNT PROGRAM`, then this many lines `START END PATH`; all numbers are hexadecimal (trace-cmd 3.4,
/// `trace-record.c`; the man page of the format does not say so).
pub(super) fn parse(option: &RawOption) -> Result<ProcessMap, FileError> {
    let text = option.text();
    let mut lines = text.lines();
    let number = |hex: &str| u64::from_str_radix(hex, 16).ok();
    let head = lines.next().and_then(|line| {
        let mut words = line.split(' ');
        let pid = u32::from_str_radix(words.next()?, 16).ok()?;
        Some((Pid(i32::try_from(pid).ok()?), number(words.next()?)?))
    });
    let (pid, count) = head.ok_or_else(|| option.error("its first line is not a process"))?;
    let mapping = |line: &str| {
        let mut words = line.splitn(3, ' ');
        let (start, end) = (number(words.next()?)?, number(words.next()?)?);
        let path = words.next()?.to_owned();
        (start < end).then_some(Mapping { start, end, path })
    };
    let mappings: Option<Vec<Mapping>> = lines.map(mapping).collect();
    let mappings = mappings.ok_or_else(|| option.error("a line is not a mapping"))?;
    if (mappings.len() as u64) < count {
        return Err(option.error("it ends too early"));
    }
    Ok(ProcessMap { pid, mappings })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::trace_dat::FilePart;

    fn parsed(text: &str) -> Result<ProcessMap, FileError> {
        let (id, data) = (OptionId::PROCMAPS, text.as_bytes().to_vec());
        parse(&RawOption { id, data, offset: 0, place: FilePart::Prefix })
    }

    #[test]
    fn all_numbers_are_hexadecimal() {
        let map = parsed("ff 2 /bin/ls\n400000 401000 /bin/ls\n7f0c1000 7f0c3000 /usr/lib/a b.so\n\0").unwrap();
        assert_eq!(map.pid, Pid(255));
        assert_eq!(map.mappings[1], Mapping { start: 0x7f0c_1000, end: 0x7f0c_3000, path: "/usr/lib/a b.so".into() });
    }

    #[test]
    fn what_is_no_map_is_named() {
        for (text, why) in [
            ("", "its first line is not a process"),
            ("fffffffff 0 x\n", "its first line is not a process"),
            ("1 1 x\n400000\n", "a line is not a mapping"),
            ("1 1 x\n500000 400000 y\n", "a line is not a mapping"),
            ("1 2 x\n400000 500000 y\n", "it ends too early"),
        ] {
            assert!(parsed(text).unwrap_err().to_string().contains(why), "{text:?}");
        }
    }
}
