//! The receiver of sub-buffers while they are filled, and the facts that it needs.

use super::setup::SetUpBuffer;
use crate::base::abi::Abi;
use crate::base::units::CpuId;
use crate::file::trace_dat::Coverage;
use crate::kernel::btf::Enumerators;
use crate::kernel::format::{EventFormat, FormatError, HeaderPage};
use std::io;

/// Facts needed to decode the sub-buffers.
#[derive(Clone, Debug)]
pub struct LiveFacts {
    /// The kernel's ABI.
    pub abi: Abi,
    /// The layout of sub-buffers.
    pub header_page: HeaderPage,
    /// The formats of all events that may come, those of `ftrace` first.
    pub formats: Vec<EventFormat>,
    /// Formats that could not be read, which no kernel should have.
    pub not_understood: Vec<FormatError>,
    /// The text of `printk_formats`.
    pub printk_formats: Vec<u8>,
    /// The kernel's BTF if functions' arguments may come; else empty.
    pub btf: Vec<u8>,
    /// Of names in the formats.
    pub enumerators: Enumerators,
    /// The buffers, in the order of the plan.
    pub buffers: Vec<LiveBuffer>,
}

/// One of the buffers.
#[derive(Clone, Debug)]
pub struct LiveBuffer {
    /// The instance's name; empty for the main one.
    pub name: String,
    /// Trace clock of the buffer.
    pub clock: String,
    /// Bytes per sub-buffer.
    pub sub_buffer: usize,
    /// CPUs of the buffer.
    pub cpus: Vec<CpuId>,
    /// The part of what happens that comes.
    pub coverage: Coverage,
}

impl LiveBuffer {
    pub(super) fn of(buffer: &SetUpBuffer) -> Self {
        LiveBuffer {
            name: buffer.name.clone(),
            clock: buffer.clock.current.clone(),
            sub_buffer: buffer.sub_buffer,
            cpus: buffer.cpus.iter().map(|(cpu, _)| *cpu).collect(),
            coverage: buffer.coverage.clone(),
        }
    }
}

/// The receiver of the sub-buffers.
pub trait Audience {
    /// Number of buffers that it is handed, the first ones of the plan. The others are not read: they keep the newest.
    fn buffers(&self) -> usize {
        usize::MAX
    }

    /// True, once, if buffers that the kernel has switched off are to be switched on again.
    fn resumes(&mut self) -> bool {
        false
    }

    /// One sub-buffer, or the part of one that is filled: of `buffer`, whose CPU number `cpu` it is (both are places in
    /// [`LiveFacts::buffers`]).
    fn page(&mut self, buffer: usize, cpu: usize, page: &[u8]);

    /// There is more in that ring than was taken in this round: its events after the last one are still to come.
    fn unfinished(&mut self, buffer: usize, cpu: usize);

    /// All rings but the unfinished ones were empty once since the last call; with `last` there will be no more. `saved_cmdlines` is asked for the
    /// names of tasks.
    ///
    /// # Errors
    /// An error that makes the output impossible, which ends the stream.
    fn round(&mut self, saved_cmdlines: &dyn Fn() -> Vec<u8>, last: bool) -> io::Result<()>;
}
