//! Any bytes as a sub-buffer, of either byte order and word size: records inside it, or an error; and an end.

use rtrace::abi::{Abi, Endian};
use rtrace::internal::ring_buffer::{PageLayout, Walker};

pub(crate) fn run(data: &[u8]) {
    let Some((&kind, data)) = data.split_first() else { return };
    let endian = if kind & 1 == 0 { Endian::Little } else { Endian::Big };
    let long_size = if kind & 2 == 0 { 8 } else { 4 };
    let layout = PageLayout { abi: Abi { endian, long_size }, data_offset: 8 + usize::from(long_size), size: data.len() };
    let Ok(page) = layout.page(data) else { return };
    let mut walker = Walker::new(layout.abi, 0, &page);
    let mut bytes = 0;
    while let Ok(Some(item)) = walker.step(data) {
        assert!(item.bytes(data).is_some());
        bytes += item.range().len() + 4;
        assert!(bytes <= data.len(), "records overlap");
    }
}
