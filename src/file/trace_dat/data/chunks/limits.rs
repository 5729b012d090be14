//! Sizes that keep the memory of many readers bounded.

/// The most that one chunk may unpack to, in bytes: a damaged size must not cost memory.
pub(super) const MAX_CHUNK: u32 = crate::file::trace_dat::MAX_CHUNK as u32;
/// Size of one read of uncompressed data, in bytes, if sub-buffers are not larger.
pub(super) const READ_UNIT: u64 = 128 << 10;
/// Size of the reads of many CPUs altogether, and least size for each of them, in bytes.
const ALL_UNITS: u64 = 8 << 20;
const LEAST_UNIT: u64 = 16 << 10;
/// Unpacked size of the chunks of many CPUs altogether, as one of each is in memory, and least size for each of them,
/// in bytes: recorders make none of more than 1 MiB, or of more than 10 sub-buffers.
const ALL_CHUNKS: usize = 512 << 20;
pub(super) const LEAST_CHUNK: usize = 1 << 20;
const LEAST_PAGES: usize = 16;

/// Size of a chunk of uncompressed data for each of `readers`, in bytes: whole sub-buffers.
pub(super) fn unit(readers: usize, page_size: u64) -> u64 {
    let share = ALL_UNITS.checked_div(readers as u64).unwrap_or(ALL_UNITS).clamp(LEAST_UNIT, READ_UNIT);
    share.next_multiple_of(page_size)
}

/// The most that a chunk may unpack to if one of each of `readers` is in memory, in bytes.
pub(super) fn most_of_chunk(readers: usize, page_size: u64) -> u32 {
    let pages = usize::try_from(page_size).unwrap_or(usize::MAX).saturating_mul(LEAST_PAGES);
    let share = ALL_CHUNKS.checked_div(readers).unwrap_or(ALL_CHUNKS);
    let most = share.max(LEAST_CHUNK).max(pages);
    u32::try_from(most).unwrap_or(MAX_CHUNK).min(MAX_CHUNK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_cpus_have_smaller_chunks() {
        let most = |cpus, page_size| most_of_chunk(cpus, page_size) as usize;
        assert_eq!((most(1, 4096), most(16, 4096), most(256, 4096)), (32 << 20, 32 << 20, 2 << 20));
        assert_eq!((most(4096, 4096), most(4096, 128 << 10), most(1, 1 << 40)), (1 << 20, 2 << 20, 32 << 20));
    }
}
