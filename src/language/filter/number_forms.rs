//! Numbers that filters write in a form of their own: lists of CPUs (`0-3,8`), and devices, the kernel's `dev_t`, of which
//! events print `MAJOR,MINOR`.

use crate::kernel::format::EventFormat;
use std::fmt;
use std::str::FromStr;

/// A set of CPUs as the kernel's list format writes it: `0-3,8,10-15:2/4`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpuList {
    words: Vec<u64>,
}

/// A text that is not a list of CPUs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid list of CPUs: expected numbers and ranges as in `0-3,8`, no mask")]
pub struct CpuListError;

/// CPUs from this number on are refused: no kernel is built for more.
const LIMIT: u32 = 1 << 16;

impl CpuList {
    /// The set of `cpus`; numbers of 65536 and above are left out.
    pub fn new(cpus: impl IntoIterator<Item = u32>) -> Self {
        let mut list = CpuList::default();
        cpus.into_iter().filter(|&cpu| cpu < LIMIT).for_each(|cpu| list.insert(cpu));
        list
    }

    fn insert(&mut self, cpu: u32) {
        let word = cpu as usize / 64;
        if self.words.len() <= word {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (cpu % 64);
    }

    /// True if `cpu` is in it.
    pub fn contains(&self, cpu: u32) -> bool {
        self.words.get(cpu as usize / 64).is_some_and(|word| word >> (cpu % 64) & 1 == 1)
    }

    /// Number of CPUs in it.
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// True if none is in it.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// The CPUs in it, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.words.len() as u32 * 64).filter(|&cpu| self.contains(cpu))
    }
}

impl FromStr for CpuList {
    type Err = CpuListError;

    fn from_str(text: &str) -> Result<Self, CpuListError> {
        let mut list = CpuList::default();
        for part in text.split(',') {
            let (range, group) = match part.split_once(':') {
                Some((range, group)) => (range, Some(group)),
                None => (part, None),
            };
            let (first, last) = match range.split_once('-') {
                Some((first, last)) => (number(first)?, number(last)?),
                None => (number(range)?, number(range)?),
            };
            let (used, size) = match group {
                Some(group) => {
                    let (used, size) = group.split_once('/').ok_or(CpuListError)?;
                    (number(used)?, number(size)?)
                }
                None => (1, 1),
            };
            if last < first || used == 0 || size < used {
                return Err(CpuListError);
            }
            (first..=last).filter(|cpu| (cpu - first) % size < used).for_each(|cpu| list.insert(cpu));
        }
        Ok(list)
    }
}

fn number(text: &str) -> Result<u32, CpuListError> {
    let text = text.trim();
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let value = if digits { text.parse().ok() } else { None };
    value.filter(|&cpu| cpu < LIMIT).ok_or(CpuListError)
}

impl fmt::Display for CpuList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut cpus = self.iter().peekable();
        let mut comma = "";
        while let Some(first) = cpus.next() {
            let mut last = first;
            while let Some(next) = cpus.next_if(|&next| next == last + 1) {
                last = next;
            }
            match last - first {
                0 => write!(f, "{comma}{first}")?,
                _ => write!(f, "{comma}{first}-{last}")?,
            }
            comma = ",";
        }
        Ok(())
    }
}

/// Bits of the minor number (`MINORBITS` of the kernel's `include/linux/kdev_t.h`).
const MINOR_BITS: u32 = 20;

/// The number of `MAJOR,MINOR` or `MAJOR:MINOR`.
fn device_number(text: &str) -> Option<u32> {
    let (major, minor) = text.split_once([',', ':'])?;
    let (major, minor): (u32, u32) = (major.trim().parse().ok()?, minor.trim().parse().ok()?);
    (major < 1 << (u32::BITS - MINOR_BITS) && minor < 1 << MINOR_BITS).then_some(major << MINOR_BITS | minor)
}

/// The hint on a text that `field`, a device of `format`, is compared with.
pub(super) fn hint(format: &EventFormat, field: &str, text: &str) -> Option<String> {
    let is_device = format.field(field).is_some_and(|field| field.type_name.contains("dev_t"));
    is_device.then(|| device_hint(field, text)).flatten().or_else(|| {
        is_device.then(|| format!("a device is a number, as `{field} == 0x800010` of 8,16: `cat /sys/block/{text}/dev` prints MAJOR:MINOR, whose number is major << 20 | minor"))
    })
}

/// The hint on a device in the form that events print, `MAJOR,MINOR`, or as sysfs has it, `MAJOR:MINOR`.
pub fn device_hint(field: &str, pair: &str) -> Option<String> {
    device_number(pair).map(|number| format!("the device {pair} is a number: `{field} == {number:#x}`"))
}

/// The hint on a filter in which a device stands as a pair, at which `rest`, its second half, begins behind `before`.
pub(super) fn at(before: &str, rest: &str) -> Option<String> {
    let is_digit = |c: char| c.is_ascii_digit();
    let minor = rest.strip_prefix([',', ':'])?;
    let minor = minor.get(..minor.find(|c| !is_digit(c)).unwrap_or(minor.len()))?;
    let (left, operator) = (before.trim_end_matches(is_digit), rest.get(..1)?);
    let major = before.get(left.len()..)?;
    let field = left.trim_end().trim_end_matches(['=', '!']).split_whitespace().next_back()?;
    device_hint(field.trim_start_matches('('), &format!("{major}{operator}{minor}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists() {
        let list: CpuList = "0-3, 8,64-66".parse().unwrap();
        assert_eq!(list.iter().collect::<Vec<_>>(), [0, 1, 2, 3, 8, 64, 65, 66]);
        assert_eq!(list.to_string(), "0-3,8,64-66");
        assert_eq!("0-7:1/4".parse::<CpuList>().unwrap().to_string(), "0,4");
        assert_eq!(list.len(), 8);
        assert!(!list.contains(9) && !list.contains(70_000) && list.contains(66));
        for bad in ["", "a", "3-1", "1-", "-1", "0,,1", "99999", "0-3:0/2", "0-3:2", "+1"] {
            assert_eq!(bad.parse::<CpuList>(), Err(CpuListError), "{bad}");
        }
    }

    #[test]
    fn pairs_become_numbers() {
        for (before, rest) in
            [("dev == 254", ",0"), ("bytes > 4 && (dev==254", ":0)"), ("dev != 254", ",0 && bytes > 4")]
        {
            let hint = at(before, rest).unwrap_or_default();
            assert!(hint.ends_with("is a number: `dev == 0xfe00000`"), "{before}{rest}: {hint}");
        }
        for (before, rest) in [("dev == ", ",0"), ("dev == 254", ", 0"), ("dev == 99999", ",0"), ("dev == 4", " x")] {
            assert_eq!(at(before, rest), None, "{before}{rest}");
        }
    }
}
