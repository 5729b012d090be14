//! The recording that a journal belongs to, so that `recover` finds the rings of a killed recorder.

use crate::base::units::CpuId;
use crate::control::tracefs::Instance;
use serde::{Deserialize, Serialize};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A file that is recorded to, and the instances whose rings are drained into it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalledRecording {
    /// Path of the file when it was created, for messages; lossy if it is not UTF-8.
    pub path: String,
    /// Device of the file (`st_dev`).
    pub device: u64,
    /// Inode of the file (`st_ino`).
    pub inode: u64,
    /// The buffers in the file.
    pub buffers: Vec<RecordedBuffer>,
}

/// One buffer of a recording.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedBuffer {
    /// Its name in the file; empty for the top one.
    pub name: String,
    /// The instance it is recorded from; `None` for the top level.
    pub instance: Option<String>,
    /// By CPU, how many events had been read out of its ring before the recording (`read events` of its `stats`). CPUs that
    /// are not named had none.
    #[serde(default)]
    pub read_before: Vec<(u32, u64)>,
}

impl RecordedBuffer {
    /// Number of events of `cpu` that had been read before the recording.
    pub fn read_before(&self, cpu: CpuId) -> u64 {
        self.read_before.iter().find(|(number, _)| *number == cpu.0).map_or(0, |(_, read)| *read)
    }
}

impl JournalledRecording {
    /// True if `file` is the file that was recorded to.
    pub fn is_of(&self, file: &Metadata) -> bool {
        (self.device, self.inode) == (file.dev(), file.ino())
    }

    /// True if the file still has its path.
    pub fn is_in_place(&self) -> bool {
        Path::new(&self.path).symlink_metadata().is_ok_and(|file| self.is_of(&file))
    }

    pub(super) fn stays_inside(&self) -> bool {
        self.buffers.iter().all(|buffer| buffer.instance.as_deref().is_none_or(Instance::is_name))
    }
}
