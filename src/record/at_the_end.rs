//! Statistics and settings of the buffers when the last event was taken: after that nothing of them is needed any more.

use super::metadata::with_nul;
use super::setup::SetUpBuffer;
use super::view::view;
use crate::trace_dat::OptionId;
use crate::tracefs::{self, Tracefs};

/// Options of the file, and texts in place of events.
pub(super) struct AtTheEnd {
    pub(super) options: Vec<(OptionId, Vec<u8>)>,
    /// Of each buffer whose events are text.
    pub(super) texts: Vec<Result<Vec<u8>, tracefs::Error>>,
}

impl AtTheEnd {
    pub(super) fn read(tracefs: &Tracefs, buffers: &[SetUpBuffer]) -> Self {
        let mut options = Vec::new();
        for buffer in buffers {
            if !buffer.name.is_empty() {
                options.push((OptionId::CPUSTAT, with_nul(&format!("\nBuffer: {}\n\n", buffer.name))));
            }
            if let Some(text) = &buffer.last_boot {
                options.push((OptionId::LAST_BOOT_INFO, with_nul(&format!("{}:{text}", buffer.name))));
            }
            for (cpu, _) in buffer.cpus.iter().filter(|_| buffer.counted) {
                // Without its counters a recording is still one.
                if let Ok(stats) = buffer.instance.cpu_stats_text(*cpu) {
                    options.push((OptionId::CPUSTAT, with_nul(&format!("CPU: {cpu}\n{stats}"))));
                }
            }
            // A snapshot's entries are not counted. Without a view, only its looks are guessed, so no error is worth a
            // recording.
            if let (true, Ok(view)) = (buffer.counted, view(tracefs, buffer)) {
                options.push((OptionId::RTRACE_VIEW, with_nul(&view.to_text(&buffer.name))));
            }
        }
        let texts = buffers.iter().filter(|b| b.is_text).map(|buffer| buffer.instance.trace_text()).collect();
        AtTheEnd { options, texts }
    }
}
