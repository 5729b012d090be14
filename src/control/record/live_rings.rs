//! Rings that are read while they are filled, round by round.
//! The receiver of sub-buffers while they are filled, and the facts that it needs.

use super::offline::is_offline;
use super::setup::SetUpBuffer;
use super::worker::WorkerError;
use crate::base::abi::Abi;
use crate::base::units::CpuId;
use crate::file::trace_dat::Coverage;
use crate::kernel::btf::Enumerators;
use crate::kernel::format::{EventFormat, FormatError, HeaderPage};
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;

/// All rings, open for reading.
pub(super) struct LiveRings {
    open: Vec<(usize, usize, CpuId, File)>,
    page: Vec<u8>,
    /// Bytes of the smallest one.
    pub(super) size: usize,
    /// No more sub-buffers than this are taken from one ring in a round, or a loud CPU would never let it end.
    most: usize,
}

impl LiveRings {
    pub(super) fn open<'b>(buffers: impl IntoIterator<Item = &'b SetUpBuffer> + Clone) -> Result<Self, WorkerError> {
        let mut open = Vec::new();
        for (number, buffer) in buffers.clone().into_iter().enumerate() {
            for (place, &(cpu, _)) in buffer.cpus.iter().enumerate() {
                let mut options = OpenOptions::new();
                options.read(true).custom_flags(nix::libc::O_NONBLOCK);
                let ring = options.open(buffer.instance.trace_pipe_raw(cpu)).map_err(|e| WorkerError::Ring(cpu, e))?;
                open.push((number, place, cpu, ring));
            }
        }
        let page = buffers.clone().into_iter().map(|b| b.sub_buffer).max().unwrap_or(0);
        let size = |b: &SetUpBuffer| b.kib_per_cpu.map_or(1 << 20, |kib| kib as usize * 1024);
        let size = buffers.clone().into_iter().map(size).min().unwrap_or(0);
        let most = buffers.into_iter().map(|b| size / b.sub_buffer.max(1)).max().unwrap_or(1) + 1;
        Ok(LiveRings { open, page: vec![0; page], size, most })
    }

    /// Hands out what is in them; gives the most bytes that one of them held.
    pub(super) fn read(&mut self, audience: &mut dyn Audience) -> Result<usize, WorkerError> {
        let mut most = 0;
        for (buffer, place, cpu, ring) in &mut self.open {
            let mut taken = 0;
            for number in 0.. {
                if number == self.most {
                    audience.unfinished(*buffer, *place);
                    break;
                }
                match ring.read(&mut self.page) {
                    Ok(0) => break,
                    Ok(len) => {
                        audience.page(*buffer, *place, self.page.get(..len).unwrap_or_default());
                        taken += len;
                    }
                    Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                    Err(e) if e.kind() == io::ErrorKind::WouldBlock || is_offline(&e) => break,
                    Err(e) => return Err(WorkerError::Ring(*cpu, e)),
                }
            }
            most = most.max(taken);
        }
        Ok(most)
    }
}

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
