//! Parts that both versions of the file hold in the same form.

use crate::base::units::CpuId;
use crate::file::ring_buffer::{Lost, PageLayout};
use crate::file::trace_dat::read_at::FileBytes;
use crate::file::trace_dat::{Buffer, LossCause, UnsavedEvents};

/// The first place from `pos` on where a sub-buffer of a CPU may start: they lie at multiples of their size.
pub(super) fn page_start(pos: u64, page_size: usize) -> u64 {
    pos.checked_next_multiple_of(page_size as u64).unwrap_or(pos)
}

/// Number of whole sub-buffers in `len` bytes.
pub(super) fn whole_pages(len: usize, page_size: usize) -> usize {
    len.saturating_sub(len.checked_rem(page_size).unwrap_or_default())
}

pub(super) fn header_info(out: &mut FileBytes, page: &[u8], event: &[u8]) {
    out.raw(b"header_page\0").u64(page.len() as u64).raw(page);
    out.raw(b"header_event\0").u64(event.len() as u64).raw(event);
}

pub(super) fn formats<T: AsRef<[u8]>>(out: &mut FileBytes, formats: &[T]) {
    out.u32(formats.len() as u32);
    for format in formats {
        out.u64(format.as_ref().len() as u64).raw(format.as_ref());
    }
}

pub(super) fn systems<T: AsRef<[u8]>>(out: &mut FileBytes, systems: &[(String, Vec<T>)]) {
    out.u32(systems.len() as u32);
    for (system, of_system) in systems {
        out.cstr(system);
        formats(out, of_system);
    }
}

/// The events of `cpu` that were left out, in a damaged place.
pub(super) fn left_out(buffer: &Buffer, cpu: CpuId) -> UnsavedEvents {
    UnsavedEvents { buffer: buffer.name.clone(), cpu, events: None, cause: LossCause::DAMAGED }
}

/// Notes in the first of the sub-buffers of `chunk` that events are missing before it.
pub(super) fn note_gap(layout: &PageLayout, chunk: &mut [u8]) {
    let first = chunk.get_mut(..layout.size).unwrap_or_default();
    let _ = layout.add_lost(first, Lost::Unknown); // a damaged one says so itself
}
