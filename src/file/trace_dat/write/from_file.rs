//! The part of a file that is copied to another.

use super::WriteError;
use crate::file::trace_dat::file::option_checks::is_thread_groups;
use crate::file::trace_dat::{Coverage, LazyBytes, LossCause, OptionId, Trace, UnsavedEvents};
use std::borrow::Cow;
use std::collections::HashMap;

/// True if an option is about the recording rather than about where something lies in the file.
fn is_fact(id: OptionId) -> bool {
    const HEADER_INFO: u16 = OptionId::HEADER_INFO.0;
    let pointer = matches!(id.0, HEADER_INFO..=22 | 23 | 25) || id == OptionId::STRINGS;
    let layout =
        matches!(id, OptionId::RTRACE_SPOOLS | OptionId::RTRACE_BTF | OptionId::RTRACE_INDEX | OptionId::RTRACE_SUMS);
    !pointer && !layout && id != OptionId::BUFFER && id != OptionId::DONE
}

/// The options of `from` about its recording.
pub(super) fn facts(from: &Trace) -> impl Iterator<Item = (OptionId, Cow<'_, [u8]>)> {
    let options = from.options.iter().filter(|option| is_fact(option.id) && !is_thread_groups(option));
    options.map(|option| match option.id {
        // Version 6 has it beside the table of CPUs.
        OptionId::TRACECLOCK if option.data.is_empty() && !from.clock().is_empty() => {
            (option.id, Cow::Owned(format!("[{}]\0", from.clock()).into_bytes()))
        }
        id => (id, Cow::Borrowed(&option.data[..])),
    })
}

/// The options that say what the buffers of these names hold of what happened; they stand for the copied ones before.
pub(super) fn covered(names: &[&str], coverages: &[Coverage]) -> Vec<(OptionId, Vec<u8>)> {
    let text = |text: String| [text.as_bytes(), b"\0"].concat();
    let both = names.iter().zip(coverages).flat_map(|(name, coverage)| {
        let events = coverage.events.as_ref().map(|events| (OptionId::RTRACE_EVENTS, text(events.to_text(name))));
        events.into_iter().chain([(OptionId::RTRACE_COVERAGE, text(coverage.to_text(name)))])
    });
    both.collect()
}

/// The options by which a copy of an unfinished recording says that it is one.
pub(super) fn unfinished_marks(from: &Trace) -> impl Iterator<Item = (OptionId, Vec<u8>)> {
    let entries = from.spools.iter().flat_map(|table| &table.entries);
    let unfinished = entries.map(|entry| {
        let (buffer, cpu, cause) = (entry.buffer.clone(), entry.cpu, LossCause::UNFINISHED);
        entry.account().unwrap_or(UnsavedEvents { buffer, cpu, events: None, cause })
    });
    let marks = unfinished.filter(|mark| mark.events != Some(0)).map(|mark| mark.write(from.abi));
    marks.map(|data| (OptionId::RTRACE_UNSAVED, data))
}

/// The texts of a file's formats by system, in the file's order.
pub(super) fn systems(from: &Trace) -> Vec<(String, Vec<String>)> {
    let mut systems: Vec<(String, Vec<String>)> = Vec::new();
    let mut places = HashMap::new();
    for format in &from.event_formats {
        let place = *places.entry(&format.system).or_insert(systems.len());
        match systems.get_mut(place) {
            Some((_, formats)) => formats.push(format.to_string()),
            None => systems.push((format.system.clone(), vec![format.to_string()])),
        }
    }
    systems
}

/// The bytes of a lazily loaded section.
pub(super) fn loaded<'a>(what: &'static str, bytes: &'a LazyBytes) -> Result<&'a [u8], WriteError> {
    bytes.get().map_err(|why| WriteError::Unreadable { what, why: why.to_string() })
}
