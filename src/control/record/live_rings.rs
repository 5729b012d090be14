//! Rings that are read while they are filled, round by round.

use super::audience::Audience;
use super::offline::is_offline;
use super::setup::SetUpBuffer;
use super::worker::WorkerError;
use crate::base::units::CpuId;
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
