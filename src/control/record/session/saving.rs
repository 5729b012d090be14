//! The saves of a recording: their thread, and what it is given.

use super::SessionRun;
use crate::base::abi::Abi;
use crate::base::units::Pid;
use crate::control::record::asked::{Asked, asking};
use crate::control::record::drain::Progress;
use crate::control::record::error::RecordError;
use crate::control::record::kept_tasks::KeptTasks;
use crate::control::record::metadata::{cgroup_options, options_so_far, with_nul};
use crate::control::record::proc_maps::ProcMaps;
use crate::control::record::saver::{BufferNow, SavedRing, Saver, SavesMade};
use crate::control::record::saves::{RecordingNow, Saves};
use crate::control::record::settings::SettingsWatch;
use crate::control::record::setup::SetUpBuffer;
use crate::control::record::symbols::SymbolThread;
use crate::control::record::tasks::Comm;
use crate::control::record::wall_clock;
use crate::control::record::worker::HandedOver;
use crate::file::ring_buffer::PageLayout;
use crate::file::trace_dat::write::{RecordingHead, SavedBuffer};
use crate::file::trace_dat::{BuildIds, Coverage, OptionId};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The thread that makes saves, and the sides of those that it asks.
pub(super) struct NewSaver {
    pub(super) saver: Saver,
    pub(super) drains: Vec<Asked<HandedOver>>,
    pub(super) learner: Option<Asked<Vec<(Pid, Comm)>>>,
}

impl SessionRun<'_> {
    /// The thread that makes saves, and the sides of the threads that it asks; `None` without a file here.
    pub(super) fn saver(&self) -> Result<Option<NewSaver>, RecordError> {
        if self.output.is_remote() {
            return Ok(None);
        }
        let buffers = || self.buffers.iter().filter(|buffer| !buffer.is_text);
        let (_, header) = self.journal.tracefs().header_page()?;
        let ring = |buffer: &SetUpBuffer, cpu| SavedRing {
            buffer: buffer.name.clone(),
            cpu,
            layout: PageLayout::new(&header, header.abi(Abi::HOST.endian), buffer.sub_buffer),
        };
        let rings: Vec<SavedRing> =
            buffers().flat_map(|buffer| buffer.cpus.iter().map(|(cpu, _)| ring(buffer, *cpu))).collect();
        let saved = |buffer: &SetUpBuffer| SavedBuffer {
            name: buffer.name.clone(),
            clock: buffer.clock.current.clone(),
            page_size: buffer.sub_buffer,
        };
        let (draining, drains) = asking(rings.len()).map_err(RecordError::Start)?;
        let (names, mut learner) = asking(1).map_err(RecordError::Start)?;
        let saver = Saver {
            place: self.output.save_place(),
            keep: self.plan.saves.keep,
            head: RecordingHead::new(self.output.any_file()?),
            codec: self.plan.compression.codec(),
            buffers: buffers().map(saved).collect(),
            rings,
            draining,
            names: Some(names),
            tracefs: self.journal.tracefs().clone(),
            min_free: self.plan.limits.min_free.map_or(0, |size| size.0),
        };
        Ok(Some(NewSaver { saver, drains, learner: learner.pop() }))
    }

    /// The recording at this moment, for a save.
    pub(super) fn now(&self, symbols: &mut SymbolThread) -> RecordingNow {
        symbols.file_size(); // waits for them
        let mut options = options_so_far(self.journal.tracefs(), &self.buffers);
        let mut maps = self.maps.clone();
        maps.iter_mut().for_each(ProcMaps::update);
        options.extend(maps.iter().map(|maps| (OptionId::PROCMAPS, maps.option())));
        let builds: BuildIds = maps.iter().flat_map(ProcMaps::builds).collect();
        if !builds.is_empty() {
            options.push((OptionId::RTRACE_BUILDS, with_nul(&builds.to_string())));
        }
        let cgroups = self.tasks.cgroups();
        options.extend(cgroups.iter().flat_map(cgroup_options));
        let changes = self.settings.as_ref().map(SettingsWatch::changes).unwrap_or_default();
        let buffers =
            self.buffers.iter().zip(changes).filter(|(buffer, _)| !buffer.is_text).map(|(buffer, changes)| {
                let mut coverage = Coverage { changes, ..buffer.coverage.clone() };
                self.tasks.note(&mut coverage);
                BufferNow { coverage, time: wall_clock::read(buffer).map(|reading| reading.trace) }
            });
        RecordingNow { options, buffers: buffers.collect() }
    }

    /// Makes the saves that are due, while the threads that drain the rings can still be asked.
    pub(super) fn finish_saves(
        &mut self,
        saves: Saves<'_>,
        progress: &Progress,
        symbols: &mut SymbolThread,
    ) -> (SavesMade, Duration) {
        let mut made = Vec::new();
        let written = progress.written.load(Ordering::Relaxed);
        let finished = saves.finish(written, || self.now(symbols), |save| made.push(save.clone()));
        made.iter().for_each(|save| self.observer.saved(save));
        finished
    }

    /// The tasks whose events a flight recorder keeps.
    pub(super) fn kept_tasks(&self) -> Option<Arc<KeptTasks>> {
        let (limits, rings) = (&self.plan.limits, self.buffers.iter().map(|b| b.cpus.len()).sum::<usize>());
        let each = limits.ring_per_cpu.map(|size| size.0.saturating_mul(rings as u64));
        let size = limits.ring_size.map(|size| size.0).or(each);
        self.plan.is_ring().then(|| Arc::new(KeptTasks::new(rings, size)))
    }
}
