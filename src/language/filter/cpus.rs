//! Lists of CPUs: `0-3,8`.

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
}
