//! The size of a buffer's sub-buffers, compared with its data.
//!
//! Nothing but the data itself contradicts a wrong size where chunks are compressed: at twice the size every other
//! sub-buffer would be passed over unseen. So the first ones are walked at each size that there may be.

use crate::base::abi::Abi;
use crate::file::ring_buffer::{PageLayout, PageOrder, Walker};
use crate::file::trace_dat::codec::unpack_start;
use crate::file::trace_dat::read_at::read_full;
use crate::file::trace_dat::{Buffer, Codec, CpuData, DataLayout, FileError, Trace};

/// Size of the sample of a CPU's data that is walked, in bytes of sub-buffers: one block of zstd.
pub(in crate::file::trace_dat) const SAMPLE: usize = 128 << 10;
/// Limit of that sample's compressed size, headers included, in bytes.
const PACKED: usize = 160 << 10;
/// The sizes that kernels make, in bytes: from the smallest memory page to 128 of them.
const SIZES: [usize; 8] = [4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10, 256 << 10, 512 << 10];

impl Trace {
    /// Corrects sizes of sub-buffers that do not fit the data, and notes them as damage.
    pub(super) fn check_page_sizes(&mut self) {
        for at in 0..self.buffers.len() {
            let Some(buffer) = self.buffers.get(at) else { break };
            let Some((found, offset)) = self.true_page_size(buffer) else { continue };
            let (buffer, declared) = (buffer.name.clone(), buffer.page_size);
            self.damage.push(FileError::PageSize { buffer, declared, found, offset });
            if let Some(buffer) = self.buffers.get_mut(at) {
                buffer.page_size = found;
            }
        }
    }

    /// The size at which the data is sound, if it is not the declared one: more records are found with it than with the
    /// declared one, without any defect. And where the data starts that says so.
    fn true_page_size(&self, buffer: &Buffer) -> Option<(usize, u64)> {
        let data = buffer.cpus.iter().max_by_key(|data| data.size)?;
        let sample = self.first_pages(data)?;
        // The sample may end within a sub-buffer.
        let cut = sample.len() >= SAMPLE;
        Some((self.better_page_size(buffer.page_size, &sample, cut)?, data.offset))
    }

    /// The size of the sub-buffers at the start of a CPU's data, which may end within one: the declared size, unless another
    /// fits better.
    pub(in crate::file::trace_dat) fn bare_page_size(&self, sample: &[u8]) -> usize {
        let declared = match self.prefix.page_size as usize {
            0 => 4096,
            size => size,
        };
        self.better_page_size(declared, sample, true).unwrap_or(declared)
    }

    /// True if `sample`, the start of a CPU's data, is sound in the other byte order only.
    pub fn is_in_other_order(&self, sample: &[u8]) -> bool {
        let most = |endian| {
            let abi = Abi { endian, ..self.abi };
            let walked =
                SIZES.into_iter().map(|size| walk(&PageLayout::new(&self.header_page, abi, size), sample, true));
            walked.filter(|walked| walked.is_sound).map(|walked| walked.records).max()
        };
        most(self.abi.endian.swapped()) > most(self.abi.endian)
    }

    /// A size at which more records of `sample` are found than at the `declared` one, without any defect. With `cut`, the
    /// sample may end within a sub-buffer.
    fn better_page_size(&self, declared: usize, sample: &[u8], cut: bool) -> Option<usize> {
        let walk = |size| walk(&PageLayout::new(&self.header_page, self.abi, size), sample, cut);
        let others = SIZES.into_iter().filter(|size| *size != declared);
        let sound = others.map(|size| (walk(size), size)).filter(|(walked, _)| walked.is_sound);
        let most = sound.max_by_key(|(walked, size)| (walked.records, std::cmp::Reverse(*size)))?;
        (most.0.records > walk(declared).records).then_some(most.1)
    }

    /// The first sub-buffers of a CPU; `None` if they cannot be read.
    fn first_pages(&self, data: &CpuData) -> Option<Vec<u8>> {
        let io = self.sources.get(data.source)?;
        let read = |at: u64, len: usize| {
            let room = data.offset.saturating_add(data.size).saturating_sub(at);
            let mut bytes = vec![0; usize::try_from(room).unwrap_or(usize::MAX).min(len)];
            let got = read_full(&**io, &mut bytes, at).ok()?;
            bytes.truncate(got);
            Some(bytes)
        };
        if data.layout == DataLayout::Pages || self.prefix.codec == Codec::None {
            return read(data.offset, SAMPLE);
        }
        let bytes = read(data.offset, PACKED)?;
        let size = self.abi.uint(&bytes, 8, 4)?;
        let stored = self.abi.uint(&bytes, 4, 4)?;
        let packed = bytes.get(12..)?;
        let packed = packed.get(..usize::try_from(stored).ok()?).unwrap_or(packed);
        let mut sample = Vec::new();
        unpack_start(self.prefix.codec, packed, SAMPLE.min(usize::try_from(size).ok()?), &mut sample);
        Some(sample)
    }
}

/// Contents of sub-buffers of some size.
struct Walked {
    records: u64,
    /// All are whole, their items fit, and they follow each other in time.
    is_sound: bool,
}

fn walk(layout: &PageLayout, sample: &[u8], cut: bool) -> Walked {
    let (mut order, mut walked) = (PageOrder::default(), Walked { records: 0, is_sound: true });
    let rest = if cut { sample.chunks_exact(layout.size.max(1)).remainder().len() } else { 0 };
    let whole = sample.get(..sample.len().saturating_sub(rest)).unwrap_or_default();
    for (data, number) in whole.chunks(layout.size.max(1)).zip(0..) {
        let Ok(page) = layout.page(data) else {
            walked.is_sound = false;
            continue;
        };
        walked.is_sound &= order.add_page(layout, &page, data, number).is_ok();
        let mut walker = Walker::new(layout.abi, 0, &page);
        loop {
            match walker.step(data) {
                Ok(Some(_)) => walked.records = walked.records.saturating_add(1),
                Ok(None) => break,
                Err(_) => {
                    walked.is_sound = false;
                    break;
                }
            }
        }
    }
    walked.is_sound &= !order.is_open();
    walked
}
