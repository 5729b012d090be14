//! Any bytes as the index of a CPU's chunks: an error, or an index that reads back as itself from what it writes.

use rtrace::abi::{Abi, Endian};
use rtrace::internal::trace_dat::{ChunkIndex, OptionId, FilePart, RawOption};
use rtrace::units::CpuId;

pub(crate) fn run(data: &[u8]) {
    for endian in [Endian::Little, Endian::Big] {
        let abi = Abi { endian, long_size: 8 };
        let option = |data| RawOption { id: OptionId::RTRACE_INDEX, data, offset: 0, place: FilePart::Prefix };
        let read = |data| ChunkIndex::read(&option(data), abi, "", CpuId(0));
        let Ok(Some(index)) = read(data.to_vec()) else { continue };
        let Some(written) = index.write(abi, "", CpuId(0)) else { continue };
        assert!(read(written).is_ok_and(|again| again == Some(index)));
    }
}
