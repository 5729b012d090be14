//! Marks in the file of events that it lacks and that no record of it tells of.

use super::worker::Drained;
use crate::file::trace_dat::{LossCause, UnsavedEvents};

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
