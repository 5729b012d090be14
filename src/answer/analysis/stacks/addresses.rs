//! The return addresses in a stack trace's record.

use crate::base::abi::Abi;

/// The kernel's mark for ftrace's own trampoline (`FTRACE_TRAMPOLINE_MARKER`), which is no address.
const TRAMPOLINE: u64 = i32::MAX as u64;

/// The addresses from `offset` of the record on, innermost first.
pub(crate) fn addresses(abi: Abi, data: &[u8], offset: usize) -> impl Iterator<Item = u64> {
    let size = usize::from(abi.long_size).max(1);
    let words = data.get(offset..).unwrap_or_default().chunks_exact(size);
    let addresses = words.map(move |word| abi.uint(word, 0, size).unwrap_or(0));
    // Old kernels end a trace with a word of ones, younger ones fill the record up with zeros.
    addresses.take_while(|address| *address != 0 && *address as u32 != u32::MAX).filter(|at| *at != TRAMPOLINE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::abi::Endian;

    #[test]
    fn up_to_the_end() {
        let abi = Abi { endian: Endian::Little, long_size: 4 };
        let data = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
        let read = |words: &[u32]| addresses(abi, &data(words), 4).collect::<Vec<u64>>();
        assert_eq!(read(&[9, 1, 2, 3]), [1, 2, 3]);
        assert_eq!(read(&[9, 1, u32::MAX, 3]), [1]);
        assert_eq!(read(&[9, i32::MAX as u32, 1, 0, 3]), [1]);
        assert!(read(&[9]).is_empty());
        assert_eq!(addresses(abi, &[], 4).next(), None);
    }
}
