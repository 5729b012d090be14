//! Statistics and settings of the buffers when the last event was taken: after that nothing of them is needed any more.
//! Marks in the file of events that it lacks and that no record of it tells of.

use super::metadata::with_nul;
use super::offline::online_cpus;
use super::setup::SetUpBuffer;
use super::view::view;
use super::wall_clock;
use super::worker::Drained;
use crate::base::units::CpuId;
use crate::control::tracefs::{self, Tracefs};
use crate::file::trace_dat::{CpuRanges, LossCause, OptionId, UnsavedEvents};
use std::collections::BTreeSet;

/// Options of the file, and texts in place of events.
pub(super) struct AtTheEnd {
    pub(super) options: Vec<(OptionId, Vec<u8>)>,
    /// Of each buffer whose events are text.
    pub(super) texts: Vec<Result<Vec<u8>, tracefs::Error>>,
}

/// Options about a recording that goes on, all but its coverage.
pub(super) fn options_so_far(tracefs: &Tracefs, buffers: &[SetUpBuffer]) -> Vec<(OptionId, Vec<u8>)> {
    let mut options = Vec::new();
    if let Some(reading) = buffers.first().and_then(wall_clock::read) {
        options.push((OptionId::RTRACE_WALL_CLOCK, with_nul(&reading.to_string())));
    }
    for buffer in buffers.iter().filter(|buffer| buffer.counted) {
        if let Ok(view) = view(tracefs, buffer) {
            options.push((OptionId::RTRACE_VIEW, with_nul(&view.to_text(&buffer.name))));
        }
    }
    options
}

impl AtTheEnd {
    /// Reads them; `offline` are the CPUs that had no events for that.
    pub(super) fn read(tracefs: &Tracefs, buffers: &[SetUpBuffer], offline: &CpuRanges) -> Self {
        let mut options = Vec::new();
        if !offline.is_empty() {
            options.push((OptionId::RTRACE_OFFLINE, with_nul(&offline.to_string())));
        }
        if let Some(reading) = buffers.first().and_then(wall_clock::read) {
            options.push((OptionId::RTRACE_WALL_CLOCK, with_nul(&reading.to_string())));
        }
        for buffer in buffers {
            if !buffer.name.is_empty() {
                options.push((OptionId::CPUSTAT, with_nul(&format!("\nBuffer: {}\n\n", buffer.name))));
            }
            if let Some(text) = &buffer.last_boot {
                options.push((OptionId::LAST_BOOT_INFO, with_nul(&format!("{}:{text}", buffer.name))));
            }
            for (cpu, _) in buffer.cpus.iter().filter(|_| buffer.counted) {
                // Without its counters a recording is still one.
                if let Some(stats) = buffer.counters(*cpu) {
                    options.push((OptionId::CPUSTAT, with_nul(&format!("CPU: {cpu}\n{stats}"))));
                }
            }
            let coverage = &buffer.coverage;
            let is_later = coverage.joined > 0 || !coverage.changes.is_empty() || !coverage.shortened.is_empty();
            if is_later || !(coverage.left_out.is_empty() && coverage.excluded.is_empty()) {
                options.push((OptionId::RTRACE_COVERAGE, with_nul(&buffer.coverage.to_text(&buffer.name))));
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

/// Marks in `drained` the CPUs that gave nothing and were offline both at the begin, when those of `before` were online, and
/// now; those without a ring are marked already. Gives those that are marked in all buffers.
pub(super) fn mark_offline(drained: &mut [Vec<Drained>], before: Option<&CpuRanges>) -> CpuRanges {
    let now = online_cpus();
    let is_off = |cpus: Option<&CpuRanges>, cpu| cpus.is_some_and(|online| !online.contains(cpu));
    for ring in drained.iter_mut().flatten() {
        ring.offline |= ring.tally.bytes == 0 && is_off(before, ring.cpu) && is_off(now.as_ref(), ring.cpu);
    }
    let with = |offline| drained.iter().flatten().filter(move |d| d.offline == offline).map(|d| d.cpu);
    let on: BTreeSet<CpuId> = with(false).collect();
    let off: BTreeSet<CpuId> = with(true).filter(|cpu| !on.contains(cpu)).collect();
    off.into_iter().collect()
}

/// The events of one CPU of `buffer` that are not in its spool, beside those that a limit of the user's keeps out and those
/// that a flight recorder dropped. `unread`: events left in the ring. `cut_short`: recording ended because something could not
/// be written.
pub(super) fn marks(buffer: &str, drained: &Drained, unread: u64, cut_short: bool) -> Vec<UnsavedEvents> {
    let others = &drained.interference;
    let (dropped, gone, tally) = (drained.spool.dropped(), drained.gone, &drained.tally);
    let discarded = tally.events_discarded.saturating_sub(dropped.events).saturating_sub(gone.events);
    let known = |events: u64| Some(events).filter(|events| *events > 0);
    let counted = |events: u64| tally.events.and(known(events));
    let marks = [
        (others.read > 0, LossCause::READ_BY_OTHERS, known(others.read)),
        (others.cleared, LossCause::CLEARED, known(others.cleared_events)),
        (gone.bytes > 0, LossCause::REMOVED, counted(gone.events)),
        (cut_short, LossCause::NOT_WRITTEN, counted(discarded)),
        (unread > 0, LossCause::UNREAD, known(unread)),
    ];
    let mark = |(_, cause, events)| UnsavedEvents { buffer: buffer.to_owned(), cpu: drained.cpu, events, cause };
    marks.into_iter().filter(|mark| mark.0).map(mark).collect()
}
