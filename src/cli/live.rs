//! The events of running rings, merged: of stream and profile.

use super::terminal::note;
use rtrace::internal::ring_buffer::{PageError, PageLayout};
use rtrace::record::LiveFacts;
use rtrace::recording::LiveMerge;

/// The merge of these buffers.
pub(crate) fn live_merge(facts: &LiveFacts) -> LiveMerge {
    let layout = |size| PageLayout::new(&facts.header_page, facts.abi, size);
    LiveMerge::new(facts.buffers.iter().map(|buffer| (layout(buffer.sub_buffer), buffer.cpus.clone())))
}

/// Reports a damaged sub-buffer, unless it is to be `quiet`.
pub(crate) fn warn_of_damage(taken: Result<(), PageError>, quiet: bool) {
    if let (Err(error), false) = (taken, quiet) {
        note!("rtrace: warning: a sub-buffer of the kernel is damaged: {error}");
    }
}
